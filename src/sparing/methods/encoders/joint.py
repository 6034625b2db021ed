"""Components with separate features, optimised together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.span import encoder_with
from sparing.linalg.truncation import unit_columns
from sparing.methods.encoders.iterative import compact, residual_directions, separate_rules
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.joint_starts import rotations
from sparing.methods.selectors import Greedy, Selector
from sparing.objectives.blocks import BlockCapture, BlockState, Quotients
from sparing.objectives.joint import LossAlternation
from sparing.objectives.shared import UNIT_RIDGE
from sparing.results import Array, Encoder, Indices, Reference, Spectrum
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.search.iterated import search, several_at_once
from sparing.search_limits import SEARCH
from sparing.task import Task


@dataclass(frozen=True)
class Joint:
    """All components selected together for the least loss; the problem of [magdonismail2015, Sec. 1].

    Swaps of features in all components are scored at once, by their gain over the other components. Starts are the
    iterative encoder and truncated rotations of the principal components; then the best are perturbed, crossed and
    improved again. Never above the iterative encoder, ordered by what each component adds. Prefixes are not optimal
    encoders.

    Parameters
    ----------
    selector : Selector, optional
        For the iterative start; by default that of the estimator, or greedy.

    Notes
    -----
    **Differs from the paper.** It has no such algorithm; it gives up the iterative encoder's order for a lower loss.
    """

    selector: Selector | None = None

    reference: ClassVar = Reference("magdonismail2015", "Sec. 1, optimal r-sparse encoder")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The best of all starts; each effort continues from the answers of the one below."""
        view, spectrum, known, encoders = task.gram, task.spectrum, list[Array](), list[Encoder]()
        rows, selector = compact(view), self.selector or Greedy()
        for number, level in enumerate(run.levels()):
            if encoders and level.budget.expired:
                break
            rules, sizes = separate_rules(selector, task, level)
            first = residual_directions(selector, view, spectrum, sizes, level.share(0.5), rows=rows, rules=rules)
            k = first.shape[1]  # what further components would explain is rounding
            if k > 1:
                goal = JointLosses(view, sizes[:k], spectrum, rules)
                known = _searched(goal, [first, *goal.permitted(known)], spectrum, number, level)
            encoders += [_refitted(view, H, rows, spectrum, run) for H in [first, *known][: SEARCH.refitted]]
            encoders.append(_encoder(view, spectrum, first))
        return min(encoders, key=lambda encoder: encoder.loss).including(task.rules.required)


