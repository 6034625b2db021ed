"""The search for components of maximal variance together, each with features of its own choice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from sparing.gram import GRAM_LIMIT, DataMatrix, view_of_gram
from sparing.linalg.rotation import varimax
from sparing.linalg.signs import first_largest
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.methods.deflation import Deflation, DisjointDeflation, GeneralizedDeflation, OrthogonalizedDeflation
from sparing.methods.encoders.disjoint import anywhere, perturbed, settled
from sparing.methods.encoders.sequential import FirstOnce, sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.blocks import RIDGE, BlockCapture, BlockState, Quotients
from sparing.objectives.loadings import best_loadings
from sparing.results import Array, Indices, Spectrum
from sparing.run import Run
from sparing.search.joint import search_joint
from sparing.search.truncated_power import pool_of

DEFLATIONS: tuple[Deflation, ...] = (GeneralizedDeflation(), OrthogonalizedDeflation(), DisjointDeflation())
"""Ways to components one after the other that searches start from, the first always."""

POLAR_STEPS = 10
"""Steps that bring a rotation of the principal components and its cut to size closer to one another."""

PLACES, PROMISING = 4, 512
"""Features that starts are sought among, for each place in a component, and at least."""

ANYWHERE = 4
"""One in so many times features are shared out from single ones drawn by chance."""

ALIKE = 0.95
"""Components with a larger cosine, or correlation of scores, are near-copies."""

OF_ALL, OF_LAST = 5e-3, 0.1
"""Shares of all variance, and of the last principal component's, that being rid of near-copies may cost."""

REFITS = 200
"""Steps at most to the best loadings of given supports."""

ROUGH = 1e-4
"""Share of the variance that a step of a start must gain: the search goes on from there."""


