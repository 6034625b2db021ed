"""Variance captured by k components on a shared support, and all of its swaps at once.

On a support S, with A_SS = LL', capture(S) is the sum of the k largest eigenvalues of G = L^-1 B_SS L^-T. B = A^2 is
the information that an encoder keeps [magdonismail2015, Sec. 2.2]; B = (X'T)(X'T)' is what S spans of a target T, all
of it where k is T's rank.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.gram.base import runs
from sparing.linalg.rounding import first_largest
from sparing.results import Array, Indices, Spectrum
from sparing.rules import NO_RULES, Rooms, Rules
from sparing.search_limits import SEARCH
from sparing.task import Target

UNIT_RIDGE = 1e-11
"""Added to unit columns: dependent sets stay harmless, and no value rises by it."""

DEFINITE = (1e2, 1e5, 1e8, 1e11, 1e14)
"""Factors of the ridge until a Gram matrix that rounding made indefinite has its Cholesky factors."""

LEFT_OF_SWAP = 1e-9
"""Minimum share of a unit column outside the span of the others; below it, the gain of a swap is rounding error."""


class SharedState(NamedTuple):
    """L^-1, the k leading eigenvalues of G and their eigenvectors (r x k), for each support."""

    inverse: Array
    values: Array
    vectors: Array

    @property
    def turned(self) -> Array:
        """F'L^-1, which maps values of the features of a support to values of its components."""
        return np.asarray(self.vectors.swapaxes(-1, -2) @ self.inverse)


class SharedCapture:
    """A working set of features, for the search of r among them that capture most.

    Parameters
    ----------
    gram, weight : ndarray of shape (u, u)
        A and B on the working set.
    rank : int
        Number of components k.
    rounding : ndarray of shape (u,), optional
        Share of each column's square that may be rounding, where that is more than usual: it is added to the ridge, so
        that directions made of rounding errors capture nothing.
    """

    def __init__(self, gram: Array, weight: Array, rank: int, rounding: Array | None = None) -> None:
        squares = np.maximum(np.diagonal(gram), 0.0)
        norms = np.where(squares > 0, np.sqrt(squares), np.inf)  # of a column that is nothing, nothing is captured
        outer = np.multiply.outer(norms, norms)
        ridge = np.full(len(gram), UNIT_RIDGE) if rounding is None else np.maximum(rounding, UNIT_RIDGE)
        self.gram = gram / outer + np.diag(np.where(squares > 0, ridge, 1.0))
        self.weight, self.rank, self.size = weight / outer, rank, len(gram)

    blocks = 1

    def fitted(self, supports: Indices, before: None = None) -> tuple[Array, SharedState]:
        """Captured variances, and quantities from which swaps are scored."""
        places = supports[:, :, None] * self.size + supports[:, None, :]
        inverse = cast(Array, np.linalg.inv(_cholesky(self.gram.take(places))))
        G = inverse @ self.weight.take(places) @ inverse.transpose(0, 2, 1)
        values, vectors = np.linalg.eigh((G + G.transpose(0, 2, 1)) / 2)
        k = min(self.rank, supports.shape[1])
        leading = np.maximum(values[:, -k:], np.finfo(float).tiny)
        return leading.sum(axis=1), SharedState(inverse, leading, vectors[:, :, -k:])

    def kept(self, state: SharedState, same: NDArray[np.bool_]) -> None:
        """Do nothing: a support has only one value."""

    def swap_gains(self, supports: Indices, state: SharedState, candidates: Indices | None = None) -> Array:
        """Lower bounds of the gains of all swaps."""
        state = SharedState(*state)
        if candidates is None:
            gains = captured_gains(state, self.gram[supports], state.turned @ self.weight[supports])
            taken = np.repeat(supports[:, None, :], supports.shape[1], axis=1)
            np.put_along_axis(gains, taken, -np.inf, axis=2)
            return gains
        rows, columns = supports[:, :, None], candidates[:, None, :]
        places = rows * self.size + columns
        gains = captured_gains(state, self.gram.take(places), state.turned @ self.weight.take(places))
        gains[np.broadcast_to((rows == columns).any(axis=1)[:, None, :], gains.shape)] = -np.inf
        return gains

    def sharper_values(self, supports: Indices, state: SharedState, slots: Indices, taken: Indices) -> Array:
        """Lower bounds of the values after some swaps (S, c), sharper than their scores.

        The components of a support, the new feature in the place of the old one, go through block power steps in
        the span of the new support. The variance captured by any k directions there is a lower bound.
        """
        return _Swaps(self, SharedState(*state), supports, slots, taken).values(SEARCH.shared_power_steps)

    def extended(self, support: Indices, may: NDArray[np.bool_] | None = None) -> Indices:
        """Add the allowed feature that increases the captured variance most."""
        _, state = self.fitted(support[None])
        one = SharedState(*(part[0] for part in state))
        gains = added_gains(one, self.gram[support], one.turned @ self.weight[support], np.diagonal(self.gram))
        gains[support] = -np.inf
        gains = gains if may is None else np.where(may, gains, -np.inf)
        return np.append(support, first_largest(gains)) if gains.max() > -np.inf else support

    def pruned(self, support: Indices, required: Indices | tuple[()] = ()) -> Indices:
        """The support without the feature whose removal costs least; required features stay."""
        fewer = np.array([np.delete(support, slot) for slot in np.flatnonzero(~np.isin(support, required))])
        return cast(Indices, fewer[first_largest(self.fitted(fewer)[0])])


