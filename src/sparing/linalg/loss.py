"""How much of X any linear encoder keeps and loses."""

from __future__ import annotations

from typing import cast

import numpy as np

from sparing.data import DataMatrix
from sparing.results import Array

REPEATED = 1e-12
"""Scores whose squared distance from earlier scores is below this share of their own square repeat them."""

ROUNDING = 32 * float(np.finfo(float).eps)

TINY_LOSS = 1e-8
"""Below this share of the total the loss is computed from residuals: a difference would have lost its digits."""

RESIDUAL_ENTRIES = 2**28
STRIP_ENTRIES = 2**20


def additional_variance(view: DataMatrix, components: Array) -> Array:
    """What each component adds to what those before it explain, for any k x d components.

    Scores are orthogonalised in the order given, in Gram coordinates: with orthonormal scores Q the part of X in their
    span has squared norm ||X'Q||^2. One product with A is all it takes. A component that repeats earlier ones adds 0.
    """
    H = components.T / np.linalg.norm(components, axis=1)
    return _orthogonalised(view, H)[0]


def _orthogonalised(view: DataMatrix, H: Array) -> tuple[Array, Array]:
    """Additional variances, and combinations of the directions with orthonormal scores."""
    images = view.gram_matmat(H)
    nothing = _rounding(view, H)
    added = np.zeros(H.shape[1])
    turned = np.zeros((H.shape[1], 0))  # H @ turned has orthonormal scores
    crosses = np.zeros((len(H), 0))  # X' of those scores
    for j in range(H.shape[1]):
        own = float(H[:, j] @ images[:, j])
        combination = np.eye(H.shape[1])[:, j]
        cross = images[:, j].copy()
        for _ in range(2):  # twice is enough
            overlap = turned.T @ (H.T @ cross)
            combination -= turned @ overlap
            cross -= crosses @ overlap
        left = float(combination @ (H.T @ cross))
        if own <= nothing[j] or left <= REPEATED * own:
            continue
        cross, combination = cross / np.sqrt(left), combination / np.sqrt(left)
        added[j] = float(cross @ cross)
        turned, crosses = np.column_stack([turned, combination]), np.column_stack([crosses, cross])
    return added, H @ turned


def _rounding(view: DataMatrix, H: Array) -> Array:
    """Squares of scores that may be rounding alone, where features cancel: of rows, or of products that are squares.

    Means that are subtracted from products leave their rounding there too.
    """
    sizes = np.sqrt(np.maximum(view.gram_diagonal(), 0.0)) @ np.abs(H)
    if view.has_gram or not view.has_rows:
        return cast(Array, ROUNDING * np.square(sizes))
    return cast(Array, np.square(ROUNDING * sizes + 32 * view.noise / max(view.n_samples or 1, 1)))


def information_loss_of(view: DataMatrix, components: Array) -> float:
    """The least ||X - X H G||^2 over decoders G for any k x d components H' [magdonismail2015, Definition 1]."""
    H = components.T / np.linalg.norm(components, axis=1)
    added, directions = _orthogonalised(view, H)
    total = view.total
    loss = max(total - float(added.sum()), 0.0)
    n = view.n_samples or 0
    if loss >= TINY_LOSS * total or not view.has_rows or n * view.n_features > RESIDUAL_ENTRIES:
        return loss
    scores = np.linalg.qr(view.matmat(directions))[0]
    loss, width = 0.0, max(1, STRIP_ENTRIES // n)
    for first in range(0, view.n_features, width):
        strip = view.columns(np.arange(first, min(first + width, view.n_features)))
        loss += float(np.square(strip - scores @ (scores.T @ strip)).sum())
    return loss
