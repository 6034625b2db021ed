"""Nonnegative components found together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import DisjointDeflation, GeneralizedDeflation
from sparing.methods.encoders.joint_search import FEW
from sparing.methods.encoders.orthogonal_nonnegative import shared_out
from sparing.methods.encoders.sequential import FirstOnce, sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.joint import VarianceAlternation
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.results import Array, Encoder, Reference, Spectrum
from sparing.run import Budget, Run
from sparing.task import Task

SWEEPS, SWAPS = 15, 10
"""Turns of all components, and exchanges of features in each."""

KICKS = 60
"""Times that few features are shared out anew among components without a common one, for one more start."""

GROWTH = 1e-7


@dataclass(frozen=True)
class JointNonnegative:
    """All components re-selected by turns for the variance of their span, the criterion of [mackey2008, Sec. 3].

    For each component in turn: the nonnegative direction that adds most to what the others explain, climbed from where
    it is. Starts are components one after the other, with shared features and without, and where features are few also
    the orthogonal ones found together. Ordered by what each adds.

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
        """The best of all starts, improved."""
        spectrum = task.spectrum
        sizes, whole = task.sizes, task.gram.cached()
        ridge = min(self.ridge, 0.1 * float(spectrum.values[-1] / spectrum.values[0]))
        goal = _Nonnegative(whole, ridge, run.budget)
        best, reached = np.zeros((task.gram.n_features, 0)), -np.inf
        for start in self._starts(whole, spectrum, sizes, run):
            H = goal.improve_by_turns(start, sizes)
            if (value := goal.captured(H)) > reached:
                best, reached = H, value
            run.budget.say(f"joint start: {value / spectrum.total:.4%} of the variance")
            if run.budget.expired:
                break
        return encoder_of(whole, goal.ordered(best), spectrum.total)

    def _starts(self, whole: DataMatrix, spectrum: Spectrum, sizes: list[int], run: Run) -> Iterator[Array]:
        """Components one after the other, in two ways; where features are few, also shared out among them together."""
        solver, deflations = FirstOnce(self.solver, whole), (GeneralizedDeflation(), DisjointDeflation())
        for deflation in deflations:
            yield (start := sequential_directions(solver, deflation, whole, spectrum, sizes, run.share(0.4)))
        if whole.n_features <= FEW:
            yield shared_out(whole, start, sizes[: start.shape[1]], KICKS, run)


class _Nonnegative(VarianceAlternation):
    """Turns that keep every entry nonnegative."""

    def __init__(self, view: DataMatrix, ridge: float, budget: Budget) -> None:
        super().__init__(view, ridge)
        self.budget = budget

    def without(self, H: Array) -> NonnegativeObjective:
        """The quotient of one more direction beside those of H."""
        free = super().without(H)
        return NonnegativeObjective(free.view, free.metric, self.budget)

    def improve_by_turns(self, H: Array, sizes: Sequence[int]) -> Array:
        """Each direction climbed beside the others, until little changes."""
        value = self.captured(H)
        for _ in range(SWEEPS):
            if self.budget.expired:
                break
            for j in range(H.shape[1]):
                objective, size = self.without(np.delete(H, j, axis=1)), sizes[j]
                trial = H.copy()
                trial[:, j] = objective.exchanged(objective.climbed(H[:, j], size)[1], size, SWAPS)[1]
                if self.captured(trial) > self.captured(H):
                    H = trial
            before, value = value, self.captured(H)
            if value <= before * (1 + GROWTH):
                break
        return H
