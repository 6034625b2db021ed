"""A shared set of features for all components, in at most five passes over the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from sparing.data.blocks import DenseBlock
from sparing.data.jobs import GramBlock, GramColumns, GramProduct
from sparing.data.sketch import column_squares, row_gram_of, strips
from sparing.data.stream import view_of_sketch
from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg import encoder_on
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.krylov import RitzSpace
from sparing.methods.selectors import Selector
from sparing.methods.selectors.subspace import Subspace
from sparing.objectives.shared import SharedCapture
from sparing.objectives.span import Spanning
from sparing.results import Array, Encoder, Enough, Indices, Reference, Selection, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.search.descent import local_optimum
from sparing.search_limits import SEARCH
from sparing.task import Task

AS_PCA = Enough(max_loss=1.0)
"""A loss limit that only PCA's own loss satisfies."""

SAME_GAIN = 1e-7
"""Relative difference below which two gains count as those of copies of one feature."""


@dataclass(frozen=True)
class FewPasses:
    """Choose on a sketch of the data, then choose again exactly among the best candidates.

    The first pass computes means, norms and a sketch of X. For sparse rows this is a count sketch [clarkson2013, Sec.
    3], and two more passes improve its leading directions. For dense rows it is the leading directions themselves, so
    those passes are not needed. On the sketch, with the exact norms of all features restored, ``selector`` finds
    candidates. One pass computes their Gram matrix, on which it selects again. The last pass computes the Gram columns
    of the chosen features, and from them the encoder and its exact loss. Every pass also improves the principal
    components. In total there are five passes for sparse rows and three for dense ones, including the certificate's.

    Parameters
    ----------
    selector : Selector

    Notes
    -----
    The excess loss was measured to be within 3% of that with many passes. This is not proved; the loss itself is exact.
    """

    selector: Selector

    reference: ClassVar = Reference("clarkson2013", "Sec. 3, the sketch")

    def encode(
        self,
        view: DataMatrix,
        n_components: int,
        n_nonzero: int | None,
        run: Run,
        *,
        enough: Enough = AS_PCA,
        rules: Rules = NO_RULES,
    ) -> tuple[Encoder, Spectrum, Selection]:
        """Return the encoder, the requested number of principal components, and the Gram columns of the encoder.

        Without ``n_nonzero``, the fewest features (of at most 100) whose loss is small enough.
        """
        limit = max(min(SEARCH.sketch_features, rules.most_features(view.n_features)), len(rules.required))
        most = limit if n_nonzero is None else n_nonzero
        rank = min(n_components, most)
        surrogate, target, space = surrogate_of(view, n_components, rank)
        run.budget.say(f"sketch of {surrogate.n_samples} rows after {view.passes} passes")
        pool = candidates(self.selector, surrogate, target, most, run, rules)
        del surrogate, target
        block, image = view.one_pass(GramBlock(pool), GramProduct(space.wanted))
        space.absorb(image)
        core, n_chosen = self._core(view_of_gram(block), pool, space.spectrum(view, rank), most, run, rules)
        columns, image = view.one_pass(GramColumns(core), GramProduct(space.wanted))
        space.absorb(image)
        pca = space.spectrum(view, n_components)
        spectrum = pca.leading(rank)
        search = SharedCapture(columns[core], columns.T @ columns, spectrum.rank)
        inside, most = rules.restricted(core, view.n_features), n_chosen if rules else min(most, len(core))
        if n_nonzero is None:
            chosen = fewest(search, spectrum, enough.loss(spectrum), most, run, inside)
        else:
            chosen = local_optimum(search, np.arange(most), run, inside)
        selection = Selection(core[chosen], columns[:, chosen])
        return encoder_on(selection, spectrum.rank, spectrum.total).including(rules.required), pca, selection

    def _core(
        self, pool_view: DataMatrix, pool: Indices, target: Spectrum, n_nonzero: int, run: Run, rules: Rules
    ) -> tuple[Indices, int]:
        """The choice within the pool, followed by the features that would add most; and the number chosen."""
        local, inside = Subspace(target.basis[pool], target.cross[pool], target.gram), rules
        if rules:
            inside = rules.restricted(pool, len(target.basis))
        chosen = self.selector.select(Task.of_columns(pool_view, min(n_nonzero, len(pool)), local, inside), run)
        state = Spanning(local.cross, pool_view.gram_diagonal(), len(chosen.columns))
        state.extend(chosen.columns, chosen.gram_columns)
        gains = state.gains()
        others = np.argsort(-gains, kind="stable")[: SEARCH.sketch_core]
        core: Indices = pool[np.concatenate([chosen.columns, others[gains[others] > 0]])]
        return core, len(chosen.columns)


