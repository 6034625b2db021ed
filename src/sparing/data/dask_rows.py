"""Rows in the chunks of a Dask array: work is sent to the chunks, and small results are returned."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from scipy import sparse

from sparing.data.blocks import CscBlock, DenseBlock
from sparing.data.rows import RawBlock, Rows


class DaskRows(Rows):
    """A Dask array of dense or SciPy sparse chunks, on the scheduler that the user has set up.

    One task per block of rows; results are merged in a tree. X is never gathered, and tasks of a lost worker run again.
    Tasks do not modify their inputs.
    """

    is_local = False

    def __init__(self, array: Any) -> None:
        if np.isnan(array.shape[0]):
            raise ValueError(
                "The Dask array does not know the lengths of its chunks, as after filtering rows. Call its method "
                "compute_chunk_sizes() first; from a data frame use to_dask_array(lengths=True)."
            )
        self.array = array.rechunk({1: -1}) if array.numblocks[1] > 1 else array
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype, self.is_dense = array.dtype, not sparse.issparse(array._meta)
        self._check_chunks()

    def _check_chunks(self) -> None:
        """Reject chunks that no worker of the cluster can store."""
        longest = max(self.array.chunks[0], default=0)
        size, room = longest * self.shape[1] * self.dtype.itemsize, _worker_memory()
        if self.is_dense and room is not None and size > room:
            fitting = max(int(room / 4 / max(self.shape[1] * self.dtype.itemsize, 1)), 1)
            raise ValueError(
                f"The Dask array has a chunk of {longest} rows with {self.shape[1]} features, {size / 2**30:.3g} GiB, "
                f"and a worker has {room / 2**30:.3g} GiB of memory, but a chunk is processed as a whole. Use "
                f"X.rechunk(({fitting}, -1)), or workers with more memory."
            )

    @property
    def source(self) -> Any:
        """All rows in memory, computed together."""
        return self.array.compute()

    def blocks(self) -> Iterator[RawBlock]:
        """The chunks one after the other, in this process."""
        for start, chunk in self._chunks():
            yield _as_block(chunk.compute(), start)

    def first(self, look: Callable[[RawBlock], Any]) -> Any:
        """Apply ``look`` to one chunk after the other; only its result is transferred."""
        from dask.delayed import delayed

        tasks = (delayed(_looked)(look, chunk, start) for start, chunk in self._chunks())
        return next((found for task in tasks if (found := task.compute()) is not None), None)

    def run(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """Run ``work`` where the chunks are; neighbours are merged there, too."""
        import dask

        if "distributed" not in sys.modules:  # its later settings would be lost with the one set here
            return self.planned(work, merge).compute()
        # the factors of X are part of the graph on purpose: workers that join later need them
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "2 GiB"}):
            return self.planned(work, merge).compute()

    def planned(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> Any:
        """The tasks of a pass: two for each chunk, in addition to its own."""
        from dask.delayed import delayed

        shared = delayed(_Shared(work, merge), pure=False, traverse=False)  # once in the graph, not in every task
        results = [delayed(_worked)(shared, chunk, start) for start, chunk in self._chunks()]
        while len(results) > 1:
            pairs = [delayed(_merged)(shared, *pair) for pair in zip(results[::2], results[1::2], strict=False)]
            results = pairs + results[2 * len(pairs) :]
        return results[0]

    def _chunks(self) -> Iterator[tuple[int, Any]]:
        starts = np.concatenate([[0], np.cumsum(self.array.chunks[0])[:-1]])
        for start, length, chunk in zip(starts, self.array.chunks[0], self.array.to_delayed().ravel(), strict=True):
            if length > 0:
                yield int(start), chunk


def _worker_memory() -> float | None:
    """Memory limit of the smallest worker of the user's cluster, in bytes; None without a cluster or limit."""
    if (distributed := sys.modules.get("distributed")) is None:
        return None
    try:
        workers = distributed.get_client().scheduler_info()["workers"].values()
    except ValueError:  # there is no client
        return None
    return min((limit for worker in workers if (limit := worker.get("memory_limit"))), default=None)


class _Shared:
    """Both functions in one object, so that a graph stores their arrays once."""

    def __init__(self, work: Callable[[RawBlock], Any], merge: Callable[[Any, Any], Any]) -> None:
        self.work, self.merge = work, merge


def _looked(look: Callable[[RawBlock], Any], chunk: Any, start: int) -> Any:
    return look(_as_block(chunk, start))


def _worked(shared: _Shared, chunk: Any, start: int) -> Any:
    return shared.work(_as_block(chunk, start))


def _merged(shared: _Shared, first: Any, second: Any) -> Any:
    return shared.merge(deepcopy(first), second)


def _as_block(chunk: Any, start: int) -> RawBlock:
    if sparse.issparse(chunk):
        return CscBlock(chunk, start)
    return DenseBlock(np.require(chunk, requirements="A"), start)  # transferred chunks may be unaligned
