"""Residuals of a regression on scores, computed from rows in memory to full precision."""

from __future__ import annotations

import numpy as np

from sparing.gram import DataMatrix, view_of_columns, view_of_gram
from sparing.gram.derived import LEFT
from sparing.linalg.metric import Whole
from sparing.objectives.variance import RayleighObjective
from sparing.results import Array, Indices

WITHIN_OTHERS = 1e-10
"""Share of a direction's square that is not in others, below which it is one of them."""


class UnitObjective(RayleighObjective):
    """The quotient of directions on a core of columns of the residual of rows (m x d), searched on unit columns.

    In the units of the data loadings may differ by a million, and rounding would judge swaps of the small ones.
    """

    def __init__(self, rows: Array, core: Indices) -> None:
        inside = rows[:, core]
        lengths = np.linalg.norm(inside, axis=0)
        self._unit = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        inside = inside * self._unit
        images = rows.T @ inside
        super().__init__(view_of_gram(images.T @ images), Whole(inside.T @ inside))

    def improved(self, support: Indices, max_swaps: int) -> tuple[float, Indices, Array]:
        """Improve the quotient, and return the direction in the units of the rows."""
        rho, support, v = super().improved(support, max_swaps)
        return rho, support, v * self._unit[support]


def residual_view(rows: Array, H: Array) -> DataMatrix:
    """The residual of rows (m x d) after regression on the scores along directions H (d x k).

    By differences of squares, as :meth:`DataMatrix.projected` has it, half of the digits would be lost; but that needs
    no rows.
    """
    return view_of_columns(without_scores(rows, rows @ H), is_residual=True)


def without_scores(rows: Array, scores: Array) -> Array:
    """The residual of rows (m x d) after regression on scores (m x k); zero for columns that are explained up to
    rounding."""
    lengths = np.linalg.norm(scores, axis=0)
    Q, R = np.linalg.qr(scores[:, lengths > 0] / lengths[lengths > 0])
    Q, rest = Q[:, np.square(np.diagonal(R)) > WITHIN_OTHERS], rows
    for _ in range(2):  # twice is enough
        rest = rest - Q @ (Q.T @ rest)
    squares = [np.einsum("ij,ij->j", part, part) for part in (rest, rows)]
    return np.where(squares[0] > LEFT * squares[1], rest, 0.0)
