"""Eigendecompositions: principal components of a view, leading eigenpairs of small symmetric matrices."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import linalg

from sparing import errors
from sparing.gram import GRAM_LIMIT, DataMatrix
from sparing.linalg.krylov import block_krylov, cholesky_factor
from sparing.linalg.rounding import EPS, orientations
from sparing.results import Array, Spectrum

TAIL_TOLERANCE = 1e-4
"""The iteration stops when its error is below this share of PCA's loss; the error is subtracted afterwards."""


def top_spectrum(
    view: DataMatrix, rank: int, rng: np.random.Generator, *, tolerance: float = TAIL_TOLERANCE
) -> Spectrum:
    """Top eigenpairs of A = X'X, and PCA's loss with its error.

    Uses LAPACK on the smaller Gram matrix if that is small relative to ``rank``, otherwise block Krylov on the smaller
    side. The choice depends on sizes only, never on the storage.
    """
    if (shifted := _from_signal(view, rank, rng, tolerance)) is not None:
        return shifted
    n, d = view.n_samples, view.n_features
    rank = min(rank, d if n is None else min(n, d))
    tall = n is None or d <= n
    if _fits_lapack(view, rank):
        return _from_gram(view, rank) if tall else _from_row_gram(view, rank)
    return _from_products(view, rank, rng, tolerance, by_rows=not tall and view.has_rows)


def _from_signal(view: DataMatrix, rank: int, rng: np.random.Generator, tolerance: float) -> Spectrum | None:
    """The components without noise, if it is the same for all features and their number is the same; otherwise None."""
    if not _has_uniform_noise(view):
        return None
    signal = top_spectrum(view.signal, rank, rng, tolerance=tolerance)
    if signal.rank < min(rank, view.n_features):
        return None  # further components are only noise
    return with_uniform_noise(signal, view)


def with_uniform_noise(signal: Spectrum, view: DataMatrix) -> Spectrum:
    """Shift the spectrum of the data: equal noise on all features adds the same number to all eigenvalues."""
    assert view.noise is not None
    each = float(view.noise[0])
    error = signal.tail_error + 8 * EPS * np.sqrt(view.n_features) * view.total
    tail, cross = signal.tail + (view.n_features - signal.rank) * each, signal.cross + each * signal.basis
    return Spectrum(signal.basis, signal.values + each, cross, view.total, tail, error, signal.exact)


def _has_uniform_noise(view: DataMatrix) -> bool:
    return view.noise is not None and float(np.ptp(view.noise)) == 0.0


def is_solved_densely(view: DataMatrix, rank: int) -> bool:
    """Whether LAPACK computes the top eigenpairs, with rounding errors only."""
    return _fits_lapack(view.signal if _has_uniform_noise(view) else view, rank)


def _fits_lapack(view: DataMatrix, rank: int) -> bool:
    """Whether the smaller Gram matrix is small relative to ``rank``."""
    n, d = view.n_samples, view.n_features
    if n is None or d <= n:
        return d <= min(64 * (rank + 2), GRAM_LIMIT)
    return view.has_rows and n <= 32 * (rank + 4)


def _from_gram(view: DataMatrix, rank: int) -> Spectrum:
    gram = view.gram()
    return _exact(view, gram, *_top_of(gram, rank))


def _from_row_gram(view: DataMatrix, rank: int) -> Spectrum:
    gram = view.row_gram()
    values, left = _top_of(gram, rank)
    return _exact(view, gram, values, view.rmatmat(left) / np.sqrt(values))


def _top_of(gram: Array, rank: int) -> tuple[Array, Array]:
    """Largest eigenpairs in descending order, without those at the level of rounding errors."""
    size = len(gram)
    values, vectors = top_eigenpairs(gram, rank)
    keep = values > max(size * EPS * values[0], 0.0)
    return values[keep], vectors[:, keep]


