"""Data with a known sparse truth."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Bunch

from sparing import errors


def make_spiked(
    n_samples: int = 200,
    n_features: int = 100,
    *,
    n_components: int = 2,
    n_nonzero: int = 5,
    spike: float = 5.0,
    random_state: int | np.random.Generator | None = None,
) -> Any:
    """Noise of unit variance plus a few directions of larger variance, each on a few features of its own.

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
