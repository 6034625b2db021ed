"""Sequential components by deflation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.rounding import NOTHING
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import Deflation
from sparing.methods.solvers import Solver
from sparing.objectives.joint import keeps
from sparing.results import Array, Component, Encoder, Reference, Spectrum
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class Sequential:
    """One component at a time, with a deflation after each [mackey2008, Sec. 2]. Every prefix is a valid result.

    Parameters
    ----------
    solver : Solver
    deflation : Deflation
        Defines the problem of the next component.
    """

    solver: Solver
    deflation: Deflation

    reference: ClassVar = Reference("mackey2008", "Sec. 2")

    def encode(self, task: Task, run: Run) -> Encoder:
        """Return components in order of discovery."""
        spectrum = task.spectrum
        sizes = task.sizes
        base = task.gram.cached()
        found = sequential_components(self.solver, self.deflation, base, spectrum, sizes, run)
        encoder = encoder_of(base, _side_by_side(found, task.gram.n_features), spectrum.total)
        if found and found[0].bound is not None:  # the first was found in the data themselves
            encoder = replace(encoder, single_bounds={sizes[0]: found[0].bound})
        return encoder


def sequential_directions(
    solver: Solver, deflation: Deflation, view: DataMatrix, spectrum: Spectrum, sizes: Sequence[int], run: Run
) -> Array:
    """One sparse direction per size (columns, d x k); fewer if no variance is left."""
    found = sequential_components(solver, deflation, view, spectrum, sizes, run)
    return _side_by_side(found, view.n_features)


def _side_by_side(components: list[Component], n_features: int) -> Array:
    return np.column_stack([np.zeros((n_features, 0)), *(component.vector(n_features) for component in components)])


def sequential_components(
    solver: Solver, deflation: Deflation, view: DataMatrix, spectrum: Spectrum, sizes: Sequence[int], run: Run
) -> list[Component]:
    """One component per size, as returned by the solver; fewer if no variance is left."""
    components: list[Component] = []
    H = np.zeros((view.n_features, 0))
    for number, size in enumerate(sizes):
        left, metric = (view, None) if H.shape[1] == 0 else deflation.deflate(view, H)
        if left.gram_diagonal().max() <= NOTHING * spectrum.total:
            break
        task = Task.of_component(left, size, metric=metric, start=spectrum.basis)
        found = solver.solve(task, run.share(1 / (len(sizes) - number)))
        x = found.vector(view.n_features)
        if len(found.support) == 0 or found.variance <= NOTHING * spectrum.total or not keeps(metric, x):
            break
        components.append(found)
        H = np.column_stack([H, x])
        run.budget.say(f"component {H.shape[1]} of {len(sizes)}: {found.variance / spectrum.total:.2%} of the variance")
    return components


class FirstOnce:
    """A solver that computes the first component once, because every deflation begins with the original view."""

    def __init__(self, solver: Solver, view: DataMatrix) -> None:
        self.solver, self.view, self.first = solver, view, dict[int, Component]()

    def solve(self, task: Task, run: Run) -> Component:
        """Solve as the wrapped solver does."""
        if task.gram is not self.view:
            return self.solver.solve(task, run)
        if task.n_nonzero not in self.first:
            self.first[task.n_nonzero] = self.solver.solve(task, run)
        return self.first[task.n_nonzero]
