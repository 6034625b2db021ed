"""A few leading components solved exactly, everything else at its worst: the shifted low rank bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix
from sparing.linalg.rounding import EPS, rounded_up
from sparing.linalg.symmetric import top_eigenpairs
from sparing.results import Array, Bound, Reference
from sparing.search.sphere import highest

GRAM_DECOMPOSED = 1000
"""The most features for which A is decomposed (a fifth of a second)."""

ROWS_DECOMPOSED = 2000
"""The most rows for which XX' is decomposed in place of a larger A."""


@dataclass(frozen=True)
class ShiftedLowRank:
    """x'Ax <= lambda_max(A - VV') + max |V'x|^2 for every V with few columns [asteris2014, Sec. 3.2], one component.

    V has the m leading eigenvectors, each times the root of its eigenvalue less the next one, lambda_(m+1): the rest is
    at most lambda_(m+1) then, and the whole never more than lambda_1. The maximum over x with r nonzeros is found, and
    proved, by branch and bound on the unit sphere in m dimensions. It holds for any symmetric A, and for x >= 0 where
    that is asked for.

    Parameters
    ----------
    rank : int
        The number m of eigenvectors. Each one more makes the search about three times as long; with six it ends after
        a few thousand cells on real data, in less time than the decomposition.
    accuracy : float
        The maximum is bounded within this share. A small one costs little, and lets optima of low rank be proved.
    max_cells : int
        Cells of the sphere at most, where a flat spectrum makes all directions alike: a second or so. The bound is that
        of the open cells then; a lower rank may give a better one.

    Notes
    -----
    **Differs from the paper.** Its Sec. 7 adds lambda_(m+1) to the optimum of the low rank matrix as it is, and counts
    that part of x twice that lies in the span of the leading eigenvectors.
    """

    rank: int = 6
    accuracy: float = 1e-7
    max_cells: int = 50_000

    reference: ClassVar = Reference("asteris2014", "Sec. 3.2, rank-d case; shifted")

    def bound(
        self, view: DataMatrix, problem: Any, incumbent: Any, rng: np.random.Generator, *, budget: Budget
    ) -> Bound | None:
        """The bound with the effort it took, for one component and few features or few rows."""
        small = view.n_features <= GRAM_DECOMPOSED
        wide = view.has_rows and view.n_samples is not None and view.n_samples <= ROWS_DECOMPOSED
        if problem.n_components != 1 or not (small or wide):
            return None
        value, cells = _computed(view, problem, self.rank, self.accuracy, self.max_cells, budget)
        witness = (self.rank, self.accuracy, 2 * cells)  # with more cells no bound rises, however ties are broken
        return Bound(value, "the shifted low rank bound", "always", recompute, witness)


def _computed(
    view: DataMatrix, problem: Any, rank: int, accuracy: float, max_cells: int, budget: Budget
) -> tuple[float, int]:
    """The bound and the number of cells that were looked at."""
    V, rest = _split(view, rank) if view.n_features <= GRAM_DECOMPOSED else _split_by_rows(view, rank)
    if V.shape[1] == 0:
        return rounded_up(rest, view), 0
    found = highest(
        V,
        problem.n_nonzero,
        tolerance=accuracy,
        max_cells=max_cells,
        budget=budget,
        nonnegative=problem.nonnegative,
    )
    return rounded_up(rest + found.bound, view), found.cells


def _split(view: DataMatrix, rank: int) -> tuple[Array, float]:
    """V, and what no direction has of A - VV'; the one ``eigvalsh`` proves it, whatever V is."""
    A = view.gram()
    d = len(A)
    values, vectors = top_eigenpairs(A, min(rank + 1, d))
    excess = values[:-1] - values[-1]
    kept = excess > d * EPS * float(np.abs(values).max())  # ties are not worth a dimension
    V = vectors[:, :-1][:, kept] * np.sqrt(excess[kept])
    others = np.linalg.eigvalsh(A - V @ V.T)
    scale = float(np.abs(others).max() + np.abs(A).max() + excess.max(initial=0.0))
    return V, float(others[-1]) + 8 * d * EPS * scale


def _split_by_rows(view: DataMatrix, rank: int) -> tuple[Array, float]:
    """The same where rows are few, from XX' = K alone.

    With T = I - U(I - E)U' for orthonormal U: T^2 = I - U(I - E^2)U', so A - VV' = X'T^2 X for V = X'U(I - E^2)^1/2,
    whose eigenvalues are those of TKT. E^2 = lambda_(m+1) / lambda_i makes V the one that is wanted.
    """
    K = view.row_gram()
    n = len(K)
    values, vectors = top_eigenpairs(K, min(rank + 1, n))
    shift, top = max(float(values[rank]), 0.0) if rank < n else 0.0, max(float(values[0]), 0.0)
    kept = values > shift + n * EPS * top
    U, share = vectors[:, kept], shift / values[kept]
    taken = U * (1 - np.sqrt(share))
    half = K - taken @ (U.T @ K)
    others = np.linalg.eigvalsh(half - (half @ U) @ taken.T)
    V = view.rmatmat(U * np.sqrt(1 - share))
    # LAPACK's error and U's, then that of K and of V as sums of products
    rounding = 8 * EPS * (2 * n * top + np.sqrt(view.n_features) * view.total)
    return V, float(others[-1]) + rounding


def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The search run again from the data, with as many cells."""
    rank, accuracy, max_cells = witness
    return _computed(view, problem, rank, accuracy, max_cells, Budget())[0]
