"""Checkpoints: a killed fit goes on after its last pass with the same result, or a sentence says why it cannot."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA, open_data
from sparing.data import ArrayRows
from sparing.data import checkpoint as module
from sparing.errors import CheckpointError

MODELS = {
    "batch": SparseEncoder(2, n_nonzero=4, effort="quick", random_state=0),
    "few": SparseEncoder(2, n_nonzero=4, passes="few", effort="quick", random_state=0),
    "joint": SparseEncoder(2, n_nonzero=3, strategy="joint", effort="quick", random_state=0),
    "variance": SparsePCA(2, n_nonzero=3, effort="quick", random_state=0),
    "two_sided": SparsePCA(1, n_nonzero=3, n_rows=20, effort="quick", random_state=0),
    "nonnegative": NonnegativeSparsePCA(n_nonzero=3, certify=False, effort="quick", random_state=0),
}
models = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


class Killed(BaseException):
    """What no code of the library catches."""


def kill():
    raise Killed


class Counted(ArrayRows):
    """Rows in blocks of 64 that count what is read of them, and stop in the middle of a reading."""

    def __init__(self, X, last=10**9):
        super().__init__(X, 64)
        self.read, self.last = 0, last

    def blocks(self):
        for block in super().blocks():
            self.read += 1
            if self.read > self.last:
                raise Killed
            yield block


@pytest.fixture
def X(rng):
    return rng.standard_normal((250, 5)) @ rng.standard_normal((5, 1100)) + 0.5 * rng.standard_normal((250, 1100))


def killed(model, X, **fit):
    """A fit that does not get beyond its third pass."""
    looks = 2 if getattr(model, "passes", None) == "few" else 1  # at the first block: to recognise the data, for units
    with pytest.raises(Killed):
        model.fit(Counted(X, last=looks + 2 * 4 + 2), **fit)


def same(found, wanted):
    for name in ("components_", "decoder_", "support_", "mean_", "loss_", "n_passes_"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    if hasattr(wanted, "certificate_"):
        assert found.certificate_.value == wanted.certificate_.value
        assert found.certificate_.bound == wanted.certificate_.bound


@models
def test_what_was_read_is_not_read_again_and_the_result_is_the_same(model, X, tmp_path):
    X = X if getattr(model, "passes", "") == "few" else X[:, :300]  # few passes are for more features
    whole = Counted(X)
    wanted = clone(model).set_params(checkpoint=tmp_path / "other").fit(whole)
    resumed = clone(model).set_params(checkpoint=tmp_path / "kept")
    killed(resumed, X)
    assert len(list((tmp_path / "kept").glob("*.npz"))) == 2
    rest = Counted(X)
    same(resumed.fit(rest), wanted)
    assert rest.read == whole.read - 2 * 4
    assert list(tmp_path.iterdir()) == []
    np.testing.assert_allclose(wanted.components_, clone(model).fit(Counted(X)).components_, atol=1e-12)


SCRIPT = """
import os, signal, sys
import numpy as np
from sparing import SparsePCA
from sparing.data import ArrayRows

class Rows(ArrayRows):
    readings = 0
    def blocks(self):
        Rows.readings += 1
        for i, block in enumerate(super().blocks()):
            if Rows.readings == int(sys.argv[2]) and i == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            yield block

