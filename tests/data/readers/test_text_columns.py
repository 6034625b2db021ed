"""Text beside the numbers."""

from __future__ import annotations

import pytest

from sparing import errors
from sparing.data.readers.text_columns import column_place, read_column, read_lines, sample_names


def test_columns_of_text_tables(tmp_path):
    (tmp_path / "a.csv").write_text('x,kind of thing\n1," a, b"\n2,\n3,é🎉\n', encoding="utf-8")
    (tmp_path / "a.tsv").write_text("x\tkind\n1\tu\n2\tv\n")
    assert read_column(tmp_path / "a.csv", "kind of thing") == ["a, b", "", "é🎉"]
    assert read_column(tmp_path / "a.csv", "x") == ["1", "2", "3"]
    assert read_column(tmp_path / "a.tsv", "kind") == ["u", "v"]
    with pytest.raises(errors.UnreadableError, match="no column 'y'; its columns are 'x', 'kind'"):
        read_column(tmp_path / "a.tsv", "y")


def test_columns_of_parquet_files(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"x": [1.0, 2.0], "kind": ["u", None]}), tmp_path / "a.parquet")
    assert read_column(tmp_path / "a.parquet", "kind") == ["u", ""]
    with pytest.raises(errors.UnreadableError, match="no column"):
        read_column(tmp_path / "a.parquet", "y")


def test_other_files_and_damaged_ones(tmp_path):
    with pytest.raises(errors.UnreadableError, match="labels come from text tables"):
        read_column(tmp_path / "a.npy", "kind")
    (tmp_path / "a.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(errors.UnreadableError, match="not a text table"):
        read_column(tmp_path / "a.csv", "kind")


def test_lines_of_a_text_file(tmp_path):
    (tmp_path / "names.txt").write_bytes("\ufeffalpha\r\n\r\n b é \r\n\r\n".encode())
    assert read_lines(tmp_path / "names.txt") == ["alpha", "", "b é"]
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_lines(tmp_path / "none.txt")
    (tmp_path / "names.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(errors.UnreadableError, match="one name on each line"):
        read_lines(tmp_path / "names.txt")


def test_places_of_columns(tmp_path):
    (tmp_path / "a.csv").write_text("x,,y,y\n1,a,2,3\n")
    assert column_place(tmp_path / "a.csv", "") == 1
    assert column_place(tmp_path / "a.csv", "y") is None
    assert column_place(tmp_path / "a.npy", "") is None


def test_names_of_people(tmp_path):
    (tmp_path / "a.fam").write_text("f1 anna 0 0 0 0\nf1\tben\t0\t0\t0\t0\n")
    assert sample_names(tmp_path / "a.bed") == ["anna", "ben"]
    assert sample_names(tmp_path / "a.csv") is None
    (tmp_path / "a.fam").write_text("anna\n")
    with pytest.raises(errors.UnreadableError, match=r"not a PLINK file of people"):
        sample_names(tmp_path / "a.bed")
