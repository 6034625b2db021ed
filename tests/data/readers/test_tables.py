"""Tables with names, CSV and Parquet: columns that hold no numbers, and cells that hold none."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from sparing import SparseEncoder
from sparing.data.readers import open_data
from sparing.errors import SparingWarning, UnreadableError


def test_empty_cells_and_nulls_are_nan(tmp_path):
    (tmp_path / "X.csv").write_text("a,b,c,d\n1,,x,\n2,NA,y,\n,3.5,2,\n")
    with (
        pytest.warns(SparingWarning, match=r"'c', 'd' left out, because not numeric"),
        pytest.warns(SparingWarning, match="every cell of 'd' is missing"),
    ):
        rows = open_data(tmp_path / "X.csv")
    assert (rows.feature_names, rows.left_out) == (["a", "b"], ["c", "d"])
    want = [[1, np.nan], [2, np.nan], [np.nan, 3.5]]
    np.testing.assert_array_equal(rows.source, want)
    with pytest.raises(ValueError, match="contains NaN"):
        SparseEncoder(1, n_nonzero=1).fit(rows)
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"a": pa.array([1, 2, None], pa.int8()), "b": [None, None, 3.5], "t": [True, None, False]}
    pq.write_table(pa.table(columns), tmp_path / "X.parquet")
    rows = open_data(tmp_path / "X.parquet")
    np.testing.assert_array_equal(rows.source, np.column_stack([want, [1, np.nan, 0]]))


def test_decimals_and_mixed_types_of_parquet(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    money = pa.array([Decimal("1.25"), None])
    small = pa.array([1, 2], pa.int8())
    half = pa.array(np.array([0.5, 1.5], dtype=np.float32))
    pq.write_table(pa.table({"money": money, "small": small, "half": half}), tmp_path / "X.parquet")
    np.testing.assert_array_equal(open_data(tmp_path / "X.parquet").source, [[1.25, 1, 0.5], [np.nan, 2, 1.5]])
    pq.write_table(pa.table({"small": small, "half": half}), tmp_path / "Y.parquet")
    assert open_data(tmp_path / "Y.parquet").dtype == np.float32


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a,b\nx,y\n", r"no column holds only numbers"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, the header has 2"),
        ("1,2\n3,4\n", "a header that names the columns"),
        ("a,b\n", "at least one row"),
        ("a,b\n1_0,x\n", "no column holds only numbers"),
        ('a,b\n"1,2\n', "cells after line 0 cannot be separated"),
        ('a,b\nv,0\n"x,1\ny,2\n"z,3\nw,4\n', r"cells after line 2 cannot be separated .*double quotes inside"),
        ("a\n\x00", "no column|damaged"),
    ],
)
def test_text_that_is_no_table(text, sentence, tmp_path):
    (tmp_path / "X.csv").write_text(text)
    with pytest.raises(UnreadableError, match=sentence):
        open_data(tmp_path / "X.csv")


def test_parquet_without_numbers(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": ["x", "y"], "b": [[1], [2]]}), tmp_path / "X.parquet")
    with pytest.raises(UnreadableError, match="no column holds only numbers"):
        open_data(tmp_path / "X.parquet")
    pq.write_table(pa.table({"a": pa.array([], pa.float64())}), tmp_path / "X.parquet")
    with pytest.raises(UnreadableError, match="none may be empty"):
        open_data(tmp_path / "X.parquet")


def test_blocks_of_text_end_where_they_should(tmp_path):
    """Pieces of text that are parsed at a time are no blocks."""
    table = np.arange(3000.0).reshape(1000, 3)
    np.savetxt(tmp_path / "X.tsv", table, delimiter="\t", header="a\tb\tc", comments="", fmt="%g")
    rows = open_data(tmp_path / "X.tsv", block_bytes=8 * 3 * 333)
    for _ in range(2):
        blocks = list(rows.blocks())
        assert [len(block.rows) for block in blocks] == [333, 333, 333, 1]
        np.testing.assert_array_equal(np.concatenate([block.rows for block in blocks]), table)
