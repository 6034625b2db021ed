"""The fewest features whose loss is small enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.linalg.metric import OrthogonalTo
from sparing.linalg.rounding import NOTHING
from sparing.methods.deflation import Deflation
from sparing.methods.solvers import Auto, NonnegativeAuto, Solver
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.objectives.variance import RayleighObjective, component_of
from sparing.results import Array, Component, Encoder, Spectrum
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH
from sparing.task import Task

PRECISE = 1e-7
"""Relative error of the dense component's variance."""


def fewest_features(
    encode: Callable[[int], Encoder],
    most_loss: float,
    smallest: int,
    limit: int,
    *,
    budget: Budget,
    enough: int | None = None,
) -> Encoder:
    """The encoder with the fewest features found, ``smallest`` at least, whose loss is at most ``most_loss``.

    Doubles the number of features until the loss fits, then bisects. Losses found by search are not exactly monotone
    in the number of features, so the count is an upper bound on the fewest. ``limit`` features are always accepted:
    nothing further could be added. ``enough`` is a number known to do, from a nested path, and shortens the search.
    """

    def fits(encoder: Encoder) -> bool:
        return encoder.loss <= most_loss

    least = min(smallest, limit)
    count = max(min(enough, limit), least) if enough is not None else least
    too_few, found = least - 1, encode(count)
    if fits(found) and (lower := int(0.7 * count)) > least:  # what is enough is seldom far from the fewest
        trial = encode(lower)
        too_few, count, found = (too_few, lower, trial) if fits(trial) else (lower, count, found)
    while not fits(found) and count < limit and not budget.expired:
        too_few, count = count, min(2 * count, limit)
        found = encode(count)
    while count - too_few > 1 and fits(found) and not budget.expired:
        middle = (too_few + count) // 2
        trial = encode(middle)
        if fits(trial):
            count, found = middle, trial
        else:
            too_few = middle
    return found


