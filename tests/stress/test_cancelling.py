"""Ctrl-C at any moment, and a disk that is full: what was there stays, and nothing is left behind."""

from __future__ import annotations

import errno
import functools
import gc
import linecache
import os
import signal
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from threadpoolctl import threadpool_info

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
    open_data,
    save_model,
)
from sparing.data import checkpoint, writing
from sparing.data.readers import base as scratch
from sparing.data.readers import compressed, open_rows, plink, temporary_files, text
from sparing.errors import CheckpointError, UnwritableError
from sparing.linalg import single_threaded_blas
from sparing.report import explore
from stress.files import FORMATS
from stress.outcomes import IS_STRESS, examples_of, stress_only

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
"""An interruption inside a finaliser is heard by nobody."""

X = np.random.default_rng(0).standard_normal((60, 30)) @ np.diag(np.linspace(1, 3, 30))
MODELS = [
    ColumnSelector(4, random_state=0),
    DoublySparseEncoder(2, n_nonzero=4, n_rows=5, random_state=0),
    NonnegativeSparsePCA(2, n_nonzero=3, random_state=0),
    SparseEncoder(2, n_nonzero=4, random_state=0),
    SparseHierarchicalClustering(2, n_features=4, random_state=0),
    SparseKMeans(2, n_features=4, n_init=3, random_state=0),
    SparsePCA(2, n_nonzero=3, random_state=0),
    SparsePCA(1, n_nonzero=5, solver="exact", random_state=0),
    SparsePCARegressor(2, n_nonzero=4, random_state=0),
]


def blas_threads() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def settled_threads(before: set[threading.Thread]) -> set[threading.Thread]:
    """Threads that are new, once those that were about to end have done so; some were never begun."""
    for _ in range(200):
        if not (new := {thread for thread in threading.enumerate() if thread.is_alive()} - before):
            break
        time.sleep(0.01)
    return new


def interrupted_after(seconds: float, act) -> bool:
    """Run with an alarm that is a Ctrl-C; did it come before the end?"""

    def ring(_number, _frame):
        raise KeyboardInterrupt

    old, hook = signal.signal(signal.SIGALRM, ring), sys.unraisablehook
    sys.unraisablehook = lambda _: None  # pytest would keep what a finaliser raised, with all that its frames hold
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        act()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException as heard:  # CPython may make another error of it, inside of its own locks
        while not isinstance(heard, KeyboardInterrupt):
            cause = heard.__cause__ or heard.__context__
            if cause is None:
                raise
            heard = cause
        return True
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        sys.unraisablehook = hook
    return False


def state_of(model) -> dict[str, str]:
    return {name: repr(value) for name, value in vars(model).items()}


@stress_only
@pytest.mark.parametrize("model", MODELS, ids=str)
@examples_of(4)
@given(share=st.floats(0.0, 1.0), fitted_before=st.booleans())
def test_ctrl_c_leaves_a_model_as_it_was(model, share, fitted_before):
    y = np.arange(len(X)) % 5
    model = clone(model)
    if fitted_before:
        model.fit(X[:, :8], y)
    begin = time.perf_counter()
    finished = clone(model).fit(X, y)
    duration = time.perf_counter() - begin
    before, threads, pools = state_of(model), set(threading.enumerate()), blas_threads()
    interrupted = interrupted_after(max(share * duration, 1e-6), lambda: model.fit(X, y))
    if interrupted:  # before its end, or at the very moment of it
        assert state_of(model) in (before, state_of(finished))
    else:  # too late, or proofs were cut short, which are answers
        assert model.n_features_in_ == 30
        assert len(model.support_)
    assert not settled_threads(threads)
    assert blas_threads() == pools


@stress_only
@examples_of(40)
@given(microseconds=st.integers(1, 900))
def test_the_cap_of_threads_is_lifted_whenever_the_interruption_comes(microseconds):
    pools, threads = blas_threads(), set(threading.enumerate())

    def stay():
        with single_threaded_blas():
            time.sleep(2e-4)

    interrupted_after(microseconds * 1e-6, stay)
    assert not settled_threads(threads)
    assert blas_threads() == pools
    with single_threaded_blas():
        assert set(blas_threads()) == {1}
    assert blas_threads() == pools


