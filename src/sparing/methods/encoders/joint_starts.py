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
from sparing.linalg.rounding import first_largest
from sparing.linalg.truncation import unit_columns
from sparing.methods.deflation import Deflation
from sparing.methods.encoders.disjoint import anywhere, perturbed
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.sequential import FirstOnce, sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.blocks import LEAST_RIDGE
from sparing.results import Array, Indices, Spectrum
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
        self.n_features, self.sizes, self._whole = goal.n_features, goal.sizes, goal.view
        self.pool, self.view, self.spectrum = np.arange(goal.n_features), goal.view, spectrum
        wanted = max(SEARCH.promising, SEARCH.places * sum(goal.sizes))
        if wanted < goal.n_features:
            self.pool = pool_of(goal.view, wanted, spectrum.basis)
            self.spectrum = replace(spectrum, basis=spectrum.basis[self.pool])
        if wanted < goal.n_features or not goal.view.has_gram:  # hundreds of products follow
            block, origin = goal.view.restricted(self.pool), goal.view.origin
            columns = origin.columns(self.pool) if origin.rows_in_memory and origin.noise is None else None
            self.view = view_of_gram(block.gram(), is_psd=block.is_psd, psd_slack=block.psd_slack, columns=columns)
        self.solver = FirstOnce(solver, self.view)
        self.seed, self._shared = seed, list[tuple[float, Array]]()
        self._sequences = dict[type[Deflation], Array]()
        basis = self.spectrum.basis[:, : len(self.sizes)]
        self._turned = list[Array]()
        self._rotations = rotations(basis, goal.cut, np.random.default_rng(seed), together=SEARCH.turned_together)
        self._scattered: Array | None = None

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

    def scattered(self, ridge: float, run: Run) -> list[Array]:
        """Components that principal components do not lead to, the best first: sets of those that truncated power
        reaches from single features anywhere."""
        view, k = self._whole, len(self.sizes)
        if self._scattered is None:
            fixed = replace(run, rng=np.random.default_rng(self.seed))
            self._scattered = scattered_components(
                view, max(SEARCH.joint_scattered_kept, 6 * k), max(self.sizes), fixed
            )
        sets = sets_together(view, self._scattered, k, ridge)
        return [self._scattered[:, chosen] for chosen in sets]

    def _rotation(self, number: int) -> Array:
        while len(self._turned) <= number:
            self._turned.append(next(self._rotations))
        return self._turned[number]

    def _among_all(self, H: Array) -> Array:
        """Directions among all features."""
        out = np.zeros((self.n_features, H.shape[1]))
        out[self.pool] = H
        return out


def scattered_components(view: DataMatrix, count: int, n_nonzero: int, run: Run) -> Array:
    """Different directions that truncated power reaches from single features anywhere.

    Principal components lead to few of them: if variances are similar, a group of correlated features may matter to
    none.
    """
    usable = view.gram_diagonal() > 0
    many = int(
        np.clip(SEARCH.joint_scattered_entries // view.n_features, SEARCH.joint_scattered_kept, SEARCH.joint_scattered)
    )
    chosen = run.rng.permutation(np.flatnonzero(usable))[:many]
    limits: dict[str, Any] = {"settled": 2, "budget": run.budget, "allowed": usable[:, None]}
    firsts = [
        truncated_powers(view, unit_vectors(view.n_features, some), n_nonzero, max_iter=1, **limits)
        for some in np.array_split(chosen, -(-len(chosen) // SEARCH.joint_scattered_kept))
    ]
    found = np.column_stack(firsts)
    found = together(view, found, count, LEAST_RIDGE) if found.shape[1] > count else found
    limits |= {"work": run.effort.start_work, "least": SEARCH.joint_scattered_sets}
    found = truncated_powers(view, found, n_nonzero, max_iter=SEARCH.joint_scattered_steps, **limits)
    supports = np.unique((found != 0).T, axis=0, return_index=True)[1]
    return found[:, np.sort(supports)]


def sets_together(view: DataMatrix, directions: Array, count: int, ridge: float) -> Indices:
    """Sets (rows) of so many of some unit directions, the best first: each begins with another one, and takes those
    that add most to the variance captured, one after the other."""
    rows = sparse.csr_array(directions.T)
    C, W = (np.asarray(rows @ image) for image in (directions, view.gram_matmat(directions)))
    chosen = np.argsort(-np.diagonal(W), kind="stable")[: SEARCH.joint_scattered_sets, None]
    state, captured = np.arange(len(chosen)), np.zeros(len(chosen))
    C = np.repeat((C + ridge * np.eye(len(C)))[None], len(chosen), axis=0)
    W = np.repeat(W[None], len(chosen), axis=0)
    for number in range(count):
        if number:
            left, added = (np.diagonal(part, axis1=1, axis2=2) for part in (C, W))
            worth = np.where(left > OVERLAP, added / np.maximum(left, OVERLAP), 0.0)
            chosen = np.column_stack([chosen, worth.argmax(axis=1)])
            captured[worth.max(axis=1) <= 0] = -np.inf
        c, w = C[state, chosen[:, -1]], W[state, chosen[:, -1]]  # what it has in common with all others goes with it
        own = c[state, chosen[:, -1]][:, None]
        own = np.where(own > OVERLAP, own, np.inf)  # nothing is left that would be another one
        share, variance = c / own, w[state, chosen[:, -1]][:, None]
        captured += (variance / own)[:, 0]
        C = C - share[:, :, None] * c[:, None, :]
        half = share[:, :, None] * (w - variance * share / 2)[:, None, :]
        W = W - half - half.transpose(0, 2, 1)
    order = np.argsort(-captured, kind="stable")
    sets = np.sort(chosen[order[captured[order] > -np.inf]], axis=1)
    return sets[np.sort(np.unique(sets, axis=0, return_index=True)[1])]


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
    V: Array, cut: Callable[[Array], Array], rng: np.random.Generator, *, named: bool = True, together: int = 1
) -> Iterator[Array]:
    """An endless sequence of truncated rotations of the principal components: varimax and identity, if ``named``, then
    random ones, so many at a time."""
    d, k = V.shape
    batches = [[varimax(V)], [V]] if named else []
    while True:
        turned = batches.pop(0) if batches else [V @ _random_rotation(k, rng) for _ in range(together)]
        rotated = np.column_stack(turned)
        for _ in range(SEARCH.polar_steps):
            left, _, right = np.linalg.svd((V.T @ cut(rotated)).reshape(k, -1, k).transpose(1, 0, 2))
            rotated = (V @ (left @ right)).transpose(1, 0, 2).reshape(d, -1)
        yield from map(unit_columns, np.split(cut(rotated), len(turned), axis=1))


def _random_rotation(k: int, rng: np.random.Generator) -> Array:
    return np.asarray(np.linalg.qr(rng.standard_normal((k, k)))[0])
