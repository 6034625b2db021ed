"""Expectation-maximisation with constraints on the loadings, from many random starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sparing import errors
from sparing.gram import DataMatrix
from sparing.linalg.truncation import TIE, keep_largest
from sparing.methods.base import check_counts
from sparing.objectives.nonnegative import NonnegativeObjective, best_nonnegative
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Component, Reference
from sparing.run import Budget, Run
from sparing.search.best_component import best_component
from sparing.search.truncated_power import psd_shift
from sparing.task import Task

THRESHOLDS = ("soft", "hard")

EM_CONVERGED = 1e-7
"""Relative change of w'Aw below which an iteration with a constant support stops."""


@dataclass(frozen=True)
class ExpectationMaximization:
    """EM for a model of PCA whose loadings are nonnegative, sparse, or both [sigg2008, Algorithm emPCA].

    Without noise the E-step is y = Xw / w'w; the M-step fits w to X by least squares for these y, which is X'y / y'y
    without constraints. So w is proportional to the part of Aw that the constraints leave.

    Parameters
    ----------
    restarts : int
        Number of random directions to start from; ``start`` is used in addition, with both signs.
    nonnegative : bool
        Require loadings of at least zero. If False, components are sparse with any signs. If ``n_nonzero`` is the
        number of features, they are nonnegative but not sparse.
    threshold : {"soft", "hard"}
        How the M-step keeps r entries. ``soft`` is the paper's: its M-step has an l1 bound that is raised until r
        entries are nonzero, so the (r + 1)-th is subtracted from all. ``hard`` keeps the r largest entries unchanged,
        the M-step under a limit on the count.
    refit : bool
        Improve the best few results on all features. Otherwise return the paper's answer, the best result.
    max_iter : int
        Maximum number of steps, and of further steps with a fixed support.

    Notes
    -----
    **Optimises** x'Ax over unit x >= 0 with r nonzeros. For positive semidefinite A no hard step lowers it (without
    ``nonnegative`` it is the truncated power step); soft steps may, because the bound changes with every step. The soft
    threshold biases loadings towards few large ones, so at the end they are computed again by the same iteration on the
    support only, the paper's variational renormalisation.
    **Guarantee.** None: the result depends on the starts.
    **Differs from the paper.** All starts run at once. If r + 1 or more entries tie for the largest, none exceeds the
    threshold and the first r of them are kept. An A that is not positive semidefinite is shifted. With a metric the
    iteration uses the numerator, and the metric is used to compare and improve results and the best single feature.
    """

    restarts: int = 10
    nonnegative: bool = True
    threshold: str = "soft"
    refit: bool = True
    max_iter: int = 200

    reference: ClassVar = Reference("sigg2008", "Algorithm emPCA")

    def __post_init__(self) -> None:
        if not isinstance(self.threshold, str) or self.threshold not in THRESHOLDS:
            raise errors.unknown_choice("threshold", self.threshold, THRESHOLDS)
        check_counts(restarts=self.restarts, max_iter=self.max_iter)

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best of all starts."""
        view, metric, start = task.gram, task.metric, task.start
        objective = (
            NonnegativeObjective(view, metric, run.budget) if self.nonnegative else RayleighObjective(view, metric)
        )
        shift = psd_shift(view, run.rng)
        starts = np.abs(run.rng.standard_normal((self.restarts, view.n_features))).T
        if start is not None:
            starts = np.column_stack([starts, start, -start] if self.nonnegative else [starts, start])
        allowed = np.broadcast_to(objective.usable[:, None], starts.shape)
        ends = self._ends(view, starts, task.n_nonzero, allowed, shift, run.budget)
        ends = self._ends(view, ends, view.n_features, ends != 0, shift, run.budget)
        if isinstance(objective, NonnegativeObjective):
            if metric is not None:
                ends = np.column_stack([ends, objective.best_feature()])
            return best_nonnegative(objective, ends, task.n_nonzero, refit=self.refit)
        return best_component(objective, ends, refit=self.refit)

    def _ends(
        self, view: DataMatrix, starts: Array, n_nonzero: int, allowed: NDArray[np.bool_], shift: float, budget: Budget
    ) -> Array:
        """The limit of the steps from each column, at unit norm; zero if all entries vanish.

        ``allowed`` (same shape as ``starts``) marks the features that each may use.
        """
        W = unit_or_zero(self._constrained(np.where(allowed, starts, 0.0), view.n_features))
        values, running = np.full(W.shape[1], -np.inf), np.arange(W.shape[1])
        for _ in range(self.max_iter):
            before = W[:, running]
            images = view.gram_matmat(before) + shift * before
            reached = np.einsum("ij,ij->j", before, images)
            after = unit_or_zero(self._constrained(np.where(allowed[:, running], images, 0.0), n_nonzero))
            same = ((after != 0) == (before != 0)).all(axis=0)
            done = same & (np.abs(reached - values[running]) <= EM_CONVERGED * reached)
            W[:, running], values[running] = after, reached
            running = running[~done]
            if len(running) == 0 or budget.expired:
                break
        return W

    def _constrained(self, F: Array, n_nonzero: int) -> Array:
        """The M-step from its solution F without constraints, up to a factor."""
        return m_step(F, n_nonzero, nonnegative=self.nonnegative, soft=self.threshold == "soft")


def m_step(F: Array, n_nonzero: int, *, nonnegative: bool, soft: bool) -> Array:
    """Columns closest to those of F (d x m) under the constraints.

    With ``soft`` the bound on the l1 norm is the largest that keeps ``n_nonzero`` entries: the next entry is subtracted
    from all, which removes entries that tie with it.
    """
    F = np.maximum(F, 0.0) if nonnegative else F
    if n_nonzero >= len(F):
        return F
    if not soft:
        return keep_largest(F, n_nonzero)
    sizes, place = np.abs(F), len(F) - n_nonzero - 1
    level = np.partition(sizes, place, axis=0)[place]
    shrunk = np.where(sizes > level * (1 + TIE), np.sign(F) * (sizes - level), 0.0)
    return np.where(shrunk.any(axis=0), shrunk, keep_largest(F, n_nonzero))


def unit_or_zero(V: Array) -> Array:
    """Columns of unit norm; those that vanish stay zero."""
    lengths = np.linalg.norm(V, axis=0)
    return np.asarray(V / np.where(lengths > np.finfo(float).tiny, lengths, np.inf))
