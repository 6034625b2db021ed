"""Greedy forward and backward selection for one component."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.linalg.arrow import contenders, largest_of_arrow, least_missed
from sparing.linalg.metric import SINGULAR
from sparing.linalg.rounding import first_largest
from sparing.linalg.truncation import TIE
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Component, Indices, Reference
from sparing.run import Budget, Run
from sparing.search.truncated_power import leading_directions
from sparing.search_limits import SEARCH
from sparing.task import Task

DIRECTIONS = ("forward", "backward", "approximate")


@dataclass(frozen=True)
class Greedy:
    """Features one by one: forward selection [daspremont2008, Sec. 3] or backward elimination [moghaddam2006].

    Parameters
    ----------
    direction : {"forward", "backward", "approximate"}
        ``forward`` adds the feature with the largest lambda_max(A_S+j), exactly and for all j at once; ``approximate``
        adds the one with the largest gradient |(Ax)_j| at the current direction x, a lower bound at the cost of one
        product; ``backward`` begins with all features and removes the one whose removal costs least.

    Notes
    -----
    **Optimises** x'Ax over unit x with r nonzeros, or x'Ax / x'Mx, one feature at a time; the loadings are the best on
    their support. Forward and approximate need Gram columns of the chosen features only.
    **Differs from the paper.** The value of each candidate is a root for an arrow matrix instead of a separate
    eigenvalue problem. If variances tie for the first feature, as in every correlation matrix, the leading eigenvector
    decides. With a metric all steps are exact as well, except that directions in which M is singular on the chosen
    features are left out. Backward elimination accepts at most 1000 features and removes several at once while more
    than 250 are left. Features without variance are never chosen.
    """

    direction: str = "forward"

    reference: ClassVar = Reference("daspremont2008", "Sec. 3, greedy search")

    def __post_init__(self) -> None:
        if not isinstance(self.direction, str) or self.direction not in DIRECTIONS:
            raise errors.unknown_choice("direction", self.direction, DIRECTIONS)

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best loadings on the support found by single steps."""
        n_nonzero = task.n_nonzero
        objective = RayleighObjective(task.gram.cached(), task.metric)
        usable = np.flatnonzero(objective.usable)
        if n_nonzero >= len(usable):
            return objective.component(usable)
        if self.direction == "backward":
            if len(usable) > SEARCH.backward_features:
                raise ValueError(
                    "Greedy(direction='backward') begins with all features and decomposes their whole matrix, for at "
                    f"most {SEARCH.backward_features} features; X has {len(usable)}. Use direction='forward', which "
                    "begins with none, or solver='auto'."
                )
            return objective.component(_pruned(objective, usable, n_nonzero, run.budget))
        first = _first(objective, task.start, run.rng)
        if self.direction == "approximate":
            return objective.component(objective.grown(n_nonzero, first))
        return objective.component(_grown(objective, first, n_nonzero, run.budget))


def _first(objective: RayleighObjective, start: Array | None, rng: np.random.Generator) -> Indices:
    """The feature with the largest quotient; ties are broken by the entries of the leading eigenvector."""
    worth = objective.view.gram_diagonal()
    single = np.divide(worth, np.square(objective.scale), out=np.full_like(worth, -np.inf), where=objective.usable)
    tied = single >= single.max() - TIE * abs(single.max())
    if tied.sum() > 1:
        leading = leading_directions(objective.view, 3, rng) if start is None else start
        single = np.where(tied, np.abs(leading[:, 0]), -np.inf)
    return np.array([first_largest(single)], dtype=np.intp)


def _grown(objective: RayleighObjective, support: Indices, size: int, budget: Budget) -> Indices:
    """Repeatedly add the feature with the largest quotient."""
    free = objective.usable.copy()
    while len(support) < size and not budget.expired:
        free[support] = False
        j = _best_addition(objective, support, np.flatnonzero(free))
        if j is None:
            break
        support = np.append(support, j)
    return support


def _best_addition(objective: RayleighObjective, support: Indices, others: Indices) -> int | None:
    """The feature that raises the quotient most; none if no feature adds anything.

    With T'MT = I and T'BT = diag(v) on the support S, feature j adds the direction e_j - T T'M_Sj of squared M-length
    left_j, and in these coordinates the quotient of S + j is the largest eigenvalue of an arrow.
    """
    values, T = _decomposed(objective, support)
    images = T.T @ objective.view.gram_columns(support)[others].T
    corner = objective.view.gram_diagonal()[others]
    if objective.metric is not None:
        along = T.T @ objective.metric.columns(support)[others].T
        square = np.square(objective.scale[others])
        left = square - np.square(along).sum(axis=0)
        new = left > SINGULAR * square
        others, images, along, left = others[new], images[:, new], along[:, new], left[new]
        bent = values[:, None] * along
        corner = (corner[new] - np.einsum("ij,ij->j", along, 2 * images - bent)) / left
        images = (images - bent) / np.sqrt(left)
    if len(others) == 0:
        return None
    able = np.flatnonzero(contenders(values, images, corner))
    reached = largest_of_arrow(values[None], images[None, :, able], corner[None, able])[0]
    return int(others[able[first_largest(reached)]])


def _pruned(objective: RayleighObjective, support: Indices, size: int, budget: Budget) -> Indices:
    """Repeatedly remove the feature whose removal keeps the largest quotient; the last of equal ones."""
    while len(support) > size:
        values, T = _decomposed(objective, support)
        at_once = len(support) if budget.expired else max((len(support) - SEARCH.backward_single) // 10, 1)
        gone = least_missed(values[::-1], T[:, ::-1], min(at_once, len(support) - size))
        support = np.delete(support, gone)
    return support


def _decomposed(objective: RayleighObjective, support: Indices) -> tuple[Array, Array]:
    """Ascending values and T with T'M_SS T = I, T'B_SS T = diag(values)."""
    inside = objective.view.restricted(support).gram()
    if objective.metric is None:
        values, T = np.linalg.eigh(inside)
        return values, T
    rotation = objective.metric.whitening(support)
    values, vectors = np.linalg.eigh(rotation.T @ inside @ rotation)
    return values, rotation @ vectors
