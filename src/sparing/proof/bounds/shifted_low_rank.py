"""A few leading components solved exactly, everything else at its worst: the shifted low rank bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from sparing.effort import ProofEffort
from sparing.proof.bounds.base import BoundMethod, Hypothesis, eigen_seconds
from sparing.proof.sphere.low_rank import (
    SphereSearch,
    decomposable,
    search_surrogate,
    searched_again,
)
from sparing.proof_limits import LIMITS, SECONDS
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class ShiftedLowRank(BoundMethod):
    """x'Ax <= lambda_max(A - VV') + max |V'x|^2 for every V with few columns [asteris2014, Sec. 3.2], one component.

    V has the m leading eigenvectors, each times the root of its eigenvalue less the next one, lambda_(m+1): the rest is
    at most lambda_(m+1) then, and the whole never more than lambda_1. The maximum over x with r nonzeros is found, and
    proved, by branch and bound on the unit sphere in m dimensions. It holds for any symmetric A, and for x >= 0 on
    request.

    Parameters
    ----------
    rank : int, optional
        The number m of eigenvectors: six, or eight for x >= 0, which has fewer feasible directions. Each one more
        makes the search about three times as long; with six it ends after
        a few thousand cells on real data, in less time than the decomposition.
    accuracy : float
        The maximum is bounded within this share. A small one costs little, and lets optima of low rank be proved.
    max_cells : int, optional
        Cells of the sphere at most, where a flat spectrum makes all directions alike: a second or so. The bound is that
        of the open cells then; a lower rank may give a better one.
    shifted : bool
        False for the bound of the paper: the eigenvectors times the roots of their eigenvalues as they are.
    max_gram : int
        The most features for which A is decomposed, and not XX'.

    Notes
    -----
    **Differs from the paper.** Its Sec. 7 adds lambda_(m+1) to the optimum of the low rank matrix as it is, and counts
    that part of x twice that lies in the span of the leading eigenvectors.
    """

    rank: int | None = None
    accuracy: float = 1e-7
    max_cells: int | None = None
    shifted: bool = True
    max_gram: int = LIMITS.decomposed_features

    name: ClassVar = "shifted_low_rank"
    hypothesis: ClassVar = Hypothesis("variance", components="one")
    witnesses: ClassVar = (SphereSearch,)
    reference: ClassVar = Reference("asteris2014", "Sec. 3.2, rank-d case; shifted")

    def _suits(self, task: Task) -> bool:
        """For few features or few rows."""
        return decomposable(task.gram)

    def cost(self, task: Task, effort: ProofEffort) -> float:
        """Seconds of one decomposition and of a few thousand cells of a sphere, more for x >= 0."""
        view, d = task.gram, task.gram.n_features
        small = d <= self.max_gram
        n = d if small or view.n_samples is None else view.n_samples
        search = SECONDS.sphere * (1.3 if task.problem.nonnegative else 1.0) * (1 + task.n_nonzero / 500)
        return eigen_seconds(n) + (0.0 if small else SECONDS.space * float(n) ** 2 * d) + search

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with the effort it took, for one component and few features or few rows."""
        problem = task.problem
        if not self.applies(task):
            return None
        rank = (8 if problem.nonnegative else 6) if self.rank is None else self.rank
        cells = run.effort.proof.part(run.effort.proof.sphere_cells) if self.max_cells is None else self.max_cells
        effort = SphereSearch(rank, self.accuracy, cells, self.shifted)
        found = search_surrogate(
            task.gram,
            problem.n_nonzero,
            effort,
            nonnegative=problem.nonnegative,
            budget=run.budget,
            max_gram=self.max_gram,
        )
        witness = effort._replace(max_cells=2 * found.cells)  # with more cells no bound rises, however ties are broken
        named = "the shifted low rank bound" if self.shifted else "the low rank bound of the paper"
        return Bound(found.bound, self.name, named, "always", witness)

    def _again(self, task: Task, witness: Any) -> float:
        """The search, run again from the data with the same number of cells."""
        return searched_again(task.gram, task.problem, witness)
