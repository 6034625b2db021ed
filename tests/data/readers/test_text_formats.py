"""Text tables as people have them: packed, separated by semicolons, with decimal commas, in UTF-16, from R."""

from __future__ import annotations

import bz2
import gzip

import numpy as np
import pandas as pd
import pytest

from sparing import open_data
from sparing.data.readers.text_columns import read_column
from sparing.errors import SparingWarning, UnreadableError

X = np.random.default_rng(0).standard_normal((12, 3)).round(4)
FRAME = pd.DataFrame(X, columns=["a", "b c", "ä"])


def zstd(content):
    pa = pytest.importorskip("pyarrow")
    sink = pa.BufferOutputStream()
    with pa.output_stream(sink, compression="zstd") as file:
        file.write(content)
    return sink.getvalue().to_pybytes()


def same(path, **options):
    rows = open_data(path, **options)
    assert rows.feature_names == ["a", "b c", "ä"]
    np.testing.assert_array_equal(rows.source, X)


@pytest.mark.parametrize(("ending", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstd)])
@pytest.mark.parametrize(("kind", "sep"), [(".csv", ","), (".tsv", "\t"), (".txt", ";")])
def test_packed_tables(kind, sep, ending, pack, tmp_path):
    file = tmp_path / f"X{kind}{ending}"
    file.write_bytes(pack(FRAME.to_csv(sep=sep, index=False).encode()))
    same(file)
    assert read_column(file, "ä") == [str(value) for value in X[:, 2]]
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(UnreadableError, match="damaged, truncated"):
        open_data(file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(encoding, tmp_path):
    (tmp_path / "X.csv").write_bytes(FRAME.to_csv(index=False).encode(encoding))
    same(tmp_path / "X.csv")


@pytest.mark.parametrize("ending", [".csv", ".txt"])
def test_semicolons_and_decimal_commas(ending, tmp_path):
    file = tmp_path / f"X{ending}"
    for decimal in (".", ","):
        file.write_text(FRAME.to_csv(sep=";", decimal=decimal, index=False), encoding="utf-8")
        same(file)
        same(file, delimiter=";", decimal=decimal)
    file.write_text("a;b\n1;2\n3;4,5\n")
    np.testing.assert_array_equal(open_data(file).source, [[1, 2], [3, 4.5]])


def test_a_comma_is_never_taken_for_two_things(tmp_path):
    (tmp_path / "X.csv").write_text("a;b\n1,5;2\n2,5;3\n3.5;4\n4,5;1\n")  # both signs in one table
    with pytest.raises(UnreadableError, match=r"row 2 \(line 4\) of column 'a' holds '3.5'"):
        open_data(tmp_path / "X.csv")
    (tmp_path / "X.csv").write_text("a;b\n1.234,5;2\n2,5;3\n3,5;4\n4,5;1\n")
    with pytest.raises(UnreadableError, match=r"holds '1\.234,5'"):
        open_data(tmp_path / "X.csv")
    (tmp_path / "X.tsv").write_text("a\tb\n1,5\t2\n2,5\t3\n")  # nothing says that it is a decimal comma
    with (
        pytest.warns(SparingWarning, match="'a' left out"),
        pytest.warns(SparingWarning, match="if the comma of '1,5' is a decimal sign pass decimal=','"),
    ):
        assert open_data(tmp_path / "X.tsv").feature_names == ["b"]
    np.testing.assert_array_equal(open_data(tmp_path / "X.tsv", decimal=",").source, [[1.5, 2], [2.5, 3]])
    (tmp_path / "X.csv").write_text("a,b;c\n1,2;3\n4,5;6\n")
    with pytest.raises(UnreadableError, match=r"separated by ',' or by ';'. Choose one with delimiter=','"):
        open_data(tmp_path / "X.csv")
    with pytest.warns(SparingWarning, match="left out"):
        assert open_data(tmp_path / "X.csv", delimiter=",").feature_names == ["a"]


def test_tables_of_r_and_of_blanks(tmp_path):
    (tmp_path / "X.txt").write_text('"x" "y"\n"r one" 1.5 2\n"r two" 2.5 3\n')
    with pytest.warns(SparingWarning, match="'' left out, because not numeric"):
        rows = open_data(tmp_path / "X.txt")
    assert rows.feature_names == ["x", "y"]
    np.testing.assert_array_equal(rows.source, [[1.5, 2], [2.5, 3]])
    (tmp_path / "X.txt").write_text("  x     y\n 1.5   2\n-2.5  33\n")
    np.testing.assert_array_equal(open_data(tmp_path / "X.txt").source, [[1.5, 2], [-2.5, 33]])


def test_options_that_make_no_sense(tmp_path):
    (tmp_path / "X.csv").write_text("a,b\n1,2\n3,4\n")
    np.save(tmp_path / "X.npy", X)
    for options, sentence in (
        ({"delimiter": "ab"}, "single character"),
        ({"decimal": "x"}, "decimal='x' is not known"),
        ({"drop_unreadable": 1}, "must be True or False"),
        ({"transpose": True}, r"transpose=True was passed, which applies only to .mtx, .mtx.gz"),
        ({"drop": ["a", "b"]}, "Keep at least one"),
    ):
        with pytest.raises((ValueError, TypeError), match=sentence):
            open_data(tmp_path / "X.csv", **options)
    for options in ({"delimiter": ";"}, {"decimal": ","}):
        with pytest.raises(UnreadableError, match=r"was passed, which applies only to \.csv"):
            open_data(tmp_path / "X.npy", **options)