class _Swaps:
    """Power steps of k directions for many swaps of each support S, i out and j in, each in the span of its support.

    All swaps of a support share products: with P = A_SS^-1, the Gram matrix A_RR of the features R that stay has the
    inverse P - P_i P_i' / P_ii, and j borders it. Directions have parts on S (S, r, c, k), zero at i, and on j.
    """

    def __init__(
        self, objective: SharedCapture, state: SharedState, supports: Indices, slots: Indices, taken: Indices
    ) -> None:
        rows, columns, new = supports[:, :, None], supports[:, None, :], taken[:, None, :]
        self.gram, self.weight = objective.gram[rows, columns], objective.weight[rows, columns]
        self.gram_of_new, self.weight_of_new = objective.gram[rows, new], objective.weight[rows, new]
        self.gram_of_own, self.weight_of_own = objective.gram[taken, taken], objective.weight[taken, taken]
        number = np.arange(len(supports))[:, None]
        self.out = (number, slots, np.arange(slots.shape[1]))
        turned = state.inverse.transpose(0, 2, 1)
        self.inverse = turned @ state.inverse
        of_out = np.take_along_axis(self.inverse, slots[:, None, :], axis=2)
        self.against = of_out / of_out[self.out][:, None]
        known = self.inverse @ self.gram_of_new
        self.known = known - self.against * known[self.out][:, None]  # A_RR^-1 A_Rj
        left = self.gram_of_own - np.einsum("src,src->sc", self.gram_of_new, self.known)
        self.left = np.maximum(left, LEFT_OF_SWAP * UNIT_RIDGE)
        directions = turned @ state.vectors
        alike = np.sign(self.gram_of_new[self.out])
        self.inside = np.repeat(directions[:, :, None], slots.shape[1], axis=2)
        self.inside[self.out] = 0.0
        self.beside = directions[number, slots] * np.where(alike == 0, 1.0, alike)[:, :, None]

    def values(self, steps: int) -> Array:
        """Captured variance after these steps (S, c)."""
        for _ in range(steps):
            self._solve(*self._weighted())
        scale = np.einsum("sckk->sc", below := self._inner(*self._spanned()))[:, :, None, None]
        scale = np.where(scale > 0, scale, 1.0)  # a support of nothing but empty slots captures nothing
        below = below + UNIT_RIDGE * scale * np.eye(below.shape[-1])
        return cast(Array, np.einsum("sckk->sc", np.linalg.solve(below, self._inner(*self._weighted()))))

    def _weighted(self) -> tuple[Array, Array]:
        """B times the directions."""
        return self._times(self.weight, self.weight_of_new, self.weight_of_own)

    def _spanned(self) -> tuple[Array, Array]:
        """A times the directions."""
        return self._times(self.gram, self.gram_of_new, self.gram_of_own)

    def _times(self, block: Array, of_new: Array, own: Array) -> tuple[Array, Array]:
        shape = self.inside.shape
        inside = (block @ self.inside.reshape(*shape[:2], -1)).reshape(shape)
        inside += of_new[:, :, :, None] * self.beside[:, None]
        inside[self.out] = 0.0
        beside = np.einsum("src,srck->sck", of_new, self.inside) + own[:, :, None] * self.beside
        return inside, beside

    def _solve(self, inside: Array, beside: Array) -> None:
        """The directions whose products with A these are, each scaled to a size of one."""
        shape = inside.shape
        solved = (self.inverse @ inside.reshape(*shape[:2], -1)).reshape(shape)
        solved -= self.against[:, :, :, None] * solved[self.out][:, None]
        self.beside = (beside - np.einsum("src,srck->sck", self.known, inside)) / self.left[:, :, None]
        self.inside = solved - self.known[:, :, :, None] * self.beside[:, None]
        self.inside[self.out] = 0.0
        size = np.maximum(np.abs(self.inside).max(axis=1), np.abs(self.beside))
        size = np.maximum(size, np.finfo(float).tiny)
        self.inside, self.beside = self.inside / size[:, None], self.beside / size

    def _inner(self, inside: Array, beside: Array) -> Array:
        """Inner products of the directions with these (S, c, k, k)."""
        between = self.inside.transpose(0, 2, 3, 1) @ inside.transpose(0, 2, 1, 3)
        return between + self.beside[:, :, :, None] * beside[:, :, None, :]


