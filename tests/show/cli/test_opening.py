"""Tables as they are asked for: covariances, names from a file, columns without a name."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

import sparing
from sparing import NonnegativeSparsePCA, SparseEncoder
from sparing.datasets import load_pitprops

PITPROPS = load_pitprops()
WINE = load_wine()
SYMMETRIC = "Note: the table is symmetric"


def written(file, matrix, names, rows=None):
    """A matrix as pandas would write it, with or without names of the rows."""
    lines = [",".join([*([] if rows is None else [""]), *names])]
    for i, row in enumerate(matrix.tolist()):
        lines.append(",".join([*([] if rows is None else [str(rows[i])]), *map(repr, row)]))
    file.write_text("\n".join(lines) + "\n")


@pytest.fixture
def covariance(folder):
    """C.csv, a correlation matrix with names of rows and columns."""
    written(folder / "C.csv", PITPROPS.correlation, PITPROPS.feature_names, PITPROPS.feature_names)
    return PITPROPS.correlation


@pytest.mark.parametrize(
    ("method", "kind"), [("encoder", SparseEncoder), ("nonnegative", NonnegativeSparsePCA), ("pca", sparing.SparsePCA)]
)
def test_a_covariance_is_no_table_of_samples(run, covariance, method, kind):
    plain = run("fit", "C.csv", "--method", method, "-k", 2, "-r", 4, "--effort", "quick")
    asked = run("fit", "C.csv", "--method", method, "-k", 2, "-r", 4, "--effort", "quick", "--precomputed")
    want = kind(2, n_nonzero=4, precomputed=True, effort="quick", random_state=0).fit(covariance)
    assert asked.stdout.startswith(str(want.certificate_))
    assert asked.stdout != plain.stdout
    assert SYMMETRIC in plain.stderr
    assert "pass --precomputed." in plain.stderr
    assert SYMMETRIC not in asked.stderr


def test_path_and_certify_take_covariances(run, covariance):
    steps = json.loads(run("path", "C.csv", "--precomputed", "--max-features", 4, "--json").stdout)
    want = sparing.sparsity_path(covariance, 2, precomputed=True, max_features=4, random_state=0)
    assert [step["loss_ratio"] for step in steps["steps"]] == pytest.approx(want.loss_ratio.tolist())
    assert steps["data"]["n_samples"] is None
    H = np.zeros((1, 13))
    H[0, [0, 1]] = 1.0
    np.save("H.npy", H)
    said = run("certify", "H.npy", "C.csv", "--precomputed").stdout
    assert said.startswith(str(sparing.certify(H, covariance, precomputed=True, random_state=0)))
    assert SYMMETRIC in run("certify", "H.npy", "C.csv").stderr
    assert SYMMETRIC in run("path", "C.csv", "--max-features", 2).stderr


def test_a_feature_dropped_from_a_covariance_has_no_row_either(run, covariance):
    kept = np.arange(1, 13)
    said = run("fit", "C.csv", "-r", 3, "--precomputed", "--drop", PITPROPS.feature_names[0]).stdout
    want = SparseEncoder(2, n_nonzero=3, precomputed=True, random_state=0).fit(covariance[np.ix_(kept, kept)])
    assert said.startswith(str(want.certificate_))


def test_what_is_no_covariance_gets_a_sentence_in_options(run, folder, covariance):
    skew = covariance.copy()
    skew[0, 1] += 0.5
    written(folder / "skew.csv", skew, PITPROPS.feature_names)
    for name, said in (("wine.csv", "--precomputed expects a square"), ("skew.csv", "pass no --precomputed")):
        result = run("fit", name, "-r", 3, "--precomputed")
        assert result.exit_code == 1
        assert said in result.stderr
    assert SYMMETRIC not in run("fit", "skew.csv", "-r", 3).stderr
    assert run("fit", "C.csv", "--precomputed", "--missing", "mean").exit_code == 2


def test_a_page_needs_samples(run, covariance, monkeypatch):
    monkeypatch.setattr("sparing.show.report.explorer.explore", lambda X, path, **_: path)
    said = run("explore", "C.csv", "-o", "page.html").stderr
    assert SYMMETRIC in said
    assert "--precomputed" not in said


def test_names_of_features_in_an_archive(run):
    np.savez("wine.npz", X=WINE.data, y=WINE.target, feature_names=WINE.feature_names)
    said = run("fit", "wine.npz", "-r", 3, "--scale", "--drop", "ash")
    assert said.exit_code == 0
    assert said.stdout == run("fit", "wine.csv", "-r", 3, "--scale", "--drop", "ash").stdout


def test_names_of_features_in_a_file_of_their_own(run, folder):
    np.save("wine.npy", WINE.data)
    (folder / "names.txt").write_text("\n".join(WINE.feature_names) + "\n")
    named = ("--feature-names", "names.txt")
    assert run("fit", "wine.npy", "-r", 3, *named).stdout == run("fit", "wine.csv", "-r", 3).stdout
    dropped = run("path", "wine.npy", "--max-features", 2, *named, "--drop", "proline")
    assert dropped.stdout == run("path", "wine.csv", "--max-features", 2, "--drop", "proline").stdout
    assert (
        run("certify", "loadings.csv", "wine.npy", *named).stdout == run("certify", "loadings.csv", "wine.csv").stdout
    )
    assert run("fit", "wine.csv", "-r", 3, "--save", "wine.model").exit_code == 0
    scores = run("transform", "wine.model", "wine.npy", *named).stdout
    assert scores == run("transform", "wine.model", "wine.csv").stdout


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a", "b"], "it has 2 names, and 'wine.npy' has 13 numeric columns"),
        (None, "no such file"),
    ],
)
def test_names_that_do_not_fit_get_a_sentence(run, folder, names, said):
    np.save("wine.npy", WINE.data)
    if names is not None:
        (folder / "names.txt").write_text("\n".join(names))
    result = run("fit", "wine.npy", "-r", 3, "--feature-names", "names.txt")
    assert result.exit_code == 1
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_column_without_a_name_is_called_by_its_place(run, covariance):
    said = run("fit", "C.csv", "-r", 3, "--precomputed").stderr
    assert said == "Not used as features (not numeric): (column 1, no name).\n"


def test_numbers_of_rows_are_features_but_not_in_silence(run, folder):
    written(folder / "numbered.csv", WINE.data, WINE.feature_names, range(178))
    said = run("fit", "numbered.csv", "-r", 3)
    assert "Note: (column 1, no name) is used as a feature; if it numbers the rows, pass --drop ''." in said.stderr
    dropped = run("fit", "numbered.csv", "-r", 3, "--drop", "")
    assert dropped.stderr == "Not used as features (as requested): (column 1, no name).\n"
    assert dropped.stdout == run("fit", "wine.csv", "-r", 3).stdout


@pytest.mark.parametrize(
    "command",
    [
        ("fit", "wine.csv", "-r", 4, "--save", "wine.csv"),
        ("fit", "wine.csv", "-r", 4, "--save", "link.csv"),
        ("fit", "~/wine.csv", "-r", 4, "--save", "wine.csv"),
        ("explore", "wine.csv", "-o", "wine.csv"),
        ("transform", "m", "wine.csv", "-o", "wine.csv"),
    ],
)
def test_what_is_read_is_not_replaced(run, folder, monkeypatch, command):
    monkeypatch.setenv("HOME", str(folder))
    run("fit", "wine.csv", "-r", 4, "--save", "m")
    (folder / "link.csv").symlink_to(folder / "wine.csv")
    before = (folder / "wine.csv").read_bytes()
    result = run(*command, "--force")
    assert result.exit_code == 1
    assert "it is an input of this command" in result.stderr
    assert (folder / "wine.csv").read_bytes() == before
