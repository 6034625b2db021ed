"""Synthetic data with known answers, or with answers that are hard to find."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from sparing import errors
from sparing.results import Array


def make_spiked(
    n_samples: int = 200,
    n_features: int = 100,
    *,
    n_components: int = 2,
    n_nonzero: int = 5,
    spike: float = 5.0,
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """Noise of unit variance plus a few directions of larger variance, each on a few separate features.

    Parameters
    ----------
    n_samples, n_features, n_components, n_nonzero : int
        The components use disjoint sets of ``n_nonzero`` features each.
    spike : float
        Variance along the first component above that of the noise; component j has ``spike * 0.8**j``.
    random_state : int, Generator or None

    Returns
    -------
    Bunch
        ``X`` (n_samples x n_features) and ``components`` (n_components x n_features, unit rows), the truth.

    Examples
    --------
    >>> from sparing.datasets import make_spiked
    >>> make_spiked(50, 20, random_state=0).X.shape
    (50, 20)
    """
    counts = {"n_samples": n_samples, "n_features": n_features, "n_components": n_components, "n_nonzero": n_nonzero}
    for name, value in counts.items():
        if type(value) is bool or not hasattr(value, "__index__"):
            raise errors.not_an_integer(name, value)
        if value < 1:
            raise errors.not_positive(name, value)
    if n_components * n_nonzero > n_features:
        raise errors.more_than_there_are("n_nonzero", n_nonzero, n_features // n_components, "features per component")
    if not spike > 0:
        raise ValueError(f"spike={spike!r} must be a positive number: it is the variance added along a component.")
    rng = np.random.default_rng(random_state)
    components = np.zeros((n_components, n_features))
    places = rng.permutation(n_features)[: n_components * n_nonzero].reshape(n_components, n_nonzero)
    for row, features in zip(components, places, strict=True):
        row[features] = rng.choice([-1.0, 1.0], n_nonzero) / np.sqrt(n_nonzero)
    strength = np.sqrt(spike * 0.8 ** np.arange(n_components))
    X = (rng.standard_normal((n_samples, n_components)) * strength) @ components
    return Bunch(X=X + rng.standard_normal((n_samples, n_features)), components=components)


def make_hidden_direction(
    n_samples: int = 200,
    n_features: int = 1000,
    *,
    n_nonzero: int = 20,
    strength: float = 0.8,
    noise: float = 1e-3,
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """A strong direction that needs all of its features, and a weaker one on a few other features.

    The dense direction has a sum of squares of 1, in equal parts from every feature except those of the sparse one. The
    leading eigenvector is the dense direction, and its largest entries are uninformative: ``n_nonzero`` of its features
    keep almost none of its variance, while the sparse direction keeps all of its own.

    Parameters
    ----------
    n_samples, n_features : int
    n_nonzero : int
        Features of the sparse direction.
    strength : float
        Sum of squares along the sparse direction.
    noise : float
        Standard deviation of the noise; 0 for none.
    random_state : int, Generator or None

    Returns
    -------
    Bunch
        ``X`` (n_samples x n_features) and ``components`` (2 x n_features, unit rows): the dense direction, then the
        sparse one. Both have mean zero over the samples, so centring changes only the noise.

    Examples
    --------
    >>> from sparing.datasets import make_hidden_direction
    >>> (make_hidden_direction(random_state=0).components != 0).sum(axis=1)
    array([980,  20])
    """
    counts = {"n_samples": (n_samples, 3), "n_features": (n_features, 2), "n_nonzero": (n_nonzero, 1)}
    for name, (value, least) in counts.items():
        if type(value) is bool or not hasattr(value, "__index__"):
            raise errors.not_an_integer(name, value)
        if value < least:
            raise ValueError(f"{name}={value!r} must be at least {least}.")
    if n_nonzero >= n_features:
        raise errors.more_than_there_are(
            "n_nonzero", n_nonzero, n_features - 1, "features beside one for the dense direction"
        )
    if not (isinstance(strength, (int, float, np.number)) and 0 < strength < np.inf):
        raise errors.not_a_positive_number("strength", strength)
    if not (isinstance(noise, (int, float, np.number)) and 0 <= noise < np.inf):
        raise errors.not_a_nonnegative_number("noise", noise)
    rng = np.random.default_rng(random_state)
    sparse = np.zeros(n_features, dtype=bool)
    sparse[rng.permutation(n_features)[:n_nonzero]] = True
    signs = rng.choice([-1.0, 1.0], n_features)
    components = np.array([np.where(~sparse, signs, 0.0), np.where(sparse, signs, 0.0)])
    components /= np.linalg.norm(components, axis=1, keepdims=True)
    scores = rng.standard_normal((n_samples, 2))
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0] * np.sqrt([1.0, strength])
    return Bunch(X=scores @ components + noise * rng.standard_normal((n_samples, n_features)), components=components)


def make_hard_columns(n_components: int = 1, n_columns: int = 50, alpha: float = 0.1) -> Array:
    """The matrix behind the lower bound on sparsity [magdonismail2015, Theorem 9].

    Its features come in ``n_components`` groups of ``n_columns``, each on separate samples: feature i of a group is
    e_1 + alpha e_{i+1}. All features of a group share a direction, but each carries noise that only the others can
    average out. With k = n_components, encoders with k components that read r features in total lose at least
    1 + k/r - delta times what PCA loses, where delta vanishes as ``n_columns`` grows and ``alpha`` falls.

    Parameters
    ----------
    n_components : int
        Number of groups.
    n_columns : int
        Features in each group.
    alpha : float
        Size of the individual part of each feature.

    Returns
    -------
    ndarray of shape (n_components * (n_columns + 1), n_components * n_columns)
        Use it with ``center=False``.

    Notes
    -----
    For one group of m features, projection on the span of any r of them leaves (m - r)/(m - 1) (1 + 1/(r + alpha^2))
    times PCA's loss; the best single component that reads them loses 1 + (m - r)/(m - 1)/(r + alpha^2) times as much.

    Examples
    --------
    >>> from sparing.datasets import make_hard_columns
    >>> make_hard_columns(1, 3, alpha=0.5)
    array([[1. , 1. , 1. ],
           [0.5, 0. , 0. ],
           [0. , 0.5, 0. ],
           [0. , 0. , 0.5]])
    """
    for name, value in {"n_components": n_components, "n_columns": n_columns}.items():
        if type(value) is bool or not hasattr(value, "__index__"):
            raise errors.not_an_integer(name, value)
        if value < 1:
            raise errors.not_positive(name, value)
    if not (isinstance(alpha, (int, float, np.number)) and 0 < alpha < np.inf):
        raise errors.not_a_positive_number("alpha", alpha)
    group = np.vstack([np.ones(n_columns), alpha * np.eye(n_columns)])
    return np.asarray(np.kron(np.eye(n_components), group), dtype=np.float64)


def make_rotated_hadamard(
    n_samples: int = 128,
    n_features: int = 4096,
    *,
    angle: float = 0.27 * np.pi,
    noise: float = 1e-3,
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """One strong direction of three levels, with others far below it [fountoulakis2016, Appendix A.1].

    X = U S V' + noise. U is a Hadamard matrix, V another one whose last n_features / 2 rows are rotated in pairs, both
    with normalised columns; S is 100, then exp(-i) for i = 2, 3, ... The leading direction has half of its entries of
    size 1, a quarter near 1.41 and a quarter near 0.09, each times n_features ** -0.5.

    Parameters
    ----------
    n_samples, n_features : int
        Powers of two, at least 1 and 4, at most as many samples as features.
    angle : float
        Angle of the rotation; near pi / 4 one entry of each pair almost vanishes.
    noise : float
        Standard deviation of the noise; 0 for none.
    random_state : int, Generator or None

    Returns
    -------
    Bunch
        ``X`` (n_samples x n_features) and ``components`` (n_samples x n_features, orthonormal rows), the first columns
        of V. Use X with ``center=False``: the first column of U is constant, so centring removes the leading direction.

    Notes
    -----
    The paper shows the largest entries of the leading eigenvector v to be a bad choice here (its Figure 1a). With the
    generator as described they are not. On any set of features A has at most lambda_1 times v's share of that set plus
    lambda_2, and at least the former; v's share is largest for its largest entries. So nothing can gain more than
    lambda_2 over ``max_component``, and lambda_2 is 2.2e-6 of lambda_1 for the paper's sizes. Measured gains are below
    1e-9. ``make_hidden_direction`` shows the effect of the figure.

    Examples
    --------
    >>> from sparing.datasets import make_rotated_hadamard
    >>> make_rotated_hadamard(4, 8, random_state=0).X.shape
    (4, 8)
    """
    for name, value, least in (("n_samples", n_samples, 1), ("n_features", n_features, 4)):
        if type(value) is bool or not hasattr(value, "__index__"):
            raise errors.not_an_integer(name, value)
        if value < least or value & (value - 1):
            raise ValueError(f"{name}={value!r} must be a power of two of at least {least}, such as {max(least, 128)}.")
    if n_samples > n_features:
        raise errors.more_than_there_are("n_samples", n_samples, n_features, "features")
    for name, size in {"angle": angle, "noise": noise}.items():
        if not (isinstance(size, (int, float, np.number)) and 0 <= size < np.inf):
            raise errors.not_a_nonnegative_number(name, size)
    V = _hadamard(n_features, n_samples)
    first, second = V[n_features // 2 :: 2].copy(), V[n_features // 2 + 1 :: 2].copy()
    V[n_features // 2 :: 2] = np.cos(angle) * first - np.sin(angle) * second
    V[n_features // 2 + 1 :: 2] = np.sin(angle) * first + np.cos(angle) * second
    strength = np.exp(-np.arange(1.0, n_samples + 1))
    strength[0] = 100.0
    rng = np.random.default_rng(random_state)
    X = (_hadamard(n_samples, n_samples) * strength) @ V.T
    return Bunch(X=X + noise * rng.standard_normal(X.shape), components=V.T)


def _hadamard(size: int, n_columns: int) -> Array:
    """The first columns of Sylvester's matrix, of unit norm: entry (i, j) has the sign of the parity of i & j."""
    common = np.bitwise_count(np.arange(size)[:, None] & np.arange(n_columns))
    return np.asarray(np.where(common % 2 == 0, 1.0, -1.0) / np.sqrt(size))
