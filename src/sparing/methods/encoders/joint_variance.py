"""Components of maximal variance, optimised together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing.gram import GRAM_LIMIT, DataMatrix, view_of_gram
from sparing.linalg.rotation import varimax
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import Deflation, GeneralizedDeflation
from sparing.methods.encoders.joint_free import FreeSearch, JointVariances
from sparing.methods.encoders.joint_search import (
    ROTATIONS,
    ROUGH,
    SWEEPS,
    JointSearch,
    counts,
    goal_of,
    ridge_for,
)
from sparing.methods.encoders.sequential import sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.joint import REFITS
from sparing.results import Array, Encoder, Indices, Reference, Spectrum
from sparing.run import Run
from sparing.task import Task

MANY, POOL, ROUNDS = 200, 200, 3
"""Nonzeros up to which a constraint or a total is searched for jointly; features searched at first, all of up to twice
as many and fewer of more, and searches among those that pull most."""

MARGIN, MOST = 3, 1500
"""Features looked at for each place in a component, at first, and in all."""


@dataclass(frozen=True)
class JointVariance:
    """All components selected together for the variance of their span, the criterion of [mackey2008, Sec. 3].

    Swaps of features in all components are scored at once, beside what the others explain. Starts are components one
    after the other, truncated rotations of the principal components, and features shared out among components; then
    the best are perturbed, crossed and improved again. Ordered by what each component adds; prefixes are not optimal.

    Parameters
    ----------
    solver : Solver
        For components one after the other, the first of the starts.
    constraint : Deflation, optional
        The constraint that all pairs of components must keep, ``orthogonal`` or ``uncorrelated``.
    total : bool
        ``n_nonzero`` is the sum over all components: features move to the component that gains most by them.
    ridge : float
        Keeps components from becoming near-copies of one another; 0 is the free criterion. Less where the last
        principal component has less than a tenth of the first one's variance.

    Notes
    -----
    **Optimises** tr((H'H + ridge I)^-1 H'AH) over unit columns with given counts. Where the best has near-copies all
    the same, the answer is the best without them that was found, if it has nearly the same variance. With a
    constraint or a total, components of more than 200 features are found one after the other.
    **Differs from the paper.** It has generalized deflation, one component after the other, which is a start here.
    """

    solver: Solver
    constraint: Deflation | None = None
    total: bool = False
    ridge: float = 0.01

    reference: ClassVar = Reference("mackey2008", "Sec. 3")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The best of all starts."""
        spectrum = task.spectrum
        k = spectrum.rank
        sizes = equal_shares(task.n_nonzero, k) if self.total else task.sizes
        whole = task.gram.cached()
        if self.constraint is None and not self.total:
            goal = JointVariances(whole, sizes, ridge_for(self, spectrum))
            best = FreeSearch(goal, self.solver, spectrum, run).run()
        elif max(sizes) > MANY:
            deflation = self.constraint or GeneralizedDeflation()
            best = sequential_directions(self.solver, deflation, whole, spectrum, sizes, run)
        elif task.gram.n_features <= 2 * POOL:
            best = JointSearch(self, whole, spectrum, sizes, run).run()
        else:
            best = self._in_pool(whole, spectrum, sizes, run)
        return encoder_of(whole, best, spectrum.total)

    def _in_pool(self, whole: DataMatrix, spectrum: Spectrum, sizes: list[int], run: Run) -> Array:
        """Search among the most promising features, then let all others come in."""
        ridge, k = ridge_for(self, spectrum), len(sizes)
        pool = self._promising(whole, spectrum, max(sizes))
        few = view_of_gram(whole.restricted(pool).gram())
        found = JointSearch(self, few, replace(spectrum, basis=spectrum.basis[pool]), sizes, run).run()
        best = np.zeros((whole.n_features, found.shape[1]))
        best[pool] = found
        for _ in range(ROUNDS if found.shape[1] == k else 0):
            if run.budget.expired:
                break
            used = np.flatnonzero(best.any(axis=1))
            each = min(max(max(sizes), POOL // k), min(MOST, GRAM_LIMIT - len(used)) // k)
            if each < 1:
                break
            gradient_candidates = goal_of(self, whole, ridge, run.budget).gradient_candidates(best, each, used)
            pool = np.concatenate([used, np.setdiff1d(gradient_candidates, used)])
            goal = goal_of(self, view_of_gram(whole.restricted(pool).gram()), ridge, run.budget)
            H = goal.improve(best[pool], SWEEPS, counts(best), growth=ROUGH)
            best = np.zeros_like(best)
            best[pool] = H
            if not np.setdiff1d(np.flatnonzero(best.any(axis=1)), used).size:
                break
        used = np.flatnonzero(best.any(axis=1))
        if 0 < len(used) <= GRAM_LIMIT:
            goal = goal_of(self, view_of_gram(whole.restricted(used).gram()), ridge, run.budget)
            best[used] = goal.ordered(goal.refit(best[used], REFITS))
        return best

    def _promising(self, whole: DataMatrix, spectrum: Spectrum, size: int) -> Indices:
        """Features of most variance, and the largest in each principal component and in each after rotation."""
        pool = max(POOL, 4 * POOL**2 // whole.n_features)  # nothing jumps where not all are searched any more
        each = max(min(MARGIN * size, max(MOST, 4 * size) // (2 * spectrum.rank + 1)), pool // (spectrum.rank + 1))
        straight = [whole.gram_diagonal(), *np.abs(spectrum.basis.T)]
        wide = largest_in_each(straight, 4 * each)
        rotated = list(np.abs(varimax(spectrum.basis[wide], ROTATIONS).T))
        return np.union1d(largest_in_each(straight, each), wide[largest_in_each(rotated, each)])


def largest_in_each(scores: Sequence[Array], count: int) -> Indices:
    """Indices of the ``count`` largest entries of each vector."""
    count = min(count, len(scores[0]))
    return np.unique(np.concatenate([np.argpartition(-score, count - 1)[:count] for score in scores]))


def equal_shares(total: int, n_components: int) -> list[int]:
    """A total number of features dealt out as equally as it goes."""
    return [total // n_components + (j < total % n_components) for j in range(n_components)]
