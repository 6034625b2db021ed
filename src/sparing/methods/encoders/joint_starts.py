"""Starts of searches for several components: truncated rotations, partitions of the features, sequential components."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
from scipy import sparse

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.rotation import varimax
from sparing.linalg.signs import first_largest
from sparing.linalg.truncation import unit_columns
from sparing.methods.deflation import Deflation
from sparing.methods.encoders.disjoint import anywhere, perturbed
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.sequential import FirstOnce, sequential_directions
from sparing.methods.solvers import Solver
from sparing.results import Array, Spectrum
from sparing.run import Run
from sparing.search.sharing import settled
from sparing.search.truncated_power import pool_of, truncated_powers, unit_vectors
from sparing.search_limits import SEARCH

ROUGH = 1e-4
"""Minimum relative gain of a step of a start: the search improves it further."""

OVERLAP = 0.1
"""Minimum share of a direction outside the span of the others for it to become a start, too."""


class JointStarts:
    """Directions (columns, d x k) to start from, for all searches of a fit; expensive ones are computed once.

    They are searched among the features with the largest variance and the largest entries in principal components;
    other features enter when the search selects its working sets.

    Parameters
    ----------
    goal : JointVariances
        What is searched for; only its sizes matter.
    solver : Solver
        Finds components one after the other.
    spectrum : Spectrum
    seed : int
        Of random rotations.
    """

    def __init__(self, goal: JointVariances, solver: Solver, spectrum: Spectrum, seed: int = 0) -> None:
        self.n_features, self.sizes = goal.n_features, goal.sizes
        self.pool, self.view, self.spectrum = np.arange(goal.n_features), goal.view, spectrum
        wanted = max(SEARCH.promising, SEARCH.places * sum(goal.sizes))
        if wanted < goal.n_features:
            self.pool = pool_of(goal.view, wanted, spectrum.basis)
            self.spectrum = replace(spectrum, basis=spectrum.basis[self.pool])
        if wanted < goal.n_features or not goal.view.has_gram:  # hundreds of products follow
            block = goal.view.restricted(self.pool)
            self.view = view_of_gram(block.gram(), is_psd=block.is_psd, psd_slack=block.psd_slack)
        self.solver = FirstOnce(solver, self.view)
        self.seed, self._shared = seed, list[tuple[float, Array]]()
        self._sequences = dict[type[Deflation], Array]()
        basis = self.spectrum.basis[:, : len(self.sizes)]
        self._turned, self._rotations = list[Array](), rotations(basis, goal.cut, np.random.default_rng(seed))

    def of(self, goal: JointVariances, spectrum: Spectrum) -> JointStarts:
        """The same starts for another goal."""
        return JointStarts(goal, self.solver.solver, spectrum, self.seed)

    def sequential(self, deflation: Deflation, run: Run) -> Array:
        """Sequential components; fewer if no variance is left."""
        if type(deflation) not in self._sequences:
            found = sequential_directions(self.solver, deflation, self.view, self.spectrum, self.sizes, run)
            self._sequences[type(deflation)] = self._among_all(found)
        return self._sequences[type(deflation)]

    def rotations(self) -> Iterator[Array]:
        """An endless sequence of truncated rotations of the principal components: varimax, identity, then random
        ones."""
        return map(self._among_all, map(self._rotation, count()))

    def shared(self, number: int, times: int, run: Run) -> Array:
        """Components without a common feature: the best so far, after features were shared out so many times more."""
        while len(self._shared) <= number:
            known = self._shared[-1] if self._shared else None
            self._shared.append(_shared_out(self.view, known, self._rotation(0), self.sizes, times, run))
        return self._among_all(self._shared[number][1])

    def _rotation(self, number: int) -> Array:
        while len(self._turned) <= number:
            self._turned.append(next(self._rotations))
        return self._turned[number]

    def _among_all(self, H: Array) -> Array:
        """Directions among all features."""
        out = np.zeros((self.n_features, H.shape[1]))
        out[self.pool] = H
        return out


def scattered_components(view: DataMatrix, n_components: int, n_nonzero: int, ridge: float, run: Run) -> Array:
    """Components that truncated power reaches from single features anywhere; fewer if they coincide.

    Principal components lead to few of them: if variances are similar, a group of correlated features may matter to
    none.
    """
    usable = view.gram_diagonal() > 0
    count = int(
        np.clip(SEARCH.joint_scattered_entries // view.n_features, SEARCH.joint_scattered_kept, SEARCH.joint_scattered)
    )
    chosen = run.rng.permutation(np.flatnonzero(usable))[:count]
    limits: dict[str, Any] = {"settled": 2, "budget": run.budget, "allowed": usable[:, None]}
    firsts = [
        truncated_powers(view, unit_vectors(view.n_features, some), n_nonzero, max_iter=1, **limits)
        for some in np.array_split(chosen, -(-len(chosen) // SEARCH.joint_scattered_kept))
    ]
    kept = max(SEARCH.joint_scattered_kept, 6 * n_components)
    found = together(view, np.column_stack(firsts), kept, ridge)
    found = truncated_powers(view, found, n_nonzero, max_iter=SEARCH.joint_scattered_steps, **limits)
    return together(view, found, n_components, ridge)


def together(view: DataMatrix, directions: Array, count: int, ridge: float) -> Array:
    """Order unit directions (columns) greedily: each adds most to the variance captured by those before it."""
    rows = sparse.csr_array(directions.T)  # few of the features, hundreds of directions
    C, W = (np.asarray(rows @ image) for image in (directions, view.gram_matmat(directions)))
    chosen = list[int]()
    for _ in range(min(count, len(C))):
        along = np.linalg.solve(C[np.ix_(chosen, chosen)] + ridge * np.eye(len(chosen)), C[chosen])
        left = 1 + ridge - np.einsum("ij,ij->j", C[chosen], along)
        added = np.diagonal(W) - 2 * np.einsum("ij,ij->j", along, W[chosen])
        added = added + np.einsum("ij,ij->j", along, W[np.ix_(chosen, chosen)] @ along)
        worth = np.where(left > OVERLAP, added / np.maximum(left, OVERLAP), -np.inf)
        if not (worth > 0).any():
            break
        chosen.append(first_largest(worth))
    return directions[:, chosen]


def _shared_out(
    view: DataMatrix, known: tuple[float, Array] | None, start: Array, sizes: list[int], times: int, run: Run
) -> tuple[float, Array]:
    """Directions without a common feature and their variance: features shared out, and again after perturbations."""
    reached, best = known or settled(view, start, sizes, np.asarray, ROUGH, run.budget)
    for number in range(times):
        if run.budget.expired or not best.any(axis=0).all():
            break
        again = perturbed(best, run.rng) if (number + 1) % SEARCH.drawn else anywhere(view, len(sizes), run.rng)
        value, H = settled(view, again, sizes, np.asarray, ROUGH, run.budget)
        if value > reached:
            reached, best = value, H
    return reached, best


def rotations(
    V: Array, cut: Callable[[Array], Array], rng: np.random.Generator, *, named: bool = True
) -> Iterator[Array]:
    """An endless sequence of truncated rotations of the principal components: varimax and identity, if ``named``, then
    random ones."""
    k = V.shape[1]
    for number in count(0 if named else 2):
        rotated = varimax(V) if number == 0 else V if number == 1 else V @ np.linalg.qr(rng.standard_normal((k, k)))[0]
        for _ in range(SEARCH.polar_steps):
            left, _, right = np.linalg.svd(V.T @ cut(rotated))
            rotated = V @ (left @ right)
        yield unit_columns(cut(rotated))
