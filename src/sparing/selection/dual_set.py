"""Deterministic dual set selection, with the guarantee of Theorem 6(i)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from sparing.data import DataMatrix
from sparing.linalg.signs import first_largest
from sparing.results import Array, Indices, Reference, Selection
from sparing.search.spanning import INDEPENDENT, Spanning

if TYPE_CHECKING:
    from sparing.selection import Target


@dataclass(frozen=True)
class DualSet:
    """Dual set selection: DSF-Select with DetSampling [boutsidis2011, Table 1].

    Chooses columns so that the rows of V_k keep a smallest singular value and the residual does not grow.

    Notes
    -----
    **Guarantee.** For r > k: ||X - X_{C,k}||^2 <= (1 + 1/(1 - sqrt(k/r))^2) ||X - X_k||^2, always
    [magdonismail2015, Theorem 6(i)].
    **Differs from the paper.** Loop bounds, the range of indices and the final scaling are misprinted there (see
    docs/errata.md). Of the columns that are feasible at a step the one not yet chosen with the largest slack is taken:
    the printed choice repeats columns in most instances. What repeats is filled up with columns of largest residual.
    For r <= k the theorem is silent and columns of largest leverage are returned.
    """

    reference: ClassVar = Reference("boutsidis2011", "Table 1")

    def select(self, view: DataMatrix, n_columns: int, target: Target, rng: np.random.Generator) -> Selection:
        """Columns with positive weight, filled up to ``n_columns``."""
        V, squares = target.basis, view.gram_diagonal()
        residual = squares - np.einsum("ij,ij->i", V, 2 * target.cross - V @ target.gram)
        residual = np.maximum(residual, 0.0)
        if n_columns > V.shape[1]:
            chosen = np.flatnonzero(dual_set_weights(V, residual, n_columns))
        else:
            chosen = np.array([], dtype=np.intp)
        if len(chosen) == 0:
            leverage = np.einsum("ij,ij->i", V, V)
            chosen = np.array([first_largest(np.where(squares > 0, leverage, -1.0))], dtype=np.intp)
        return _filled_up(view, chosen, n_columns, target)


def dual_set_weights(V: Array, residual: Array, n_columns: int) -> Array:
    """Weights s >= 0, at most ``n_columns`` of them positive, with

    lambda_min(sum s_i v_i v_i') >= (1 - sqrt(k/r))^2   and   sum s_i a_i <= sum a_i

    for the rows v_i of V (d x k, V'V = I), r = n_columns > k and any a = residual >= 0 (Lemma 5, corrected).
    """
    d, k = V.shape
    r = n_columns
    shrink = 1.0 - np.sqrt(k / r)
    upper = shrink * residual / residual.sum() if residual.sum() > 0 else np.zeros(d)
    weights, fresh = np.zeros(d), np.ones(d, dtype=bool)
    B = np.zeros((k, k))
    for step in range(r):
        barrier = step - np.sqrt(r * k)
        values, vectors = np.linalg.eigh(B)
        rows = np.square(V @ vectors)
        away = 1.0 / (values - (barrier + 1.0))
        potential = float(away.sum() - (1.0 / (values - barrier)).sum())
        lower = rows @ (away**2) / potential - rows @ away
        slack = lower - upper
        slack[lower <= 0] = -np.inf  # rows of zeros: they cost nothing and help nothing
        feasible = slack >= min(slack.max(), 0.0)  # an index with slack >= 0 exists; the minimum is for rounding
        candidates = feasible & fresh if (feasible & fresh).any() else feasible
        i = first_largest(np.where(candidates, slack, -np.inf))
        t = 2.0 / (upper[i] + lower[i])
        weights[i] += t
        fresh[i] = False
        B += t * np.multiply.outer(V[i], V[i])
    return cast(Array, weights * shrink / r)


def _filled_up(view: DataMatrix, chosen: Indices, n_columns: int, target: Target) -> Selection:
    """Those of ``chosen`` that are independent, then columns of largest residual, up to ``n_columns``."""
    state = Spanning(target.cross, view.gram_diagonal(), n_columns)
    gram_columns = []
    for j, column in zip(chosen, view.gram_columns(chosen).T, strict=True):
        if state.left[j] > INDEPENDENT * state.square[j]:
            state.add(int(j), column)
            gram_columns.append(column)
    while len(state.chosen) < n_columns:
        left = np.where(state.left > INDEPENDENT * state.square, state.left, 0.0)
        left[state.chosen] = 0.0
        j = first_largest(left)
        if left[j] <= 0:
            break
        gram_columns.append(view.gram_columns(np.array([j]))[:, 0])
        state.add(j, gram_columns[-1])
    return Selection(np.array(state.chosen, dtype=np.intp), np.stack(gram_columns).T)
