"""Subset selection by QR with column pivoting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.linalg.rounding import first_largest
from sparing.methods.selectors.filling import NEVER, Filling
from sparing.results import Array, Indices, Reference, Selection
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True)
class PivotedQR:
    """Pivots of V_k' in QR with column pivoting, the classical subset selection [golub1996, Sec. 12.2].

    QR with column pivoting [golub1965] takes, step by step, the column farthest from the span of those already taken.
    Applied to V_k' it gives k columns; further columns are pivots of X itself.

    Parameters
    ----------
    components_first : bool
        Begin with the pivots of V_k'. Otherwise all pivots are those of X, which do not depend on k.

    Notes
    -----
    **Guarantee.** With W the rows of V_k that belong to the columns, ||X - X_{C,k}||^2 is at most
    ||X - X_k||^2 / sigma_min(W)^2. If the columns reveal the rank [chan1992], which is checked, this is at most k (d -
    k) + 1 times PCA's loss: see ``sparing.linalg.theorem_bounds.rank_revealing_factor``. Pivoting alone only guarantees
    sigma_min(W) above about 2^-k / sqrt(d); in practice it is far above. Residuals of a regression exceed those of PCA
    regression by at most sqrt(k (d - k) + 1) ||X - X_k|| ||Y||_2 / sigma_k [boutsidis2011, Sec. 3].
    **Differs from the paper.** It stops at k columns. The steps on X use Gram coordinates and need one product with X
    per column.
    """

    components_first: bool = True

    reference: ClassVar = Reference("golub1996", "Sec. 12.2, Algorithm 12.2.1")

    def select(self, task: Task, run: Run) -> Selection:
        """Return the pivots of V_k', then columns with the largest residual."""
        filling = Filling(task)
        if self.components_first:
            V = np.where(filling.open()[:, None], task.target.basis, 0.0)  # constant columns may carry rounding
            filling.offer(pivots(V)[: task.n_nonzero])
        filling.fill_up()
        return filling.selection()


def pivots(V: Array) -> Indices:
    """The pivots of V' (k x d), up to its rank; the first of equal columns, so that rounding does not decide."""
    rest = V.copy()
    found: list[int] = []
    for _ in range(V.shape[1]):
        squares = np.einsum("ij,ij->i", rest, rest)
        j = first_largest(squares)
        if squares[j] <= NEVER:
            break
        direction = rest[j] / np.linalg.norm(rest[j])
        rest -= np.multiply.outer(rest @ direction, direction)
        found.append(j)
    return np.array(found, dtype=np.intp)
