"""A few leading components solved exactly, everything else at its worst: the shifted low rank bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparing.proof.sphere.low_rank import Effort, decomposable, recompute, search_surrogate
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


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

    shifted : bool
        False for the bound of the paper: the eigenvectors times the roots of their eigenvalues as they are.

    Notes
    -----
    **Differs from the paper.** Its Sec. 7 adds lambda_(m+1) to the optimum of the low rank matrix as it is, and counts
    that part of x twice that lies in the span of the leading eigenvectors.
    """

    rank: int = 6
    accuracy: float = 1e-7
    max_cells: int = 50_000
    shifted: bool = True

    reference: ClassVar = Reference("asteris2014", "Sec. 3.2, rank-d case; shifted")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with the effort it took, for one component and few features or few rows."""
        problem = task.problem
        if problem.n_components != 1 or not decomposable(task.gram):
            return None
        effort = Effort(self.rank, self.accuracy, self.max_cells, self.shifted)
        found = search_surrogate(
            task.gram, problem.n_nonzero, effort, nonnegative=problem.nonnegative, budget=run.budget
        )
        witness = effort._replace(max_cells=2 * found.cells)  # with more cells no bound rises, however ties are broken
        named = "the shifted low rank bound" if self.shifted else "the low rank bound of the paper"
        return Bound(found.bound, named, "always", recompute, witness)
