"""Saved models: the same to the last bit, and files that are safe to open."""

from __future__ import annotations

import errno
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
    load_model,
    save_model,
)
from sparing.errors import ModelFileError, UnwritableError
from sparing.methods.selectors import Adaptive, Greedy

rng = np.random.default_rng(4)
X = rng.standard_normal((60, 8)) @ np.diag(np.linspace(3, 1, 8)) @ np.linalg.qr(rng.standard_normal((8, 8)))[0] + 5.0
Y = X[:, :2] + 0.1 * rng.standard_normal((60, 2))

MODELS = [
    SparseEncoder(2, n_nonzero=3, scale=True, random_state=0),
    SparseEncoder(2, max_loss=1.4, strategy="joint", selector=Greedy(), missing="mean", random_state=0),
    SparseEncoder(2, n_nonzero=5, selector=Adaptive(), random_state=np.random.default_rng(1)),
    SparsePCA(2, n_nonzero=[3, 2], effort="quick", random_state=0),
    SparsePCA(1, n_nonzero=3, solver="exact", random_state=0),
    SparsePCA(2, n_nonzero=2, solver="exact", deflation="disjoint", random_state=0),
    NonnegativeSparsePCA(2, n_nonzero=3, effort="quick", random_state=0),
    NonnegativeSparsePCA(1, n_nonzero=3, solver="spannogram", random_state=0),
    SparsePCARegressor(2, n_nonzero=3, random_state=0),
    DoublySparseEncoder(2, n_nonzero=3, n_rows=10, random_state=0),
    ColumnSelector(3, random_state=0),
    SparseKMeans(2, effort="quick", random_state=0),
    SparseHierarchicalClustering(2),
]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "some.model"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_loaded_model_does_what_the_saved_one_did(model, file):
    model = clone(model).fit(X, Y)
    save_model(model, file)
    again = load_model(str(file))
    assert type(again) is type(model)
    assert vars(again).keys() == vars(model).keys()
    for name in ("transform", "predict"):
        if hasattr(model, name):
            np.testing.assert_array_equal(getattr(again, name)(X), getattr(model, name)(X))
    kept = {name: value for name, value in model.get_params().items() if name not in ("random_state", "selector")}
    assert {name: again.get_params()[name] for name in kept} == kept
    if hasattr(model, "certificate_"):
        assert str(again.certificate_) == str(model.certificate_)
        data = (X, Y) if isinstance(model, SparsePCARegressor) else (X,)
        assert again.certificate_.recheck(*data)
        assert not again.certificate_.recheck(*(part**2 for part in data))
    assert again.fit(X, Y) is again


def test_models_of_streams(file):
    model = clone(MODELS[0]).partial_fit(X[:30]).partial_fit(X[30:])
    save_model(model, file)
    again = load_model(file)
    np.testing.assert_array_equal(again.transform(X), model.transform(X))
    assert str(again.certificate_) == str(model.certificate_)
    assert again.partial_fit(X[:30]).n_samples_seen_ == 30


def test_names_of_features_are_kept(file):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "é🎉", *"cdefgh"])
    model = SparseEncoder(2, n_nonzero=3, random_state=0).fit(frame)
    save_model(model, file)
    again = load_model(file)
    assert list(again.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    np.testing.assert_array_equal(again.transform(frame[frame.columns[::-1]]), model.transform(frame))
    with pytest.raises(ValueError, match="X lacks "):
        again.transform(frame.rename(columns={frame.columns[model.support_[0]]: "other"}))


def test_the_same_model_is_the_same_file(file, tmp_path):
    model = clone(MODELS[0]).fit(X)
    save_model(model, file)
    save_model(load_model(file), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_people_can_read_it_and_nothing_is_pickled(file):
    model = clone(MODELS[0]).fit(X)
    save_model(model, file)
    with zipfile.ZipFile(file) as archive:
        header = json.loads(archive.read("model.json"))
    assert header["sentence"] == str(model.certificate_)
    assert header["class"] == "SparseEncoder"
    with np.load(file, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype != object for name in arrays.files if name != "model.json")


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (PCA(1).fit(X), "was given a PCA"),
        (make_pipeline(clone(MODELS[0])).fit(X), "was given a Pipeline"),
        (type("Mine", (SparseEncoder,), {})(2, n_nonzero=3).fit(X), "was given a Mine"),
    ],
)
def test_other_estimators_are_not_saved(model, sentence, file):
    with pytest.raises(TypeError, match=sentence):
        save_model(model, file)
    assert not file.exists()


