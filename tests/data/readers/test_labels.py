"""One column as text."""

from __future__ import annotations

import pytest

from sparing.data.readers.labels import read_column
from sparing.errors import files


def test_columns_of_text_tables(tmp_path):
    (tmp_path / "a.csv").write_text('x,kind of thing\n1," a, b"\n2,\n3,é🎉\n', encoding="utf-8")
    (tmp_path / "a.tsv").write_text("x\tkind\n1\tu\n2\tv\n")
    assert read_column(tmp_path / "a.csv", "kind of thing") == ["a, b", "", "é🎉"]
    assert read_column(tmp_path / "a.csv", "x") == ["1", "2", "3"]
    assert read_column(tmp_path / "a.tsv", "kind") == ["u", "v"]
    with pytest.raises(files.UnreadableError, match="no column 'y' in it; it has 'x', 'kind'"):
        read_column(tmp_path / "a.tsv", "y")


def test_columns_of_parquet_files(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": [1.0, 2.0], "kind": ["u", None]}), tmp_path / "a.parquet")
    assert read_column(tmp_path / "a.parquet", "kind") == ["u", ""]
    with pytest.raises(files.UnreadableError, match="no column"):
        read_column(tmp_path / "a.parquet", "y")


def test_other_files_and_damaged_ones(tmp_path):
    with pytest.raises(files.UnreadableError, match=r"labels come from \.csv"):
        read_column(tmp_path / "a.npy", "kind")
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(files.UnreadableError, match="not a text table"):
        read_column(tmp_path / "a.csv", "kind")
