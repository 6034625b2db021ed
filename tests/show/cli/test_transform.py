"""`sparing transform`: scores of new data by a saved model."""

from __future__ import annotations

import csv
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from sparing import ColumnSelector, SparseEncoder, SparsePCARegressor, save_model
from sparing.data.readers import open_data, open_rows
from sparing.errors import SparingWarning
from sparing.show.cli import opening

WINE = load_wine()


@pytest.fixture
def model(folder):
    """Fitted on named columns, with means for missing values."""
    fitted = SparseEncoder(2, n_nonzero=4, scale=True, missing="mean", random_state=0).fit(
        open_data("wine.csv", drop=["cultivar"])
    )
    save_model(fitted, "wine.model")
    return fitted


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(opening, "open_rows", lambda path, how: open_rows(path, replace(how, block_bytes=1000)))


def scores_of(model):
    return model.transform(open_data("wine.csv", drop=["cultivar"]))


@pytest.mark.usefixtures("small_blocks")
def test_scores_are_those_of_the_library_in_every_format(run, model):
    want = scores_of(model)
    printed = list(csv.reader(run("transform", "wine.model", "wine.csv").stdout.splitlines()))
    assert printed[0] == ["component_1", "component_2"]
    np.testing.assert_allclose(np.array(printed[1:], dtype=float), want, atol=1e-13)
    for name in ("s.csv", "s.npy", "s.parquet"):
        assert run("transform", "wine.model", "wine.csv", "-o", name).exit_code == 0
        rows = open_data(name)
        np.testing.assert_allclose(rows.source, want, atol=1e-13)
        if name != "s.npy":
            assert rows.feature_names == ["component_1", "component_2"]


def test_only_the_features_used_are_needed_in_any_order(run, folder, model):
    used = model.support_[::-1]
    header = ",".join(["bottle", *(WINE.feature_names[j] for j in used)])
    body = [",".join([str(i), *map(repr, row[used].tolist())]) for i, row in enumerate(WINE.data)]
    (folder / "few.csv").write_text("\n".join([header, *body]) + "\n")
    assert run("transform", "wine.model", "few.csv").stdout == run("transform", "wine.model", "wine.csv").stdout
    (folder / "none.csv").write_text("ash,hue\n1,2\n")
    result = run("transform", "wine.model", "none.csv")
    assert result.exit_code == 1
    assert repr(WINE.feature_names[model.support_[0]]) in result.stderr


@pytest.mark.usefixtures("small_blocks")
def test_missing_values_are_filled_in_or_named(run, folder, model):
    text = (folder / "wine.csv").read_text().splitlines()
    cells = text[101].split(",")
    cells[model.support_[0]] = ""
    (folder / "holes.csv").write_text("\n".join([*text[:101], ",".join(cells), *text[102:]]) + "\n")
    assert run("transform", "wine.model", "holes.csv").exit_code == 0
    del model.imputation_
    save_model(model, "strict.model")
    result = run("transform", "strict.model", "holes.csv")
    assert result.exit_code == 1
    assert f"row 100, feature {WINE.feature_names[model.support_[0]]!r}" in result.stderr


def test_arrays_go_by_place(run, model):
    np.save("wine.npy", WINE.data)
    np.save("narrow.npy", WINE.data[:, :5])
    sparse.save_npz("wine.npz", sparse.csr_array(WINE.data))
    want = run("transform", "wine.model", "wine.csv").stdout
    assert run("transform", "wine.model", "wine.npy").stdout == want
    assert run("transform", "wine.model", "wine.npz").exit_code == 0
    result = run("transform", "wine.model", "narrow.npy")
    assert result.exit_code == 1
    assert "the data have 5 features, but SparseEncoder is expecting 13 features as input" in result.stderr
    np.save("panel.npy", WINE.data[:, model.support_])
    assert run("transform", "wine.model", "panel.npy").stdout == want


def test_a_failure_leaves_the_old_file(run, folder, model):
    (folder / "s.csv").write_text("old")
    assert run("transform", "wine.model", "wine.csv", "-o", "s.csv").exit_code == 1
    del model.imputation_
    save_model(model, "strict.model")
    (folder / "holes.csv").write_text((folder / "wine.csv").read_text().rsplit("\n", 2)[0] + "\n" + "," * 13 + "\n")
    assert run("transform", "strict.model", "holes.csv", "-o", "s.csv", "--force").exit_code == 1
    assert (folder / "s.csv").read_text() == "old"
    assert sorted(path.name for path in folder.glob(".s*")) == []


