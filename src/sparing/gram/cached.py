"""A view that keeps the Gram columns it has computed."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix
from sparing.gram.derived import Derived
from sparing.results import Array, Indices

ENTRIES = 2**25
"""Numbers kept at most (a quarter of a gibibyte); beyond that all but the columns asked for are forgotten."""


class CachedGram(Derived):
    """Each Gram column is computed once: for searches that come back to the same features again and again."""

    def __init__(self, base: DataMatrix) -> None:
        super().__init__(base)
        self.n_samples = base.n_samples
        self._slot = np.full(self.n_features, -1, dtype=np.intp)
        self._stored = np.empty((0, self.n_features))  # one Gram column per row: contiguous to read
        self._count = 0
        self._diagonal = base.gram_diagonal()

    @property
    def origin(self) -> DataMatrix:
        """That of the base."""
        return self.base.origin

    def gram(self) -> Array:
        """That of the base."""
        return self.base.gram()

    def gram_matmat(self, V: Array) -> Array:
        """``A @ V``, from columns where V needs only known ones."""
        if not self.has_gram:
            rows = np.flatnonzero(V.any(axis=1))
            if (slots := self._slot[rows]).min(initial=0) >= 0:
                return self._stored[slots].T @ V[rows]
        return self.base.gram_matmat(V)

    def gram_diagonal(self) -> Array:
        """Squared column norms."""
        return self._diagonal

    def gram_columns(self, J: ArrayLike) -> Array:
        """``A[:, J]``; only what is new is computed."""
        J = np.asarray(J, dtype=np.intp)
        if self.has_gram:
            return self.base.gram_columns(J)
        self._fetch(J)
        return cast(Array, self._stored[self._slot[J]].T)

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J. One unknown feature among known ones needs no column: symmetry has its entries."""
        if self.has_gram:
            return self.base.restricted(J)
        new = np.flatnonzero(self._slot[J] < 0)
        if len(new) > 1:
            return self._dense(self.base.restricted(J).gram())
        if len(new) == 0:
            return self._dense(self._stored[self._slot[J]][:, J])
        j, known = new[0], np.delete(np.arange(len(J)), new[0])
        block = np.full((len(J), len(J)), self._diagonal[J[j]])
        block[known] = self._stored[self._slot[J[known]]][:, J]
        block[j, known] = block[known, j]
        return self._dense(block)

    def remember(self, J: Indices, gram_columns: Array) -> None:
        """Columns A[:, J] that somebody has computed."""
        self._stored, self._count = np.ascontiguousarray(gram_columns.T), len(J)
        self._slot[:] = -1
        self._slot[J] = np.arange(len(J))

    def _fetch(self, J: Indices) -> None:
        new = np.unique(J[self._slot[J] < 0])
        if len(new) == 0:
            return
        if (self._count + len(new)) * self.n_features > ENTRIES:
            self._slot[:], self._count = -1, 0
            new = np.unique(J)
        if self._count + len(new) > len(self._stored):
            needed = self._count + len(new)
            room = np.empty((max(needed, min(2 * needed, ENTRIES // self.n_features)), self.n_features))
            room[: self._count] = self._stored[: self._count]
            self._stored = room
        self._stored[self._count : self._count + len(new)] = self.base.gram_columns(new).T
        first, self._count = self._count, self._count + len(new)
        self._slot[new] = np.arange(first, self._count)  # last, so that an interruption leaves no column half known
