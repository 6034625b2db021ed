"""The fewest features whose loss is small enough."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sparing.gram import GRAM_LIMIT, DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.deflation import Deflation
from sparing.methods.encoders.sequential import NOTHING
from sparing.methods.solvers import Solver
from sparing.methods.solvers.auto import MANY
from sparing.objectives.variance import GROWTH, RayleighObjective
from sparing.results import Array, Component, Encoder, Indices, Spectrum
from sparing.run import Budget, Run
from sparing.task import Task

PRECISE = 1e-7
"""Error of the dense component's variance, as a share of what it leaves."""

WHOLE, MARGIN = 512, 3
"""Features up to which all are searched for each number of them; where there are more, how many are looked at for each
place that surely is enough."""

PULLING, ROUNDS = 128, 3
"""Features outside that may come in at last, those that pull most, and how many times."""


def fewest_features(
    encode: Callable[[int], Encoder],
    spectrum: Spectrum,
    max_loss: float,
    limit: int,
    *,
    budget: Budget,
    smallest: int | None = None,
    enough: int | None = None,
) -> Encoder:
    """The encoder with the fewest features found whose loss is at most ``max_loss`` times PCA's.

    Doubles the number of features until the loss fits, then bisects. Losses found by search are not exactly monotone
    in the number of features, so the count is an upper bound on the fewest. ``limit`` features are always accepted:
    nothing further could be added. ``enough`` is a number known to do, from a nested path, and shortens the search.
    """

    def fits(encoder: Encoder) -> bool:
        return spectrum.loss_ratio(encoder.loss) <= max_loss

    # by default as many as components: fewer shared features would give fewer of these
    least = min(spectrum.rank if smallest is None else smallest, limit)
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
    encode: Callable[[list[int]], Encoder], spectrum: Spectrum, max_loss: float, limit: int, *, budget: Budget
) -> Encoder:
    """The fewest features found, component by component, whose loss is at most ``max_loss`` times PCA's.

    First one count for all components, then single features are taken away from the component that can spare them best,
    as long as the loss fits.
    """
    k = spectrum.rank
    found = fewest_features(lambda r: encode([r] * k), spectrum, max_loss, limit, budget=budget, smallest=1)
    counts = [max(int(count), 1) for count in np.count_nonzero(found.loadings, axis=1)]
    while not budget.expired and len(counts) == k:
        trials = []
        for j in range(k):
            if counts[j] > 1:
                fewer = [count - (i == j) for i, count in enumerate(counts)]
                trials.append((encode(fewer), fewer))
        trial, fewer = min(trials, key=lambda pair: pair[0].loss, default=(found, counts))
        if fewer == counts or spectrum.loss_ratio(trial.loss) > max_loss or len(trial.loadings) < k:
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

    The dense one is the leading component of what the earlier ones leave; its variance is taken with its error added.
    With ``nonnegative`` it is what the solver finds where all features are allowed.
    Bisects from a count that surely is enough. The last count tried is the answer when time runs out.
    """
    H, sizes = np.zeros((view.n_features, 0)), list[int]()
    limit = int((view.gram_diagonal() > 0).sum())
    for _ in range(spectrum.rank):
        problem = _Problem(
            RayleighObjective(*((view, None) if H.shape[1] == 0 else deflation.deflate(view, H))), spectrum.basis
        )
        left = problem.objective.view
        if left.gram_diagonal().max() <= NOTHING * spectrum.total:
            break
        if nonnegative:
            whole = problem.solved(solver, limit, run)
            dense, direction = whole.variance, whole.vector(view.n_features)
        else:
            leading = top_spectrum(left, 1, run.rng, tolerance=PRECISE)
            if leading.rank == 0:
                break
            dense, direction = float(leading.values[0]) + leading.tail_error, leading.basis[:, 0]
        if dense <= NOTHING * spectrum.total:
            break
        enough = min_variance * dense * (1 - 1e-9)
        count = min(_surely_enough(direction, min_variance), limit)
        found = _fewest_of_one(problem, direction, count, limit, enough, solver, run)
        sizes.append(len(found.support))
        H = np.column_stack([H, found.vector(view.n_features)])
        run.budget.say(
            f"component {len(sizes)}: {sizes[-1]} feature(s) keep {found.variance / dense:.1%} of the dense variance"
        )
    return sizes, H


@dataclass(frozen=True)
class _Problem:
    """One component, of all features or of some that are in memory."""

    objective: RayleighObjective
    start: Array
    features: Indices | None = None

    def among(self, features: Indices) -> _Problem:
        """The same problem on some features alone."""
        return _Problem(self.objective.restricted(features), self.start[features], features)

    def near(self, found: Component, n_features: int) -> _Problem:
        """The same problem, with a component of another size to start from."""
        start = found.vector(n_features)[:, None]
        return replace(self, start=start if self.features is None else start[self.features])

    def solved(self, solver: Solver, count: int, run: Run) -> Component:
        """The component that a solver finds, by its place among all features."""
        view, metric = self.objective.view, self.objective.metric
        found = solver.solve(Task.of_component(view, min(count, view.n_features), metric=metric, start=self.start), run)
        return found if self.features is None else replace(found, support=self.features[found.support], bound=None)


def _fewest_of_one(
    problem: _Problem, direction: Array, count: int, limit: int, enough: float, solver: Solver, run: Run
) -> Component:
    """Bisects from ``count``, among the features that are largest in the dense direction where there are many.

    In the end those that pull most may come in, so that no feature is left out for want of a large loading.
    """
    size, n = max(WHOLE, MARGIN * count), problem.objective.view.n_samples
    small = size <= min(GRAM_LIMIT, max(2 * WHOLE, n or size))  # products with few rows cost less than a Gram matrix
    if small and size < limit:
        pool = problem.among(np.sort(np.argpartition(-np.abs(direction), size - 1)[:size]))
    else:
        pool = problem
    too_few, found = 0, pool.solved(solver, count, run)
    while found.variance < enough and count < limit and not run.budget.expired:
        too_few, count, pool = count, min(2 * count, limit), problem
        found = pool.solved(solver, count, run)
    while count - too_few > 1 and found.variance >= enough and not run.budget.expired:
        middle = (too_few + count) // 2
        known = pool.near(found, len(direction)) if middle > MANY else pool  # fewer are worth a search of their own
        trial = known.solved(solver, middle, run)
        if trial.variance >= enough:
            count, found = middle, trial
        else:
            too_few = middle
    for _ in range(0 if pool is problem else ROUNDS):
        if run.budget.expired:
            break
        gradient_candidates = problem.objective.gradient_candidates(
            found.vector(len(direction)), max(PULLING, count), found.support
        )
        pool = problem.among(np.sort(np.append(found.support, gradient_candidates)))
        trial = pool.solved(solver, count, run)
        if trial.variance <= found.variance * (1 + GROWTH):
            break
        found = trial
    return found


def _surely_enough(leading: Array, min_variance: float) -> int:
    """A count that does: x cut from the leading eigenvector v has x'Ax >= lambda (v'x)^2, what its squares sum to.

    The same holds for a nonnegative optimum v, because Av = lambda v on its features: (x'Av)^2 <= x'Ax v'Av.
    """
    kept = np.cumsum(np.sort(np.square(leading))[::-1])
    return int(np.searchsorted(kept, min_variance * (1 - 1e-9))) + 1
