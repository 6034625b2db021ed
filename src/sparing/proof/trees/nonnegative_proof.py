"""Proof that no nonnegative direction with r features reaches more: a search on a matrix with entries raised.

x'Ax <= x'(A + N)x for x >= 0 and every N >= 0. With N = -Y where Y < 0, for the Y of the doubly nonnegative dual, the
optimum of A + N over x of any sign is the nonnegative optimum of A on most data, and it is searched as any other.
Without such a Y negative entries beside the diagonal become 0: the best x of that matrix is nonnegative by itself
(Perron and Frobenius), and its value is the optimum where A has no negative entries within its support.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.rounding import EPS, rounded_up
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.relaxations.semidefinite import relaxed_nonnegative
from sparing.proof.trees.prover import Prover, refuted_again
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array, Bound, Indices
from sparing.run import Budget


class NonnegativeProof(NamedTuple):
    """An upper bound for nonnegative directions, and the best support of the raised matrix."""

    bound: Bound
    support: Indices


def prove_nonnegative(
    view: DataMatrix,
    size: int,
    support: Indices,
    loadings: Array,
    rng: np.random.Generator,
    *,
    max_nodes: int,
    max_iter: int,
    budget: Budget,
) -> NonnegativeProof:
    """Refute values above that of a known direction, as far as nodes and time allow."""
    A, N = view.gram(), None
    with single_threaded_blas(float(len(A)) ** 3):
        if max_iter > 0 and len(A) <= LIMITS.raised_features:
            Y = proposed_dual(A, size, support, loadings, max_iter, 1e-7, budget.share(SCHEDULES.attempt_share))
            N = np.maximum(-Y, 0.0)
        inside, shift = _raised(A, N)
        proof = Prover(inside).prove(min(size, len(A)), support, rng, max_nodes=max_nodes, budget=budget)
    name, method = "nonnegative_branch_and_bound", "branch and bound for nonnegative loadings"
    witness, found = (N, proof.steps), (proof.support,)
    bound = Bound(rounded_up(proof.bound - shift, view), name, method, "always", witness, supports=found)
    return NonnegativeProof(bound, proof.support)


def proposed_dual(
    A: Array, size: int, support: Indices, loadings: Array, max_iter: int, tolerance: float, budget: Budget
) -> Array:
    """The best Y found; the search ends early if it proves the known direction optimal."""
    reached = -np.inf
    if len(support) and loadings.min() >= 0:
        inside = A[np.ix_(support, support)]
        reached = float(loadings @ inside @ loadings) / float(loadings @ loadings)
    r = min(size, len(A))
    return relaxed_nonnegative(A, r, max_iter=max_iter, tolerance=tolerance, budget=budget, reached=reached)[1]


def _raised(A: Array, N: Array | None) -> tuple[DataMatrix, float]:
    """A + N for the positive entries of N, made semidefinite by a multiple of I; and the same minus the rounding error.

    The multiple of I is the same for all unit x.
    """
    raised = np.maximum(A, 0.0) if N is None else A + np.maximum((N + N.T) / 2, 0.0)
    np.fill_diagonal(raised, np.diagonal(A))
    values = np.linalg.eigvalsh(raised)
    rounding = 8 * len(A) * EPS * float(np.abs(values).max() + np.abs(raised - A).max())
    shift = max(rounding - float(values[0]), 0.0)
    return view_of_gram(raised + shift * np.eye(len(A))), shift - rounding


def raised_and_refuted_again(view: DataMatrix, n_nonzero: int, witness: Any) -> float:
    """The targets refuted once more, on the same matrix."""
    N, steps = witness
    with single_threaded_blas(float(view.n_features) ** 3):
        inside, shift = _raised(view.gram(), N)
        return rounded_up(refuted_again(inside, n_nonzero, steps) - shift, view)
