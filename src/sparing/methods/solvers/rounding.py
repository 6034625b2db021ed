"""The l1 relaxation of sparse PCA, rounded at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.gram import DataMatrix
from sparing.linalg.soft_threshold import l1_l2_maximiser, l1_l2_projection
from sparing.linalg.truncation import keep_largest, unit_columns
from sparing.methods.base import check_counts
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Component, Reference
from sparing.run import Budget, Run
from sparing.search.best_component import best_component
from sparing.search.truncated_power import leading_directions, psd_shift, unit_vectors
from sparing.task import Task

RELAXATIONS = ("linear", "gradient")

RELAXED = 1e-10
"""Relative growth of x'Ax below which the relaxation stops."""


@dataclass(frozen=True)
class Rounding:
    """The best of several random roundings of a stationary point of the l1 relaxation [fountoulakis2016, Algorithm 1].

    Parameters
    ----------
    repeats : int
        Number of roundings, of which the best is kept.
    draws : int, optional
        Expected number of entries of a rounding, the paper's s. By default r.
    relaxation : {"linear", "gradient"}
        How to find a stationary point: ``linear`` maximises the linearisation of x'Ax at the last point, in closed
        form; ``gradient`` is the paper's projected gradient, which takes many more steps to the same points.
    rounding : bool
        If False, the relaxation itself is truncated to its r largest entries: SCoTLASS [jolliffe2003].
    refit : bool
        Best loadings on the support found, the paper's "SVD-based" normalisation. Otherwise the rounded entries at unit
        norm, its "naive" one.
    max_iter : int
        Maximum number of steps of the relaxation.
    exact_count : bool
        Bring every rounding to exactly r entries. If False, a rounding keeps the entries that were drawn, r (or
        ``draws``) of them in expectation: with ``repeats=1`` this is Algorithm 1 as printed. With ``rounding=False``
        the relaxation is returned without truncation.

    Notes
    -----
    **Optimises** x'Ax over |x|_2 <= 1 and |x|_1 <= sqrt(r), which hold for every unit vector with r nonzeros; no step
    lowers it. Stationary points depend on the start, and the leading eigenvector is a poor start if a weaker direction
    is sparser (``datasets.make_hidden_direction``). By default the starts are the three leading eigenvectors and the
    feature with the largest variance.
    **Guarantee.** None. Theorem 1 of the paper needs the global optimum of the relaxation, which no iteration is known
    to reach, and 200 r / eps^2 features instead of r (``sparing.linalg.theorem_bounds.rounding_draws_needed``).
    **Differs from the paper.** The best of several draws tends to be one that kept many entries. Therefore all are
    brought to r entries: of too many the largest are kept, too few are filled up with the largest entries not drawn.
    The truncated relaxation itself is also a candidate. An A that is not positive semidefinite is shifted. With a
    metric the relaxation uses the numerator, and the metric is used to refit loadings and compare draws.
    """

    repeats: int = 20
    draws: int | None = None
    relaxation: str = "linear"
    rounding: bool = True
    refit: bool = True
    max_iter: int = 1000
    exact_count: bool = True

    reference: ClassVar = Reference("fountoulakis2016", "Algorithm 1")

    def __post_init__(self) -> None:
        if not isinstance(self.relaxation, str) or self.relaxation not in RELAXATIONS:
            raise errors.unknown_choice("relaxation", self.relaxation, RELAXATIONS)
        check_counts(repeats=self.repeats, **({} if self.draws is None else {"draws": self.draws}))

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best rounding of the best stationary point."""
        view, n_nonzero, start = task.gram, task.n_nonzero, task.start
        objective = RayleighObjective(view, task.metric)
        shift = psd_shift(view, run.rng)
        if start is None:
            largest = keep_largest(np.where(objective.usable, view.gram_diagonal() + shift, 0.0)[:, None], 1)
            feature = unit_vectors(view.n_features, np.flatnonzero(largest))
            start = np.column_stack([leading_directions(view, 3, run.rng), feature])
        x = self._relaxed(view, np.where(objective.usable[:, None], start, 0.0), n_nonzero, shift, run.budget)
        return best_component(objective, np.column_stack(self._rounded(x, n_nonzero, run)), refit=self.refit)

    def _rounded(self, x: Array, n_nonzero: int, run: Run) -> list[Array]:
        """The candidates: draws with equal counts and the truncated relaxation, or draws as they are."""
        candidates = [keep_largest(x[:, None], n_nonzero)[:, 0]] if self.exact_count else []
        for _ in range(self.repeats if self.rounding else 0):
            if run.budget.expired and candidates:
                break
            drawn = sparsify(x, n_nonzero if self.draws is None else self.draws, run.rng)
            candidates.append(_with_count(drawn, x, n_nonzero) if self.exact_count else drawn)
        return candidates or [x]

    def _relaxed(self, view: DataMatrix, starts: Array, n_nonzero: int, shift: float, budget: Budget) -> Array:
        """The best stationary point of x'Ax over |x|_2 <= 1, |x|_1 <= sqrt(r) from the starts."""
        bound = float(np.sqrt(n_nonzero))
        X = unit_columns(starts)
        if X.shape[1] == 0:
            return np.zeros(len(starts))
        Y = view.gram_matmat(X) + shift * X
        step = 0.0 if self.relaxation == "linear" else 1 / max(np.linalg.norm(Y, axis=0).max(), np.finfo(float).tiny)
        value = np.full(X.shape[1], -np.inf)
        for _ in range(self.max_iter):
            if self.relaxation == "linear":
                X = np.column_stack([l1_l2_maximiser(y, bound) for y in Y.T])
            else:
                X = np.column_stack([l1_l2_projection(x + step * y, bound) for x, y in zip(X.T, Y.T, strict=True)])
            Y = view.gram_matmat(X) + shift * X
            before, value = value, np.einsum("ij,ij->j", X, Y)
            if (value <= before * (1 + RELAXED)).all() or budget.expired:
                break
        return np.asarray(X[:, int(np.argmax(value))])


def _with_count(drawn: Array, x: Array, n_nonzero: int) -> Array:
    """A rounding of x with ``n_nonzero`` entries: the largest of x among those drawn, then the largest not drawn.

    All drawn entries with a probability below 1 are equal, so their size in x decides between them.
    """
    order = np.lexsort((-np.abs(x), drawn == 0))[:n_nonzero]
    out = np.zeros_like(x)
    out[order] = np.where(drawn[order] != 0, drawn[order], x[order])
    return out


def sparsify(x: Array, s: float, rng: np.random.Generator) -> Array:
    """Keep entry i with probability p_i = min(s |x_i| / |x|_1, 1), divided by p_i [fountoulakis2016, Algorithm 1].

    The result has mean x and at most s nonzeros in expectation. Zero is returned unchanged.
    """
    sizes = np.abs(x)
    p = np.minimum(s * sizes / max(float(sizes.sum()), np.finfo(float).tiny), 1.0)
    kept = rng.random(len(x)) < p
    return np.asarray(np.divide(x, p, out=np.zeros_like(x), where=kept))
