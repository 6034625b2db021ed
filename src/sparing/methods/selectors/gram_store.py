"""What a search needs of the columns it has chosen, each product made once."""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.gram.columns import ColumnBlock
from sparing.objectives.span import INDEPENDENT, Spanning
from sparing.results import Array, Indices, Selection


def store_of(view: DataMatrix) -> GramStore:
    """Gram columns in general; a basis of rows where rows are few and XX' is in memory."""
    return RowStore(view) if view.squares_cheaply and view.has_rows else GramStore(view)


class GramStore:
    """Gram columns of a view, each computed once and never moved."""

    def __init__(self, view: DataMatrix) -> None:
        self.view = view
        self._known = np.empty(0, dtype=np.intp)
        self._blocks: list[Array] = []
        self._squared = np.empty((0, 0))

    def _places(self, J: Indices) -> Indices:
        """Positions of the columns J among those known; what is missing is computed by one product."""
        missing = J[~np.isin(J, self._known)]
        if len(missing):
            self._blocks.append(self.view.gram_columns(missing))
            self._known = np.concatenate([self._known, missing])
        order = np.argsort(self._known)
        return order[np.searchsorted(self._known, J, sorter=order)]

    def columns(self, J: Indices) -> Array:
        """``A[:, J]``; not a copy where they have just been computed together."""
        if self.view.has_gram or len(J) == 0:
            return self.view.gram_columns(J)
        places = self._places(J)
        first = len(self._known) - self._blocks[-1].shape[1]
        if np.array_equal(places, np.arange(first, len(self._known))):
            return self._blocks[-1]
        columns = [column for block in self._blocks for column in block.T]
        return np.stack([columns[place] for place in places]).T

    def note(self, J: Indices, pool: DataMatrix, places: Indices) -> None:
        """The columns J of X are those of a pool at ``places``: of use where columns themselves are."""

    def extend(self, state: Spanning, added: Indices) -> None:
        """Choose columns in a state over all features."""
        state.extend(added, self.columns(added))

    def selection(self, J: Indices) -> Selection:
        """Columns J with what an encoder needs of them."""
        return Selection(J, self.columns(J)) if self.view.has_gram or len(J) == 0 else StoredSelection(self, J)

    def core(self, J: Indices) -> tuple[Array, Array]:
        """``A[J, J]`` and ``(A @ A)[J, J]``."""
        view = self.view
        if view.has_gram:
            return view.restricted(J).gram(), view.gram_squared(J)
        return self.inside(J), self.squared(J)

    def inside(self, J: Indices) -> Array:
        """``A[J, J]``."""
        places = self._places(J)
        return np.concatenate([block[J] for block in self._blocks], axis=1)[:, places]

    def squared(self, J: Indices) -> Array:
        """``(A @ A)[J, J]``, each product of two columns made once."""
        places = self._places(J)
        done = len(self._squared)
        if done < len(self._known):
            squared = np.empty((len(self._known), len(self._known)))
            squared[:done, :done] = self._squared
            starts = np.cumsum([0, *(block.shape[1] for block in self._blocks)])
            for i, second in enumerate(self._blocks):
                if starts[i] >= done:
                    here = slice(starts[i], starts[i + 1])
                    for j, first in enumerate(self._blocks[: i + 1]):
                        there = slice(starts[j], starts[j + 1])
                        squared[there, here] = first.T @ second
                        squared[here, there] = squared[there, here].T
            self._squared = squared
        return self._squared[np.ix_(places, places)]

    def images(self, J: Indices, directions: Array) -> Array:
        """``A[:, J] @ directions``."""
        spread = np.zeros((len(self._known), directions.shape[1]))
        spread[self._places(J)] = directions
        ends = np.cumsum([block.shape[1] for block in self._blocks])[:-1]
        parts = zip(self._blocks, np.split(spread, ends), strict=True)
        return cast(Array, sum(block @ part for block, part in parts))


