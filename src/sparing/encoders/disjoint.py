"""Components without common features, chosen together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.budget import Budget
from sparing.data import DataMatrix, Remembered
from sparing.deflation import DisjointDeflation
from sparing.encoders.iterative import counts_per_component
from sparing.encoders.sequential import sequential_directions
from sparing.linalg.span import encoder_of
from sparing.linalg.symmetric import top_eigenpairs
from sparing.results import Array, Encoder, Indices, Reference, Spectrum
from sparing.search.disjoint_supports import best_disjoint, countable
from sparing.solvers import Auto, Solver

QUICK = Auto(starts=3, finalists=2, kicks=0)
"""A search over all supports follows."""


@dataclass(frozen=True)
class Disjoint:
    """Most variance of components that share no feature [asteris2015, Sec. 1], exactly where supports can be listed.

    One component after the other comes first, then a search over all disjoint supports that stops when nothing can be
    better. Where supports are too many to list, the first is the answer. Loadings are orthogonal by themselves.

    Parameters
    ----------
    solver : Solver
        Finds the components to begin with.
    max_nodes : int
        Nodes of the search at most.

    Notes
    -----
    **Differs from the paper.** It matches features to approximate directions; here all supports are listed.
    """

    solver: Solver = QUICK
    max_nodes: int = 20_000

    deflation: ClassVar = DisjointDeflation()
    reference: ClassVar = Reference("asteris2015", "Sec. 1, disjoint supports")

    def encode(
        self,
        view: DataMatrix,
        spectrum: Spectrum,
        n_nonzero: int | Sequence[int],
        rng: np.random.Generator,
        *,
        budget: Budget,
    ) -> Encoder:
        """Components in falling order of variance where their sizes are alike, otherwise in the order of the sizes."""
        sizes = counts_per_component(n_nonzero, spectrum.rank)
        base = Remembered(view)
        H = sequential_directions(self.solver, self.deflation, base, spectrum, sizes, rng, budget)
        if countable(view.n_features, sizes):
            A = view.gram()
            start = [np.flatnonzero(h) for h in H.T] if H.shape[1] == len(sizes) else None
            found = best_disjoint(A, sizes, budget=budget, max_nodes=self.max_nodes, start=start)
            if found is not None:
                H = _directions(A, found.supports)
        if len(set(sizes)) == 1:
            H = H[:, np.argsort(-np.einsum("ij,ij->j", H, base.gram_matmat(H)), kind="stable")]
        return encoder_of(base, H, spectrum.total)


def _directions(A: Array, supports: Sequence[Indices]) -> Array:
    """The best direction on each support (columns)."""
    H = np.zeros((len(A), len(supports)))
    for j, S in enumerate(supports):
        H[S, j] = top_eigenpairs(A[np.ix_(S, S)], 1)[1][:, 0]
    return H
