"""Objectives of several components with separate features: variance, free, constrained, or with a total count."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np
from numpy.typing import NDArray

from sparing.gram import GRAM_LIMIT, DataMatrix
from sparing.linalg.rounding import first_largest
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.methods.deflation import (
    Deflation,
    DisjointDeflation,
    GeneralizedDeflation,
    OrthogonalizedDeflation,
    UncorrelatedConstraint,
)
from sparing.objectives.blocks import LEAST_RIDGE, BlockCapture, BlockState, Quotients
from sparing.objectives.constrained import Beside, ConstrainedBlocks, ConstrainedState
from sparing.objectives.joint import KEPT_PRODUCT
from sparing.objectives.loadings import best_loadings
from sparing.results import Array, Indices, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.search.iterated import Found
from sparing.search.offspring import BlockObjective
from sparing.search_limits import SEARCH

ALIKE = 0.95
"""Components with a larger cosine, or correlation of scores, are near-copies."""

OF_ALL, OF_LAST = 5e-3, 0.1
"""Shares of all variance, and of the last principal component's, that being rid of near-copies may cost."""


OVERLAPPING = 0.3
"""Cosine of two components from which turns of one at a time converge so slowly that they are fitted together."""

NEW_LOADING = 1e-3
"""Initial loading of a feature that enters a component, until it is fitted."""

EQUAL = 1e-12
"""Variances that differ by less than this share are equal: rounding does not choose between them."""

SETTLED = 1e-13
"""Minimum relative gain of a sweep over all components; below it, the sweeps end."""