class StoredSelection(Selection):
    """A selection whose Gram columns stay where they are until somebody wants them in one piece."""

    def __init__(self, store: GramStore, columns: Indices) -> None:
        super().__init__(columns, None)
        self._store: GramStore | None = store

    @property
    def gram_columns(self) -> Array:
        """``A[:, J]`` in one piece, which few callers need; the store is let go."""
        if self._store is not None:
            self._gram_columns, self._store = self._store.columns(self.columns), None
        return super().gram_columns

    def inside(self) -> Array:
        """``A[J, J]``."""
        return super().inside() if self._store is None else self._store.inside(self.columns)

    def squares(self, rotation: Array, *, careful: bool = False) -> Array:
        """``(Z turn)'(Z turn)``; with care where ``turn`` is ill-conditioned."""
        if careful or self._store is None:
            return super().squares(rotation, careful=careful)
        return rotation.T @ self._store.squared(self.columns) @ rotation

    def images(self, directions: Array) -> Array:
        """``Z directions``."""
        return super().images(directions) if self._store is None else self._store.images(self.columns, directions)


class RowStore(GramStore):
    """Chosen columns as themselves: with few rows all but one product per block is small.

    With Q an orthonormal basis of the chosen columns, A[:, J] is never needed: the search takes X'Q, and the encoder
    Q'XX'Q and X' times its scores.
    """

    def __init__(self, view: DataMatrix) -> None:
        super().__init__(view)
        self._basis: Array | None = np.empty((view.n_samples or 0, 0))
        self._rows: dict[int, Array] = {}

    def note(self, J: Indices, pool: DataMatrix, places: Indices) -> None:
        """Kept, so that they need not be read again."""
        if isinstance(pool, ColumnBlock):
            self._rows.update(zip(J.tolist(), pool.columns(places).T, strict=True))

    def rows(self, J: Indices) -> Array:
        """``X[:, J]``, each column read once."""
        missing = np.array([j for j in J.tolist() if j not in self._rows], dtype=np.intp)
        if len(missing):
            self._rows.update(zip(missing.tolist(), self.view.columns(missing).T, strict=True))
        return np.stack([self._rows[j] for j in J.tolist()], axis=1)

    def extend(self, state: Spanning, added: Indices) -> None:
        """By X'Q for the new part of Q; by Gram columns as soon as columns depend on one another."""
        if self._basis is None or self._basis.shape[1] != len(state.chosen):
            super().extend(state, added)
            return
        fresh = self.rows(added)
        for _ in range(2):  # twice is enough
            fresh -= self._basis @ (self._basis.T @ fresh)
        Q, R = np.linalg.qr(fresh)
        if (np.square(np.diagonal(R)) <= INDEPENDENT * state.square[added]).any():
            self._basis = None
            super().extend(state, added)
            return
        target = linalg.solve_triangular(R, state.cross[added], trans="T", check_finite=False)
        self._basis = np.concatenate([self._basis, Q], axis=1)
        state.append(added, self.view.rmatmat(Q), target)

    def selection(self, J: Indices) -> Selection:
        """Columns J with their rows."""
        return RowSelection(self.view, J, self.rows(J))

    def core(self, J: Indices) -> tuple[Array, Array]:
        """``A[J, J]`` and ``(A @ A)[J, J]``."""
        among = self.selection(J)
        return among.inside(), among.squares(np.eye(len(J)))


class RowSelection(Selection):
    """A selection that computes what it is asked for from few rows."""

    def __init__(self, view: DataMatrix, columns: Indices, rows: Array) -> None:
        super().__init__(columns, None)
        self._view, self._rows = view, rows

    @property
    def gram_columns(self) -> Array:
        """``A[:, J]``, which few callers need."""
        if self._gram_columns is None:
            self._gram_columns = self._view.gram_columns(self.columns)
        return self._gram_columns

    def inside(self) -> Array:
        """``A[J, J]``."""
        return self._rows.T @ self._rows

    def squares(self, rotation: Array, *, careful: bool = False) -> Array:
        """``turn' X_J'(XX')X_J turn``, without squares of an ill-conditioned basis anyway."""
        scores = self._rows @ rotation
        return scores.T @ (self._view.row_gram() @ scores)

    def images(self, directions: Array) -> Array:
        """``X'(X_J directions)``."""
        return self._view.rmatmat(self._rows @ directions)
