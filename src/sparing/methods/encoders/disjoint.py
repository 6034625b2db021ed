"""Components without common features, chosen together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import DisjointDeflation
from sparing.methods.encoders.sequential import sequential_directions
from sparing.methods.solvers import Auto, Solver
from sparing.proof.trees.disjoint_supports import best_disjoint, countable
from sparing.results import Array, Encoder, Indices, Reference
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task

FIRST_SOLVER = Auto(starts=3, finalists=2, perturbations=0)
"""A search over all supports follows."""


@dataclass(frozen=True)
class Disjoint:
    """Most variance of components that share no feature [asteris2015, Sec. 1], exactly where supports can be listed.

    One component after the other comes first, then a search over all disjoint supports that stops when nothing can be
    better. Where supports are too many to list, the first is the answer. Loadings are orthogonal by themselves.

    Parameters
    ----------
    solver : Solver
        Finds the initial components.
    max_nodes : int
        Maximum number of nodes of the search.

    Notes
    -----
    **Differs from the paper.** It matches features to approximate directions; here all supports are listed.
    """

    solver: Solver = FIRST_SOLVER
    max_nodes: int = 20_000

    deflation: ClassVar = DisjointDeflation()
    reference: ClassVar = Reference("asteris2015", "Sec. 1, disjoint supports")

    def encode(self, task: Task, run: Run) -> Encoder:
        """Components by decreasing variance if their sizes are equal, otherwise in the order of the sizes."""
        view, spectrum = task.gram, task.spectrum
        sizes = task.sizes
        base = view.cached()
        H = sequential_directions(self.solver, self.deflation, base, spectrum, sizes, run)
        if countable(view.n_features, sizes):
            A = view.gram()
            start = [np.flatnonzero(h) for h in H.T] if H.shape[1] == len(sizes) else None
            found = best_disjoint(A, sizes, budget=run.budget, max_nodes=self.max_nodes, start=start)
            if found is not None:
                best = _directions(A, found.supports)
                # a sum of variances counts copies as often as they occur, but a component that repeats others is none
                H = best if _n_found(base, best) >= _n_found(base, H) else H
        if len(set(sizes)) == 1:
            H = H[:, np.argsort(-np.einsum("ij,ij->j", H, base.gram_matmat(H)), kind="stable")]
        return encoder_of(base, H, spectrum.total)


def _n_found(view: DataMatrix, H: Array) -> int:
    """Number of components that do not repeat others."""
    return len(encoder_of(view, H, 1.0).loadings) if H.shape[1] else 0


def _directions(A: Array, supports: Sequence[Indices]) -> Array:
    """The best direction on each support (columns)."""
    H = np.zeros((len(A), len(supports)))
    for j, S in enumerate(supports):
        H[S, j] = top_eigenpairs(A[np.ix_(S, S)], 1)[1][:, 0]
    return H


def perturbed(H: Array, rng: np.random.Generator) -> Array:
    """Directions without some of their features; the largest of each stays."""
    lengths = np.abs(H)
    out = np.where((rng.random(H.shape) >= SEARCH.perturbed_share) | (lengths.max(axis=0) == lengths), H, 0.0)
    return np.asarray(out / np.linalg.norm(out, axis=0))


def anywhere(view: DataMatrix, n_components: int, rng: np.random.Generator) -> Array:
    """Random single features, one for each component, with probabilities that increase with the variance."""
    variances = np.maximum(view.gram_diagonal(), 0.0)
    alive = int((variances > 0).sum())
    out = np.zeros((view.n_features, n_components))
    chosen = rng.choice(len(variances), min(n_components, alive), replace=False, p=variances / variances.sum())
    out[chosen, np.arange(len(chosen))] = 1.0
    return out[:, out.any(axis=0)]
