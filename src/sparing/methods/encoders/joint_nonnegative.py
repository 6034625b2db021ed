"""Nonnegative components found together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.span import encoder_of
from sparing.linalg.variance import symmetric_total
from sparing.methods.deflation import GeneralizedDeflation
from sparing.methods.encoders.orthogonal_nonnegative import LONG_GAIN, held, orthogonal_starts
from sparing.methods.encoders.sequential import FirstOnce, sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.joint import VarianceAlternation
from sparing.objectives.nonnegative import SUPPORT_DECOMPOSED, NonnegativeObjective
from sparing.results import Array, Encoder, Reference
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task

TURN_GAIN, DISTINCT = 1e-7, 1e-9
"""Relative gain below which the sweeps end, and relative difference that distinguishes two answers."""


@dataclass(frozen=True)
class JointNonnegative:
    """All components re-selected in turn for the variance of their span, the criterion of [mackey2008, Sec. 3].

    For each component in turn: the nonnegative direction that adds most to the variance of the others, by local ascent.
    Starts are sequential components with and without shared features, and the orthogonal ones found together, at every
    effort up to the requested one: the result is at least as good as each of them. Ordered by what each adds.

    Parameters
    ----------
    solver : Solver
        For the starts; a nonnegative one.
    ridge : float
        Keeps components from becoming near-copies of one another; less where the last principal component is small.

    Notes
    -----
    **Optimises** tr((H'H + ridge I)^-1 H'AH) over unit nonnegative columns with given counts.
    **Differs from the papers.** Neither of them does this: [mackey2008] has no signs, [asteris2014] removes features.
    """

    solver: Solver
    ridge: float = 0.01

    reference: ClassVar = Reference("mackey2008", "Sec. 3")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The best of all starts after improvement, by explained variance."""
        spectrum, sizes, whole = task.spectrum, task.sizes, held(task.gram)
        ridge = min(self.ridge, 0.1 * float(spectrum.values[-1] / spectrum.values[0]))
        goal = _Nonnegative(whole, ridge, run)
        best, reached = np.zeros((task.gram.n_features, 0)), -np.inf
        for start in self._starts(task, whole, run):
            for H in (start, goal.improve_by_turns(start, sizes)):
                if (value := symmetric_total(whole, H)) > reached * (1 + DISTINCT):
                    best, reached = H, value
            run.budget.say(f"joint start: {reached / spectrum.total:.4%} of the variance")
            if run.budget.expired:
                break
        return encoder_of(whole, goal.ordered(best), spectrum.total)

    def _starts(self, task: Task, whole: DataMatrix, run: Run) -> Iterator[Array]:
        """The orthogonal components found with the same effort, and sequential components with shared features.

        Of the orthogonal ones those that more effort did not change come once.
        """
        solver, known = FirstOnce(self.solver, whole), np.zeros(0)
        if task.start is not None:
            yield task.start
            if run.effort.n_restarts(whole.n_features, whole.n_samples, len(task.sizes)) == 0:
                return  # products are expensive, and these components are no part of anything
        own = replace(run, rng=deepcopy(run.rng))  # the orthogonal ones are those of a fit of their own, at any effort
        _, *orthogonal = orthogonal_starts(task, whole, solver, run)
        if task.start is None and not run.budget.expired:  # without time the orthogonal ones are enough
            spectrum, deflation = task.spectrum, GeneralizedDeflation()
            yield sequential_directions(solver, deflation, whole, spectrum, task.sizes, own.share(0.4))
        for start in orthogonal:
            if not np.array_equal(known, start):
                yield start
            known = start


class _Nonnegative(VarianceAlternation):
    """Turns that keep every entry nonnegative."""

    def __init__(self, view: DataMatrix, ridge: float, run: Run) -> None:
        super().__init__(view, ridge, run.budget)
        self.exchange_work, self.turn_work = run.effort.exchange_work, run.effort.turn_work

    def without(self, H: Array) -> NonnegativeObjective:
        """The quotient of one more direction, given those of H."""
        free = super().without(H)
        return NonnegativeObjective(free.view, free.metric, self.budget)

    def improve_by_turns(self, H: Array, sizes: Sequence[int]) -> Array:
        """Local ascent of each direction given the others, until convergence or until the work is spent.

        Directions of many features take a few steps in each of more sweeps, because a full ascent takes long.
        """
        value, work, products = self.captured(H), self.exchange_work, self.turn_work / 2
        self.turn_work -= products
        few = max(sizes) <= SUPPORT_DECOMPOSED
        for _ in range(SEARCH.nonnegative_turns if few else SEARCH.long_turns):
            before = value
            for j in range(H.shape[1]):
                if self.budget.expired or products <= 0:
                    return H
                objective, size = self.without(np.delete(H, j, axis=1)), sizes[j]
                trial = H.copy()
                if few:
                    cost = objective.exchange_cost(size)
                    most = min(SEARCH.nonnegative_exchanges, int(work / cost))
                    climbed = objective.climbed(H[:, j], size)[1]
                    trial[:, j] = objective.exchanged(climbed, size, most)[1]
                    work -= cost * (SEARCH.nonnegative_exchanges if (trial[:, j] != climbed).any() else 1)
                else:
                    trial[:, j] = objective.stepped(H[:, j], size, SEARCH.steps_in_turn)
                if (reached := self.captured(trial)) > value:
                    H, value = trial, reached
                products -= (objective.n_products + H.shape[1]) * self.view.product_work
            if value <= before * (1 + (TURN_GAIN if few else LONG_GAIN)):
                break
        self.turn_work += products
        return H
