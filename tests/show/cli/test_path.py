"""`sparing path`: a row for each number of features."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparing import sparsity_path
from sparing.certificates.sentences import percent, percent_kept

WINE = load_wine()


@pytest.fixture(scope="module")
def found():
    return sparsity_path(WINE.data, 2, scale=True, max_features=5, random_state=0)


def test_the_table_has_what_is_kept_bound_and_names(run, found):
    result = run("path", "wine.csv", "--scale", "--max-features", 5)
    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0].split() == ["features", "kept", "at", "most", "which"]
    for r in range(5):
        cells = lines[r + 1].split(maxsplit=3)
        optimal = found.loss_ratio[r] <= found.bound[r] * (1 + 1e-6)
        most = "optimal" if optimal else percent(found.variance_kept_bound[r])
        assert cells[:3] == [str(r + 1), percent_kept(found.variance_kept[r]), most]
        assert cells[3].startswith(WINE.feature_names[found.supports[r][0]])
    assert all(len(line) <= 101 for line in lines)


def test_json_and_csv_hold_the_same_numbers(run, found):
    steps = json.loads(run("path", "wine.csv", "--scale", "--max-features", 5, "--json").stdout)["steps"]
    rows = list(csv.DictReader(run("path", "wine.csv", "--scale", "--max-features", 5, "--csv").stdout.splitlines()))
    for r in range(5):
        for name in ("variance_kept", "variance_kept_bound", "loss_ratio", "bound"):
            number = pytest.approx(getattr(found, name)[r])
            assert steps[r][name] == number == float(rows[r][name])
        names = [WINE.feature_names[j] for j in found.supports[r]]
        assert [part["name"] for part in steps[r]["support"]] == names == rows[r]["features"].split(", ")


def test_what_is_wanted_says_how_many_are_enough(run, found):
    kept = run("path", "wine.csv", "--scale", "--min-variance", 0.9)
    fewest = found.smallest(min_variance=0.9)
    assert (
        f"{fewest} of 13 features keep {percent_kept(found.variance_kept[fewest - 1])} of PCA's variance."
        in kept.stdout
    )
    both = run("path", "wine.csv", "--min-variance", 0.9, "--max-loss", 1.2)
    assert both.exit_code == 1
    assert "Both --min-variance and --max-loss were given" in both.stderr
    result = run("path", "wine.csv", "--scale", "--max-loss", 1.2)
    assert f"{found.smallest(1.2)} of 13 features lose at most 1.2 times what PCA loses." in result.stdout
    missed = run("path", "wine.csv", "--scale", "--max-loss", 1.001, "--max-features", 2)
    assert missed.exit_code == 0
    assert "Note: the target is not reached: 2 features keep" in missed.stderr


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


def test_cv_prints_what_is_kept_of_new_samples(run):
    alone = sparsity_path(WINE.data, 2, scale=True, max_features=4, cv=3)
    said = run("path", "wine.csv", "--scale", "--max-features", 4, "--cv", 3).stdout
    assert f"New samples: {alone.held_out.argmax() + 1} features keep {alone.held_out.max():.1%}" in said
    assert f"it keeps {alone.held_out_pca[alone.held_out.argmax()]:.1%}." in said
    steps = json.loads(run("path", "wine.csv", "--scale", "--max-features", 4, "--cv", 3, "--json").stdout)["steps"]
    assert [step["held_out"] for step in steps] == pytest.approx(alone.held_out)
    assert "New samples" not in run("path", "wine.csv", "--scale", "--max-features", 4).stdout  # control
    fitted = run("fit", "wine.csv", "--scale", "-r", 4, "--cv", 3, "--effort", "quick").stdout
    assert "New samples: 4 of 13 features keep" in fitted
    record = json.loads(run("fit", "wine.csv", "--scale", "-r", 4, "--cv", 3, "--effort", "quick", "--json").stdout)
    assert len(record["held_out"]["unread"]) == 3