rng = np.random.default_rng(1)
X = rng.standard_normal((300, 4)) @ rng.standard_normal((4, 600)) + rng.standard_normal((300, 600))
X[rng.random(X.shape) < 0.01] = np.nan
model = SparsePCA(1, n_nonzero=4, missing="mean", checkpoint=sys.argv[1] or None, certify=False, effort="quick")
model.set_params(random_state=None if sys.argv[1] else int(sys.argv[3])).fit(Rows(X, 50))
print(Rows.readings, model.n_passes_, model.components_.tobytes().hex(), model.variance_.tobytes().hex())
"""


def test_a_killed_process_resumes_with_the_seed_it_drew(tmp_path, monkeypatch, capsys):
    def here(*arguments):
        """The same in this process: what it prints."""
        monkeypatch.setattr(sys, "argv", ["", *arguments])
        exec(SCRIPT, {"__name__": "here"})
        return capsys.readouterr().out.split()

    place = tmp_path / "kept"
    command = [sys.executable, "-c", SCRIPT, str(place), "5", "0"]
    first = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert first.returncode == -signal.SIGKILL, first.stderr
    seed = json.loads((place / module.HEADER).read_text())["seed"]
    assert len(list(place.glob("*.npz"))) == 3  # the means of what is there, moments, and one more
    readings, passes, *result = here(str(place), "0", "0")
    assert not place.exists()
    assert int(readings) == int(passes) - 3 + 1  # the first block is looked at to recognise the data
    assert result == here("", "0", str(seed))[2:]


@pytest.mark.parametrize("kind", ["file", "dask", "sparse", "weighted"])
def test_every_storage(kind, X, tmp_path, monkeypatch):
    model = SparseEncoder(2, n_nonzero=4, effort="quick", random_state=0, missing="mean", checkpoint=tmp_path / "kept")
    X[3, 4], fit = np.nan, {}
    if kind == "file":
        np.save(tmp_path / "X.npy", X)
        X = open_data(tmp_path / "X.npy", block_bytes=2**19)
    elif kind == "dask":
        X = pytest.importorskip("dask.array").from_array(X, chunks=(100, 1100))
    elif kind == "sparse":
        X = sparse.csr_array(np.where(np.abs(X) > 2, X, 0.0))
    else:
        fit = {"sample_weight": np.arange(1, 251)}
    wanted = clone(model).set_params(checkpoint=None).fit(X, **fit)
    original, calls = module.Checkpoint._store, []

    def store(self, name, mark, result):
        calls.append(name)
        if len(calls) == 4:
            raise Killed
        original(self, name, mark, result)

    monkeypatch.setattr(module.Checkpoint, "_store", store)
    with pytest.raises(Killed):
        model.fit(X, **fit)
    same(model.fit(X, **fit), wanted)
    assert len(calls) == wanted.n_passes_ + 1
    assert not (tmp_path / "kept").exists()


def test_other_data_or_parameters_are_told_apart(X, tmp_path):
    model = SparsePCA(1, n_nonzero=3, random_state=0, checkpoint=tmp_path / "kept", effort="quick")
    killed(model, X)
    before = sorted(file.name for file in (tmp_path / "kept").iterdir())
    for change, sentence in (
        ({"n_nonzero": 5}, r"n_nonzero \(was 3, is 5\)"),
        ({"random_state": None}, r"random_state \(was 0, is None\)"),
        ({"random_state": np.random.default_rng(0)}, "random_state"),
        ({"solver": "greedy"}, "solver"),
    ):
        with pytest.raises(CheckpointError, match=sentence + ".*Delete that folder.*or choose another path"):
            clone(model).set_params(**change).fit(X)
    other = SparseEncoder(1, n_nonzero=3, random_state=0, checkpoint=tmp_path / "kept")
    with pytest.raises(CheckpointError, match=r"estimator \(was 'SparsePCA', is 'SparseEncoder'\)"):
        other.fit(X)
    with pytest.raises(CheckpointError, match=r"shape of X \(was \(250, 1100\), is \(250, 1000\)\)"):
        model.fit(Counted(X[:, :1000]))
    with pytest.raises(CheckpointError, match=r"type of X \(was 'float64', is 'float32'\)"):
        model.fit(Counted(X.astype(np.float32)))
    with pytest.raises(CheckpointError, match=r"first rows of X \(not the same\)"):
        model.fit(Counted(X + 1))
    with pytest.raises(CheckpointError, match=r"sample_weight \(not the same\)"):
        model.fit(Counted(X), sample_weight=np.arange(1, 251))
    assert sorted(file.name for file in (tmp_path / "kept").iterdir()) == before
    same(model.set_params(verbose=False, time_limit=1e6).fit(Counted(X)), clone(model).fit(Counted(X)))


def test_a_file_that_was_written_again_is_told_apart(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    model = SparsePCA(1, n_nonzero=3, random_state=0, checkpoint=tmp_path / "kept", effort="quick")
    header = module.Checkpoint.begin
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module.Checkpoint, "begin", lambda *given: (header(*given), kill()))
        with pytest.raises(Killed):
            model.fit(open_data(tmp_path / "X.npy"))
    os.utime(tmp_path / "X.npy", (1, 1))
    with pytest.raises(CheckpointError, match="file of X"):
        model.fit(open_data(tmp_path / "X.npy"))


@pytest.mark.parametrize("kind", [np.random.default_rng, np.random.RandomState])
def test_generators_are_told_by_their_state(kind, X, tmp_path):
    model = SparsePCA(1, n_nonzero=3, checkpoint=tmp_path / "kept", effort="quick")
    wanted = clone(model).set_params(checkpoint=None, random_state=kind(5)).fit(Counted(X))
    killed(model.set_params(random_state=kind(5)), X)
    with pytest.raises(CheckpointError, match="random_state"):
        model.set_params(random_state=kind(6)).fit(Counted(X))
    same(model.set_params(random_state=kind(5)).fit(Counted(X)), wanted)


def test_damaged_files_get_a_sentence(X, tmp_path):
    place = tmp_path / "kept"
    model = SparsePCA(1, n_nonzero=3, random_state=0, checkpoint=place, effort="quick")
    killed(model, X)
    header, stored = place / module.HEADER, sorted(place.glob("*.npz"))[0]
    good, text = stored.read_bytes(), header.read_text()
    objects = tmp_path / "objects.npz"
    np.savez(objects, text=np.array([{"a": 1}], dtype=object))
    alien = tmp_path / "alien.npz"
    np.savez(alien, a0=np.zeros(3))
    member = json.dumps({"format": 4, "mark": "", "result": {"~object": ["os:system", {}]}}).encode()
    hostile = tmp_path / "hostile.npz"
    np.savez(hostile, text=np.frombuffer(member, np.uint8))
    unclosed = b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '|u1', 'fortran_order'".ljust(118)  # Python's tokens complain
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 0xFF
    for broken in (
        good[: len(good) // 2], b"", b"nothing of ours", bytes(flipped), unclosed,
        objects.read_bytes(), alien.read_bytes(), hostile.read_bytes(),
    ):  # fmt: skip
        stored.write_bytes(broken)
        with pytest.raises(CheckpointError, match=r"sparing-pass-00001.*damaged, truncated.*Delete that folder"):
            model.fit(Counted(X))
    stored.write_bytes(good)
    for broken, sentence in (
        (text[: len(text) // 2], "damaged, truncated or was not written by this library"),
        ("[]", "damaged"),
        ('{"format": 4}', "parts of it are missing"),
        (text.replace('"format": 4', '"format": 99'), "has format 99; this version of the library reads format 4"),
    ):
        header.write_text(broken)
        with pytest.raises(CheckpointError, match=sentence):
            model.fit(Counted(X))
    header.write_text(text)
    assert model.fit(Counted(X)).n_components_ == 1
    assert not place.exists()


def test_a_pass_that_did_other_work_is_read_again(X, tmp_path):
    """As where another BLAS rounds differently: nothing is wrong, and what does not fit is not used."""
    model = SparsePCA(1, n_nonzero=3, random_state=0, checkpoint=tmp_path / "kept", effort="quick")
    wanted = clone(model).set_params(checkpoint=None).fit(Counted(X))
    killed(model, X)
    first, second = sorted((tmp_path / "kept").glob("*.npz"))
    second.write_bytes(first.read_bytes())
    rows = Counted(X)
    same(model.fit(rows), wanted)
    assert rows.read == 1 + 4 * (wanted.n_passes_ - 1)


def test_passes_without_their_header_are_not_used(X, tmp_path):
    model = SparsePCA(1, n_nonzero=3, random_state=0, checkpoint=tmp_path / "kept", effort="quick")
    killed(model, X)
    (tmp_path / "kept" / module.HEADER).unlink()
    same(model.fit(Counted(X + 3)), clone(model).set_params(checkpoint=None).fit(Counted(X + 3)))


def test_only_our_own_files_are_deleted(X, tmp_path):
    (tmp_path / "results.txt").write_text("mine")
    (tmp_path / "sparing-pass-00001.npz-1.unfinished").write_bytes(b"of a killed process")
    model = SparsePCA(1, n_nonzero=3, random_state=0, checkpoint=str(tmp_path), effort="quick").fit(X)
    assert [file.name for file in tmp_path.iterdir()] == ["results.txt"]
    (tmp_path / "empty").mkdir()
    model.set_params(checkpoint=tmp_path / "empty").fit(X)
    assert (tmp_path / "empty").is_dir()  # it was the user's


def test_what_cannot_be_written_gets_a_sentence_and_earlier_passes_stay(X, tmp_path, monkeypatch):
    model = SparsePCA(1, n_nonzero=3, random_state=0, checkpoint=tmp_path / "kept", effort="quick")
    replace, calls = os.replace, []

    def full(source, target):
        calls.append(target)
        if len(calls) == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    rows = Counted(X)
    with pytest.raises(CheckpointError, match=r"cannot be written \(No space left on device\).*intact: free some"):
        model.fit(rows)
    names = sorted(file.name for file in (tmp_path / "kept").iterdir())
    assert names == [module.HEADER, "sparing-pass-00001.npz", "sparing-pass-00002.npz"]
    rest = Counted(X)
    wanted = clone(model).set_params(checkpoint=None).fit(Counted(X))
    same(model.fit(rest), wanted)
    assert rest.read == 1 + 4 * (wanted.n_passes_ - 2)


def test_a_folder_that_cannot_be_used_gets_a_sentence_before_anything_is_read(X, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("mine")
    model = SparsePCA(1, n_nonzero=3)
    for place, sentence in ((tmp_path / "file", "a folder is needed"), (tmp_path / "file" / "in", "cannot be written")):
        rows = Counted(X, last=1)
        with pytest.raises(CheckpointError, match=sentence):
            model.set_params(checkpoint=place).fit(rows)
    for wrong in (3, b"x", ""):
        with pytest.raises(TypeError, match="path of a folder"):
            model.set_params(checkpoint=wrong).fit(X)

    def read_only(*_args, **_kwargs):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(module.Path, "mkdir", read_only)
    with pytest.raises(CheckpointError, match=r"cannot be written \(Permission denied\)"):
        model.set_params(checkpoint=tmp_path / "new").fit(Counted(X, last=1))


def test_a_covariance_has_no_passes_to_keep(X, tmp_path):
    model = SparsePCA(1, n_nonzero=3, precomputed=True, checkpoint=tmp_path / "kept").fit(np.cov(X[:, :20].T))
    assert model.n_passes_ == 0
    assert not (tmp_path / "kept").exists()
