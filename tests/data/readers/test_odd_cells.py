"""Cells that are no number: missing, an error that names them, or a column that leaves with a warning."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

from sparing import SparseEncoder, open_data
from sparing.data.readers.notes import unique_names
from sparing.errors import SparingWarning, UnreadableError

TABLE = "a,b\n" + "".join(f"{i * i % 7},{{}}\n" if i == 4 else f"{i * i % 7},{i + 0.5}\n" for i in range(9))
MISSING = [
    "",
    "NA",
    "N/A",
    "#N/A",
    "n/a",
    "#NA",
    "<NA>",
    "nan",
    "NaN",
    "-NaN",
    "null",
    "NULL",
    "None",
    "?",
    "-",
    ".",
    "--",
]
ODD = ['"1,234.5"', "12%", "TRUE", "1.2D+03", "#DIV/0!", "1_000", "< 0.1", "1.5 kg"]


def written(tmp_path, cell):
    (tmp_path / "X.csv").write_text(TABLE.format(cell))
    return tmp_path / "X.csv"


@pytest.mark.parametrize("cell", MISSING)
def test_spellings_of_missing_are_missing(cell, tmp_path):
    rows = open_data(written(tmp_path, cell))
    assert rows.feature_names == ["a", "b"]
    assert np.flatnonzero(np.isnan(rows.source[:, 1])).tolist() == [4]
    with pytest.raises(ValueError, match=r"NaN \(first at row 4, feature 'b'\)"):
        SparseEncoder(1, n_nonzero=1).fit(rows)
    assert SparseEncoder(1, n_nonzero=1, missing="mean").fit(rows).n_features_in_ == 2


@pytest.mark.parametrize("cell", ODD)
def test_a_column_of_numbers_with_another_cell_is_an_error_or_leaves_with_a_warning(cell, tmp_path):
    file, shown = written(tmp_path, cell), re.escape(cell.strip('"'))
    with pytest.raises(UnreadableError, match=rf"row 4 \(line 6\) of column 'b' holds '{shown}', .* beside 8 cells"):
        open_data(file)
    with pytest.warns(SparingWarning, match=rf"'b' left out: '{shown}' in row 4 \(line 6\) of 'b' is not a number"):
        assert open_data(file, drop_unreadable=True).feature_names == ["a"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_data(file, drop=["b"]).feature_names == ["a"]  # as asked, without a word


def test_no_column_leaves_without_a_word(tmp_path):
    """A column of text is left out with a warning; without such a column there is none."""
    (tmp_path / "X.csv").write_text("a,word,b\n" + "".join(f"{i}.5,x{i},{i % 3}.25\n" for i in range(9)))
    with pytest.warns(SparingWarning, match="'word' left out, because not numeric"):
        assert open_data(tmp_path / "X.csv").left_out == ["word"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert open_data(tmp_path / "X.csv", drop=["word"]).feature_names == ["a", "b"]
        open_data(written(tmp_path, "1.5"))
    with pytest.raises(UnreadableError, match="no column 'else'"):
        open_data(tmp_path / "X.csv", drop=["else"])


def test_row_numbers_and_codes_get_a_note(tmp_path):
    rng = np.random.default_rng(0)
    for name in ("", "Unnamed: 0"):
        lines = [f"{name},x,y,z,class"]
        lines += [f"{i},{x:.3f},{y:.3f},{z:.3f},{i % 3}" for i, (x, y, z) in enumerate(rng.standard_normal((60, 3)))]
        (tmp_path / "X.csv").write_text("\n".join(lines))
        with pytest.warns(SparingWarning) as said:
            rows = open_data(tmp_path / "X.csv")
        assert rows.shape == (60, 5)
        assert len(said) == 2
        notes = " ".join(str(note.message) for note in said)
        assert f"if it numbers the rows, pass drop=[{name!r}]" in notes
        assert "'class' holds few distinct integers" in notes
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert open_data(tmp_path / "X.csv", drop=[name, "class"]).feature_names == ["x", "y", "z"]


def test_a_first_row_of_values_and_row_numbers_with_a_name_get_a_note(tmp_path):
    rows = [f"{i + 7},{i * i % 11}.5,{i * i % 13}.25,{-i % 5}.5" for i in range(12)]
    for header, says in (
        ("id,x,y,z", "'id' is used as a feature; if it numbers the rows, pass drop"),
        ("6,1.5,0.25,0.5", "only"),
        ("first,0.5,0.75,0.25", "named '0.5', '0.75', '0.25', as in its first row; if these are values, add a header"),
        ("first,400.5,401,401.5", None),  # wavelengths
    ):
        numbered = [row if header.startswith("id") else f"x{row}" for row in rows]
        (tmp_path / "X.csv").write_text("\n".join([header, *numbered]))
        if says == "only":
            with pytest.raises(UnreadableError, match="its first row holds numbers only"):
                open_data(tmp_path / "X.csv")
            continue
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            open_data(tmp_path / "X.csv")
        notes = [str(note.message) for note in said if "left out" not in str(note.message)]
        assert len(notes) == (says is not None)
        assert says is None or says in notes[0]


def test_a_long_cell_is_shown_without_its_middle(tmp_path):
    with pytest.raises(UnreadableError, match=r"holds 'x+\.\.\.x+', which is not") as refused:
        open_data(written(tmp_path, "x" * 10_000))
    assert len(str(refused.value)) < 500 + len(str(tmp_path))


def test_counts_are_no_codes(tmp_path):
    """Where most columns are whole numbers of few levels nothing is odd about one."""
    counts = np.random.default_rng(0).poisson(1.0, (100, 6))
    np.savetxt(tmp_path / "X.csv", counts, delimiter=",", header="a,b,c,d,e,f", comments="", fmt="%d")
    assert open_data(tmp_path / "X.csv").notes == []


def test_names_that_repeat_are_made_unique(tmp_path):
    assert unique_names(["a", "b", "a", "a", "a-1"]) == (["a", "b", "a-2", "a-3", "a-1"], ["a"])
    (tmp_path / "X.csv").write_text("a,b,a\n1.5,2.5,3.5\n2.5,1.5,0.5\n")
    with pytest.warns(SparingWarning, match="several features are named 'a'; '-1', '-2' and so on are appended"):
        rows = open_data(tmp_path / "X.csv")
    assert rows.feature_names == ["a", "b", "a-1"]
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = [pa.array(values) for values in ([1.5, 2.5], ["x", "y"], [2.5, 1.5], [3.5, 0.5])]
    pq.write_table(pa.table(columns, names=["b", "a", "c", "b"]), tmp_path / "X.parquet")
    with pytest.warns(SparingWarning, match=r"named 'b'|'a' left out"):
        rows = open_data(tmp_path / "X.parquet")
    assert rows.feature_names == ["b", "c", "b-1"]
    np.testing.assert_array_equal(rows.source, [[1.5, 2.5, 3.5], [2.5, 1.5, 0.5]])


def test_opening_is_linear_in_columns(tmp_path):
    """No step of it looks at all columns for each of them: twice the columns take twice the calls, not four times."""
    import cProfile
    import pstats

    def calls(d):
        (tmp_path / "X.csv").write_text("\n".join([",".join(f"g{j}" for j in range(d)), *[",".join(["1.5"] * d)] * 3]))
        with cProfile.Profile() as profile:
            open_data(tmp_path / "X.csv")
        return pstats.Stats(profile).total_calls

    few, many = calls(1000), calls(4000)
    assert many < 4.4 * few
