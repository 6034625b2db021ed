"""Rows outside of memory that are cut where a test says and count how many of them were read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy import sparse

from sparing.data import Rows
from sparing.data.blocks import CscBlock, DenseBlock


class CountedRows(Rows):
    def __init__(self, X, cuts: int | Sequence[int] = 100) -> None:
        super().__init__()
        self.X, self.shape, self.dtype = X, X.shape, X.dtype
        self.is_dense = not sparse.issparse(X)
        self.rows_read = 0
        inner = range(cuts, X.shape[0], cuts) if isinstance(cuts, int) else cuts
        self._edges = np.unique([0, *inner, X.shape[0]])

    def blocks(self):
        for start, stop in pairwise(self._edges):
            self.rows_read += int(stop - start)
            part = self.X[start:stop]
            yield DenseBlock(np.asarray(part), int(start)) if self.is_dense else CscBlock(part, int(start))

    @property
    def readings(self) -> float:
        """Times that all rows were read, with what was read beside."""
        return self.rows_read / self.shape[0]

    @property
    def first_block(self) -> float:
        """Share of the rows in the first block, which is looked at to learn sizes."""
        return float(self._edges[1]) / self.shape[0]


def factors(rng, n: int, d: int, k: int = 4, noise: float = 0.5) -> np.ndarray:
    """k factors of falling size, and noise."""
    falling = 0.8 ** np.arange(k)
    return (rng.standard_normal((n, k)) * falling) @ rng.standard_normal((k, d)) + noise * rng.standard_normal((n, d))