def test_other_endings_and_other_models(run, model):
    assert run("transform", "wine.model", "wine.csv", "-o", "s.xlsx").exit_code == 2
    save_model(ColumnSelector(3, random_state=0).fit(WINE.data), "columns.model")
    assert "no components" in run("transform", "columns.model", "wine.csv").stderr
    regressor = SparsePCARegressor(3, n_nonzero=4, random_state=0).fit(WINE.data, WINE.target)
    save_model(regressor, "regressor.model")
    printed = list(csv.reader(run("transform", "regressor.model", "wine.csv").stdout.splitlines()))
    np.testing.assert_allclose(np.array(printed[1:], dtype=float), regressor.transform(WINE.data), atol=1e-12)
    result = run("transform", "wine.csv", "wine.csv")
    assert result.exit_code == 1
    assert "Cannot load 'wine.csv'" in result.stderr


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("mean_", None, "mean_ is not in it"),
        ("support_", None, "support_ is not in it"),
        ("components_", np.nan, "not finite"),
        ("scale_", np.inf, "not finite"),
        ("support_", [0], "features that it does not name"),
        ("mean_", np.zeros((2, 13)), "different numbers of features"),
    ],
)
def test_a_model_with_parts_changed_is_refused_before_it_scores(run, model, part, value, said):
    if value is None:
        delattr(model, part)
    else:
        old = getattr(model, part)
        setattr(model, part, np.full(old.shape, value) if np.ndim(value) == 0 else np.asarray(value))
    save_model(model, "changed.model")
    result = run("transform", "changed.model", "wine.csv")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert said in result.stderr


def test_a_folder_is_no_model(run, folder):
    result = run("transform", ".", "wine.csv")
    assert result.exit_code == 1
    assert "Cannot load '.': is a directory. Pass the path of a file" in result.stderr


def with_first_column(folder, title, names):
    """wine.csv with a column of names before all others."""
    head, *rows = (folder / "wine.csv").read_text().splitlines()
    lines = [f"{title},{head}", *(f"{name},{row}" for name, row in zip(names, rows, strict=True))]
    (folder / "named.csv").write_text("\n".join(lines) + "\n")
    return "named.csv"


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(("title", "written"), [("id", "id"), ("", "sample"), ("Sample_ID", "Sample_ID")])
def test_names_of_samples_stand_before_their_scores(run, folder, model, title, written):
    names = [f"bottle {i}" for i in range(len(WINE.data))]
    data = with_first_column(folder, title, names)
    printed = list(csv.reader(run("transform", "wine.model", data).stdout.splitlines()))
    assert printed[0] == [written, "component_1", "component_2"]
    assert [row[0] for row in printed[1:]] == names
    np.testing.assert_allclose(np.array([row[1:] for row in printed[1:]], dtype=float), scores_of(model), atol=1e-13)
    assert run("transform", "wine.model", data, "-o", "s.npy").exit_code == 0
    np.testing.assert_allclose(np.load("s.npy"), scores_of(model), atol=1e-13)


@pytest.mark.usefixtures("small_blocks")
def test_a_column_of_names_may_be_asked_for(run, model):
    pq = pytest.importorskip("pyarrow.parquet")
    assert run("transform", "wine.model", "wine.csv", "--names", "cultivar", "-o", "s.parquet").exit_code == 0
    table = pq.read_table("s.parquet")
    assert table.column_names == ["cultivar", "component_1", "component_2"]
    assert table["cultivar"].to_pylist() == [f"type {kind}" for kind in WINE.target]
    np.testing.assert_allclose(table["component_2"].to_numpy(), scores_of(model)[:, 1], atol=1e-13)
    assert run("transform", "wine.model", "wine.csv", "--names", "cultivar", "-o", "s.npy").exit_code == 2
    assert "no column 'who'" in run("transform", "wine.model", "wine.csv", "--names", "who").stderr


def test_numbers_are_names_unless_they_are_features(run, folder):
    data = with_first_column(folder, "index", range(178))
    with pytest.warns(SparingWarning, match="'index' is used as a feature; if it numbers the rows"):
        numbered = open_data(data, drop=["cultivar"])
    save_model(SparseEncoder(1, n_nonzero=2, random_state=0).fit(numbered), "with.model")
    save_model(
        SparseEncoder(1, n_nonzero=2, random_state=0).fit(open_data("wine.csv", drop=["cultivar"])), "without.model"
    )
    assert run("transform", "with.model", data).stdout.startswith("component_1\n")
    assert run("transform", "without.model", data).stdout.startswith("index,component_1\n0,")


def test_observations_of_anndata_have_names(run, folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "cells.h5ad", "w") as file:
        file["X"] = WINE.data
        file["var/_index"], file["obs/_index"] = WINE.feature_names, [f"cell {i}" for i in range(178)]
    assert run("fit", "cells.h5ad", "-k", 1, "-r", 2, "--save", "cells.model").exit_code == 0
    assert run("transform", "cells.model", "cells.h5ad").stdout.startswith("sample,component_1\ncell 0,")


def test_people_of_plink_have_names(run, folder):
    bed_reader = pytest.importorskip("bed_reader")
    genotypes = np.random.default_rng(0).integers(0, 3, (12, 5)).astype(float)
    bed_reader.to_bed("people.bed", genotypes, properties={"iid": [f"person{i}" for i in range(12)]})
    assert run("fit", "people.bed", "-k", 1, "-r", 2, "--save", "people.model").exit_code == 0
    assert run("transform", "people.model", "people.bed").stdout.startswith("sample,component_1\nperson0,")
