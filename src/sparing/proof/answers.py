"""Better answers found by a proof: the best result on given supports, and the better of it and the search's result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sparing.linalg import encoder_on
from sparing.linalg.rounding import BETTER
from sparing.linalg.span import encoder_of
from sparing.linalg.variance import symmetric_total
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.objectives.variance import RayleighObjective
from sparing.proof.trees.support_lists import orthogonal_directions
from sparing.results import Array, Bound, Encoder, Indices, Selection
from sparing.task import Task


def better_of(task: Task, found: Encoder, bounds: Sequence[Bound]) -> Encoder:
    """The search's result, or a better one found by its own proofs."""
    best, reached = found, worth(task, found)
    for bound in bounds:
        trial = answer_on(task, bound.supports)
        if trial is None or len(trial.loadings) < len(best.loadings):
            continue
        if (higher := worth(task, trial)) > reached + BETTER * task.gram.total:
            best, reached = replace(trial, single_bounds=found.single_bounds), higher
    return best


def answer_on(task: Task, supports: Sequence[Indices]) -> Encoder | None:
    """The best result on these supports, or one found from them; None if they are not the supports of a result."""
    view, problem = task.gram, task.problem
    if not are_feasible(task, supports):
        return None
    if problem.objective == "loss":
        selection = Selection(supports[0], view.gram_columns(supports[0]))
        return encoder_on(selection, problem.n_components, view.total).including(task.rules.required)
    if problem.is_several and not problem.disjoint:
        H = orthogonal_directions(view.gram(), supports)
        if not H.any(axis=0).all():
            return None
    else:
        H = np.column_stack([_direction(task, support) for support in supports])
    return encoder_of(view, H[:, np.argsort(-np.einsum("ij,ij->j", H, view.gram_matmat(H)), kind="stable")], view.total)


def are_feasible(task: Task, supports: Sequence[Indices]) -> bool:
    """Are these supports of a result that can be computed: shared, of one component, disjoint or orthogonal?"""
    problem, each = task.problem, [np.unique(np.asarray(support, dtype=np.intp)) for support in supports]
    if not each or any(len(S) == 0 or len(S) > problem.n_nonzero for S in each):
        return False
    union = np.unique(np.concatenate(each))
    if union[0] < 0 or union[-1] >= problem.n_features or not problem.rules.permits(union):
        return False
    if problem.objective == "loss":
        return len(each) == 1 and (problem.shared_support or problem.n_components == 1)
    apart, signed = len(union) == sum(map(len, each)), not problem.nonnegative and not problem.shared_support
    possible = apart if problem.disjoint else problem.is_single or (problem.orthogonal and signed)
    return len(each) == problem.n_components and possible


def _direction(task: Task, support: Indices) -> Array:
    """The best direction on a support; for nonnegative loadings the best that is found."""
    kind = NonnegativeObjective if task.problem.nonnegative else RayleighObjective
    return kind(task.gram).component(support).vector(task.gram.n_features)


def worth(task: Task, found: Encoder) -> float:
    """The captured variance, or the variance of the span."""
    if task.problem.objective == "loss":
        return float(task.gram.total - found.loss)
    return symmetric_total(task.gram, found.components.T)
