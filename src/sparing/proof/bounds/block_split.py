"""Blocks of features that hardly touch: a bound of each block, and one of what lies between them."""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from sparing.linalg.rounding import EPS, rounded_up
from sparing.linalg.rows import squares, sum_of_largest, sums
from sparing.linalg.threads import single_threaded_blas
from sparing.proof.hypotheses import valid_for
from sparing.results import Array, Bound, Encoder, Indices, Reference
from sparing.run import Budget, Run
from sparing.task import Task

SPLIT_LIMIT = 1000
"""The most features for which A is split."""

SPLITS = 32
"""Thresholds looked at, at most; the blocks of each are decomposed."""


@dataclass(frozen=True)
class BlockSplit:
    """x'Ax <= the largest bound of any block + a bound of what is between the blocks, one component.

    Features i and j are in one block where a chain of |A_ij| > eps joins them [golub1996, Sec. 2.3 and Theorem 7.2.1
    for each part]. Let D be A within blocks and E = A - D: |E_ij| <= eps, and E has no diagonal.

    x'Dx = sum over blocks of x_B'A_B x_B <= the largest of their bounds, because the |x_B|^2 add up to 1. x'Ex is at
    most the sum of the r - 1 largest |E_ij| in some row (Gershgorin on the support of x), hence at most (r - 1) eps, as
    eps (|x|_1^2 - |x|_2^2) is too; squares of rows may say less.

    The threshold is searched. Of all |A_ij| only the d - 1 of the largest spanning tree change the blocks. The bound of
    D falls and that of E rises with eps, so intervals that can hold nothing better are left out.
    """

    name: ClassVar = "block_split"
    objective: ClassVar = "variance"
    reference: ClassVar = Reference("golub1996", "Sec. 2.3 and Theorem 7.2.1, for blocks and what is between them")

    def applies(self, task: Task) -> bool:
        """For one component and not too many features."""
        return task.problem.is_single and task.gram.n_features <= SPLIT_LIMIT

    def cost(self, task: Task) -> float:
        """Little, but others say more unless blocks hardly touch: it comes last, and only with a time limit."""
        return math.inf

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its eps, for one component and not too many features."""
        view, problem = task.gram, task.problem
        if not self.applies(task):
            return None
        A, r = view.gram(), min(problem.n_nonzero, view.n_features)
        with single_threaded_blas(float(len(A)) ** 3):
            eps = _best_threshold(A, r, run.budget)
            value = self.check(task, eps)
        return Bound(value, self.name, "blocks of features", "always", eps)

    @valid_for(one=True)
    def check(self, task: Task, witness: Any) -> float:
        """The bound again, from the data and eps: every eps proves something."""
        A = task.gram.gram()
        within, between = _parts(A, min(task.problem.n_nonzero, len(A)), float(witness))
        scale = abs(within) + between + float(np.abs(A).max())  # the two parts may cancel, and so may a row
        return rounded_up(within + between, task.gram) + 8 * len(A) * EPS * scale


def _best_threshold(A: Array, r: int, budget: Budget) -> float:
    """Best first among intervals of thresholds, by the least that they can hold."""
    thresholds = _thresholds(A)
    seen = {at: _parts(A, r, float(thresholds[at])) for at in {0, len(thresholds) - 1}}
    best = min(seen, key=lambda at: sum(seen[at]))
    waiting = [(seen[len(thresholds) - 1][0] + seen[0][1], 0, len(thresholds) - 1)]
    while waiting and len(seen) < SPLITS and not budget.expired:
        least, low, high = heapq.heappop(waiting)
        if least >= sum(seen[best]):
            break
        if high - low < 2:
            continue
        middle = (low + high) // 2
        seen[middle] = _parts(A, r, float(thresholds[middle]))
        best = min(best, middle, key=lambda at: sum(seen[at]))
        for one, two in ((low, middle), (middle, high)):
            heapq.heappush(waiting, (seen[two][0] + seen[one][1], one, two))
    return float(thresholds[best])


def _thresholds(A: Array) -> Array:
    """Rising values of eps at which blocks fall apart, after one at which all is one block."""
    sizes = np.abs(A)
    tree = minimum_spanning_tree(1.0 + (sizes.max() - sizes) / max(float(sizes.max()), 1e-300)).tocoo()
    return np.concatenate([[-1.0], np.unique(sizes[tree.row, tree.col])])


def _parts(A: Array, r: int, eps: float) -> tuple[float, float]:
    """Bounds of D and of E."""
    _, labels = connected_components(np.abs(A) > eps, directed=False)
    order = np.argsort(labels, kind="stable")
    blocks = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1)
    within = max(_of_block(A[np.ix_(block, block)], r) for block in blocks)
    if len(blocks) == 1:
        return within, 0.0
    between = np.where(labels[:, None] == labels, 0.0, A)
    return within, _by_rows(between, r)


def _of_block(block: Array, r: int) -> float:
    """Exact where the block has no more than r features."""
    if len(block) == 1:
        return float(block[0, 0])
    values = np.linalg.eigvalsh(block)
    top = float(values[-1] + 8 * len(block) * EPS * np.abs(values).max())
    return top if len(block) <= r else min(top, _by_rows(block, r))


def _by_rows(matrix: Array, r: int) -> float:
    """Row sums or row sums of squares, whichever bounds better."""
    own: Indices = np.arange(len(matrix))
    return min(float(sums(matrix, own, r).max()), math.sqrt(sum_of_largest(squares(matrix, own, r), r)))
