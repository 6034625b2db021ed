"""Rows of one fit, whose passes are counted, reported and stored in a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sparing.data.checkpoint import Checkpoint, fingerprint
from sparing.data.rows import RawBlock, Rows

SECONDS = 2.0
"""Seconds between two lines of progress, so that a quick fit prints nothing and a slow one reports regularly."""


class TrackedRows(Rows):
    """The rows of one fit.

    Parameters
    ----------
    rows : Rows
    say : callable
        Function that prints progress.
    checkpoint : Checkpoint, optional
        Storage of finished passes.
    sample_weight : array, optional
        Sample weights, part of the identity of the data.
    clock : callable, optional
        Clock in seconds, with any origin.
    """

    def __init__(
        self,
        rows: Rows,
        say: Callable[[str], None],
        checkpoint: Checkpoint | None = None,
        sample_weight: Any = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self.rows, self._say, self._checkpoint, self._clock = rows, say, checkpoint, clock or time.monotonic
        self.shape, self.dtype, self.is_dense, self.is_local = rows.shape, rows.dtype, rows.is_dense, rows.is_local
        self.is_resident, self.stamp = rows.is_resident, rows.stamp
        self._number, self._said_at, self._last_said = 0, self._clock(), 0
        if checkpoint is not None:
            stored = checkpoint.begin(_facts(rows, sample_weight))
            if stored:
                say(f"resuming from the checkpoint: {stored} passes need not be read again")

    def blocks(self) -> Iterator[RawBlock]:
        """Blocks of the rows."""
        return self.rows.blocks()

    def first(self, look: Callable[[RawBlock], Any]) -> Any:
        """The first result of ``look`` that is not None, as for the rows."""
        return self.rows.first(look)

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """One pass: computed and stored, or loaded from an earlier process."""
        self._number += 1
        if self._checkpoint is None:
            return self._read(work, merge)
        return self._checkpoint.passed(self._number, work, lambda: self._read(work, merge))

    def _read(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        if not self.is_local:
            self._say(f"pass {self._number}: {self.shape[0]:,} rows")
            return self.rows.run(work, merge)

        def followed(block: RawBlock) -> Any:
            result = work(block)
            self._progress(block.stop)
            return result

        return self.rows.run(followed, merge)

    def _progress(self, done: int) -> None:
        """Print a line every few seconds, and one at the end of a pass that printed any."""
        now, total = self._clock(), self.shape[0]
        ends = done == total and self._last_said == self._number
        if ends or now - self._said_at >= SECONDS:
            self._said_at, self._last_said = now, self._number
            self._say(f"pass {self._number}: {100 * done // total}% of {total:,} rows")


def _facts(rows: Rows, sample_weight: Any) -> dict[str, Any]:
    """Facts that identify the data of a fit, without reading more than one block."""
    weights = None if sample_weight is None else np.asarray(sample_weight)
    return {
        "shape of X": rows.shape,
        "type of X": str(rows.dtype),
        "file of X": rows.stamp,
        "first rows of X": rows.first(fingerprint).encode(),
        "sample_weight": fingerprint(weights).encode(),
    }
