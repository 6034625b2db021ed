"""Information loss and explained variance of linear encoders."""

from __future__ import annotations

import numpy as np

from sparing.gram import DataMatrix
from sparing.results import Array

REPEATED = 1e-12
"""Scores count as repeated if their squared distance from earlier scores is below this share of their square."""

PRODUCT_ROUNDING = 32 * float(np.finfo(float).eps)

TINY_LOSS = 1e-8
"""A loss below this share of the total is computed from residuals, because a difference would lose its digits."""

DOUBTFUL = 1e-4
"""Squares of scores below this share of their possible maximum have lost digits as entries of H'AH."""

RESIDUAL_ENTRIES = 2**28
REBUILT_ENTRIES = 2**20


def additional_variance(view: DataMatrix, components: Array) -> Array:
    """Variance that each component explains in addition to those before it, for any k x d components.

    Scores are orthogonalised in the order given: with orthonormal scores Q the part of X in their span has squared norm
    ||X'Q||^2. In Gram coordinates this needs one product with A. Scores that nearly cancel or nearly repeat one another
    would lose their digits there and are computed explicitly. A component that repeats earlier ones adds 0.
    """
    H = components.T / np.linalg.norm(components, axis=1)
    return _orthogonalised(view, H)[0]


def _orthogonalised(view: DataMatrix, H: Array) -> tuple[Array, Array]:
    """Additional variances, and combinations of the directions with orthonormal scores."""
    images = view.gram_matmat(H)
    sizes = np.sqrt(np.maximum(view.gram_diagonal(), 0.0)) @ np.abs(H)  # maximum norms of scores, without cancellation
    inside = (H.T @ images + images.T @ H) / 2
    rotation, left = _orthonormalising(inside, PRODUCT_ROUNDING * np.square(sizes))
    if (left < DOUBTFUL * np.square(sizes)).any():
        if view.origin.has_rows:
            return _by_scores(view.origin, H, sizes)
        lifted = inside + np.diag(
            len(inside) * PRODUCT_ROUNDING * np.square(sizes)
        )  # not below H'AH: no loss is understated
        rotation, _ = _orthonormalising(lifted, PRODUCT_ROUNDING * np.square(sizes))
    return np.square(images @ rotation).sum(axis=0), H @ rotation


def _orthonormalising(gram: Array, nothing: Array) -> tuple[Array, Array]:
    """Combinations (columns) that orthonormalise vectors with this Gram matrix in order, and the remaining length of
    each.

    The column of a vector that is zero or repeats those before it is zero.
    """
    rotation, left = np.zeros_like(gram), np.zeros(len(gram))
    for j in range(len(gram)):
        combination = np.eye(len(gram))[:, j]
        for _ in range(2):  # two rounds are enough
            combination -= rotation @ (rotation.T @ (gram @ combination))
        left[j] = float(combination @ gram @ combination)
        if gram[j, j] > nothing[j] and left[j] > REPEATED * gram[j, j]:
            rotation[:, j] = combination / np.sqrt(left[j])
    return rotation, left


def _by_scores(view: DataMatrix, H: Array, sizes: Array) -> tuple[Array, Array]:
    """The same from the scores themselves, with two more products with X, rounded conservatively."""
    scores = view.matmat(H)
    error = PRODUCT_ROUNDING * sizes + 32 * (view.rounding_errors @ np.abs(H)) / max(view.n_samples or 1, 1)
    rotation, Q = np.zeros((H.shape[1], H.shape[1])), np.zeros_like(scores)
    for j in range(H.shape[1]):
        rest, combination = scores[:, j].copy(), np.eye(H.shape[1])[:, j]
        for _ in range(2):
            overlap = Q.T @ rest
            rest -= Q @ overlap
            combination -= rotation @ overlap
        left = float(np.linalg.norm(rest))
        if left > max(error[j], np.sqrt(REPEATED) * float(np.linalg.norm(scores[:, j]))):
            Q[:, j], rotation[:, j] = rest / left, combination / left
    off = np.sqrt(view.total) * (error @ np.abs(rotation))  # how far rounding errors may have rotated each of them
    reached = np.linalg.norm(view.rmatmat(Q), axis=0)
    return np.square(np.maximum(reached - off, 0.0)), H @ rotation


def information_loss_of(view: DataMatrix, components: Array) -> float:
    """The smallest ||X - X H G||^2 over decoders G for any k x d components H' [magdonismail2015, Definition 1]."""
    H = components.T / np.linalg.norm(components, axis=1)
    added, directions = _orthogonalised(view, H)
    total, n = view.total, view.n_samples or 0
    loss = max(total - float(added.sum()), 0.0)
    if loss >= TINY_LOSS * total or not view.has_rows or n * view.n_features > RESIDUAL_ENTRIES:
        return loss
    scores = np.linalg.qr(view.matmat(directions[:, directions.any(axis=0)]))[0]
    loss, width = 0.0, max(1, REBUILT_ENTRIES // n)
    for first in range(0, view.n_features, width):
        strip = view.columns(np.arange(first, min(first + width, view.n_features)))
        loss += float(np.square(strip - scores @ (scores.T @ strip)).sum())
    return loss
