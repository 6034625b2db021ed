"""Block Krylov iteration: the top of a symmetric operator from few products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparing.results import Array

OVERSAMPLING = 3
MIN_BLOCKS = 5
"""Blocks before the first stop. A weak direction hardly meets a random start: its residual looks small while its
eigenvalue is missed altogether. With five blocks the error was covered in thousands of cases made to fool it."""

MAX_BLOCKS = 16
MAX_RESTARTS = 8


@dataclass(frozen=True)
class RitzPairs:
    """Approximate top eigenvectors (columns), their values from below, and the norms of their residuals.

    ``next_value`` is an upper estimate of the first eigenvalue that is not among them.
    """

    vectors: Array
    values: Array
    residuals: Array
    next_value: float


def value_error(values: Array, residuals: Array, next_value: float) -> float:
    """How much the sum of Ritz values may fall short of the sum of the eigenvalues.

    Kato and Temple: rho^2 / (theta - lambda_next) for each, where the gap is known; rho where that is smaller or the
    gap is not. Rests on an iteration that converged, so its strength is numerical.
    """
    gap = np.maximum(values - next_value, 0.0)
    quadratic = np.divide(residuals**2, gap, out=np.full_like(residuals, np.inf), where=gap > 0)
    return float(np.minimum(quadratic, residuals).sum())


def block_krylov(
    apply: Callable[[Array], Array],
    size: int,
    rank: int,
    total: float,
    rng: np.random.Generator,
    *,
    tolerance: float,
) -> RitzPairs:
    """Top ``rank`` eigenpairs of a positive semidefinite operator of dimension ``size`` and trace ``total``.

    Block Lanczos with full reorthogonalisation (blocks of rank + 3, at most 16 before a restart from the best Ritz
    vectors), stopped when the error of the tail, total - sum of values, is below ``tolerance`` of the tail itself.
    """
    block = min(rank + OVERSAMPLING, size)
    start = np.linalg.qr(rng.standard_normal((size, block)))[0]
    rounding = 1e-13 * total
    for restart in range(MAX_RESTARTS):
        basis = np.empty((size, 0), order="F")
        projected = np.zeros((0, 0))
        for depth in range(1, min(MAX_BLOCKS, max(size // block, 1)) + 1):
            basis = np.concatenate([basis, start], axis=1)
            image = apply(start)
            coupling = basis.T @ image
            image -= basis @ coupling
            correction = basis.T @ image
            image -= basis @ correction
            projected = _bordered(projected, coupling + correction, block)
            start, rest = _orthonormal_outside(image, basis)
            values, turn = np.linalg.eigh(projected)
            values, turn = values[::-1], turn[:, ::-1]
            residuals = np.linalg.norm(rest @ turn[-block:], axis=0)
            wanted = min(rank, len(values))
            following = float(values[wanted] + residuals[wanted]) if wanted < len(values) else 0.0
            error = value_error(values[:wanted], residuals[:wanted], following)
            tail = max(total - float(values[:wanted].sum()), 0.0)
            settled = restart > 0 or depth >= MIN_BLOCKS or float(np.abs(rest).max()) <= rounding
            if settled and error <= max(tolerance * tail, rounding):
                return RitzPairs(basis @ turn[:, :wanted], values[:wanted], residuals[:wanted], following)
        start = np.linalg.qr(basis @ turn[:, :block])[0]
    return RitzPairs(basis @ turn[:, :wanted], values[:wanted], residuals[:wanted], following)


def _bordered(projected: Array, coupling: Array, block: int) -> Array:
    """The projected operator with one more block of rows and columns."""
    old = len(projected)
    grown = np.zeros((old + block, old + block))
    grown[:old, :old] = projected
    grown[:, old:] = coupling
    grown[old:, :old] = coupling[:old].T
    grown[old:, old:] = (coupling[old:] + coupling[old:].T) / 2
    return grown


def _orthonormal_outside(image: Array, basis: Array) -> tuple[Array, Array]:
    """QR of what the basis has not explained; directions made of rounding are cleaned once more."""
    q, r = np.linalg.qr(image)
    pivots = np.abs(np.diagonal(r))
    if pivots.min() <= 1e-8 * max(pivots.max(), np.finfo(float).tiny):
        q = np.linalg.qr(q - basis @ (basis.T @ q))[0]
    return q, r
