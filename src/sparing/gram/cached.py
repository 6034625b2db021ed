"""A view with a cache of Gram columns."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from sparing.gram.base import DataMatrix
from sparing.gram.derived import Derived
from sparing.results import Array, Indices

CACHED_ENTRIES = 2**23
"""Size of the cache (64 MiB). If it would grow further, all columns except the requested ones are dropped."""


class CachedGram(Derived):
    """Computes each Gram column once, for searches that return to the same features.

    It represents its base in Gram coordinates only; rows are those of ``origin``.

    Parameters
    ----------
    base : DataMatrix
    J, gram_columns : ndarray, optional
        Columns ``A[:, J]`` that are already known.
    entries : int
        Maximum size of the cache, unless more is requested at once.
    """

    def __init__(
        self,
        base: DataMatrix,
        J: Indices | None = None,
        gram_columns: Array | None = None,
        *,
        entries: int = CACHED_ENTRIES,
    ) -> None:
        super().__init__(base)
        self.entries = entries
        self.n_samples = base.n_samples
        self._slot = np.full(self.n_features, -1, dtype=np.intp)
        self._stored = np.empty((0, self.n_features))  # one Gram column per row: contiguous to read
        self._count = 0
        self._diagonal = base.gram_diagonal()
        if J is not None and gram_columns is not None:
            self._keep_only(J, gram_columns)

    @property
    def origin(self) -> DataMatrix:
        """The origin of the base."""
        return self.base.origin

    @property
    def signal(self) -> DataMatrix:
        """The view without noise; the view itself if there is none."""
        return self if self.base.noise is None else self.base.signal

    @property
    def noise(self) -> Array | None:
        """Noise variance of the base."""
        return self.base.noise

    def cached(self, J: Indices | None = None, gram_columns: Array | None = None) -> DataMatrix:
        """The view itself, or a new cache of the same view that starts with these columns."""
        return self if J is None else CachedGram(self.base, J, gram_columns)

    def gram(self) -> Array:
        """Gram matrix of the base."""
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
        """``A[:, J]``; only new columns are computed."""
        J = np.asarray(J, dtype=np.intp)
        if self.has_gram:
            return self.base.gram_columns(J)
        self._fetch(J)
        slots = self._slot[J]
        if len(J) and (np.diff(slots) == 1).all():  # contiguous, as when they were computed together
            columns = self._stored[slots[0] : slots[-1] + 1].T
            columns.flags.writeable = False
            return columns
        return cast(Array, self._stored[slots].T)

    @property
    def squares_cheaply(self) -> bool:
        """The same as for the base."""
        return self.base.squares_cheaply

    def gram_squared(self, J: Indices, gram_columns: Array | None = None) -> Array:
        """``(A @ A)[J, J]``, by the base if that is cheap, otherwise from cached columns."""
        return self.base.gram_squared(J) if self.squares_cheaply else super().gram_squared(J, gram_columns)

    def restricted(self, J: Indices) -> DataMatrix:
        """Rows and columns J; known entries are not computed again."""
        if self.has_gram:
            return self.base.restricted(J)
        known, new = (np.flatnonzero(side) for side in (self._slot[J] >= 0, self._slot[J] < 0))
        if len(known) == 0:
            return self._dense(self.base.restricted(J).gram())
        block = np.empty((len(J), len(J)))
        block[known] = self._stored[self._slot[J[known]][:, None], J]
        block[np.ix_(new, known)] = block[np.ix_(known, new)].T
        own = self.base.restricted(J[new]).gram() if len(new) > 1 else self._diagonal[J[new], None]
        block[np.ix_(new, new)] = own
        return self._dense(block)

    def _keep_only(self, J: Indices, gram_columns: Array) -> None:
        """Keep the columns A[:, J] and no others."""
        self._stored, self._count = np.ascontiguousarray(gram_columns.T), len(J)
        self._slot[:] = -1
        self._slot[J] = np.arange(len(J))

    def _fetch(self, J: Indices) -> None:
        """Compute the new columns of J, with one product and in their order. Stored columns are never moved."""
        if (self._slot[J] >= 0).all():
            return
        asked, first = np.unique(J, return_index=True)
        new = J[np.sort(first[self._slot[asked] < 0])]
        if (self._count + len(new)) * self.n_features > self.entries:
            known = asked[self._slot[asked] >= 0]
            self._keep_only(known, self._stored[self._slot[known]].T)
        needed = self._count + len(new)
        if needed > len(self._stored):
            most = self.entries // self.n_features
            room = np.empty((max(needed, min(2 * needed, most)), self.n_features))
            room[: self._count] = self._stored[: self._count]
            self._stored = room
        self._stored[self._count : needed] = self.base.gram_columns(new).T
        first_slot, self._count = self._count, needed
        self._slot[new] = np.arange(first_slot, needed)  # last, so that an interruption leaves no incomplete column
