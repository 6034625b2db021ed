"""Rows of V that the best x >= 0 with r nonzeros uses in any case, and rows that it cannot use.

As in :mod:`sparing.proof.sphere.branch_and_bound`, cells of directions c that hold no optimum are dropped. In the
others every entry of Vc lies between two numbers, and the support of the optimum is that of the r largest positive
entries.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sparing.gram.base import CACHE_ENTRIES
from sparing.proof.sphere.branch_and_bound import Cells, Rows
from sparing.proof_limits import LIMITS, SCHEDULES
from sparing.results import Array
from sparing.run import Budget

Mask = NDArray[np.bool_]

SLACK = 1e-9
"""Share of the longest row by which entries must differ to be told apart: far above rounding."""


def fixed_support(
    V: Array, size: int, value: float, budget: Budget, *, small_angle: float = SCHEDULES.small_angle
) -> tuple[Mask, Mask]:
    """Rows that every optimum uses, and rows that one may use, given that ``value`` is reached.

    V (d x m) has at least two columns. Cells are halved until none is wider than ``small_angle``.
    """
    rows = Rows(V, size, nonnegative=True)
    certain, possible = np.ones(len(V), dtype=bool), np.zeros(len(V), dtype=bool)
    for directions, angle in _where_it_can_be(rows, value, budget, small_angle):
        used, useful = _roles(V, directions, angle, size)
        certain, possible = certain & used, possible | useful
    return certain & possible, possible


def _where_it_can_be(rows: Rows, value: float, budget: Budget, small_angle: float) -> Iterator[tuple[Array, float]]:
    """Directions (rows), some at a time, such that every optimum is within the angle of one of them."""
    m = rows.rows.shape[1]
    ends = np.concatenate([np.eye(m), -np.eye(m)])
    count = len(ends)
    cells = Cells(ends, np.arange(count) % m, np.zeros(count, dtype=np.intp), np.full(count, np.inf))
    while True:
        cosines = cells.cosines()
        directions = cells.centres / np.linalg.norm(cells.centres, axis=1, keepdims=True)
        bounds = (np.sqrt(rows.reached(directions)) + rows.slack) / cosines
        kept = bounds >= np.sqrt(value) * (1 - SLACK)
        angle = float(np.arccos(np.clip(cosines[kept].min(initial=1.0), -1.0, 1.0))) + SLACK
        cells = cells.some(kept)
        if angle < small_angle or len(cells.bounds) > LIMITS.located_cells or budget.expired:
            break
        cells = cells.halves()
    directions = directions[kept]
    step = max(CACHE_ENTRIES // len(rows.rows), 1)
    for at in range(0, len(directions), step):
        yield directions[at : at + step], angle


def _roles(V: Array, directions: Array, angle: float, size: int) -> tuple[Mask, Mask]:
    """Rows that are among the ``size`` largest positive entries of Vc for all c, or any, near the directions."""
    lengths = np.linalg.norm(V, axis=1)
    along = directions @ V.T
    aside = np.sqrt(np.maximum(np.square(lengths) - np.square(along), 0.0))
    slack = SLACK * lengths.max()
    low = along * np.cos(angle) - aside * np.sin(angle) - slack
    high = np.where(along >= lengths * np.cos(angle), lengths, along * np.cos(angle) + aside * np.sin(angle)) + slack
    n = len(V)
    useful = (lengths > 0) & (high > np.maximum(np.partition(low, n - size, axis=1)[:, n - size], 0.0)[:, None])
    rival = np.partition(high, n - size - 1, axis=1)[:, n - size - 1, None] if size < n else -np.inf
    used = low > np.maximum(rival, 0.0)
    return used.all(axis=0), useful.any(axis=0)
