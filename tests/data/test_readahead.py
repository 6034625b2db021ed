"""Reading ahead: the same blocks, one more in memory, and no thread left behind."""

from __future__ import annotations

import threading
import warnings
import weakref

import numpy as np
import pytest

from sparing import SparsePCA, open_data
from sparing.data import StandardizedRows
from sparing.data.blocks import DenseBlock
from sparing.data.jobs import GramBlock
from sparing.data.readers.base import FileRows, read_ahead
from sparing.errors import UnreadableError


def readers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("sparing-read-ahead")]


class Block:
    """Something that can be watched."""


def test_blocks_come_in_order_read_by_one_other_thread():
    seen = set()

    def blocks():
        for i in range(20):
            seen.add(threading.get_ident())
            yield i

    with read_ahead(blocks()) as ahead:
        assert list(ahead) == list(range(20))
    assert len(seen) == 1
    assert threading.get_ident() not in seen
    assert not readers()


def test_the_next_block_is_read_while_this_one_is_worked_on():
    second = threading.Event()

    def blocks():
        yield 1
        second.set()
        yield 2

    with read_ahead(blocks()) as ahead:
        assert next(ahead) == 1
        assert second.wait(60)  # without asking for it


def test_at_most_two_blocks_are_in_memory():
    alive, most = weakref.WeakSet(), []

    def blocks():
        for _ in range(10):
            most.append(len(alive))  # beside the one that is made now
            block = Block()
            alive.add(block)
            yield block
            del block

    with read_ahead(blocks()) as ahead:
        for block in ahead:
            del block
    assert len(most) == 10
    assert max(most) <= 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_work_that_breaks_off_closes_the_file_and_ends_the_thread(error):
    closed = []

    def blocks():
        try:
            yield from range(100)
        finally:
            closed.append(threading.current_thread().name)

    def work():
        with read_ahead(blocks()) as ahead:
            for block in ahead:
                if block == 3:
                    raise error

    with pytest.raises(error):
        work()
    assert closed == ["sparing-read-ahead_0"]
    assert not readers()


def test_nested_and_parallel_readings_do_not_meet(tmp_path, rng):
    X = rng.standard_normal((500, 6))
    with pytest.importorskip("h5py").File(tmp_path / "X.h5", "w") as file:
        file["X"] = X
    rows = open_data(tmp_path / "X.h5", block_bytes=2**12)
    assert rows.reads_ahead

    def outer(block):
        return rows.run(lambda inner: float(inner.rows.sum()), float.__add__) + float(block.rows.sum())

    n_blocks = len(list(rows.blocks()))
    assert n_blocks > 4
    np.testing.assert_allclose(rows.run(outer, float.__add__), (n_blocks + 1) * X.sum())
    results = []
    threads = [threading.Thread(target=lambda: results.append(StandardizedRows(rows).gram())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for found in results:
        np.testing.assert_array_equal(found, results[0])
    assert len(results) == 4
    assert not readers()


class Breaking(FileRows):
    """A file that ends too early."""

    reads_ahead = True

    def read(self):
        yield DenseBlock(np.zeros((5, 3)))
        raise OSError("the disk is gone")


def test_errors_of_the_reader_keep_their_sentence(tmp_path):
    (tmp_path / "X").write_text("")
    rows = Breaking(tmp_path / "X", (10, 3), float, 2**20)
    with pytest.raises(UnreadableError, match=r"damaged, truncated.*the disk is gone"):
        SparsePCA(n_nonzero=2).fit(rows)
    assert not readers()
    (tmp_path / "X").write_text("changed")
    with pytest.raises(UnreadableError, match="has changed since it was opened"):
        StandardizedRows(rows).one_pass(GramBlock())


def test_settings_of_the_caller_hold_for_the_reader():
    def blocks():
        yield np.float64(1e308) * np.float64(10.0)

    with warnings.catch_warnings(), np.errstate(over="ignore"):
        warnings.simplefilter("error")
        with read_ahead(blocks()) as ahead:
            assert list(ahead) == [np.inf]
