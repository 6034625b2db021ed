"""Deterministic dual set selection, with the guarantee of Theorem 6(i)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from sparing import errors
from sparing.linalg.rounding import first_largest
from sparing.methods.base import check_settings
from sparing.methods.selectors.filling import Filling
from sparing.methods.selectors.response import ResponseTarget, leading_targets, needs_targets
from sparing.methods.selectors.subspace import sketched
from sparing.results import Array, Reference, Selection
from sparing.run import Run
from sparing.task import Task

TIES = ("new", "objective", "first", "targets")

SPANNED = 1e-8
"""A component counts as zero on the allowed features if its singular value is below this share of the largest."""

Pick = Callable[[Array, NDArray[np.bool_], NDArray[np.bool_]], int]
"""Picks a feasible column, given the slack, the mask of feasible columns and the mask of columns not chosen yet."""


@dataclass(frozen=True)
class DualSet:
    """Dual set selection: DSF-Select with DetSampling [boutsidis2011, Table 1].

    Chooses columns so that the rows of V_k keep a smallest singular value and the residual does not grow.

    Parameters
    ----------
    tie : {"new", "objective", "first", "targets"}
        How to choose among the feasible columns of a step. ``new``: a column not chosen yet, with the largest slack.
        ``objective``: a column not chosen yet that adds most to spanning the target; one product with X per step.
        ``first``: the first one, as in the paper's experiments; columns can repeat, so fewer than requested are
        returned. ``targets``: a column not chosen yet that explains most of the regression targets.
    sketch : int, optional
        Take V_k from a frequent-directions sketch with this many rows (at least the number of components) instead of
        the target: deterministic, one pass over the rows.

    Notes
    -----
    **Guarantee.** For r > k: ||X - X_{C,k}||^2 <= (1 + 1/(1 - sqrt(k/r))^2) ||X - X_k||^2, for every tie-breaking rule
    [magdonismail2015, Theorem 6(i)]. With a sketch of l rows the right side grows by the factor 1 + k/(l + 1 - k)
    [ghashami2014, Theorem 3.1].
    **Differs from the paper.** Loop bounds, the range of indices and the final scaling are misprinted there (see
    docs/errata.md). The printed rule usually repeats columns. Here columns not chosen yet come first, and repeated ones
    are replaced by columns with the largest residual. Section 6 of the paper leaves open how to break ties by the
    objective. For r <= k the theorem does not apply: the column with the largest leverage comes first, then columns
    with the largest residual.
    """

    tie: str = "new"
    sketch: int | None = None

    reference: ClassVar = Reference("boutsidis2011", "Table 1")

    def __post_init__(self) -> None:
        if not isinstance(self.tie, str) or self.tie not in TIES:
            raise errors.unknown_choice("tie", self.tie, TIES)
        check_settings(self)
        if self.sketch is not None and self.sketch < 1:
            raise errors.not_positive("sketch", self.sketch)

    @property
    def uses_targets(self) -> bool:
        """Whether regression targets break ties."""
        return self.tie == "targets"

    def select(self, task: Task, run: Run) -> Selection:
        """Return the columns with positive weight, filled up to ``n_columns`` unless ``tie`` is "first"."""
        view, n_columns, target, aim = task.gram, task.n_nonzero, task.target, None
        if isinstance(target, ResponseTarget):
            aim, target = leading_targets(target), target.spectrum
        elif self.tie == "targets":
            raise needs_targets("DualSet(tie='targets')")
        if self.sketch is not None:
            target = sketched(view, target.basis.shape[1], self.sketch)
        squares = view.gram_diagonal()
        basis = np.where(squares[:, None] > 0, target.basis, 0.0)  # rounding may leave entries for constant columns
        V = _on_usable(basis, task.rules.usable(view.n_features)) if task.rules else basis
        filling = Filling(replace(task, target=target if aim is None else aim))
        if n_columns <= V.shape[1]:
            leverage = np.einsum("ij,ij->i", V, V)
            filling.offer(np.array([first_largest(np.where(filling.open(), leverage, -1.0))]))
        else:
            residual = squares - np.einsum("ij,ij->i", basis, 2 * target.cross - basis @ target.gram)
            gain = _largest_gain(filling)
            pick = {"new": most_slack, "first": _first, "objective": gain, "targets": gain}[self.tie]
            weights = dual_set_weights(V, np.maximum(residual, 0.0), n_columns, pick)
            chosen = np.flatnonzero(weights)
            if self.tie == "first" and not task.rules:
                return Selection(chosen, view.gram_columns(chosen))
            if self.tie not in ("objective", "targets"):
                filling.offer(chosen)
        filling.fill_up()
        return filling.selection()


@dataclass(frozen=True)
class ResponseDualSet(DualSet):
    """Dual set selection with ties broken by the targets [boutsidis2011, Sec. 6].

    The paper leaves open how to use the targets and keep Theorem 1. The theorem holds for any choice among the feasible
    columns, so the targets can break ties. The settings are those of :class:`DualSet`.
    """

    tie: str = "targets"

    reference: ClassVar = Reference("boutsidis2011", "Sec. 6")


def _on_usable(V: Array, usable: NDArray[np.bool_]) -> Array:
    """An orthonormal basis of the span of V on the allowed features."""
    left, values, _ = np.linalg.svd(np.where(usable[:, None], V, 0.0), full_matrices=False)
    return cast(Array, left[:, values > SPANNED * values[0]])


def most_slack(slack: Array, feasible: NDArray[np.bool_], fresh: NDArray[np.bool_]) -> int:
    """The feasible column with the largest slack, preferably one not chosen yet."""
    candidates = feasible & fresh if (feasible & fresh).any() else feasible
    return first_largest(np.where(candidates, slack, -np.inf))


def _first(slack: Array, feasible: NDArray[np.bool_], fresh: NDArray[np.bool_]) -> int:
    """The first feasible column."""
    return int(np.argmax(feasible))


def _largest_gain(filling: Filling) -> Pick:
    """The feasible new column that adds most to spanning the target, taken immediately; otherwise by slack."""

    def pick(slack: Array, feasible: NDArray[np.bool_], fresh: NDArray[np.bool_]) -> int:
        gains = np.where(feasible & fresh, filling.state.gains(), 0.0)
        j = first_largest(gains) if gains.max() > 0 else most_slack(slack, feasible, fresh)
        if filling.open()[j]:
            filling.take(j)
        return j

    return pick


def dual_set_weights(V: Array, residual: Array, n_columns: int, pick: Pick = most_slack) -> Array:
    """Return weights s >= 0, at most ``n_columns`` of them positive, with

    lambda_min(sum s_i v_i v_i') >= (1 - sqrt(k/r))^2   and   sum s_i a_i <= sum a_i

    for the rows v_i of V (d x k, V'V = I), r = n_columns > k and any a = residual >= 0 (Lemma 5, corrected). Both hold
    for every choice among the feasible columns, so ``pick`` is free.
    """
    d, k = V.shape
    r = n_columns
    shrink = 1.0 - np.sqrt(k / r)
    upper = shrink * residual / residual.sum() if residual.sum() > 0 else np.zeros(d)
    weights = np.zeros(d)
    B = np.zeros((k, k))
    for step in range(r):
        barrier = step - np.sqrt(r * k)
        values, vectors = np.linalg.eigh(B)
        rows = np.square(V @ vectors)
        away = 1.0 / (values - (barrier + 1.0))
        potential = float(away.sum() - (1.0 / (values - barrier)).sum())
        lower = rows @ (away**2) / potential - rows @ away
        slack = lower - upper
        slack[lower <= 0] = -np.inf  # zero rows change nothing
        feasible = slack >= min(slack.max(), 0.0)  # an index with slack >= 0 exists; the minimum is for rounding errors
        i = pick(slack, feasible, weights == 0)
        t = 2.0 / (upper[i] + lower[i])
        weights[i] += t
        B += t * np.multiply.outer(V[i], V[i])
    return cast(Array, weights * shrink / r)
