"""`sparing path`: a row for each number of features."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparing import sparsity_path

WINE = load_wine()


@pytest.fixture(scope="module")
def found():
    return sparsity_path(WINE.data, 2, scale=True, max_features=5, random_state=0)


def test_the_table_has_loss_bound_and_names(run, found):
    result = run("path", "wine.csv", "--scale", "--max-features", 5)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == ["features", "loss", "/", "PCA", "at", "least", "which"]
    for r in range(5):
        cells = lines[r + 1].replace("=", " ").split(maxsplit=3)
        assert cells[:3] == [str(r + 1), f"{found.loss_ratio[r]:.4f}", f"{found.bound[r]:.4f}"]
        assert cells[3].startswith(WINE.feature_names[found.supports[r][0]])
        assert ("=" in lines[r + 1]) == (found.loss_ratio[r] <= found.bound[r] * (1 + 1e-6))
    assert all(len(line) <= 100 for line in lines)


def test_json_and_csv_hold_the_same_numbers(run, found):
    steps = json.loads(run("path", "wine.csv", "--scale", "--max-features", 5, "--json").stdout)["steps"]
    rows = list(csv.DictReader(run("path", "wine.csv", "--scale", "--max-features", 5, "--csv").stdout.splitlines()))
    for r in range(5):
        assert (
            steps[r]["loss_ratio"] == pytest.approx(found.loss_ratio[r]) == pytest.approx(float(rows[r]["loss_ratio"]))
        )
        assert steps[r]["bound"] == pytest.approx(found.bound[r]) == pytest.approx(float(rows[r]["bound"]))
        names = [WINE.feature_names[j] for j in found.supports[r]]
        assert [part["name"] for part in steps[r]["support"]] == names == rows[r]["features"].split(", ")


def test_max_loss_says_how_many_are_enough(run, found):
    result = run("path", "wine.csv", "--scale", "--max-loss", 1.2)
    assert f"{found.smallest(1.2)} of 13 features lose at most 1.2 times what PCA loses." in result.stdout
    missed = run("path", "wine.csv", "--scale", "--max-loss", 1.001, "--max-features", 2)
    assert missed.exit_code == 0
    assert "Note: no number of features up to 2" in missed.stderr


def test_missing_values_and_names_in_errors(run, folder):
    rows = np.round(np.random.default_rng(0).standard_normal((20, 3)), 3).astype(str)
    rows[4, 1] = ""
    text = "\n".join([",".join(["a", "height", "c"]), *(",".join(row) for row in rows)])
    (folder / "holes.csv").write_text(text + "\n")
    refused = run("path", "holes.csv", "-k", 1)
    assert refused.exit_code == 1
    assert "feature 'height'" in refused.stderr
    steps = json.loads(run("path", "holes.csv", "-k", 1, "--missing", "mean", "--json").stdout)["steps"]
    filled = np.where(rows == "", "nan", rows).astype(float)
    filled[4, 1] = np.nanmean(filled[:, 1])
    want = sparsity_path(filled, 1, random_state=0)
    assert [step["loss_ratio"] for step in steps] == pytest.approx(want.loss_ratio.tolist())


@pytest.mark.usefixtures("slow_reading")
def test_passes_are_shown_on_terminals(run, monkeypatch):
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)
    shown = run("path", "wine.csv", "--max-features", 2)
    assert "[sparing] pass 1: 100% of 178 rows" in shown.stderr
    assert "[sparing]" not in shown.stdout
    assert "[sparing]" not in run("path", "wine.csv", "--max-features", 2, "--quiet").stderr


def test_two_ways_to_print_are_too_many(run):
    assert run("path", "wine.csv", "--json", "--csv").exit_code == 2
