"""`sparing certify`: loadings of any program."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import sparing

WINE = load_wine()


@pytest.fixture
def loadings():
    H = np.zeros((2, 13))
    H[0, [5, 6, 11]], H[1, [0, 9, 12]] = 1.0, 0.5
    return H


@pytest.mark.parametrize("objective", ["loss", "variance"])
def test_features_are_matched_by_name(run, loadings, objective):
    result = run("certify", "loadings.csv", "wine.csv", "--scale", "--objective", objective)
    want = sparing.certify(loadings, WINE.data, scale=True, objective=objective, random_state=0)
    assert result.exit_code == 0
    assert result.stdout.startswith(str(want))
    assert "flavanoids" in result.stdout


def test_features_without_loadings_count_as_zero(run, folder, loadings):
    used = np.flatnonzero(loadings.any(axis=0))
    header = ",".join(["component", *(WINE.feature_names[j] for j in used)])
    rows = [",".join([f"c{i}", *map(str, row[used])]) for i, row in enumerate(loadings)]
    (folder / "few.csv").write_text("\n".join([header, *rows]) + "\n")
    result = run("certify", "few.csv", "wine.csv", "--scale", "--json")
    want = sparing.certify(loadings, WINE.data, scale=True, random_state=0)
    assert json.loads(result.stdout)["certificate"]["value"] == pytest.approx(want.value)
    assert "Note: 7 of 13 features have no loadings" in result.stderr


def test_arrays_go_by_place(run, loadings):
    np.save("H.npy", loadings)
    assert run("certify", "H.npy", "wine.csv").stdout == run("certify", "loadings.csv", "wine.csv").stdout


def test_what_does_not_match_gets_a_sentence(run, folder, loadings):
    np.save("H.npy", loadings.T)
    (folder / "other.csv").write_text("ash,cloud\n1,2\n")
    (folder / "holes.csv").write_text("ash,hue\n1,\n1,2\n")
    for name, sentence in (
        ("H.npy", "13"),
        ("other.csv", "'cloud'"),
        ("holes.csv", "row 0, feature 'hue'"),
        ("no.csv", "no such file"),
    ):
        result = run("certify", name, "wine.csv")
        assert result.exit_code == 1
        assert sentence in result.stderr
        assert result.stdout == ""


def test_a_loading_that_is_missing_is_not_taken_for_one_of_the_data(run, folder):
    (folder / "holes.csv").write_text("hue,ash\n1,0\n,1\n")
    result = run("certify", "holes.csv", "wine.csv")
    assert result.exit_code == 1
    assert "Cannot use 'holes.csv': a loading is NaN or infinite (first at row 1, feature 'hue')" in result.stderr
    assert "--missing" not in result.stderr


def test_missing_values_are_recorded_as_a_fit_records_them(run, folder, loadings):
    header, first, *rest = (folder / "wine.csv").read_text().splitlines()
    cells = first.split(",")
    cells[9] = ""
    (folder / "holes.csv").write_text("\n".join([header, ",".join(cells), *rest]) + "\n")
    assert "feature 'color_intensity'" in run("certify", "loadings.csv", "holes.csv").stderr
    result = run("certify", "loadings.csv", "holes.csv", "--missing", "mean", "--json")
    fitted = json.loads(run("fit", "holes.csv", "-r", 3, "--missing", "mean", "--json").stdout)
    certificate = json.loads(result.stdout)["certificate"]
    assert certificate["preparation"] == fitted["certificate"]["preparation"]
    assert certificate["preparation"]["missing"] == "mean"
    filled = WINE.data.copy()
    filled[0, 9] = filled[1:, 9].mean()
    want = sparing.certify(loadings, filled, random_state=0)
    assert certificate["value"] == pytest.approx(want.value)
    assert certificate["bound"] == pytest.approx(want.bound)