def fewest_for_each(
    encode: Callable[[list[int]], Encoder], most_loss: float, k: int, limit: int, *, budget: Budget, together: int = 0
) -> Encoder:
    """The fewest features found, component by component, for which k components lose at most ``most_loss``.

    First one count for all components, then single features are taken away from the component that can spare them best,
    as long as the loss fits. All components together have at least ``together`` features.
    """
    found = fewest_features(lambda r: encode([r] * k), most_loss, max(-(-together // k), 1), limit, budget=budget)
    counts = [max(int(count), 1) for count in np.count_nonzero(found.loadings, axis=1)]
    while not budget.expired and len(counts) == k:
        trials = []
        for j in range(k):
            if counts[j] > 1 and sum(counts) > together:
                fewer = [count - (i == j) for i, count in enumerate(counts)]
                trials.append((encode(fewer), fewer))
        trial, fewer = min(trials, key=lambda pair: pair[0].loss, default=(found, counts))
        if fewer == counts or trial.loss > most_loss or len(trial.loadings) < k:
            break
        found, counts = trial, fewer
    return found


def fewest_in_turn(
    solver: Solver,
    deflation: Deflation,
    view: DataMatrix,
    spectrum: Spectrum,
    min_variance: float,
    run: Run,
    *,
    nonnegative: bool = False,
) -> tuple[list[int], Array]:
    """Counts and directions: the fewest features found that keep a share of the variance of each dense component.

    The dense component is the leading one of the residual of the earlier ones; the error of its variance is added to
    it. With ``nonnegative`` it is the solver's component on all features. The search begins with a count that surely is
    enough. The last count tried is the answer when time runs out.
    """
    H, sizes = np.zeros((view.n_features, 0)), list[int]()
    limit = int((view.gram_diagonal() > 0).sum())
    for _ in range(spectrum.rank):
        left, metric = (view, None) if H.shape[1] == 0 else deflation.deflate(view, H)
        left = left.cached()  # searches for several counts come back to the same features
        if left.gram_diagonal().max() <= NOTHING * spectrum.total:
            break
        objective = NonnegativeObjective(left, metric, run.budget) if nonnegative else RayleighObjective(left, metric)
        if nonnegative:
            task = Task.of_component(left, limit, metric=metric, start=spectrum.basis)
            whole = solver.solve(task, run)
            dense, direction = whole.variance, whole.vector(view.n_features)
        else:
            leading = top_spectrum(left, 1, run.rng, tolerance=PRECISE)
            if leading.rank == 0:
                break
            dense, direction = float(leading.values[0]) + leading.tail_error, leading.basis[:, 0]
        if dense <= NOTHING * spectrum.total:
            break
        search = _Fewest(objective, spectrum.basis, min_variance * dense * (1 - 1e-9), limit, solver, run)
        found = search.found(direction, min(_surely_enough(direction, min_variance), limit))
        sizes.append(len(found.support))
        H = np.column_stack([H, found.vector(view.n_features)])
        run.budget.say(
            f"component {len(sizes)}: {sizes[-1]} feature(s) keep {found.variance / dense:.1%} of the dense variance"
        )
    return sizes, H


@dataclass(frozen=True)
class _Fewest:
    """The fewest features of one component whose variance is enough."""

    objective: RayleighObjective
    start: Array
    enough: float
    limit: int
    solver: Solver
    run: Run

    def found(self, direction: Array, count: int) -> Component:
        """A direction with few features, from the dense direction and a count that is surely enough.

        For small counts each count gets a search from many starts; for larger ones fewer counts are tried, starting
        from one path of nested counts.
        """
        if not isinstance(self.solver, Auto | NonnegativeAuto) or isinstance(self.objective.metric, OrthogonalTo):
            return self._bisected(0, count, self._solved(count))
        found = self._along_path(direction, count)
        trials = round(SEARCH.fewest_trials * self.run.effort.share_of(len(found.support)))
        if trials == 0 or self.run.budget.expired:
            return found
        x = found.vector(len(direction))
        near = self.objective.gradient_candidates(
            x, max(SEARCH.fewest_working_set, 2 * len(found.support)), found.support
        )
        features = np.union1d(found.support, near)
        inside = replace(self, objective=self.objective.restricted(features), start=self.start[features])
        fewer = inside._fewer(replace(found, support=np.searchsorted(features, found.support)), trials)
        return replace(fewer, support=features[fewer.support], bound=None)

    def _fewer(self, found: Component, trials: int) -> Component:
        """Refine the counts of a path, which are rarely far too many, with the solver; at most this number of counts is
        tried."""
        too_few = 0
        step = fine = max(1, len(found.support) // SEARCH.fewest_searched)
        while len(found.support) > 1 and trials and not self.run.budget.expired:
            trials -= 1
            trial = self._solved(fewer := max(len(found.support) - step, 1), found.vector(len(self.start)))
            if trial.variance < self.enough:
                too_few = fewer
                break
            found, step = trial, 2 * step
        return self._bisected(too_few, len(found.support), found, fine, trials)

    def _along_path(self, direction: Array, count: int) -> Component:
        """Several counts at once, each from the loadings known for more features: to the feature, or nearly."""
        too_few, x, reached = 0, direction, -np.inf
        while True:
            counts = np.unique(np.linspace(too_few, count, SEARCH.fewest_together + 1).astype(np.intp)[1:])
            values, X = self.objective.at_counts(x, counts, SEARCH.fewest_truncated)
            kept = np.flatnonzero(values >= self.enough)
            if len(kept) == 0 and reached < self.enough and count < self.limit and not self.run.budget.expired:
                too_few, count = count, min(2 * count, self.limit)
                continue
            best = kept[0] if len(kept) else len(counts) - 1
            if len(kept) or reached < self.enough:
                count, x, reached = int(counts[best]), X[:, best], float(values[best])
            too_few = max([too_few, *counts[:best]]) if len(kept) else too_few
            narrow = count - too_few <= max(1, count // SEARCH.fewest_resolution)
            if narrow or reached < self.enough or self.run.budget.expired:
                support = np.flatnonzero(x)
                return component_of(support, x[support], reached)

    def _bisected(self, too_few: int, count: int, found: Component, fine: int = 1, trials: float = np.inf) -> Component:
        """Double the count until it is sufficient, then bisect to this accuracy, with the solver alone."""
        while found.variance < self.enough and count < self.limit and not self.run.budget.expired:
            too_few, count = count, min(2 * count, self.limit)
            found = self._solved(count)
        while count - too_few > fine and trials and found.variance >= self.enough and not self.run.budget.expired:
            middle, trials = (too_few + count) // 2, trials - 1
            trial = self._solved(middle, found.vector(len(self.start)))
            if trial.variance >= self.enough:
                count, found = middle, trial
            else:
                too_few = middle
        return found

    def _solved(self, count: int, near: Array | None = None) -> Component:
        """The component that the solver finds, with a known one of another count to start from."""
        view, metric = self.objective.view, self.objective.metric
        start = self.start if near is None else np.column_stack([near, self.start])
        return self.solver.solve(Task.of_component(view, count, metric=metric, start=start), self.run)


def _surely_enough(leading: Array, min_variance: float) -> int:
    """A sufficient count: x cut from the leading eigenvector v has x'Ax >= lambda (v'x)^2, the sum of its squares.

    The same holds for a nonnegative optimum v, because Av = lambda v on its features: (x'Av)^2 <= x'Ax v'Av.
    """
    kept = np.cumsum(np.sort(np.square(leading))[::-1])
    return int(np.searchsorted(kept, min_variance * (1 - 1e-9))) + 1