def _exact(view: DataMatrix, gram: Array, values: Array, basis: Array) -> Spectrum:
    """A spectrum with rounding errors only."""
    basis = basis * orientations(basis) if len(values) else basis
    total, size = view.total, len(gram)
    tail = total - float(values.sum())
    if tail < 1e-6 * total:  # the difference has lost its digits: add up the remaining eigenvalues
        everything = np.linalg.eigvalsh(gram)
        tail = float(np.maximum(everything[: size - len(values)], 0.0).sum())
    top = float(values[0]) if len(values) else 0.0
    error = 8 * EPS * (len(values) * size * top + np.sqrt(view.n_features) * total)
    error += 8 * len(values) * np.sqrt(top) * view.rounding_error
    return Spectrum(basis, values, basis * values, total, max(tail, 0.0), error, exact=True)


def _from_products(
    view: DataMatrix, rank: int, rng: np.random.Generator, tolerance: float, *, by_rows: bool
) -> Spectrum:
    n, d, total = view.n_samples, view.n_features, view.total
    if by_rows:
        assert n is not None
        pairs = block_krylov(lambda U: view.matmat(view.rmatmat(U)), n, rank, total, rng, tolerance=tolerance)
        keep = pairs.values > n * EPS * pairs.values[0]
        both = np.concatenate([pairs.vectors[:, keep], pairs.images[:, keep]], axis=1)
        basis, cross = np.hsplit(view.rmatmat(both / np.sqrt(np.tile(pairs.values[keep], 2))), 2)
    else:
        pairs = block_krylov(view.gram_matmat, d, rank, total, rng, tolerance=tolerance)
        keep = pairs.values > d * EPS * pairs.values[0]
        basis, cross = pairs.vectors[:, keep], pairs.images[:, keep]
    values, rotation = _ritz(basis, cross)
    basis, cross = basis @ rotation, cross @ rotation
    signs = orientations(basis)
    rounding = 8 * EPS * (len(values) + np.sqrt(d)) * total
    rounding += 8 * len(values) * float(np.sqrt(max(values[0], 0.0))) * view.rounding_error
    tail = max(total - float(values.sum()), 0.0)
    gained = float(values.sum() - pairs.values.sum())  # half a step of the power method, from the change of sides
    error = max(pairs.error - gained, 0.0) + rounding
    if error - rounding > max(10 * tolerance * tail, 1e-11 * total):
        message = (
            f"The principal components converged only to {error / tail:.1e} of PCA's loss; the loss ratio is "
            "overstated by at most that much. The spectrum is nearly flat there: another n_components may separate it."
        )
        warnings.warn(message, errors.SparingWarning, stacklevel=2)
    return Spectrum(basis * signs, values, cross * signs, total, tail, error, exact=False)


def _ritz(basis: Array, images: Array) -> tuple[Array, Array]:
    """Ritz values of directions that are orthonormal up to rounding, in descending order, and their rotation.

    Directions with values near rounding errors may be far from orthonormal; then their QR gives their span.
    """
    factor = cholesky_factor(basis)
    R = np.linalg.qr(basis)[1] if factor is None else factor
    half = linalg.solve_triangular(R, basis.T @ images, trans="T", check_finite=False)
    small = linalg.solve_triangular(R, half.T, trans="T", check_finite=False)
    values, vectors = np.linalg.eigh((small + small.T) / 2)
    return values[::-1], linalg.solve_triangular(R, vectors[:, ::-1], check_finite=False)


SUBSET_PAYS = 100
"""From this size on, computing a subset of eigenvectors is faster than computing all."""


def top_eigenpairs(matrix: Array, rank: int) -> tuple[Array, Array]:
    """The ``rank`` largest eigenvalues in descending order, and their eigenvectors as columns.

    LAPACK's drivers for a subset return too few values on some matrices that split into blocks (for example
    [[.75, 0, -.75], [0, 2, 0], [-.75, 0, .75]] for the largest): all are computed then.
    """
    size = len(matrix)
    if size >= SUBSET_PAYS and rank < size / 2:
        try:
            values, vectors = linalg.eigh(matrix, subset_by_index=[size - rank, size - 1], check_finite=False)
            if len(values) == rank:
                return values[::-1], vectors[:, ::-1]
        except np.linalg.LinAlgError:
            pass  # "Internal Error": the same drivers give up on other matrices
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:rank], vectors[:, ::-1][:, :rank]