@stress_only
@pytest.mark.filterwarnings("ignore:.* left out, because not numeric:sparing.errors.SparingWarning")
@pytest.mark.parametrize("name", ["csv", "h5", "h5ad, csc", "bed", "parquet", "zarr"])
@examples_of(3)
@given(share=st.floats(0.0, 1.0))
def test_ctrl_c_while_a_file_is_read_leaves_no_threads_and_no_temporary_files(name, share, tmp_path_factory):
    folder = tmp_path_factory.mktemp("interrupted")
    path, scratch = FORMATS[name](folder), folder / "scratch"
    scratch.mkdir()
    model = SparseEncoder(1, n_nonzero=2, random_state=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(scratch))
        begin = time.perf_counter()
        model.fit(open_data(path, block_bytes=100))
        duration = time.perf_counter() - begin
        threads = set(threading.enumerate())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # a file may be opened and not yet have a name

            def act():
                with open_data(path, block_bytes=100) as rows:
                    clone(model).fit(rows)

            interrupted_after(max(share * duration, 1e-6), act)
    assert not {thread for thread in settled_threads(threads) if thread.name.startswith("sparing")}
    gc.collect()  # what the traceback held
    assert not [file for file in scratch.iterdir() if file.stat().st_size]


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux, which lists open files")
@pytest.mark.parametrize(("name", "module"), [("h5ad, csc", compressed), ("csv", text), ("bed", plink)])
def test_ctrl_c_at_any_line_of_a_reader_leaves_no_temporary_file(name, module, tmp_path, monkeypatch):
    """A file in another order than rows is written to a temporary one first, and the interruption comes then."""
    path, temporary = FORMATS[name](tmp_path), tmp_path / "scratch"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    watched = {module.__file__, scratch.__file__, temporary_files.__file__}
    most = 0

    def held():
        """Files of that folder that this process has open; they have no name."""
        return [link for link in map(os.path.realpath, Path("/proc/self/fd").iterdir()) if str(temporary) in link]

    def read(line: int) -> bool:
        """Read all rows; a Ctrl-C comes before that line of those that are run, and the answer is whether it did."""
        passed = 0

        def trace(frame, event, _):
            nonlocal passed, most
            if frame.f_code.co_filename not in watched or frame.f_code.co_name == "__del__":
                return None
            if event != "line" or linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()[:5] == "with ":
                return trace  # a signal is heard after a lock is taken or given back, never in between
            passed += 1
            if passed == line:
                sys.settrace(None)
                most = max(most, len(held()))
                raise KeyboardInterrupt
            return trace

        sys.settrace(trace)
        try:
            for _ in open_rows(path, scratch.Options(block_bytes=40)).blocks():
                pass
        except KeyboardInterrupt:
            return True
        finally:
            sys.settrace(None)
        return False

    line = 1
    while read(line):
        if held():
            gc.collect()  # what the traceback held
        assert not held(), line
        assert not os.listdir(temporary), line
        line += 1 + line // (20 if IS_STRESS else 8)
    assert most == 1  # there was one to be left
    assert line > 40


def test_interrupted_by_its_own_progress(monkeypatch):
    """A fit reports its passes; whoever listens may stop it there."""
    model = SparsePCA(2, n_nonzero=3, verbose=True, random_state=0)

    def listener(_text):
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.print", listener)
    before, pools = state_of(model), blas_threads()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert state_of(model) == before
    assert blas_threads() == pools


class Full:
    """A file on a disk that has room for some bytes more."""

    def __init__(self, file, room: int) -> None:
        self._file, self._room = file, room

    def write(self, data) -> int:
        self._room -= len(memoryview(data).cast("B"))
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._file.write(data)

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name):
        return getattr(self._file, name)


def page(path: Path) -> None:
    explore(X[:, :5], path, n_components=1, effort="quick", random_state=0)


@functools.cache
def two_models():
    config = {"effort": "quick", "random_state": 0}
    return SparseEncoder(1, n_nonzero=2, **config).fit(X), SparsePCA(2, n_nonzero=3, **config).fit(X)


@examples_of(5)
@given(share=st.floats(0.0, 0.999))
def test_a_full_disk_while_a_model_is_saved(share, tmp_path_factory):
    file = tmp_path_factory.mktemp("full") / "some.model"
    old, new = two_models()
    save_model(new, file)
    size = file.stat().st_size
    save_model(old, file)
    there = file.read_bytes()
    real = os.fdopen
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing.os, "fdopen", lambda *args: Full(real(*args), int(share * size)))
        with pytest.raises(UnwritableError, match=r"no space left on device.*free some space"):
            save_model(new, file)
    assert file.read_bytes() == there
    assert list(file.parent.iterdir()) == [file]
    np.testing.assert_array_equal(load_model(file).components_, old.components_)


@examples_of(4)
@given(room=st.integers(0, 3000))
def test_a_full_disk_while_passes_are_kept(room, tmp_path_factory):
    folder = tmp_path_factory.mktemp("full") / "kept"
    model = SparseEncoder(2, n_nonzero=4, random_state=0, checkpoint=folder)
    real = Path.open
    with pytest.MonkeyPatch.context() as patch:

        def opened(path, mode="r", *args, **kwargs):
            file = real(path, mode, *args, **kwargs)
            return Full(file, room) if "w" in mode and folder in path.parents else file

        patch.setattr(checkpoint.Path, "open", opened)
        with pytest.raises(CheckpointError, match=r"cannot be written \(No space left on device\)"):
            model.fit(X)
    assert not hasattr(model, "components_")
    assert not list(folder.glob("*.unfinished"))
    wanted = SparseEncoder(2, n_nonzero=4, random_state=0).fit(X)
    np.testing.assert_array_equal(model.fit(X).components_, wanted.components_)


def test_a_full_disk_while_a_page_is_written(tmp_path, monkeypatch):
    file = tmp_path / "page.html"
    page(file)
    there, real = file.read_bytes(), os.fdopen
    for share in (0.0, 0.99):
        with monkeypatch.context() as patch:
            room = int(share * len(there))
            patch.setattr(writing.os, "fdopen", lambda *args, room=room: Full(real(*args), room))
            with pytest.raises(UnwritableError, match="no space left on device"):
                page(file)
        assert file.read_bytes() == there
        assert list(tmp_path.iterdir()) == [file]