class JointVariances:
    """tr((H'H + ridge I)^-1 H'AH) over directions H (columns, d x k) with given numbers of nonzeros.

    Parameters
    ----------
    view : DataMatrix
    sizes : list of int
        Features of each component.
    ridge : float
    """

    def __init__(self, view: DataMatrix, sizes: list[int], ridge: float) -> None:
        self.view, self.sizes, self.ridge = view, sizes, max(ridge, RIDGE)
        self.blocks, self.width = len(sizes), max(sizes)
        self.n_features = view.n_features
        self.padding = self.width - min(sizes)
        self._diagonal = np.append(view.gram_diagonal(), np.zeros(self.padding))
        self.usable = view.gram_diagonal() > 0

    def on(self, features: Indices) -> BlockCapture:
        """The objective of a working set, in memory."""
        real = features[features < self.n_features]
        weight = self.view.restricted(real).gram()
        return BlockCapture(weight, None, self.blocks, self.ridge, padding=len(features) - len(real))

    def outside(self, supports: Indices, loadings: Array) -> Array:
        """What each component (S k of them) gains by each feature (d) beside its own: one product with A for all."""
        few = max(1, len(supports) // self.blocks)  # the product is with as many directions for any number of them
        supports, loadings = supports[:few], loadings[:few]
        H = self.directions(supports, loadings)
        wide = H.transpose(1, 0, 2).reshape(self.n_features, -1)
        images = self.view.gram_matmat(wide).reshape(self.n_features, few, -1).transpose(1, 0, 2)
        pad = ((0, 0), (0, self.padding), (0, 0))
        state = BlockState(loadings, np.pad(images, pad), np.pad(H, pad))
        gains = Quotients(supports, state, self._diagonal, self.blocks, self.ridge).entering()
        gains = gains.reshape(few * self.blocks, -1)[:, : self.n_features]
        return np.where(self.usable, gains, -np.inf)

    def directions(self, supports: Indices, loadings: Array) -> Array:
        """H (S, d, k) of rows of slots and their loadings."""
        H = np.zeros((len(supports), self.n_features + self.padding, self.blocks))
        places = supports.reshape(len(supports), self.blocks, self.width).transpose(0, 2, 1)
        np.put_along_axis(
            H, places, loadings.reshape(len(supports), self.blocks, self.width).transpose(0, 2, 1), axis=1
        )
        return H[:, : self.n_features]

    def slots(self, H: Array, images: Array) -> tuple[Indices, Array]:
        """A row of slots and its loadings; supports below their size get the features that pull most."""
        places = np.empty((self.blocks, self.width), dtype=np.intp)
        loadings = np.zeros((self.blocks, self.width))
        for j, size in enumerate(self.sizes):
            support = np.flatnonzero(H[:, j])
            pull = np.abs(images[:, j])
            pull[support] = -1.0
            more = np.argsort(-pull, kind="stable")[: size - len(support)]
            padding = self.n_features + np.arange(self.width - size)
            places[j] = np.concatenate([support, more, padding])
            loadings[j, : len(support)] = H[support, j]
        return places.ravel(), loadings.ravel()

    def captured(self, H: Array, images: Array, ridge: float | None = None) -> float:
        """What unit directions H with images AH capture."""
        C = H.T @ H + (self.ridge if ridge is None else ridge) * np.eye(H.shape[1])
        return float(np.trace(np.linalg.lstsq(C, H.T @ images, rcond=None)[0]))

    def refitted(self, H: Array, run: Run) -> Array:
        """The best loadings on the supports of H, all of them together."""
        used = np.flatnonzero(H.any(axis=1))
        if self.blocks < 2 or len(used) > GRAM_LIMIT or not H.any(axis=0).all():
            return H
        out = np.zeros_like(H)
        out[used] = best_loadings(self.view.restricted(used).gram(), H[used], self.ridge, REFITS, run.budget)
        return out

    def ordered(self, H: Array) -> Array:
        """The direction that captures most first, then the one that adds most to it, and so on."""
        C, W = H.T @ H + self.ridge * np.eye(H.shape[1]), H.T @ self.view.gram_matmat(H)
        left, chosen = list(range(H.shape[1])), list[int]()
        while left:
            reached = [
                np.trace(np.linalg.solve(C[np.ix_(J, J)], W[np.ix_(J, J)])) for J in ([*chosen, j] for j in left)
            ]
            chosen.append(left.pop(first_largest(np.array(reached))))
        return H[:, chosen]


class FreeSearch:
    """One search, in as many levels as the effort has: each goes on from what those below have found.

    Parameters
    ----------
    goal : JointVariances
    solver : Solver
        Finds components one after the other, for starts.
    spectrum : Spectrum
    run : Run
    """

    def __init__(self, goal: JointVariances, solver: Solver, spectrum: Spectrum, run: Run) -> None:
        self.goal, self.context = goal, run
        self.pool, self.view, self.spectrum = np.arange(goal.n_features), goal.view, spectrum
        wanted = max(PROMISING, PLACES * sum(goal.sizes))
        if wanted < goal.n_features:  # starts only: all other features come in when working sets are selected
            self.pool = pool_of(goal.view, wanted, spectrum.basis)
            self.spectrum = replace(spectrum, basis=spectrum.basis[self.pool])
        if not goal.view.has_gram:  # hundreds of products follow
            block = goal.view.restricted(self.pool)
            self.view = view_of_gram(block.gram(), is_psd=block.is_psd, psd_slack=block.psd_slack)
        self.solver = FirstOnce(solver, self.view)
        self.deflations = iter(DEFLATIONS)
        self.rotations = rotations(self.spectrum.basis, goal.sizes, run.rng)
        self.rotated = np.zeros((len(self.pool), 0))
        self.shared: tuple[float, Array] | None = None
        self.answers: list[Array] = []

    def run(self) -> Array:
        """The directions of largest joint variance found."""
        first = self._sequential()
        if first.shape[1] < self.goal.blocks:  # nothing is left for further components
            return self.goal.ordered(first)
        self.answers.append(first)
        elite = list[Array]()
        seeds = self.context.rng.integers(2**32, size=len(self.context.effort.levels))
        for effort, seed in zip(self.context.effort.levels, seeds, strict=True):
            if not self.context.budget.expired:
                elite = self._level(elite, replace(self.context, effort=effort, rng=np.random.default_rng(seed)))
        return self.goal.ordered(_best(self.goal, self.answers, self.spectrum))

    def _level(self, elite: list[Array], run: Run) -> list[Array]:
        """The best that a search from what is known, and from more starts, leads to."""
        goal, effort, n_slots = self.goal, run.effort, sum(self.goal.sizes)
        affordable = effort.joint_table / (n_slots * min(goal.n_features, PLACES * n_slots))
        if elite and affordable < 1:
            return elite
        more = list(self._starts(int(np.clip(affordable, 2, effort.joint_starts)), affordable, run))
        starts = [*(elite[: 1 + int(affordable)] or self.answers), *more]
        images = np.split(goal.view.gram_matmat(np.concatenate(starts, axis=1)), len(starts), axis=1)
        reached = [goal.captured(H, AH) for H, AH in zip(starts, images, strict=True)]
        order = np.argsort(-np.array(reached), kind="stable")
        rows, loadings = zip(*(goal.slots(starts[i], images[i]) for i in order), strict=True)
        found = search_joint(
            goal,
            np.array(rows),
            np.array(loadings),
            run,
            descents=int(np.clip(affordable, 0, effort.joint_descents)),
            working_set=max(goal.width, effort.joint_working_set // goal.blocks),
        )
        best = [unit_columns(goal.directions(one.support[None], one.loadings[None])[0]) for one in found]
        best = [H for H in best if H.shape[1] == goal.blocks]
        self.answers += [goal.refitted(H, run) for H in best[:1]] + best[1:] + more
        run.budget.say(f"joint search: {found[0].value / goal.view.total:.4%} of the variance")
        return best

    def _starts(self, count: int, affordable: float, run: Run) -> Iterator[Array]:
        """By turns a rotation cut to size, features shared out among components, components one after the other."""
        for number in range(count):
            if run.budget.expired:
                return
            if number % 4 == 1:
                times = int(run.effort.joint_shared * min(1.0, affordable))
                self.shared = _shared_out(self.view, self.shared, self.rotated, self.goal.sizes, times, run)
                start = self._scattered(self.shared[1])
            elif number % 4 == 3:
                start = self._sequential()
            else:
                self.rotated = next(self.rotations)
                start = self._scattered(self.rotated)
            if start.shape[1] == self.goal.blocks and start.any(axis=0).all():
                yield start

    def _sequential(self) -> Array:
        """Components one after the other, by the next of the deflations."""
        deflation = next(self.deflations, None)
        if deflation is None:
            return np.zeros((self.goal.n_features, 0))
        sizes, run = self.goal.sizes, self.context
        return self._scattered(sequential_directions(self.solver, deflation, self.view, self.spectrum, sizes, run))

    def _scattered(self, H: Array) -> Array:
        """Directions among all features."""
        out = np.zeros((self.goal.n_features, H.shape[1]))
        out[self.pool] = H
        return out


def _shared_out(
    view: DataMatrix, known: tuple[float, Array] | None, start: Array, sizes: list[int], times: int, run: Run
) -> tuple[float, Array]:
    """Directions without a common feature and their variance: features shared out, and again after perturbations."""
    reached, best = known or settled(view, start, sizes, np.asarray, ROUGH, run.budget)
    for number in range(times):
        if run.budget.expired or not best.any(axis=0).all():
            break
        again = perturbed(best, run.rng) if (number + 1) % ANYWHERE else anywhere(view, len(sizes), run.rng)
        value, H = settled(view, again, sizes, np.asarray, ROUGH, run.budget)
        if value > reached:
            reached, best = value, H
    return reached, best


def rotations(V: Array, sizes: Sequence[int], rng: np.random.Generator) -> Iterator[Array]:
    """Rotations of the principal components cut to size, without end."""
    k = V.shape[1]
    for number in count(0):
        rotated = varimax(V) if number == 0 else V if number == 1 else V @ np.linalg.qr(rng.standard_normal((k, k)))[0]
        for _ in range(POLAR_STEPS):
            left, _, right = np.linalg.svd(V.T @ keep_largest(rotated, sizes))
            rotated = V @ (left @ right)
        yield unit_columns(keep_largest(rotated, sizes))


def _best(goal: JointVariances, answers: list[Array], spectrum: Spectrum) -> Array:
    """What captures most; where it has near-copies, the best without them, if it has nearly the variance.

    Where one feature outweighs all others, a copy of the first component with one more feature buys as much as a
    component of its own, to many digits: the variance alone does not tell them apart.
    """
    images = np.split(goal.view.gram_matmat(np.concatenate(answers, axis=1)), len(answers), axis=1)
    pairs = list(zip(answers, images, strict=True))
    alike = np.array([largest_cosine(H, AH) for H, AH in pairs])
    guarded, free = (np.array([goal.captured(H, AH, ridge) for H, AH in pairs]) for ridge in (goal.ridge, 0.0))
    best = first_largest(guarded)
    least = guarded[best] - min(OF_ALL * guarded[best], OF_LAST * float(spectrum.values[-1]))
    apart = (alike <= ALIKE) & ((guarded >= least) | (alike[best] <= ALIKE))
    return answers[first_largest(np.where(apart, free, -np.inf)) if apart.any() else best]


def largest_cosine(H: Array, images: Array) -> float:
    """The largest cosine of two directions, or correlation of their scores, whichever is larger."""
    return max(float(unsigned_cosines(both).max(initial=0.0)) for both in (H.T @ H, H.T @ images))


def unsigned_cosines(products: Array) -> Array:
    """|cosine| of each pair from all inner products, above the diagonal."""
    lengths = np.sqrt(np.maximum(np.diagonal(products), np.finfo(float).tiny))
    return np.abs(np.triu(products / np.multiply.outer(lengths, lengths), 1))
