"""Rotations of loadings toward simple structure."""

from __future__ import annotations

import numpy as np

from sparing.results import Array


def varimax(loadings: Array) -> Array:
    """Kaiser's varimax rotation of the columns of ``loadings``, by fixed-point iteration [kaiser1958, Sec. 3]."""
    d, k = loadings.shape
    rotation = np.eye(k)
    before = 0.0
    for _ in range(50):  # it converges in a few
        turned = loadings @ rotation
        gradient = loadings.T @ (turned**3 - turned * np.square(turned).sum(axis=0) / d)
        U, values, Vt = np.linalg.svd(gradient)
        rotation = U @ Vt
        if values.sum() <= before * (1 + 1e-9):
            break
        before = float(values.sum())
    return loadings @ rotation
