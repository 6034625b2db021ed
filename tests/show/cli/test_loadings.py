"""Loadings as other programs write them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine

import sparing

WINE = load_wine()


@pytest.fixture
def want(run):
    return run("certify", "loadings.csv", "wine.csv", "--scale").stdout


@pytest.fixture
def rows(folder):
    """The loadings of loadings.csv as lines of cells, without the header."""
    header, *lines = (folder / "loadings.csv").read_text().splitlines()
    return header.split(","), [line.split(",") for line in lines]


def write(file, lines):
    file.write_text("\n".join(",".join(line) for line in lines) + "\n")


@pytest.mark.parametrize("title", ["component", "", "index", "PC", "Unnamed: 0"])
def test_a_column_that_numbers_the_components_is_left_out(run, folder, rows, want, title):
    names, values = rows
    write(folder / "H.csv", [[title, *names], *([str(i), *row] for i, row in enumerate(values))])
    result = run("certify", "H.csv", "wine.csv", "--scale")
    assert result.stdout == want
    assert "of H.csv looks like component numbers and is ignored." in result.stderr


def test_a_feature_of_such_a_name_is_a_feature(run, folder):
    (folder / "data.csv").write_text("index,size\n1,2\n2,1\n5,1\n4,4\n")
    (folder / "H.csv").write_text("index,size\n1,0\n")
    result = run("certify", "H.csv", "data.csv")
    assert "taken for" not in result.stderr
    want = sparing.certify([[1.0, 0.0]], np.array([[1, 2], [2, 1], [5, 1], [4, 4]]), random_state=0)
    assert result.stdout.startswith(str(want))


def test_columns_are_dropped_from_both_files(run, folder, rows):
    names, values = rows
    write(folder / "H.csv", [["rank", *names], *([str(i), *row] for i, row in enumerate(values))])
    assert "'rank'" in run("certify", "H.csv", "wine.csv").stderr
    result = run("certify", "H.csv", "wine.csv", "--drop", "rank", "--drop", "ash")
    kept = [j for j, name in enumerate(WINE.feature_names) if name != "ash"]
    H = np.array(values, dtype=float)[:, ::-1][:, kept]
    assert result.exit_code == 0
    assert result.stdout.startswith(str(sparing.certify(H, WINE.data[:, kept], random_state=0)))
    assert "no column 'neither'" in run("certify", "H.csv", "wine.csv", "--drop", "neither").stderr


def test_a_table_with_a_row_per_feature_is_taken_transposed(run, folder, rows, want):
    names, values = rows
    used = [j for j in range(13) if any(float(row[j]) for row in values)]
    lines = [["feature", "component 1", "component 2"], *([names[j], *(row[j] for row in values)] for j in used)]
    write(folder / "H.csv", lines)
    result = run("certify", "H.csv", "wine.csv", "--scale")
    assert result.stdout == want
    assert "Note: H.csv has one row per feature and is transposed.\n" in result.stderr
    assert "Note: 7 of 13 features have no loadings" in result.stderr
    lines[1][0] = "cloud"
    write(folder / "H.csv", lines)
    refused = run("certify", "H.csv", "wine.csv")
    assert refused.exit_code == 1
    assert "loadings of 'cloud', which are not among" in refused.stderr


def test_rows_that_nobody_names_are_not_guessed(run, folder, rows):
    _, values = rows
    columns = [list(column) for column in zip(*values, strict=True)]
    write(folder / "H.csv", [["a", "b"], *columns])
    np.save("H.npy", np.array(columns, dtype=float))
    for name in ("H.csv", "H.npy"):
        result = run("certify", name, "wine.csv")
        assert result.exit_code == 1
        assert "its 13 rows and 2 columns look like one row per feature" in result.stderr
        assert "Write the transpose" in result.stderr


@pytest.mark.parametrize(("shape", "options"), [((13, 13), ("--no-center",)), ((14, 13), ()), ((178, 13), ())])
def test_more_components_than_can_be_are_refused_before_any_work(run, shape, options, monkeypatch):
    worked = []
    monkeypatch.setattr("sparing.certify", lambda *_, **__: worked.append(True))
    np.save("H.npy", np.ones(shape))
    result = run("certify", "H.npy", "wine.csv", *options)
    assert bool(worked) == (shape[0] == 13)
    if not worked:
        assert result.exit_code == 1
        assert f"it has {shape[0]} components" in result.stderr


def test_samples_bound_the_components_too(run, folder):
    few = np.random.default_rng(0).standard_normal((4, 9))
    np.save("few.npy", few)
    refused = run("certify", "few.npy", "few.npy")
    assert refused.exit_code == 1
    assert "it has 4 components" in refused.stderr
    assert "allow 3 at most" in refused.stderr
    assert run("certify", "few.npy", "few.npy", "--no-center").exit_code == 0
