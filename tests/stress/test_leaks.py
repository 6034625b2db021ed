"""A thousand fits leave nothing behind: no memory, no threads, no open files."""

from __future__ import annotations

import gc
import os
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

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
from stress.files import FORMATS
from stress.outcomes import stress_only

FITS = 1000
GROWTH = 4 * 2**20
"""Bytes that an allocator may keep for itself."""

X = np.random.default_rng(0).standard_normal((25, 6))
MODELS = [
    ColumnSelector(3, random_state=0),
    DoublySparseEncoder(1, n_nonzero=2, n_rows=3, random_state=0),
    NonnegativeSparsePCA(1, n_nonzero=2, solver="spannogram", rank=1, certify=False, random_state=0),
    SparseEncoder(1, n_nonzero=2, random_state=0),
    SparseHierarchicalClustering(2, weight_bound=1.5, random_state=0),
    SparseKMeans(2, weight_bound=1.5, n_init=1, random_state=0),
    SparsePCA(1, n_nonzero=2, solver="greedy", random_state=0),
    SparsePCARegressor(1, n_nonzero=2, random_state=0),
]

pytestmark = [stress_only, pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux's /proc")]


def in_use() -> int:
    """Bytes of memory of this process."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def assert_flat(act, times: int) -> None:
    """The second half takes no more than the first left."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(times // 3):
            act()
        memory, threads, files = in_use(), threading.active_count(), len(os.listdir("/proc/self/fd"))
        for _ in range(times - times // 3):
            act()
    assert in_use() - memory < GROWTH
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= files


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_thousand_fits(model):
    y = np.arange(len(X))
    assert_flat(lambda: clone(model).fit(X, y), FITS // len(MODELS))


def test_the_same_model_fitted_again_and_again():
    model = SparseEncoder(1, n_nonzero=2, random_state=0)
    assert_flat(lambda: model.fit(X), FITS // 4)


def test_models_saved_and_loaded(tmp_path):
    model = SparseEncoder(1, n_nonzero=2, random_state=0).fit(X)

    def act() -> None:
        save_model(model, tmp_path / "some.model")
        load_model(tmp_path / "some.model").transform(X)

    assert_flat(act, 60)


@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"model"}))
def test_files_opened_again_and_again(name, tmp_path):
    path = FORMATS[name](tmp_path)
    assert_flat(lambda: SparseEncoder(1, n_nonzero=1, certify=False, random_state=0).fit(open_data(path)), 45)
