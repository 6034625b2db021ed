"""Information loss and explained variance of linear encoders."""

from __future__ import annotations

import numpy as np

from sparing.gram import DataMatrix
from sparing.results import Array

REPEATED = 1e-12
"""Scores whose squared distance from earlier scores is below this share of their own square repeat them."""

PRODUCT_ROUNDING = 32 * float(np.finfo(float).eps)

TINY_LOSS = 1e-8
"""Below this share of the total the loss is computed from residuals: a difference would have lost its digits."""

DOUBTFUL = 1e-4
"""Squares of scores below this share of what their features could add up to have lost digits as entries of H'AH."""

RESIDUAL_ENTRIES = 2**28
REBUILT_ENTRIES = 2**20


def additional_variance(view: DataMatrix, components: Array) -> Array:
    """What each component adds to what those before it explain, for any k x d components.

    Scores are orthogonalised in the order given: with orthonormal scores Q the part of X in their span has squared norm
    ||X'Q||^2. One product with A is all it takes, in Gram coordinates; scores that nearly cancel or nearly repeat one
    another would lose their digits there, and are looked at themselves. A component that repeats earlier ones adds 0.
    """
    H = components.T / np.linalg.norm(components, axis=1)
    return _orthogonalised(view, H)[0]


def _orthogonalised(view: DataMatrix, H: Array) -> tuple[Array, Array]:
    """Additional variances, and combinations of the directions with orthonormal scores."""
    images = view.gram_matmat(H)
    sizes = np.sqrt(np.maximum(view.gram_diagonal(), 0.0)) @ np.abs(H)  # of scores whose features do not cancel
    inside = (H.T @ images + images.T @ H) / 2
    rotation, left = _orthonormalising(inside, PRODUCT_ROUNDING * np.square(sizes))
    if (left < DOUBTFUL * np.square(sizes)).any():
        if view.origin.has_rows:
            return _by_scores(view.origin, H, sizes)
        lifted = inside + np.diag(
            len(inside) * PRODUCT_ROUNDING * np.square(sizes)
        )  # above H'AH: no loss is understated
        rotation, _ = _orthonormalising(lifted, PRODUCT_ROUNDING * np.square(sizes))
    return np.square(images @ rotation).sum(axis=0), H @ rotation


def _orthonormalising(gram: Array, nothing: Array) -> tuple[Array, Array]:
    """Combinations (columns) that make vectors of this Gram matrix orthonormal in their order, and what each has left.

    Of a vector that is nothing, or repeats those before it, the column is zero.
    """
    rotation, left = np.zeros_like(gram), np.zeros(len(gram))
    for j in range(len(gram)):
        combination = np.eye(len(gram))[:, j]
        for _ in range(2):  # twice is enough
            combination -= rotation @ (rotation.T @ (gram @ combination))
        left[j] = float(combination @ gram @ combination)
        if gram[j, j] > nothing[j] and left[j] > REPEATED * gram[j, j]:
            rotation[:, j] = combination / np.sqrt(left[j])
    return rotation, left


def _by_scores(view: DataMatrix, H: Array, sizes: Array) -> tuple[Array, Array]:
    """The same from the scores themselves, in two more products with X, and rounded against us."""
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
    off = np.sqrt(view.total) * (error @ np.abs(rotation))  # how far rounding may have turned each of them
    reached = np.linalg.norm(view.rmatmat(Q), axis=0)
    return np.square(np.maximum(reached - off, 0.0)), H @ rotation


def information_loss_of(view: DataMatrix, components: Array) -> float:
    """The least ||X - X H G||^2 over decoders G for any k x d components H' [magdonismail2015, Definition 1]."""
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
