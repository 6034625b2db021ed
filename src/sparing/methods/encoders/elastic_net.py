"""Sparse components by regression: alternating elastic net and Procrustes steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.gram import DataMatrix
from sparing.linalg.lasso import LassoPath, thresholded
from sparing.linalg.span import encoder_with
from sparing.linalg.variance import symmetric_total
from sparing.methods.base import check_settings
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Encoder, Reference
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH
from sparing.task import Task

SMALL_RIDGE = 1e-6
NEAREST = 1e-9

Regression = Callable[[Array], Array]
"""Maps A a to the sparse b that regresses the score X a on X."""


@dataclass(frozen=True)
class ElasticNet:
    """SPCA: alternating elastic net regressions of scores on X and Procrustes rotations [zou2006, Algorithm 1].

    Parameters
    ----------
    l1 : float or sequence of float, optional
        Penalty of each component, in units of the mean variance of a feature, so that it does not depend on the units
        of the data; ``n_nonzero`` is then ignored. Otherwise each regression gets the penalty that leaves ``n_nonzero``
        features.
    ridge : float, optional
        The quadratic penalty, in the same units. With infinity each regression is a soft thresholding of A a, which
        needs no d x d matrix. By default 1e-6 up to 2000 features, infinity above.
    max_iter, tolerance : int, float
        Maximum number of alternations, and the change of the unit loadings that stops them.
    refit : bool
        Best loadings on each support, by variance [mackey2014, Sec. 14.4]. Otherwise the paper's.

    Notes
    -----
    **Optimises** sum_j b_j'(A + ridge)b_j - 2 a_j'A b_j + l1_j |b_j|_1 over B and orthonormal columns a_j; for an
    infinite ridge [zou2006, Sec. 4], in units of it, sum_j |b_j|^2 - 2 a_j'A b_j + l1_j |b_j|_1. No alternation
    increases it for a given ``l1``. With counts there is no such objective, and the alternations may end in a cycle.
    **Differs from the paper.** It has no counts. As in [sjostrand2018], the path of a regression is followed to the
    point where one more feature would enter. Refits are new; a refit that would lower the variance of the span of all
    components, because it repeats another, is left out. If Procrustes has many solutions, the one closest to the
    previous alternation is taken.
    """

    l1: float | Sequence[float] | None = None
    ridge: float | None = None
    max_iter: int = 200
    tolerance: float = 1e-4
    refit: bool = True

    reference: ClassVar = Reference("zou2006", "Algorithm 1")

    def __post_init__(self) -> None:
        if self.ridge is not None and not (_is_penalty(self.ridge) and self.ridge > 0):
            raise errors.not_a_positive_number("ridge", self.ridge)
        if self.l1 is not None and not _are_penalties(self.l1):
            raise errors.not_a_nonnegative_number("l1", self.l1)
        check_settings(self)
        if self.max_iter < 1:
            raise errors.not_positive("max_iter", self.max_iter)

    def encode(self, task: Task, run: Run) -> Encoder:
        """Return components in the order of the principal components that they started from."""
        view, spectrum = task.gram, task.spectrum
        regressions = self._regressions(view, task.sizes)
        H, change = self._settled(alternate(view, spectrum.basis, regressions), run.budget)
        if self.l1 is not None and change > self.tolerance and not run.budget.expired:
            message = (
                f"After max_iter={self.max_iter} iterations the loadings still changed by {change:.1e}. Those of the "
                f"last iteration are returned; a larger max_iter or ridge lets them converge."
            )
            warnings.warn(message, errors.SparingWarning, stacklevel=2)
        H = H[:, H.any(axis=0)]
        if H.shape[1] == 0:
            raise ValueError(
                f"l1={self.l1!r} leaves no feature in any component. Pass a smaller penalty, or only n_nonzero to "
                "choose the penalty that leaves exactly this number of features."
            )
        if self.refit:
            H = refitted(view, H)
        support = np.flatnonzero(H.any(axis=1))
        return encoder_with(support, H[support], view.gram_columns(support), spectrum.total)

    def _regressions(self, view: DataMatrix, sizes: list[int]) -> list[Regression]:
        """One per component, with its penalty or its count."""
        d, most, unit = view.n_features, SEARCH.regression_features, view.total / view.n_features
        ridge = self.ridge
        if ridge is None:
            ridge = SMALL_RIDGE if d <= most else np.inf
        penalties = penalties_of(0.0 if self.l1 is None else self.l1, len(sizes))
        levels = [unit * penalty / 2 for penalty in penalties]
        counts = sizes if self.l1 is None else [d] * len(sizes)
        if ridge == np.inf:
            return [partial(thresholded, level=level, size=size) for level, size in zip(levels, counts, strict=True)]
        if d > most:
            raise ValueError(
                f"ridge={ridge:g} needs an n_features x n_features matrix, which is formed for at most "
                f"{most} features; X has {d}. Use ridge=float('inf'), which needs only products with X "
                "and is meant for many features."
            )
        gram = view.gram() + ridge * unit * np.eye(d)
        if self.l1 is None:
            return [partial(LassoPath(gram).counted, size=size) for size in counts]
        return [partial(LassoPath(gram).penalised, level=level) for level in levels]

    def _settled(self, turns: Iterator[tuple[Array, Array]], budget: Budget) -> tuple[Array, float]:
        """Unit loadings after the last alternation (zero if all entries vanish), and its change."""
        H, change = np.zeros((1, 1)), np.inf
        for rotation, (_, B) in zip(range(self.max_iter), turns, strict=False):
            before, H = H, B / np.maximum(np.linalg.norm(B, axis=0), np.finfo(float).tiny)
            change = float(np.abs(H - before).max())
            if (rotation > 0 and change <= self.tolerance) or budget.expired:
                break
        budget.say(f"elastic net: {rotation + 1} iterations, the last changed loadings by {change:.1e}")
        return H, change


def alternate(view: DataMatrix, start: Array, regressions: Sequence[Regression]) -> Iterator[tuple[Array, Array]]:
    """Alternations of Algorithm 1 without end: (A, B) of each, with B the regressions on A."""
    A = start  # step 1
    while True:
        targets = view.gram_matmat(A)
        B = np.column_stack([regression(targets[:, j]) for j, regression in enumerate(regressions)])  # step 2
        yield A, B
        cross = view.gram_matmat(B)
        cross = cross + NEAREST * np.linalg.norm(cross) * A  # among equals the closest, at no cost
        U, _, Vt = np.linalg.svd(cross, full_matrices=False)
        A = U @ Vt  # step 3


def refitted(view: DataMatrix, H: Array) -> Array:
    """Directions of largest variance on the supports of H (d x k), except those that lower the total by repeating
    others."""
    objective, reached = RayleighObjective(view), symmetric_total(view, H)
    for j in range(H.shape[1]):
        new = H.copy()
        new[:, j] = objective.component(np.flatnonzero(H[:, j])).vector(len(H))
        if (together := symmetric_total(view, new)) >= reached:
            H, reached = new, together
    return H


def _is_penalty(value: object) -> bool:
    """Whether it is a number of at least 0."""
    return isinstance(value, (int, float, np.integer, np.floating)) and bool(value >= 0)


def _are_penalties(value: object) -> bool:
    """Whether it is one penalty or several."""
    several = list(value) if isinstance(value, (list, tuple, np.ndarray)) and np.shape(value) else [value]
    return bool(several) and all(map(_is_penalty, several))


def penalties_of(l1: float | Sequence[float], n_components: int) -> list[float]:
    """One penalty for each component."""
    penalties = list(map(float, l1 if isinstance(l1, (Sequence, np.ndarray)) else [l1] * n_components))
    if len(penalties) < n_components:
        raise ValueError(
            f"l1 has {len(penalties)} penalties, but n_components={n_components}. Pass one penalty for each component, "
            "or one number for all of them."
        )
    return penalties[:n_components]