class JointLosses(JointVariances):
    """Variance that the best decoder rebuilds from the scores of directions, tr((H'AH)^-1 H'A^2H), for unit columns of
    X.

    Directions are in units of their columns: loadings times lengths.
    """

    def __init__(self, view: DataMatrix, sizes: list[int], spectrum: Spectrum, rules: Rules = NO_RULES) -> None:
        super().__init__(view, sizes, UNIT_RIDGE, rules=rules)
        squares = view.gram_diagonal()
        self.lengths = np.sqrt(np.where(self.usable, squares, 1.0))
        rebuilt = np.square(spectrum.basis * spectrum.values).sum(axis=1) / np.square(self.lengths)  # at least
        self._diagonal = np.append(np.where(self.usable, rebuilt, 0.0), np.zeros(self.padding))

    def permitted(self, answers: Sequence[Array]) -> list[Array]:
        """The directions that satisfy the rules, which may allow other features at other efforts."""

        def fits(H: Array) -> bool:
            counts = np.count_nonzero(H, axis=0)
            return len(counts) == self.blocks and not H[~self.usable].any() and bool((counts <= self.sizes).all())

        return [H for H in answers if fits(H)]

    def on(self, features: Indices) -> BlockCapture:
        """The objective of a working set, in memory."""
        real = features[features < self.n_features]
        outer = np.multiply.outer(self.lengths[real], self.lengths[real])
        metric, weight = self.view.restricted(real).gram() / outer, self.view.gram_squared(real) / outer
        nothing = ~self.usable[real]
        metric[nothing, nothing] = 1.0
        return BlockCapture(weight, metric, self.blocks, self.ridge, padding=len(features) - len(real))

    def outside(self, supports: Indices, width: int, loadings: Array | None = None) -> Array:
        """Lower bounds of the gain of each component from each added feature: two products with A."""
        assert loadings is not None
        few = max(1, len(supports) // self.blocks)
        supports, loadings = supports[:few], loadings[:few]
        H = self.directions(supports, loadings) / self.lengths[:, None]
        measures = self.view.gram_matmat(H.transpose(1, 0, 2).reshape(self.n_features, -1))
        images = self.view.gram_matmat(measures)
        state = BlockState(loadings, *(self._stacked(part, few) for part in (images, measures)))
        gains = Quotients(supports, state, self._diagonal, self.blocks, self.ridge).entering()
        return np.where(self.usable, gains.reshape(few * self.blocks, -1)[:, : self.n_features], -np.inf)

    def _stacked(self, products: Array, few: int) -> Array:
        """Products with A, of each of a few states and in units of the columns."""
        stacked = (products / self.lengths[:, None]).reshape(self.n_features, few, -1).transpose(1, 0, 2)
        return np.pad(stacked, ((0, 0), (0, self.padding), (0, 0)))


def _searched(goal: JointLosses, known: Sequence[Array], spectrum: Spectrum, number: int, run: Run) -> list[Array]:
    """Directions that the search of one effort leads to, the best first, from those known."""
    n_slots, k, effort = sum(goal.sizes), goal.blocks, run.effort
    affordable = effort.joint_affordable(n_slots, goal.n_features)
    if run.budget.expired or (number > 0 and affordable < 1):
        return [*known[1:]]
    readable = np.where(goal.usable[:, None], spectrum.basis[:, :k], 0.0) if goal.rules else spectrum.basis[:, :k]
    turned = rotations(readable, goal.cut, run.rng, named=number == 0)
    more = list(islice(turned, int(np.clip(affordable, 2, effort.loss_starts))))
    units = [unit_columns(H * goal.lengths[:, None]) for H in [*known[: 2 + int(affordable)], *more]]
    rows, loadings = zip(*(goal.slots(H, H) for H in units if H.shape[1] == k), strict=True)
    descents = 0 if len(goal.rules.required) else int(np.clip(affordable, 0, 2 * effort.joint_descents))
    level = replace(run, effort=replace(effort, refined=effort.loss_refined))
    ends = search(goal, np.array(rows), np.array(loadings), level, several_at_once(goal, descents, effort))
    run.budget.say(f"joint search: {ends[0].value / spectrum.total:.4%} of the variance")
    return [goal.directions_of(one) / goal.lengths[:, None] for one in ends]


def _refitted(view: DataMatrix, H: Array, rows: Array | None, spectrum: Spectrum, run: Run) -> Encoder:
    """The encoder on these supports with loadings from block coordinate ascent, ordered by the gain of each
    component."""
    core = np.flatnonzero(H.any(axis=1))
    search = LossAlternation(view.restricted(core).gram(), view.gram_squared(core), run.budget, rows=rows, core=core)
    refitted = search.ordered(search.refit(H[core] / np.linalg.norm(H[core], axis=0), SEARCH.refits))
    return encoder_with(core, refitted, view.gram_columns(core), spectrum.total)


def _encoder(view: DataMatrix, spectrum: Spectrum, H: Array) -> Encoder:
    """The encoder of directions."""
    used = np.flatnonzero(H.any(axis=1))
    return encoder_with(used, H[used], view.gram_columns(used), spectrum.total)


def core_features(view: DataMatrix, spectrum: Spectrum, H: Array) -> Indices:
    """All features if there are few; else those of the first solution and those with the largest weight in the
    spectrum."""
    squares = view.gram_diagonal()
    varies = np.flatnonzero(squares > 0)
    if len(varies) <= 2 * SEARCH.polished:
        return varies
    weight = np.square(spectrum.basis * np.sqrt(spectrum.values)).sum(axis=1)
    share = np.divide(weight * spectrum.values[0], squares, out=np.zeros_like(weight), where=squares > 0)
    extent = np.abs(spectrum.basis).max(axis=1)
    ranks = [np.argsort(np.argsort(-score, kind="stable"), kind="stable") for score in (weight, share, extent)]
    best = np.argsort(np.min(ranks, axis=0), kind="stable")[: SEARCH.polished]  # the first by any of the three
    return np.union1d(np.flatnonzero(H.any(axis=1)), best).astype(np.intp)
