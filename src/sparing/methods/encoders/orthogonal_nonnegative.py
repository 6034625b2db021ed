"""Orthogonal nonnegative components: features shared out among them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import DisjointDeflation
from sparing.methods.encoders.disjoint import anywhere, perturbed, settled
from sparing.methods.encoders.sequential import sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.results import Array, Encoder, Reference
from sparing.run import Budget, Run
from sparing.task import Task

GROWTH = 1e-9


@dataclass(frozen=True)
class OrthogonalNonnegative:
    """Orthogonal nonnegative components found together: each feature is used once [asteris2014, Sec. 7].

    Removing features after each component lets the first have what later ones would miss more. Here the features are
    then shared out anew, all at once and again and again, while the sum of variances rises; and after shaking.

    Parameters
    ----------
    solver : Solver
        For the start, one component after the other; a nonnegative one.
    perturbations : int
        Times that features are shared out again, by turns after shaking the best and from single features by chance.

    Notes
    -----
    **Optimises** the sum of x'Ax over disjoint unit nonnegative columns with given counts: nonnegative directions are
    orthogonal exactly where they have no feature in common. With p = Ax for each component, 2 x'p - constant is below
    x'Ax and touches it where x is now, so that whoever raises the sum of |p on its features| raises the sum of
    variances; the square roots are bounded by their tangents likewise, and what is left is an assignment problem.
    **Differs from the paper.** It stops after one component after the other.
    """

    solver: Solver
    perturbations: int = 60

    deflation: ClassVar = DisjointDeflation()
    reference: ClassVar = Reference("asteris2014", "Sec. 7")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The components, by falling variance."""
        spectrum = task.spectrum
        sizes, whole = task.sizes, task.gram.cached()
        start = sequential_directions(self.solver, self.deflation, whole, spectrum, sizes, run.share(0.5))
        best = shared_out(whole, start, sizes[: start.shape[1]], self.perturbations, run)
        values = np.einsum("ij,ij->j", best, whole.gram_matmat(best))
        return encoder_of(whole, best[:, np.argsort(-values, kind="stable")], spectrum.total)


def shared_out(view: DataMatrix, start: Array, sizes: list[int], perturbations: int, run: Run) -> Array:
    """Nonnegative directions of the largest sum of variances found from those given, no feature in two of them."""
    reached, best = _settled(view, start, sizes, run.budget)
    for rotation in range(perturbations if len(sizes) > 1 else 0):
        if run.budget.expired:
            break
        H = perturbed(best, run.rng) if rotation % 3 else anywhere(view, len(sizes), run.rng)
        value, H = _settled(view, H, sizes, run.budget)
        if value > reached * (1 + GROWTH):
            reached, best = value, H
            run.budget.say(f"orthogonal components: {reached / view.total:.4%} of the variance")
    return best


def _settled(view: DataMatrix, H: Array, sizes: list[int], budget: Budget) -> tuple[float, Array]:
    """Features shared out until nothing changes, then the best loadings on them; and the sum of variances."""
    objective = NonnegativeObjective(view, None, budget)

    def pull(P: Array) -> Array:
        return np.where(objective.usable[:, None], np.maximum(P, 0.0), 0.0)

    _, H = settled(view, H, sizes, pull, GROWTH, budget)
    refined = np.column_stack([objective.settled(x)[1] for x in H.T]) if H.shape[1] else H
    return float(np.einsum("ij,ij->", refined, view.gram_matmat(refined))), refined