class CapturedVariance:
    """Variance captured by supports among all features of a view, with its blocks for working sets.

    Parameters
    ----------
    view : DataMatrix
    target : Target
        What is to be spanned.
    by_loss : bool
        Where the target are the k principal components: the variance of X that k components capture counts. Otherwise
        the part of the target that is spanned, which is less but needs no column of A @ A.
    rules : Rules
        Which features supports may and must have.
    empty : int
        Slots of a support that may be empty, where a budget may be spent on fewer features. They are features of zero
        variance behind all others.
    work : float
        Multiplications of products with A for scores of features outside; beyond them, what is spanned of the target
        counts there.
    """

    def __init__(
        self,
        view: DataMatrix,
        target: Target,
        *,
        by_loss: bool = True,
        rules: Rules = NO_RULES,
        empty: int = 0,
        work: float = np.inf,
    ) -> None:
        self.view, self.target, self.rules, self.empty = view.cached(), target, rules, empty
        self.n_features, self.rank = view.n_features, target.cross.shape[1]
        self._by_loss, self._work = by_loss and isinstance(target, Spectrum), work
        left, whole = view.gram_diagonal(), view.unprojected_diagonal()
        varies = left > 0
        self._norms = np.sqrt(np.where(varies, left, np.inf))
        self._varies = varies & rules.usable(self.n_features)
        readable = self._varies.copy()
        readable[rules.required] = True  # whether or not they vary
        self.usable = np.append(readable, np.ones(empty, dtype=bool))
        self._rounding = UNIT_RIDGE * np.divide(whole, left, out=np.ones_like(left), where=varies)

    def on(self, features: Indices) -> SharedCapture:
        """The objective of a working set, in memory."""
        real = features[features < self.n_features]
        cross = self.target.cross[real]
        weight = self.view.gram_squared(real) if self._by_loss else cross @ cross.T  # may have read A's columns
        blocks = self.view.restricted(real).gram(), weight
        nothing = len(features) - len(real)
        gram, weight = (np.pad(block, (0, nothing)) if nothing else block for block in blocks)
        return SharedCapture(gram, weight, self.rank, np.append(self._rounding[real], np.full(nothing, UNIT_RIDGE)))

    def starts(self, size: int, count: int, width: int, rng: np.random.Generator) -> Indices:
        """Supports to start from: greedy choices for random weights of the components, each among half of a pool.

        Pools have the best features alone, and more of them from start to start: narrow ones have the best ends more
        often, and only wide ones lead to features that are good together and not alone.
        """
        target = self.target
        squares = np.square(target.cross).sum(axis=1)
        scores = np.divide(squares, np.square(self._norms), out=np.full_like(squares, -1.0), where=self._varies)
        narrow, wide = max(width // 2, 2 * size), max(SEARCH.start_pool * width, 4 * size)
        widths = np.minimum(np.linspace(narrow, wide, max(count, 1)).astype(int), int(self._varies.sum()))[:, None]
        pool = np.sort(np.argpartition(-scores, widths[-1, 0] - 1)[: widths[-1, 0]])
        weights = np.sqrt(rng.dirichlet(np.ones(self.rank), count))
        ranks = np.argsort(np.argsort(-scores[pool], kind="stable"))
        drawn = np.where(ranks < widths, rng.random((count, len(pool))), 1.0)
        allowed = drawn.argsort(axis=1).argsort(axis=1) < np.maximum(widths // 2, size)
        if self.rules:
            return self._ruled_starts(size, pool, weights, allowed, rng)
        gram = self.view.restricted(pool).gram()
        return pool[greedy_supports(gram, target.cross[pool], weights, allowed, size)]

    def _ruled_starts(
        self, size: int, pool: Indices, weights: Array, allowed: NDArray[np.bool_], rng: np.random.Generator
    ) -> Indices:
        """The same under rules: required features first, then allowed ones; none if none is allowed."""
        empty = np.arange(self.n_features, self.n_features + self.empty)
        real = np.union1d(pool, self.rules.required)
        features = np.append(real, empty)
        inside = np.zeros((len(weights), len(features)), dtype=bool)
        inside[:, np.searchsorted(features, pool)] = allowed
        inside[:, len(real) :] = True
        rules = self.rules.restricted(features, self.n_features)
        rooms = rules.rooms(len(weights), len(features))
        gram = np.pad(self.view.restricted(real).gram(), (0, self.empty))
        cross = np.pad(self.target.cross[real], ((0, self.empty), (0, 0)))
        prices = None if rules.costs is None else prices_of(rules.costs) ** rng.random((len(weights), 1))
        chosen = greedy_supports(gram, cross, weights, inside, size, first=rules.required, rooms=rooms, prices=prices)
        distinct = (np.diff(np.sort(chosen, axis=1), axis=1) > 0).all(axis=1)
        return features[chosen[distinct & rules.permitted(chosen)]]

    blocks = 1

    def outside(self, supports: Indices, width: int, loadings: Array | None = None) -> Array:
        """The score of each feature's best swap into each support (S, d), if it may be among the ``width`` best.

        No swap is scored above the addition of its feature alone, so that all others, at -inf, need no table of swaps.
        """
        real = [support[support < self.n_features] for support in supports]
        union = real[0] if len(real) == 1 else np.unique(np.concatenate(real))
        order, known = np.argsort(union), self.view.gram_columns(union).T
        places = [order[np.searchsorted(union, support, sorter=order)] for support in real]
        by_loss = self._by_loss and self._work > 0
        self._work -= len(real) * self.rank * self.view.product_work
        squared = self.view.gram_squared(union) if by_loss and self.view.squares_cheaply else None
        states = [
            self._state_on(support, known, where, squared, by_loss) for support, where in zip(real, places, strict=True)
        ]
        scores = np.full((len(supports), self.n_features + self.empty), -np.inf)
        for one, images in enumerate(self._images(states, real, places, known, by_loss)):
            found = self._outside_scores(states[one], real[one], places[one], known, images, width)
            scores[one, : self.n_features] = found
        return scores

    def _state_on(
        self, support: Indices, known: Array, places: Indices, squared: Array | None, by_loss: bool
    ) -> SharedState:
        """Quantities from which swaps with a support are scored; the support has these places in rows of A and, if
        known, in A^2."""
        rows = known[places]
        if squared is not None:
            weight = squared[np.ix_(places, places)]
        else:
            factor = rows if by_loss else self.target.cross[support]
            weight = factor @ factor.T
        inside = SharedCapture(rows[:, support], weight, self.rank, self._rounding[support])
        return SharedState(*(part[0] for part in inside.fitted(np.arange(len(support))[None])[1]))

    def _images(
        self, states: list[SharedState], supports: list[Indices], places: list[Indices], known: Array, by_loss: bool
    ) -> Iterator[Array]:
        """F'L^-1 B_Sj for all features j: where B is A^2 by one product with A, of k columns for each support."""
        turned = [state.turned / self._norms[support] for state, support in zip(states, supports, strict=True)]
        if not by_loss:
            cross = self.target.cross
            yield from ((one @ cross[support]) @ cross.T for one, support in zip(turned, supports, strict=True))
            return
        directions = np.hstack([known[where].T @ one.T for one, where in zip(turned, places, strict=True)])
        yield from np.split(self.view.gram_matmat(directions).T, np.cumsum([len(one) for one in turned])[:-1])

    def _outside_scores(
        self, state: SharedState, support: Indices, places: Indices, known: Array, images: Array, width: int
    ) -> Array:
        """The scores of all features' best swaps into one support."""
        squares, norms = self.view.gram_diagonal(), self._norms[support]
        added, scores = np.empty(self.n_features), np.full(self.n_features, -np.inf)
        unscaled = state._replace(inverse=state.inverse / norms)
        for strip in runs(self.n_features, 8 * len(support)):
            added[strip] = added_gains(unscaled, known[places, strip], images[:, strip], squares[strip])
        added[~self._varies], added[support] = -np.inf, -np.inf
        scanned = min(max(SEARCH.shared_scanned * width, SEARCH.shared_scored // len(support)), len(added))
        some = np.argpartition(-added, scanned - 1)[:scanned]
        some = some[added[some] > -np.inf]
        rows = known[np.ix_(places, some)] / np.multiply.outer(norms, self._norms[some])
        one = SharedState(*(part[None] for part in state))
        scores[some] = captured_gains(one, rows[None], (images[:, some] / self._norms[some])[None])[0].max(axis=0)
        return scores


def prices_of(costs: Array) -> Array:
    """Divisors of the gains if costs count; positive even for free features."""
    return np.maximum(costs, SEARCH.cheapest * costs.mean()) if costs.any() else np.ones_like(costs)


def greedy_supports(
    gram: Array,
    cross: Array,
    weights: Array,
    allowed: NDArray[np.bool_],
    size: int,
    *,
    first: Indices | tuple[()] = (),
    rooms: Rooms | None = None,
    prices: Array | None = None,
) -> Indices:
    """Forward selection of columns that span T diag(w), for many w (S, k) and allowed columns (S, u) in lockstep.

    With Q an orthonormal basis of the chosen columns, the state is X'Q, X'(T - QQ'T) and the squared residual of each
    column. The ``first`` columns are in all supports, further ones as ``rooms`` have space for them; gains are divided
    by ``prices`` (S, u).
    """
    n, rows = len(weights), np.arange(len(weights))
    square = np.diagonal(gram)
    left, cross = np.tile(square, (n, 1)), cross * weights[:, None, :]
    basis, chosen = np.zeros((n, size, len(gram))), np.zeros((n, size), dtype=np.intp)
    free = allowed.copy()
    for step in range(size):
        gains = np.square(cross).sum(axis=2) / np.where(left > LEFT_OF_SWAP * square, left, np.inf)
        gains = gains if prices is None else gains / prices
        may = free if rooms is None else free & rooms.open()
        best = np.full(n, first[step]) if step < len(first) else np.where(may, gains, -1.0).argmax(axis=1)
        if rooms is not None and step >= len(first):
            rooms.take(best)
        root = np.sqrt(np.maximum(left[rows, best], LEFT_OF_SWAP * square[best]))[:, None]
        root = np.where(root > 0, root, np.inf)  # of a column that is nothing
        fresh = gram[best] - np.einsum("sp,spu->su", basis[rows, :step, best], basis[:, :step])
        fresh, target = fresh / root, cross[rows, best] / root
        cross -= fresh[:, :, None] * target[:, None, :]
        left -= np.square(fresh)
        basis[:, step], chosen[:, step], free[rows, best] = fresh, best, False
    return chosen


def _cholesky(gram: Array) -> Array:
    """Cholesky factors, with the smallest ridge for which they exist; a ridge can only lower the captured variance."""
    try:
        return cast(Array, np.linalg.cholesky(gram))
    except np.linalg.LinAlgError:
        eye = np.eye(gram.shape[-1])
        for factor in DEFINITE:
            try:
                return cast(Array, np.linalg.cholesky(gram + factor * UNIT_RIDGE * eye))
            except np.linalg.LinAlgError:
                continue
        raise


def added_gains(state: SharedState, gram: Array, images: Array, squares: Array) -> Array:
    """Lower bounds of the gain of capture(S) from each added feature, from A_Sj, F'L^-1 B_Sj and A_jj.

    As for swaps, of which none gains more than its feature alone would add to all of S.
    """
    root = np.sqrt(state.values)[:, None]
    known = state.inverse @ gram
    left = squares - np.einsum("rc,rc->c", known, known)
    of_j = images / root - root * (state.vectors.T @ known)
    return cast(Array, np.einsum("kc,kc->c", of_j, of_j) / np.where(left > LEFT_OF_SWAP * squares, left, np.inf))


def captured_gains(state: SharedState, gram: Array, images: Array) -> Array:
    """Lower bounds of the gain of capture(S) from every swap, from A_Sj (S, r, c) and F'L^-1 B_Sj (S, k, c).

    Columns have unit length.

    capture(S) = max over V of tr(V'B^1/2 P_S B^1/2 V) (Ky Fan). With V frozen at the present optimum it is a lower
    bound that is tight at S, and its change under a swap is closed: along is what column j has of the direction y_i
    that only feature i spans, left what it has beyond S.
    """
    turned, root = state.turned, np.sqrt(state.values)[:, :, None]
    known = state.inverse @ gram
    left = 1.0 - np.einsum("src,src->sc", known, known)
    left[left <= LEFT_OF_SWAP] = 0.0
    lengths = np.sqrt(np.einsum("sij,sij->sj", state.inverse, state.inverse))[:, None, :]  # roots of (A_SS^-1)_ii
    along = (state.inverse / lengths).transpose(0, 2, 1) @ known
    of_j = images / root - root * (turned @ gram)
    of_i = root * turned / lengths
    own = np.einsum("skr,skr->sr", of_i, of_i)[:, :, None]
    gains = (2.0 * of_i).transpose(0, 2, 1) @ of_j
    gains *= along
    gains += np.einsum("skc,skc->sc", of_j, of_j)[:, None, :]
    gains -= np.multiply(own, left[:, None, :], out=known)
    beside = np.square(along, out=along)
    beside += left[:, None, :]
    gains /= np.maximum(beside, LEFT_OF_SWAP, out=known)
    gains[beside <= LEFT_OF_SWAP] = -np.inf
    return cast(Array, gains)
