"""Orthogonal components: the dual of the relaxation on the Fantope, and a part of A for all of them together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from sparing.gram import DataMatrix
from sparing.linalg.rounding import rounded_up
from sparing.proof.bounds._witness import as_floats
from sparing.proof.bounds.semidefinite_dual import DUAL_LIMIT
from sparing.proof.bounds.shared_part import METHOD, SEARCHED, Single, best_single, split_value
from sparing.proof.hypotheses import valid_for
from sparing.proof.relaxations.fantope import (
    in_own_unit,
    projection_value,
    relaxed_projection,
    shared_part,
    split,
    top_of_all,
)
from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class OrthogonalDual:
    """tr(H'AH) <= the k largest eigenvalues of A - Y + s max|Y_ij| for orthonormal H, every symmetric Y.

    s is the number of nonzeros of all columns: sum |P_ij| <= sum of |h_j|_1^2 <= s for P = HH', a matrix of the Fantope
    [vu2013, Alg. 1]. With W = (A - Y - mu I)_+ and mu the k-th eigenvalue of A - Y the same bound is
    tr W + k lambda^(r)(A - W) with the dual bound in place of lambda^(r), the most variance of r features. So any W
    and any better bound on lambda^(r)(A - W) give one too: h_j'Ah_j = h_j'Wh_j + h_j'(A - W)h_j. Where lambda^(r) is
    exact a better W is searched for.

    Only for orthogonal components, or such without common features.

    Parameters
    ----------
    single : callable, optional
        ``single(B, r)``, a proved bound on lambda^(r)(B) for symmetric B, not necessarily positive semidefinite. By
        default all supports where they are few, otherwise the best of simple bounds and the semidefinite dual.
    max_iter : int
        Iterations of the relaxation at most, one eigendecomposition each.
    tolerance : float
        They end when the bound is within this share of the best that any Y gives.
    rounds : int
        Rounds of the search for W.
    """

    single: Single | None = None
    max_iter: int = 200
    tolerance: float = 1e-4
    rounds: int = 20

    reference: ClassVar = Reference("vu2013", "Alg. 1, the dual of its problem")

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The best of all with its Y or W, for orthogonal components and not too many features."""
        view, problem = task.gram, task.problem
        if not (problem.orthogonal or problem.disjoint) or view.n_features > DUAL_LIMIT:
            return None
        unit, A = in_own_unit(view.gram())
        k, s = problem.n_components, nonzeros(problem, view.n_features)
        _, Y = relaxed_projection(A, k, s, max_iter=self.max_iter, tolerance=self.tolerance, budget=run.budget)
        dual = unit * Y
        found = [Bound(recompute(view, problem, dual), "the dual of the Fantope relaxation", "always", recompute, dual)]
        exact = self.single is not None or top_of_all(A, problem.n_nonzero) is not None
        if exact and not problem.shared_support and not run.budget.expired:
            start, sizes = split(A, Y, k), [min(problem.n_nonzero, view.n_features)] * k
            rounds = self.rounds if len(A) <= SEARCHED else 0
            check = partial(recompute_split, single=self.single)
            better = shared_part(A, sizes, start, rounds=rounds, budget=run.budget)
            for W in (unit * start, unit * better):  # the second is better for the true lambda^(r), not for every bound
                found.append(Bound(check(view, problem, W), METHOD, "always", check, W))
        return min(found, key=lambda bound: bound.value)


def nonzeros(problem: Any, n_features: int) -> int:
    """How many nonzeros all columns can have together; a total of d may stand for any larger one."""
    k, r = problem.n_components, problem.n_nonzero
    if problem.shared_support and r < n_features:
        return int(max(r, k))
    return int(k * min(r, n_features))


@valid_for(orthogonal=True)
def recompute(view: DataMatrix, problem: Any, witness: Any) -> float:
    """The inequality itself, from the data and Y."""
    d = view.n_features
    if (Y := as_floats(witness, d, d)) is None:
        return math.inf
    return rounded_up(projection_value(view.gram(), Y, problem.n_components, nonzeros(problem, d)), view)


@valid_for(orthogonal=True, each=True)
def recompute_split(view: DataMatrix, problem: Any, witness: Any, *, single: Single | None = None) -> float:
    """The inequality for W, from the data and W."""
    d = view.n_features
    if (W := as_floats(witness, d, d)) is None:
        return math.inf
    sizes = [min(problem.n_nonzero, d)] * problem.n_components
    return rounded_up(split_value(view.gram(), W, sizes, single or best_single), view)
