"""Sparse singular vectors on both sides: few features, and few data points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.data import Transposed
from sparing.gram import DataMatrix, Projected
from sparing.linalg.span import encoder_of
from sparing.methods.encoders.iterative import counts_per_component
from sparing.methods.encoders.sequential import NOTHING
from sparing.methods.solvers import Solver
from sparing.results import Array, Reference, Spectrum, TwoSidedEncoder
from sparing.run import Budget


@dataclass(frozen=True)
class TwoSided:
    """Sparse right vectors of X and sparse left vectors, those of X', by one solver [fountoulakis2016, Algorithm 2].

    Parameters
    ----------
    solver : Solver
    n_rows : int or sequence of int
        Data points in each left vector.

    Notes
    -----
    **Optimises** |Xv| over sparse unit v, and |X'u| over sparse unit u, one after the other: after each the matrix of
    its side is projected off it. The sides are solved independently, so that the i-th vectors of both need not belong
    together.
    **Differs from the paper.** Any solver may take the place of relaxation and rounding; counts are exact and may
    differ between sides. Where u_i'Xv_i is negative u_i is turned around. The components come with their best decoder.
    """

    solver: Solver
    n_rows: int | Sequence[int]

    reference: ClassVar = Reference("fountoulakis2016", "Algorithm 2")

    def encode(
        self,
        view: DataMatrix,
        spectrum: Spectrum,
        n_nonzero: int | Sequence[int],
        rng: np.random.Generator,
        *,
        budget: Budget,
    ) -> TwoSidedEncoder:
        """Vectors in the order in which they were found; fewer where nothing is left."""
        turned = Transposed(view)
        n_rows = counts_per_component(self.n_rows, spectrum.rank)
        if max(n_rows) > turned.n_features:
            raise errors.more_than_there_are("n_rows", max(n_rows), turned.n_features, "data points")
        sizes = counts_per_component(n_nonzero, spectrum.rank)
        V = projected_directions(self.solver, view, spectrum.total, sizes, rng, budget)
        U = projected_directions(self.solver, turned, spectrum.total, n_rows, rng, budget)
        found = encoder_of(view, V, spectrum.total)
        pairs = min(U.shape[1], len(found.loadings))
        along = np.einsum("ij,ij->j", U[:, :pairs], view.matmat(found.components[:pairs].T))
        U[:, :pairs] *= np.where(along < 0, -1.0, 1.0)
        return TwoSidedEncoder(found.support, found.loadings, found.decoder, found.captured, found.loss, rows=U.T)


def projected_directions(
    solver: Solver, view: DataMatrix, total: float, sizes: Sequence[int], rng: np.random.Generator, budget: Budget
) -> Array:
    """One sparse direction per size (columns), each sought in X (I - v v') for the last v: Algorithm 2 on one side."""
    found, left = np.zeros((view.n_features, 0)), view
    for size in sizes:
        if left.gram_diagonal().max() <= NOTHING * total:
            break
        component = solver.solve(left, size, rng, budget=budget)
        if len(component.support) == 0 or component.variance <= NOTHING * total:
            break
        direction = component.vector(view.n_features)[:, None]
        found = np.column_stack([found, direction])
        left = Projected(left, directions=direction)
    return found