def test_unfitted_models_and_code_are_not_saved(file):
    with pytest.raises(NotFittedError):
        save_model(SparseEncoder(2), file)

    class Own(Greedy):
        """A selector of the user's."""

    with pytest.raises(TypeError, match="selector= is a Own"):
        save_model(SparseEncoder(2, n_nonzero=3, selector=Own()).fit(X), file)
    assert not file.exists()


@pytest.mark.parametrize("interruption", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file(file, monkeypatch, interruption):
    save_model(clone(MODELS[0]).fit(X), file)
    before = file.read_bytes()

    def full(*_args, **_options):
        raise interruption

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises((OSError, KeyboardInterrupt)) as caught:
        save_model(clone(MODELS[3]).fit(X), file)
    if isinstance(interruption, OSError):
        assert "Cannot write" in str(caught.value)
        assert "no space left" in str(caught.value)
    assert file.read_bytes() == before
    assert os.listdir(file.parent) == [file.name]


def test_places_that_cannot_be_written(tmp_path):
    model = clone(MODELS[0]).fit(X)
    for place in (tmp_path, tmp_path / "no" / "folder"):
        with pytest.raises(OSError, match="Cannot write"):
            save_model(model, place)
    assert UnwritableError.__base__ is OSError


# ---------------------------------------------------------------------------------------------- hostile files


def changed(file: Path, change) -> None:
    """The same model with another header, or other parts."""
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(parts["model.json"])
    change(header, parts)
    parts.setdefault("model.json", b"")
    if parts["model.json"]:
        parts["model.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)


def put(*path_and_value):
    *path, last, value = path_and_value

    def change(header, _parts):
        for step in path:
            header = header[step]
        header[last] = value

    return change


def huge(header, parts):
    """An array that claims to have a million million entries."""
    name = header["fitted"]["mean_"]["~array"]
    parts[name] = parts[name].replace(b"(8,), ", b"(1000000000000,), ").replace(b" " * 12 + b"\n", b"\n")


def pickled(header, parts):
    name = header["fitted"]["mean_"]["~array"]
    parts[name] = (
        b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    )
    parts[name] += pickle.dumps(np.array([print], dtype=object))


HOSTILE = {
    "another format": put("format", "zoo"),
    "no class": put("class", "os.system"),
    "a class of another kind": put("class", 3),
    "unknown parameter": put("parameters", "rm", "-rf"),
    "shadowed method": put("fitted", "transform", 1),
    "dunder": put("fitted", "__class__", 1),
    "foreign function": put("fitted", "certificate_", {"~record": ["os:system", {}]}),
    "function of ours": put(
        "fitted", "certificate_", {"~record": ["sparing.proof.trees.nonnegative_proof:prove_nonnegative", {}]}
    ),
    "class of ours that is no record": put("fitted", "certificate_", {"~record": ["sparing.data.rows:Rows", {}]}),
    "record by its module": put(
        "fitted", "certificate_", {"~record": ["sparing.results:Reference", {"key": "a", "where": "b"}]}
    ),
    "imported name": put(
        "fitted", "certificate_", {"~record": ["sparing.proof.trees.nonnegative_proof:rounded_up", {}]}
    ),
    "foreign record": put("fitted", "certificate_", {"~record": ["subprocess:Popen", {"args": "true"}]}),
    "module by a long way": put("fitted", "certificate_", {"~record": ["sparing.data.readers.text:csv", {}]}),
    "record of ours with odd fields": put("fitted", "certificate_", {"~record": ["Reference", {"a": 1}]}),
    "unknown kind": put("fitted", "mean_", {"~eval": "1"}),
    "two kinds": put("fitted", "mean_", {"~tuple": [], "~list": []}),
    "array that is not there": put("fitted", "mean_", {"~array": "../../etc/passwd"}),
    "text for an array": put("fitted", "mean_", "none"),
    "other numbers of features": put("fitted", "n_features_in_", 7),
    "names that are too few": put("fitted", "feature_names_in_", {"~names": ["a"]}),
    "deep nesting": put("fitted", "mean_", json.loads("[" * 900 + "]" * 900)),
    "huge array": huge,
    "pickled array": pickled,
    "cut array": lambda header, parts: parts.update({"0.npy": parts["0.npy"][:-3]}),
    "no header": lambda header, parts: parts.update({"model.json": b""}),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_get_a_sentence(file, change):
    save_model(clone(MODELS[0]).fit(X), file)
    changed(file, change)
    with pytest.raises(ModelFileError, match=r"Cannot load .*some\.model") as caught:
        load_model(file)
    assert "\n" not in str(caught.value)


def proved_by(**fields):
    """Another proof in the certificate: another name of it, another witness."""

    def change(header, _parts):
        header["fitted"]["certificate_"]["~record"][1]["witness"]["~record"][1].update(fields)

    return change


UNKNOWN = ["none_such", "", "os:system", None, 3, [], {"~tuple": []}]
NO_WITNESSES = [None, 3, "ab", [], {"~tuple": ["dual", 3]}, {"~tuple": [[], []]}, {"~float": "nan"}]


@pytest.mark.parametrize(
    ("model", "own", "others"),
    [
        (MODELS[0], "loss_tree", ["row_sums", "shared_part", "each_alone"]),
        (MODELS[3], "shared_part", ["pca_loss", "loss_tree", "row_sums", "each_alone"]),
    ],
    ids=["loss", "variance"],
)
def test_forged_proofs_load_and_are_refused_in_a_sentence(model, own, others, file):
    """A file may name any bound and have anything for its witness; a recheck believes neither."""
    model = clone(model).fit(X)
    forgeries = [proved_by(name=name) for name in [*UNKNOWN, *others]]
    forgeries += [proved_by(name=own, witness=witness) for witness in NO_WITNESSES]
    for forgery in forgeries:
        save_model(model, file)
        changed(file, forgery)
        again = load_model(file).certificate_.recheck(X)
        assert not again
        assert "of which nothing is proved" in str(again)


def test_damaged_files_get_a_sentence(file):
    save_model(clone(MODELS[0]).fit(X), file)
    whole = file.read_bytes()
    for cut in (0, 1, 40, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:cut])
        with pytest.raises(ModelFileError, match="damaged, truncated or not a model"):
            load_model(file)
    places = np.random.default_rng(0).integers(0, len(whole), 60)
    for place in places:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            load_model(file)  # a flaw in a name of the archive that nobody reads may pass
        except ModelFileError:
            continue


def test_compressed_files_could_be_bombs(file):
    save_model(clone(MODELS[0]).fit(X), file)
    with zipfile.ZipFile(file) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match="compressed"):
        load_model(file)


def test_files_of_later_versions_and_absent_ones(file):
    save_model(clone(MODELS[0]).fit(X), file)
    changed(file, put("version", 1))
    with pytest.raises(ModelFileError, match="no longer supported: fit and save it again"):
        load_model(file)
    changed(file, put("version", 3))
    with pytest.raises(ModelFileError, match="Upgrade sparing"):
        load_model(file)
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_model(file.parent / "none")
    with pytest.raises(ModelFileError):
        load_model(file.parent)
