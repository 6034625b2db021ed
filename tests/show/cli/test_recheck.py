"""`sparing certify MODEL DATA`: does a saved certificate hold?"""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparing import ColumnSelector, SparseEncoder, SparsePCARegressor, load_model, save_model
from sparing.datasets import load_pitprops

WINE = load_wine()


@pytest.fixture
def model(run):
    assert run("fit", "wine.csv", "-k", 2, "-r", 4, "--scale", "--save", "wine.model").exit_code == 0
    return load_model("wine.model")


def test_a_certificate_holds_for_its_data_however_they_are_stored(run, folder, model):
    header, *lines = (line.split(",")[::-1] for line in (folder / "wine.csv").read_text().splitlines())
    turned = [["cellar", *header], *(["7", *line] for line in lines)]
    (folder / "turned.csv").write_text("\n".join(map(",".join, turned)) + "\n")
    np.save("wine.npy", WINE.data)
    for data in ("wine.csv", "turned.csv", "wine.npy"):
        result = run("certify", "wine.model", data)
        assert result.exit_code == 0, (data, result.stderr)
        assert result.stdout.startswith("The certificate holds: loss ")
        assert str(model.certificate_) in result.stdout


def test_it_does_not_hold_for_others(run, folder, model):
    np.save("other.npy", WINE.data[:100])
    result = run("certify", "wine.model", "other.npy")
    assert result.exit_code == 1
    assert "The certificate does NOT hold" in result.stdout
    assert str(model.certificate_) not in result.stdout
    record = json.loads(run("certify", "wine.model", "other.npy", "--json").stdout)
    assert record["recheck"]["holds"] is False
    assert json.loads(run("certify", "wine.model", "wine.csv", "--json").stdout)["recheck"]["holds"] is True


def test_a_damaged_model_is_called_one(run, folder, model):
    (folder / "bad.model").write_bytes((folder / "wine.model").read_bytes()[:1000])
    for command in ("certify", "transform"):
        result = run(command, "bad.model", "wine.csv", *(("-o", "scores.csv") if command == "transform" else ()))
        assert result.exit_code == 1
        assert result.stderr.startswith("Error: Cannot load 'bad.model': it is damaged, truncated or not a model")
    (folder / "bad.csv").write_text("a,b\n")  # the control: a table
    assert "damaged" not in run("certify", "bad.csv", "wine.csv").stderr


def test_all_features_are_needed(run, folder, model):
    result = run("certify", "wine.model", "wine.csv", "--drop", "ash")
    assert result.exit_code == 1
    assert "features 'ash', which are not among its numeric columns" in result.stderr
    np.save("narrow.npy", WINE.data[:, :5])
    assert run("certify", "wine.model", "narrow.npy").exit_code == 1


def test_a_model_of_a_covariance_is_checked_on_one(run):
    pitprops = load_pitprops()
    save_model(SparseEncoder(2, n_nonzero=4, precomputed=True, random_state=0).fit(pitprops.correlation), "C.model")
    np.save("C.npy", pitprops.correlation)
    result = run("certify", "C.model", "C.npy")
    assert result.exit_code == 0
    assert result.stderr == ""


def test_models_without_such_a_certificate_get_a_sentence(run, folder):
    save_model(ColumnSelector(3, random_state=0).fit(WINE.data), "columns.model")
    save_model(SparseEncoder(2, n_nonzero=3, certify=False).fit(WINE.data), "bare.model")
    save_model(SparsePCARegressor(2, n_nonzero=3, random_state=0).fit(WINE.data, WINE.target), "regressor.model")
    for name in ("columns.model", "bare.model", "regressor.model"):
        result = run("certify", name, "wine.csv")
        assert result.exit_code == 1
        assert f"Cannot check '{name}'" in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert "there is no such file" in run("certify", "none.model", "wine.csv").stderr
