"""Components of maximal variance, optimised together."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import islice
from typing import ClassVar

from sparing.gram import DataMatrix
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import CONSTRAINTS, Deflation
from sparing.methods.encoders.joint_goals import ConstrainedVariances, JointVariances, equal_shares
from sparing.methods.encoders.joint_search import JointSearch, LevelFound
from sparing.methods.encoders.joint_starts import JointStarts, rotations
from sparing.methods.encoders.limited_cosine import best_within
from sparing.methods.solvers import Solver
from sparing.proof.answers import better_of
from sparing.proof.bounds import OrthogonalLists
from sparing.results import Array, Encoder, Problem, Reference
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task


@dataclass(frozen=True)
class JointVariance:
    """All components selected together for the variance of their span, the criterion of [mackey2008, Sec. 3].

    Swaps of features in all components are scored at once, by their gain over the other components. Starts are
    components one after the other, truncated rotations of the principal components, and features shared out among
    components; then the best are perturbed, crossed and improved again. Ordered by what each component adds; prefixes
    are not optimal.

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
    max_cosine : float
        The largest |cosine| of two components, above 0; 1 is no limit.
    swaps : bool
        Search for better features. Without it, free components are truncated rotations of the principal ones, because
        tables of swaps are large for hundreds of features per component.

    Notes
    -----
    **Optimises** tr((H'H + ridge I)^-1 H'AH) over unit columns with given counts. Where the best has near-copies all
    the same, the answer is the best without them that was found, if it has nearly the same variance.
    **Differs from the paper.** It has generalized deflation, one component after the other, which is a start here.
    """

    solver: Solver
    constraint: Deflation | None = None
    total: bool = False
    ridge: float = 0.01
    max_cosine: float = 1.0
    swaps: bool = True

    reference: ClassVar = Reference("mackey2008", "Sec. 3")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The best of all starts.

        Free components start from orthogonal ones as well, which keep every limit on cosines, and so are never below
        them. With a limit on cosines, supports found by either search get the best loadings within the limit.
        """
        whole = task.gram.cached()
        if not self.swaps:
            return self._rotated(task, run)
        seed = int(deepcopy(run.rng).integers(2**32))
        starts = JointStarts(self._goal(task, whole), self.solver, task.spectrum, seed)
        if self.constraint is not None:
            return encoder_of(whole, self._search(task, whole, starts, run).run()[-1].best, task.spectrum.total)
        again = replace(run.share(0.5), rng=deepcopy(run.rng))  # the orthogonal components of a fit of their own
        strict = replace(self, constraint=CONSTRAINTS["orthogonal"](), max_cosine=1.0)
        orthogonal = strict._search(task, whole, starts, again).run()
        if self.max_cosine < 1:
            return encoder_of(whole, self._limited(task, whole, starts, orthogonal, run), task.spectrum.total)
        free = self._search(task, whole, starts, run).run([level.best for level in orthogonal])
        return encoder_of(whole, free[-1].best, task.spectrum.total)

    def _rotated(self, task: Task, run: Run) -> Encoder:
        """The best of given directions and of truncated rotations of principal components, with the best loadings."""
        whole = task.gram.cached()
        goal = self._goal(task, whole)
        starts = [task.start, *islice(rotations(task.spectrum.basis, goal.cut, run.rng), SEARCH.rotated)]
        answers = [goal.refitted(H, run) for H in starts if H is not None and H.shape[1] == goal.blocks]
        return encoder_of(whole, goal.ordered(goal.best(answers, task.spectrum)), task.spectrum.total)

    def _limited(
        self, task: Task, whole: DataMatrix, starts: JointStarts, strict: Sequence[LevelFound], run: Run
    ) -> Array:
        """Components within the limit on cosines, given orthogonal ones: each effort continues from the result of the
        one below."""
        levels = list(run.levels())[: len(strict)]
        orthogonal = [
            self._handed_over(task, whole, one.best, level) for one, level in zip(strict, levels, strict=True)
        ]
        search, kept = self._search(task, whole, starts, run.share(0.5)), list[Array]()
        free = search.run(orthogonal)
        for number, level in enumerate(levels):
            more = [strict[number], *free[number:][:1]]
            pool = [*(one.best for one in more), *(H for one in more for H in one.tried[-level.effort.limited :])]
            pool = [H for H in pool if H.shape == orthogonal[0].shape]
            kept = [best_within(search.goal, [*kept, orthogonal[number]], pool, self.max_cosine, level)]
        return kept[0]

    def _search(self, task: Task, whole: DataMatrix, starts: JointStarts, run: Run) -> JointSearch:
        return JointSearch(self._goal(task, whole), starts, task.spectrum, run)

    def _handed_over(self, task: Task, whole: DataMatrix, H: Array, run: Run) -> Array:
        """The better of orthogonal components and of those that their own proof comes upon, as they would be."""
        if self.total or len(set(task.sizes)) > 1:
            return H
        strict = Problem(
            H.shape[1], task.n_nonzero, whole.n_features, "variance", shared_support=False, orthogonal=True
        )
        alike, found = Task(whole, strict, task.spectrum), encoder_of(whole, H, task.spectrum.total)
        bound = OrthogonalLists().bound(alike, found, run)
        return H if bound is None else better_of(alike, found, [bound]).components.T

    def _goal(self, task: Task, whole: DataMatrix) -> JointVariances:
        """The objective; its ridge is far below the gain of the smallest component, so that copies of a component do
        not pay."""
        values = task.spectrum.values
        ridge = min(self.ridge, 0.1 * float(values[-1] / values[0]))
        sizes = equal_shares(task.n_nonzero, len(values)) if self.total else task.sizes
        if self.constraint is not None:
            return ConstrainedVariances(whole, sizes, self.constraint, float(values[0]), in_all=self.total)
        return JointVariances(whole, sizes, ridge, in_all=self.total)
