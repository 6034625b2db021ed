"""Rows of which some columns count."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from sparing.data.coding import Coding
from sparing.data.rows import RawBlock, Rows
from sparing.results import Indices


class ChosenColumns(Rows):
    """The columns J of other rows, in the order of J.

    Parameters
    ----------
    rows : Rows
    J : array of int
    feature_names : sequence of str, optional
        Of the columns chosen.
    """

    def __init__(self, rows: Rows, J: Indices, feature_names: Sequence[str] | None = None) -> None:
        super().__init__()
        self.rows, self.J = rows, np.asarray(J, dtype=np.intp)
        self.shape, self.dtype, self.is_dense = (rows.shape[0], len(self.J)), rows.dtype, rows.is_dense
        self.feature_names = None if feature_names is None else list(feature_names)

    def blocks(self) -> Iterator[RawBlock]:
        """The blocks of the rows, each with these columns alone."""
        return (raw.restricted(self.J) for raw in self.rows.blocks())

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """As the rows run it, wherever they are."""
        return self.rows.run(partial(_on_chosen, self.J, work), merge)

    @property
    def coding(self) -> Coding | None:
        """That of the columns chosen."""
        whole = self.rows.coding
        return None if whole is None else whole.of(self.J)

    def with_coding(self, coding: Coding | None) -> ChosenColumns:
        """The columns chosen by another coding."""
        if coding is None or (whole := self.rows.coding) is None:
            return self
        return ChosenColumns(self.rows.with_coding(whole.replaced(self.J, coding)), self.J, self.feature_names)

    @property
    def source(self) -> Any:
        """The columns in memory, for the few methods that need them at once."""
        return self.rows.source[:, self.J]


def _on_chosen(J: Indices, work: Callable[[RawBlock], Any], block: RawBlock) -> Any:
    return work(block.restricted(J))
