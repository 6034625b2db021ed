"""Data whose best sparse direction is not to be seen in the leading eigenvector."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from sparing import errors


def make_hidden_direction(
    n_samples: int = 200,
    n_features: int = 1000,
    *,
    n_nonzero: int = 20,
    strength: float = 0.8,
    noise: float = 1e-3,
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """A strong direction that needs all of its features, beside a weaker one on a few features of its own.

    The dense direction has a sum of squares of 1, in equal parts from every feature but those of the sparse one. The
    leading eigenvector is the dense direction, and its largest entries say nothing: on ``n_nonzero`` of its features
    next to nothing of it is left, while the sparse direction keeps all of its own.

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
        sparse one. Both have mean zero over the samples, so that centring changes nothing but noise.

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