class JointVariances:
    """tr((H'H + ridge I)^-1 H'AH) over directions H (columns, d x k) with given numbers of nonzeros.

    Parameters
    ----------
    view : DataMatrix
    sizes : list of int
        Features of each component.
    ridge : float
    rules : Rules
        Which features may be read, and which must be, by some component; no limits on several together.
    in_all : bool
        Only the sum of the sizes counts: features may move from one component to another.
    """

    deflations: tuple[Deflation, ...] = (GeneralizedDeflation(), OrthogonalizedDeflation(), DisjointDeflation())
    """Ways to components one after the other that searches start from, the first always."""

    descents_share = SEARCH.free_descents
    """Of the descents that are affordable."""

    def __init__(
        self, view: DataMatrix, sizes: list[int], ridge: float, *, rules: Rules = NO_RULES, in_all: bool = False
    ) -> None:
        self.view, self.ridge, self.rules, self.in_all = view, max(ridge, LEAST_RIDGE), rules, in_all
        self.usable = (view.gram_diagonal() > 0) & rules.usable(view.n_features)
        self.sizes = [min(size, int(self.usable.sum())) for size in sizes] if rules or in_all else sizes
        self.blocks, self.width = len(sizes), max(self.sizes)
        self.n_features = view.n_features
        self.padding = self.width - min(self.sizes)
        self._diagonal = np.append(view.gram_diagonal(), np.zeros(self.padding))

    def on(self, features: Indices) -> BlockObjective:
        """The objective of a working set, in memory."""
        real = features[features < self.n_features]
        weight = self.view.restricted(real).gram()
        return BlockCapture(weight, None, self.blocks, self.ridge, padding=len(features) - len(real))

    def outside(self, supports: Indices, width: int, loadings: Array | None = None) -> Array:
        """Gain of each component (S k of them) from each added feature (d): one product with A for all."""
        assert loadings is not None
        few = max(1, len(supports) // self.blocks)  # the product is with as many directions for any number of them
        supports, loadings = supports[:few], loadings[:few]
        H = self.directions(supports, loadings)
        wide = H.transpose(1, 0, 2).reshape(self.n_features, -1)
        images = self.view.gram_matmat(wide).reshape(self.n_features, few, -1).transpose(1, 0, 2)
        gains = self._beside(supports, loadings, H, images).entering()
        gains = gains.reshape(few * self.blocks, -1)[:, : self.n_features]
        return np.where(self.usable, gains, -np.inf)

    def _beside(self, supports: Indices, loadings: Array, H: Array, images: Array) -> Quotients | Beside:
        """Quantities from which swaps are scored, from directions (S, d, k) and AH."""
        state = BlockState(loadings, self._padded(images), self._padded(H))
        return Quotients(supports, state, self._diagonal, self.blocks, self.ridge)

    def _padded(self, columns: Array) -> Array:
        return np.pad(columns, ((0, 0), (0, self.padding), (0, 0)))

    def directions(self, supports: Indices, loadings: Array) -> Array:
        """H (S, d, k) of rows of slots and their loadings."""
        H = np.zeros((len(supports), self.n_features + self.padding, self.blocks))
        places = supports.reshape(len(supports), self.blocks, self.width).transpose(0, 2, 1)
        np.put_along_axis(
            H, places, loadings.reshape(len(supports), self.blocks, self.width).transpose(0, 2, 1), axis=1
        )
        return H[:, : self.n_features]

    def directions_of(self, found: Found) -> Array:
        """H (d, k) of a search result."""
        assert found.loadings is not None
        return np.asarray(self.directions(found.support[None], found.loadings[None])[0])

    def slots(self, H: Array, images: Array) -> tuple[Indices, Array]:
        """A row of slots and its loadings; supports below their size get the features that pull most."""
        places = np.empty((self.blocks, self.width), dtype=np.intp)
        loadings = np.zeros((self.blocks, self.width))
        supports = self._with_required(H)
        for j, size in enumerate(self.sizes_of(H)):
            support = supports[j]
            more = np.zeros(0, dtype=np.intp)
            if size > len(support):
                pull = np.where(self.usable, np.abs(images[:, j]), -0.5)
                pull[support] = -1.0
                more = np.argsort(-pull, kind="stable")[: size - len(support)]
            padding = self.n_features + np.arange(self.width - size)
            places[j] = np.concatenate([support, more, padding])
            loadings[j, : len(support)] = H[support, j]
        return places.ravel(), loadings.ravel()

    def _with_required(self, H: Array) -> list[Indices]:
        """Supports of directions, each required feature in one of them, in the place of the least loading."""
        H = np.where(self.usable[:, None], H, 0.0)
        supports = [np.flatnonzero(H[:, j]) for j in range(self.blocks)]
        if len(self.rules.required) == 0:
            return supports
        required = self.rules.required[self.usable[self.rules.required]]
        for feature in np.setdiff1d(required, np.concatenate(supports)):
            free = [np.setdiff1d(support, self.rules.required) for support in supports]
            room = [size - len(one) + len(some) for size, one, some in zip(self.sizes, supports, free, strict=True)]
            j = int(np.argmax(room))
            if len(supports[j]) == self.sizes[j]:
                least = free[j][np.argmin(np.abs(H[free[j], j]))]
                supports[j] = np.setdiff1d(supports[j], least)
            supports[j] = np.append(supports[j], feature)
        return supports

    def sizes_of(self, H: Array) -> list[int]:
        """The number of features of each direction; the rest of a total goes to the directions with the fewest."""
        if not self.in_all:
            return self.sizes
        sizes = np.count_nonzero(H, axis=0)
        for _ in range(sum(self.sizes) - int(sizes.sum())):
            sizes[int(np.argmin(sizes))] += 1
        return [int(size) for size in sizes]

    def cut(self, loadings: Array) -> Array:
        """Each column truncated to its count, or all of a set together to the total; sets stand side by side."""
        n_sets = loadings.shape[1] // self.blocks
        if not self.in_all:
            return keep_largest(loadings, self.sizes * n_sets)
        surely = keep_largest(loadings, 1)
        others = (loadings - surely).reshape(-1, n_sets, self.blocks).transpose(0, 2, 1)
        rest = keep_largest(others.reshape(-1, n_sets), sum(self.sizes) - self.blocks).reshape(others.shape)
        return np.asarray(surely + rest.transpose(0, 2, 1).reshape(loadings.shape))

    def fitting(self, starts: Sequence[Array]) -> JointVariances:
        """The same goal with tables wide enough for all of these directions."""
        if not self.in_all:
            return self
        room, sizes = copy(self), [size for H in starts for size in self.sizes_of(H)]
        room.width, room.padding = max(sizes), max(sizes) - min(sizes)
        room._diagonal = np.append(self._diagonal[: self.n_features], np.zeros(room.padding))
        return room

    def fewer(self, n_components: int) -> JointVariances:
        """The same goal for this number of components, if there are no more."""
        return self

    def transfers(self, H: Array, rng: np.random.Generator) -> list[Array]:
        """Reallocate features: some directions give up their least important ones, others receive those with the
        largest gain."""
        total = sum(self.sizes)
        if not self.in_all or total == self.blocks:
            return []
        goal = self.fitting([H])
        supports, x = goal.slots(H, H)
        places, images = supports.reshape(goal.blocks, -1), self.view.gram_matmat(H)
        beside = goal._beside(supports[None], x[None], H[None], images[None])
        gains = np.where(self.usable, beside.entering()[0, :, : self.n_features], -np.inf)
        missed = np.where(places < self.n_features, beside.leaving()[0], -np.inf)
        coming = [divmod(int(flat), self.n_features) for flat in np.argsort(-gains, axis=None)[:total]]
        going = [divmod(int(flat), goal.width) for flat in np.argsort(-missed, axis=None)[:total]]
        pairs = [
            (lost, new)
            for lost in going[: SEARCH.single_moves]
            for new in coming[: SEARCH.single_moves]
            if lost[0] != new[0]
        ]
        pairs.sort(key=lambda pair: missed[pair[0]] + gains[pair[1]], reverse=True)
        chosen = [[pair] for pair in pairs[: SEARCH.single_moves // 2]]
        for power in range(1, max(2, total // 4).bit_length()):
            chosen.append(list(zip(going[: 2**power], coming[: 2**power], strict=True)))
        for _ in range(SEARCH.single_moves // 2):  # and some by chance
            n = int(rng.integers(1, min(SEARCH.moved, total - self.blocks) + 1))
            some = ([part[i] for i in rng.permutation(min(4 * n, len(part)))[:n]] for part in (going, coming))
            chosen.append(list(zip(*some, strict=True)))
        moved = [_moved(H, [((b, int(places[b, slot])), new) for (b, slot), new in some]) for some in chosen]
        return [trial for trial in moved if trial.shape == H.shape]

    def feasible(self, answers: list[Array]) -> list[Array]:
        """The directions that satisfy the constraints of the goal."""
        return answers

    def with_images(self, answers: Sequence[Array]) -> tuple[Array, Array]:
        """Directions H (S, d, k) and AH: one product for all."""
        H = np.array(answers)
        wide = H.transpose(1, 0, 2).reshape(H.shape[1], -1)
        return H, self.view.gram_matmat(wide).reshape(H.shape[1], len(H), -1).transpose(1, 0, 2)

    def captured(self, H: Array, images: Array, ridge: float | None = None) -> Array:
        """Variances that unit directions H (S, d, k) with images AH capture."""
        Ht, k = H.transpose(0, 2, 1), H.shape[2]
        C = Ht @ H + (self.ridge if ridge is None else ridge) * np.eye(k)
        inverse = np.linalg.pinv(C, k * np.finfo(float).eps, hermitian=True)
        return np.asarray(np.einsum("sij,sji->s", inverse, Ht @ images))

    def overlapping(self, answers: Sequence[Array]) -> NDArray[np.bool_]:
        """Answers with components so close that block ascent may have left their loadings far from the best."""
        H = np.array(answers)
        return np.asarray(unsigned_cosines(H.transpose(0, 2, 1) @ H).max(axis=(1, 2)) > OVERLAPPING)

    def refitted(self, H: Array, run: Run) -> Array:
        """The best loadings on the supports of H, all of them together."""
        used = np.flatnonzero(H.any(axis=1))
        if self.blocks < 2 or len(used) > GRAM_LIMIT or not H.any(axis=0).all():
            return H
        out = np.zeros_like(H)
        out[used] = best_loadings(self.view.restricted(used).gram(), H[used], self.ridge, SEARCH.refits, run.budget)
        return out

    def best(self, answers: list[Array], spectrum: Spectrum, at_least: Sequence[Array] = ()) -> Array:
        """The result with the most variance; if it has near-copies, the best result without them that has nearly the
        same variance.

        Where one feature outweighs all others, a copy of the first component with one more feature buys as much as a
        component of its own, to many digits: the variance alone does not tell them apart. A result below ``at_least``,
        the value of less effort or of a constraint, does not count, with near-copies or without.
        """
        answers = [*at_least, *answers]
        H, images = self.with_images(answers)
        alike = largest_cosines(H, images)
        guarded, free = (self.captured(H, images, ridge) for ridge in (self.ridge, 0.0))
        enough = free >= free[: len(at_least)].max(initial=-np.inf) * (1 - EQUAL)
        best = first_largest(np.where(enough, guarded, -np.inf))
        least = guarded[best] - min(OF_ALL * guarded[best], OF_LAST * float(spectrum.values[-1]))
        apart = enough & (alike <= ALIKE) & ((guarded >= least) | (alike[best] <= ALIKE))
        return answers[first_largest(np.where(apart, free, -np.inf)) if apart.any() else best]

    def ordered(self, H: Array) -> Array:
        """The direction that captures most first, then the one that adds most; ties go to earlier features."""
        C, W = H.T @ H + self.ridge * np.eye(H.shape[1]), H.T @ self.view.gram_matmat(H)
        left, chosen = sorted(range(H.shape[1]), key=lambda j: list(np.flatnonzero(H[:, j]))), list[int]()
        while left:
            reached = [
                np.trace(np.linalg.solve(C[np.ix_(J, J)], W[np.ix_(J, J)])) for J in ([*chosen, j] for j in left)
            ]
            chosen.append(left.pop(first_largest(np.array(reached))))
        return H[:, chosen]


class ConstrainedVariances(JointVariances):
    """tr(H'AH) over unit directions of which all pairs keep a constraint.

    Parameters
    ----------
    view : DataMatrix
    sizes : list of int
    constraint : Deflation
        ``orthogonal`` or ``uncorrelated``.
    level : float
        The largest eigenvalue of A.
    """

    descents_share = SEARCH.constrained_descents

    def __init__(
        self, view: DataMatrix, sizes: list[int], constraint: Deflation, level: float, *, in_all: bool = False
    ) -> None:
        super().__init__(view, sizes, LEAST_RIDGE, in_all=in_all)
        self.constraint, self.level = constraint, level
        self.uncorrelated = isinstance(constraint, UncorrelatedConstraint)
        self.deflations = (constraint, DisjointDeflation(), GeneralizedDeflation())

    def on(self, features: Indices) -> BlockObjective:
        """The objective of a working set, in memory."""
        real = features[features < self.n_features]
        return ConstrainedBlocks(
            self.view.restricted(real).gram(),
            self.blocks,
            self.level,
            uncorrelated=self.uncorrelated,
            charges=SEARCH.charges,
            padding=len(features) - len(real),
        )

    def _beside(self, supports: Indices, loadings: Array, H: Array, images: Array) -> Beside:
        forbidden = images / self.level if self.uncorrelated else H
        state = ConstrainedState(loadings, self._padded(images), self._padded(forbidden))
        return Beside(supports, state, self._diagonal, self.level)

    def fewer(self, n_components: int) -> JointVariances:
        """The same goal for this number of components."""
        sizes = equal_shares(sum(self.sizes), n_components) if self.in_all else self.sizes[:n_components]
        return ConstrainedVariances(self.view, sizes, self.constraint, self.level, in_all=self.in_all)

    def feasible(self, answers: list[Array]) -> list[Array]:
        """The directions of which all pairs satisfy the constraint."""
        out = []
        for H in answers:
            products = H.T @ (self.view.gram_matmat(H) if self.uncorrelated else H)
            own = np.diagonal(products)
            if np.abs(products - np.diag(own)).max(initial=0.0) <= KEPT_PRODUCT * own.max(initial=0.0):
                out.append(H)
        return out

    def captured(self, H: Array, images: Array, ridge: float | None = None) -> Array:
        """The sums of variances."""
        return np.asarray(np.einsum("sij,sij->s", H, images))

    def overlapping(self, answers: Sequence[Array]) -> NDArray[np.bool_]:
        """None: their constraint keeps them apart."""
        return np.zeros(len(answers), dtype=bool)

    def refitted(self, H: Array, run: Run) -> Array:
        """The best loadings on the supports of H, by block coordinate ascent.

        Under the constraint a component of few features can hardly turn while the others stay, so the ascent also
        starts from the ends of ascents that only charge for breaking it.
        """
        goal = self.fitting([H])
        supports, x = goal.slots(H, H)
        features = np.unique(supports)
        objective, inside = goal.on(features), np.searchsorted(features, supports)[None]
        starts, loadings = [x[None]], x[None]
        for easier in getattr(objective, "softer", ()):
            loadings = _settled(easier, inside, loadings, SEARCH.soft_steps, run)[1]
            starts.append(loadings)
        values, loadings = _settled(
            objective, np.repeat(inside, len(starts), axis=0), np.concatenate(starts), SEARCH.refits, run
        )
        out = unit_columns(goal.directions(supports[None], loadings[[first_largest(values)]])[0])
        return out if out.shape == H.shape else H

    def best(self, answers: list[Array], spectrum: Spectrum, at_least: Sequence[Array] = ()) -> Array:
        """The directions that capture most."""
        answers = [*at_least, *answers]
        return answers[first_largest(self.captured(*self.with_images(answers)))]

    def ordered(self, H: Array) -> Array:
        """By falling variance."""
        return H[:, np.argsort(-np.einsum("ij,ij->j", H, self.view.gram_matmat(H)), kind="stable")]


def _settled(
    objective: BlockObjective, supports: Indices, loadings: Array, sweeps: int, run: Run
) -> tuple[Array, Array]:
    """Values and loadings (S, R) after turns of all components, until they gain nothing more."""
    reached = np.full(len(supports), -np.inf)
    for _ in range(sweeps):
        values, state = objective.fitted(supports, loadings)
        before, reached, loadings = reached, values, state.loadings
        if (reached <= before + SETTLED * np.abs(reached)).all() or run.budget.expired:
            break
    return reached, loadings


def _moved(H: Array, pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]]) -> Array:
    """Directions without some features and with others, both given as (component, feature)."""
    out = H.copy()
    for (giver, lost), (taker, new) in pairs:
        out[lost, giver], out[new, taker] = 0.0, NEW_LOADING
    return unit_columns(out)


def equal_shares(total: int, n_components: int) -> list[int]:
    """A total number of features dealt out as equally as it goes."""
    return [total // n_components + (j < total % n_components) for j in range(n_components)]


def largest_cosines(H: Array, images: Array) -> Array:
    """The largest cosine of two directions (S, d, k), or correlation of their scores, whichever is larger."""
    Ht = H.transpose(0, 2, 1)
    both = [unsigned_cosines(products).max(axis=(1, 2), initial=0.0) for products in (Ht @ H, Ht @ images)]
    return np.asarray(np.maximum(*both))


def unsigned_cosines(products: Array) -> Array:
    """|cosine| of each pair from all inner products (..., k, k), above the diagonal."""
    own = np.diagonal(products, axis1=-2, axis2=-1)
    lengths = np.sqrt(np.maximum(own, np.finfo(float).tiny))
    return np.asarray(np.abs(np.triu(products / (lengths[..., :, None] * lengths[..., None, :]), 1)))
