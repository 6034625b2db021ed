"""A few leading components searched on the sphere, everything else at its worst.

x'Ax <= lambda_max(A - VV') + max |V'x|^2 for every V with few columns.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.rounding import EPS, rounded_up
from sparing.proof.sphere.branch_and_bound import highest
from sparing.proof_limits import LIMITS
from sparing.results import Array, Problem
from sparing.run import Budget


class SphereSearch(NamedTuple):
    """Settings of the search: number of leading components, accuracy, number of cells.

    With ``shifted`` each component counts with its eigenvalue less the first one that is left out.
    """

    rank: int
    accuracy: float
    max_cells: int
    shifted: bool = True


class Searched(NamedTuple):
    """An upper bound on x'Ax, the best direction of the surrogate (d entries, any norm), and the number of cells
    searched."""

    bound: float
    direction: Array
    cells: int


def decomposable(view: DataMatrix) -> bool:
    """Are features or rows few enough?"""
    wide = view.has_rows and view.n_samples is not None and view.n_samples <= LIMITS.decomposed_rows
    return view.n_features <= LIMITS.decomposed_features or wide


def search_surrogate(
    view: DataMatrix,
    n_nonzero: int,
    effort: SphereSearch,
    *,
    nonnegative: bool,
    budget: Budget,
    max_gram: int = LIMITS.decomposed_features,
) -> Searched:
    """The bound of a surrogate of low rank, for unit x with at most ``n_nonzero`` nonzeros, or nonnegative ones."""
    split = _split if view.n_features <= max_gram else _split_by_rows
    V, rest = split(view, effort.rank, effort.shifted)
    if V.shape[1] == 0:
        return Searched(rounded_up(rest, view), np.zeros(view.n_features), 0)
    found = highest(
        V,
        n_nonzero,
        tolerance=effort.accuracy,
        max_cells=effort.max_cells,
        budget=budget,
        nonnegative=nonnegative,
    )
    return Searched(rounded_up(rest + found.bound, view), V @ found.direction, found.cells)


def searched_again(view: DataMatrix, problem: Problem, witness: Any) -> float:
    """The search, run again from the data with the same number of cells."""
    search, sign = SphereSearch(*witness), problem.nonnegative
    return search_surrogate(view, problem.n_nonzero, search, nonnegative=sign, budget=Budget()).bound


def _split(view: DataMatrix, rank: int, shifted: bool) -> tuple[Array, float]:
    """V, and an upper bound on A - VV' along any direction; a single ``eigvalsh`` proves it, whatever V is."""
    A = view.gram()
    d = len(A)
    values, vectors = top_eigenpairs(A, min(rank + 1, d))
    excess = values[:-1] - (values[-1] if shifted else 0.0)
    kept = excess > d * EPS * float(np.abs(values).max())  # ties are not worth a dimension
    V = vectors[:, :-1][:, kept] * np.sqrt(excess[kept])
    others = np.linalg.eigvalsh(A - V @ V.T)
    scale = float(np.abs(others).max() + np.abs(A).max() + excess.max(initial=0.0))
    return V, float(others[-1]) + 8 * d * EPS * scale


def _split_by_rows(view: DataMatrix, rank: int, shifted: bool) -> tuple[Array, float]:
    """The same where rows are few, from XX' = K alone.

    With T = I - U(I - E)U' for orthonormal U: T^2 = I - U(I - E^2)U', so A - VV' = X'T^2 X for V = X'U(I - E^2)^1/2,
    whose eigenvalues are those of TKT. E^2 = lambda_(m+1) / lambda_i makes V the one that is wanted, E = 0 the plain
    one.
    """
    K = view.row_gram()
    n = len(K)
    values, vectors = top_eigenpairs(K, min(rank + 1, n))
    first_left, top = max(float(values[rank]), 0.0) if rank < n else 0.0, max(float(values[0]), 0.0)
    kept = (values > first_left + n * EPS * top) & (np.arange(len(values)) < rank)
    U, share = vectors[:, kept], (first_left if shifted else 0.0) / values[kept]
    taken = U * (1 - np.sqrt(share))
    half = K - taken @ (U.T @ K)
    others = np.linalg.eigvalsh(half - (half @ U) @ taken.T)
    V = view.rmatmat(U * np.sqrt(1 - share))
    # LAPACK's error and U's, then that of K and of V as sums of products
    rounding = 8 * EPS * (2 * n * top + np.sqrt(view.n_features) * view.total)
    return V, float(others[-1]) + rounding
