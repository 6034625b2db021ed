"""Sparse singular vectors on both sides: few features and few samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.gram import DataMatrix
from sparing.linalg.rounding import NOTHING
from sparing.linalg.span import encoder_of
from sparing.methods.solvers import Solver
from sparing.results import Array, Reference, TwoSidedEncoder
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class TwoSided:
    """Sparse right and left singular vectors of X by one solver [fountoulakis2016, Algorithm 2].

    Parameters
    ----------
    solver : Solver
    n_rows : int or sequence of int
        Number of samples in each left vector.

    Notes
    -----
    **Optimises** |Xv| over sparse unit v, and |X'u| over sparse unit u, one after the other: after each vector the
    matrix of its side is deflated by projection. The sides are solved independently, so the i-th vectors of both need
    not correspond.
    **Differs from the paper.** Any solver can replace relaxation and rounding; counts are exact and may differ between
    sides. If u_i'Xv_i is negative, the sign of u_i is changed. The components have their best decoder.
    """

    solver: Solver
    n_rows: int | Sequence[int]

    reference: ClassVar = Reference("fountoulakis2016", "Algorithm 2")

    def encode(self, task: Task, run: Run) -> TwoSidedEncoder:
        """Return vectors in order of discovery; fewer if no variance is left."""
        view, spectrum = task.gram, task.spectrum
        turned = view.transposed()
        rows, k = self.n_rows, spectrum.rank
        n_rows = [rows] * k if isinstance(rows, int) else list(rows)[:k]
        if max(n_rows) > turned.n_features:
            raise errors.more_than_there_are("n_rows", max(n_rows), turned.n_features, "data points")
        sizes = task.sizes
        V = projected_directions(self.solver, view, spectrum.total, sizes, run)
        U = projected_directions(self.solver, turned, spectrum.total, n_rows, run)
        found = encoder_of(view, V, spectrum.total)
        pairs = min(U.shape[1], len(found.loadings))
        along = np.einsum("ij,ij->j", U[:, :pairs], view.matmat(found.components[:pairs].T))
        U[:, :pairs] *= np.where(along < 0, -1.0, 1.0)
        parts = found.support, found.loadings, found.decoder, found.captured, found.loss
        return TwoSidedEncoder(*parts, rows=U.T, explained=found.explained)


def projected_directions(solver: Solver, view: DataMatrix, total: float, sizes: Sequence[int], run: Run) -> Array:
    """One sparse direction per size (columns), each found in X (I - v v') for the previous v: Algorithm 2 on one
    side."""
    found, left = np.zeros((view.n_features, 0)), view
    for size in sizes:
        if left.gram_diagonal().max() <= NOTHING * total:
            break
        component = solver.solve(Task.of_component(left, size), run)
        if len(component.support) == 0 or component.variance <= NOTHING * total:
            break
        direction = component.vector(view.n_features)[:, None]
        found = np.column_stack([found, direction])
        left = left.projected(directions=direction)
    return found
