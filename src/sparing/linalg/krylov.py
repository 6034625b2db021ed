"""Krylov and Ritz methods: the leading eigenpairs of a symmetric operator from few products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.rounding import EPS, orientations
from sparing.results import Array, Spectrum

EXTRA_COLUMNS, WIDTH, NARROWEST_BLOCK = 2, 4, 8
"""Minimum number of columns of a block beyond the rank. Products with a multiple of four columns cost hardly more than
with fewer, and with eight hardly more than with four."""

MIN_BLOCKS = 5
"""Number of blocks before the first stopping test. A random start has almost no part in a weak direction, so its
residual looks small while its eigenvalue is missed. With five blocks the error bound held in thousands of adversarial
cases."""

MAX_BLOCKS, MAX_RESTARTS = 16, 8
"""Maximum number of blocks before a restart, and of restarts."""


@dataclass(frozen=True)
class RitzPairs:
    """Approximate top eigenvectors (columns), their images, lower bounds of their values, and the total error."""

    vectors: Array
    images: Array
    values: Array
    error: float


def value_error(values: Array, residuals: Array, rank: int) -> float:
    """Bound on the difference between the sum of the ``rank`` largest eigenvalues and that of the Ritz values.

    Kato and Temple: rho^2 / (theta - lambda_next) for each value with a known gap; rho if that is smaller or the gap is
    unknown. Every Ritz value is too small, so the error of a longer sum also bounds that of the shorter one; the sum
    that ends at the widest gap is the best. It requires a converged iteration, so its strength is numerical.
    """
    if rank >= len(values):
        return _kato_temple(values, residuals, 0.0)
    ends = range(rank, min(rank + EXTRA_COLUMNS + 1, len(values)))
    return min(_kato_temple(values[:end], residuals[:end], float(values[end] + residuals[end])) for end in ends)


def _kato_temple(values: Array, residuals: Array, next_value: float) -> float:
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
    min_blocks: int = MIN_BLOCKS,
) -> RitzPairs:
    """Top ``rank`` eigenpairs of a positive semidefinite operator of dimension ``size`` and trace ``total``.

    Block Lanczos with full reorthogonalisation (blocks of rank + 2 or a few more, at most 16 before a restart from the
    best Ritz vectors), stopped when the error of the tail, total - sum of values, is below ``tolerance`` of the tail
    itself and ``min_blocks`` have been computed.
    """
    block = max(-(-(rank + EXTRA_COLUMNS) // WIDTH) * WIDTH, NARROWEST_BLOCK)
    block = size if 2 * block > size else block  # no space for a second block: the first is the whole space
    start = np.linalg.qr(rng.standard_normal((size, block)))[0]
    rounding = 1e-13 * total
    for restart in range(MAX_RESTARTS):
        most = min(MAX_BLOCKS, max(size // block, 1))
        space = np.empty((size, 0), order="F")
        projected = np.zeros((0, 0))
        for depth in range(1, most + 1):
            if depth * block > space.shape[1]:
                room = np.empty((size, min(depth + min_blocks, most) * block), order="F")
                room[:, : space.shape[1]] = space
                space = room
            space[:, (depth - 1) * block : depth * block] = start
            basis = space[:, : depth * block]
            start, coupling, rest = _split(apply(start), basis)
            projected = _bordered(projected, coupling, block)
            complete = float(np.abs(rest).max()) <= rounding
            if restart == 0 and depth < min(min_blocks, most) and not complete:
                continue
            values, rotation = np.linalg.eigh(projected)
            values, rotation = values[::-1], rotation[:, ::-1]
            leaving = rest @ rotation[-block:]  # A basis = basis projected + start rest: what the basis does not hold
            wanted = min(rank, len(values))
            error = value_error(values, np.linalg.norm(leaving, axis=0), wanted)
            tail = max(total - float(values[:wanted].sum()), 0.0)
            settled = restart > 0 or depth >= min_blocks or complete
            if settled and error <= max(tolerance * tail, rounding):
                return _pairs(basis, rotation, values, start @ leaving[:, :wanted], error)
        if restart + 1 < MAX_RESTARTS:
            start = np.linalg.qr(basis @ rotation[:, :block])[0]
    return _pairs(basis, rotation, values, start @ leaving[:, :wanted], error)


def _pairs(basis: Array, rotation: Array, values: Array, outside: Array, error: float) -> RitzPairs:
    """Leading pairs, one per column of ``outside``, the part of their images outside the basis."""
    wanted = outside.shape[1]
    vectors = basis @ rotation[:, :wanted]
    return RitzPairs(vectors, vectors * values[:wanted] + outside, values[:wanted], error)


def _bordered(projected: Array, coupling: Array, block: int) -> Array:
    """The projected operator with one more block of rows and columns."""
    old = len(projected)
    grown = np.zeros((old + block, old + block))
    grown[:old, :old] = projected
    grown[:, old:] = coupling
    grown[old:, :old] = coupling[:old].T
    grown[old:, old:] = (coupling[old:] + coupling[old:].T) / 2
    return grown


def _split(image: Array, basis: Array) -> tuple[Array, Array, Array]:
    """Orthonormal q with image = basis coupling + q rest.

    Two rounds are enough, and one is not: the loss of orthogonality would grow with every block, by the ratio of the
    image to its new part. Directions that consist of rounding errors are orthogonalised once more.
    """
    coupling = basis.T @ image
    image -= basis @ coupling
    missed = basis.T @ image
    coupling += missed
    image -= basis @ missed
    q, rest = factored(image)
    if np.abs(np.diagonal(rest)).min() <= 1e-8 * max(np.abs(coupling).max(), np.finfo(float).tiny):
        q, again = factored(q - basis @ (basis.T @ q))
        rest = again @ rest
    return q, coupling, rest


VALUE_TIE = 16 * EPS
"""Values with a smaller relative difference keep their order, so that tied components do not change with every
product."""

LOST = 1e-6
"""Remaining length of a unit vector that other directions explain up to rounding errors."""


TOLD_APART = 1e-3
"""Minimum share of a column outside the span of those before it for a Cholesky factorization of the Gram matrix. The
rounding errors, multiplied by the square of the inverse share, are removed by a second factorization."""


def cholesky_factor(columns: Array, lengths: Array | None = None) -> Array | None:
    """R with R'R = columns' columns, or None if some columns nearly depend on others.

    ``lengths`` are the norms of the columns before other directions were projected out, as the reference.
    """
    gram = columns.T @ columns
    if len(columns) <= len(gram) or not np.isfinite(gram).all():
        return None
    try:
        factor = np.asarray(np.linalg.cholesky(gram).T, dtype=np.float64)
    except np.linalg.LinAlgError:
        return None
    outside = np.diagonal(factor) / (np.sqrt(np.diagonal(gram)) if lengths is None else lengths)
    return factor if outside.min(initial=1.0) > TOLD_APART else None


def _divided(columns: Array, factor: Array) -> Array:
    """``columns @ inv(factor)`` for an upper triangular factor."""
    out: Array = linalg.solve_triangular(factor, columns.T, trans="T", check_finite=False).T
    return out


def factored(columns: Array) -> tuple[Array, Array]:
    """QR of long columns: Cholesky QR in two rounds, or Householder QR if columns nearly depend on one another."""
    Q, R = columns, np.eye(columns.shape[1])
    for _ in range(2):
        factor = cholesky_factor(Q)
        if factor is None:
            found = np.linalg.qr(columns)
            return found.Q, found.R
        Q, R = _divided(Q, factor), factor @ R
    return Q, R


def orthonormal(columns: Array) -> Array:
    """An orthonormal basis of the span of long columns."""
    return factored(columns)[0]


class RitzSpace:
    """Rayleigh-Ritz iteration, one product at a time: every pass over the data also multiplies ``wanted``.

    The best directions so far and their residuals span the next space, so no product is wasted and memory does not
    grow.

    Parameters
    ----------
    start : ndarray of shape (d, m)
        Starting directions, more than the components, so that the next eigenvalue is approximated as well.
    """

    def __init__(self, start: Array) -> None:
        self._wanted: Array | None = orthonormal(start)
        self.basis = np.empty((len(start), 0))
        self.images = np.empty((len(start), 0))
        self.values = np.empty(0)
        self._size = self._wanted.shape[1]

    @property
    def wanted(self) -> Array:
        """Orthonormal directions to multiply next, computed on demand."""
        if self._wanted is None:
            rest = self.images - self.basis * self.values
            rest /= np.maximum(np.linalg.norm(rest, axis=0), np.finfo(float).tiny)
            self._wanted = self._outside(rest)
        return self._wanted

    def absorb(self, image: Array) -> None:
        """Use the product of A and ``wanted``: rotate to the best directions and prepare the next ones."""
        basis = np.concatenate([self.basis, self.wanted], axis=1)
        images = np.concatenate([self.images, image], axis=1)
        small = basis.T @ images
        small = (small + small.T) / 2
        later = np.arange(len(small)) * VALUE_TIE * float(np.abs(small).max(initial=0.0))
        rotation = np.linalg.eigh(small - np.diag(later))[1][:, : -self._size - 1 : -1]
        values = np.einsum("ij,ij->j", rotation, small @ rotation)
        self.basis, self.images, self.values = basis @ rotation, images @ rotation, np.maximum(values, 0.0)
        self._wanted = None

    def _outside(self, rest: Array) -> Array:
        """Orthonormal directions outside the basis, at most as many as fit; random ones if the residuals vanish."""
        rng = np.random.default_rng(0)
        for _ in range(2):  # two rounds are enough
            lengths = np.linalg.norm(rest, axis=0)
            rest = rest - self.basis @ (self.basis.T @ rest)
            factor = cholesky_factor(rest, lengths)
            if factor is None:
                break
            rest = _divided(rest, factor)
        else:
            return rest
        for _ in range(3):  # the first round may add random ones
            rest, pivots = np.linalg.qr(rest - self.basis @ (self.basis.T @ rest))
            lost = np.abs(np.diagonal(pivots)) <= LOST
            rest[:, lost] = rng.standard_normal((len(rest), int(lost.sum()))) / np.sqrt(len(rest))
        return rest[:, : len(rest) - self.basis.shape[1]]

    def spectrum(self, view: DataMatrix, rank: int) -> Spectrum:
        """The current leading components, and an upper limit on the error of PCA's loss."""
        total = view.total
        top = float(self.values[0]) if len(self.values) else 0.0
        rank = min(rank, int((self.values > view.n_features * EPS * top).sum()))
        residuals = np.linalg.norm(self.images - self.basis * self.values, axis=0)
        basis, values, images = self.basis[:, :rank], self.values[:rank], self.images[:, :rank]
        rounding = 8 * EPS * (rank + np.sqrt(view.n_features)) * total
        rounding += 8 * rank * float(np.sqrt(top)) * view.rounding_error
        error = value_error(self.values, residuals, rank) + rounding
        signs = orientations(basis)
        tail = max(total - float(values.sum()), 0.0)
        return Spectrum(basis * signs, values, images * signs, total, tail, error, exact=False)