def surrogate_of(view: DataMatrix, n_components: int, rank: int) -> tuple[DataMatrix, Spectrum, RitzSpace]:
    """A small surrogate of X, the current principal components, and the iteration that improves them."""
    rows, _, has_leading = view.take_sketch()
    if has_leading:
        space = RitzSpace(leading_directions(rows, n_components + SEARCH.sketch_beside))
        surrogate = view_of_sketch([rows], np.maximum(view.gram_diagonal() - column_squares(rows), 0.0))
        guess = RitzSpace(space.wanted)
        guess.absorb(surrogate.gram_matmat(guess.wanted))
        return surrogate, guess.spectrum(surrogate, rank), space
    affordable = min(SEARCH.sketch_directions, SEARCH.sketch_entries // view.n_features)
    directions = max(n_components + SEARCH.sketch_beside, affordable)
    space = RitzSpace(leading_directions(rows, directions))
    for _ in range(2):
        space.absorb(view.one_pass(GramProduct(space.wanted))[0])
    parts = completed(rows, space, view.gram_diagonal())
    return view_of_sketch(parts, np.zeros(view.n_features)), space.spectrum(view, rank), space


def candidates(
    selector: Selector,
    surrogate: DataMatrix,
    target: Spectrum,
    n_nonzero: int,
    run: Run,
    rules: Rules,
    *,
    also: Sequence[Indices] = (),
) -> Indices:
    """Candidate features: those with the largest gains before, during and after the selection on the sketch.

    ``also`` holds further rankings, whose first features also become candidates.
    """
    size = min(max(SEARCH.sketch_pool, 8 * n_nonzero), surrogate.n_features)
    spanned = Subspace(target.basis, target.cross, target.gram)  # without squares: a sketch only names candidates
    quick = replace(run, effort=run.effort.levels[0])
    chosen = selector.select(Task.of_columns(surrogate, n_nonzero, spanned, rules), quick)
    usable = rules.usable(surrogate.n_features)
    state = Spanning(target.cross, surrogate.gram_diagonal(), n_nonzero)
    rankings = [chosen.columns, *(order[usable[order]][:size] for order in also)]
    for some in np.array_split(np.arange(len(chosen.columns)), min(SEARCH.sketch_stages, n_nonzero)):
        rankings.append(ranked(np.where(usable, state.gains(), 0.0), size))
        state.extend(chosen.columns[some], chosen.gram_columns[:, some])
    rankings.append(ranked(np.where(usable, state.gains(), 0.0), size))
    return np.union1d(merged(rankings, size), rules.required)


def fewest(
    search: SharedCapture, spectrum: Spectrum, most_loss: float, most: int, run: Run, rules: Rules = NO_RULES
) -> Indices:
    """The shortest prefix of the features that satisfies the loss limit, and fewer features if swaps allow it."""

    def fits(chosen: Indices) -> bool:
        return spectrum.total - float(search.fitted(chosen[None])[0][0]) <= most_loss

    least = max(spectrum.rank, len(rules.required))
    low, high = min(least, most), most
    while low < high:  # losses decrease with every feature of a nested path
        middle = (low + high) // 2
        low, high = (low, middle) if fits(np.arange(middle)) else (middle + 1, high)
    chosen = np.arange(high)
    while len(chosen) > least and fits(chosen):
        fewer = local_optimum(search, search.pruned(chosen, rules.required), run, rules)
        if not fits(fewer):
            break
        chosen = fewer
    return chosen


def leading_directions(rows: Any, count: int) -> Array:
    """Leading right singular vectors of a few long rows."""
    values, left = top_eigenpairs(row_gram_of(rows), min(count, len(rows)))
    left = left[:, values > len(rows) * np.finfo(np.float32).eps ** 2 * max(values[0], 0.0)]
    return DenseBlock(rows).rmatmat(left)


def completed(rows: Any, space: RitzSpace, diagonal: Array) -> list[Any]:
    """The sketch with exact leading directions and corrected norms of all features."""
    V = space.basis
    along = DenseBlock(rows).matmat(V)
    rest = np.maximum(diagonal - np.square(V) @ space.values, 0.0)
    for part in strips(*rows.shape):
        strip = rows[:, part] - along @ V[part].T
        norms = np.sqrt(np.square(strip).sum(axis=0))
        rows[:, part] = strip * np.divide(np.sqrt(rest[part]), norms, out=np.zeros_like(norms), where=norms > 0)
    return [(V * np.sqrt(space.values)).T, rows]


def ranked(gains: Array, size: int) -> Indices:
    """The features with the largest gains; only one of those with equal gains, such as copies."""
    order = np.argsort(-gains, kind="stable")[: 8 * size]
    values = gains[order]
    new = np.append(True, values[1:] < values[:-1] * (1 - SAME_GAIN))
    return order[new & (values > 0)][:size]


def merged(rankings: list[Indices], size: int) -> Indices:
    """Merge rankings in turn, without repetition."""
    longest = max(len(ranking) for ranking in rankings)
    padded = np.full((longest, len(rankings)), -1)
    for place, ranking in enumerate(rankings):
        padded[: len(ranking), place] = ranking
    order = padded.ravel()
    order = order[order >= 0]
    first = np.sort(np.unique(order, return_index=True)[1])
    return order[first][:size]
