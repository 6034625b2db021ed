"""Many at once, and one thread or two: the same answers."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

from laws import mostly_long
from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
    certify,
    open_data,
    polish,
    sparsity_path,
)
from stress.files import FORMATS

MODELS = [
    kind(*counts, **{"effort": "quick", "random_state": 0, **settings})
    for kind, counts, settings in (
        (ColumnSelector, (4,), {}),
        (DoublySparseEncoder, (2,), {"n_nonzero": 4, "n_rows": 5}),
        (NonnegativeSparsePCA, (2,), {"n_nonzero": 3}),
        (SparseEncoder, (2,), {"n_nonzero": 4, "effort": "default"}),
        (SparseEncoder, (2,), {"n_nonzero": 3, "strategy": "joint"}),
        (SparseHierarchicalClustering, (2,), {"n_features": 4}),
        (SparseKMeans, (2,), {"n_features": 4}),
        (SparsePCA, (2,), {"n_nonzero": 3}),
        (SparsePCA, (2,), {"n_nonzero": 3, "solver": "exact"}),
        (SparsePCARegressor, (2,), {"n_nonzero": 4}),
    )
]
EIGHT = range(8)


def table(n: int = 60, d: int = 15) -> np.ndarray:
    rng = np.random.default_rng(1)
    signal = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d))
    return (signal + 0.3 * rng.standard_normal((n, d))) * (rng.random((n, d)) < 0.8)


def learned(model, X) -> dict[str, np.ndarray]:
    """All numbers of a fit."""
    fitted = clone(model).fit(X, np.arange(X.shape[0]) % 7)
    numbers = {name: value for name, value in vars(fitted).items() if name.endswith("_") and name[0] != "_"}
    return {name: value for name, value in numbers.items() if isinstance(value, (np.ndarray, float))}


def assert_equal(one: dict, other: dict, tolerance: float = 0.0) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        if tolerance and np.asarray(value).dtype.kind == "f":
            size = np.abs(value).max()
            np.testing.assert_allclose(other[name], value, atol=tolerance * size, rtol=tolerance, err_msg=name)
        else:
            np.testing.assert_array_equal(other[name], value, err_msg=name)


@pytest.mark.parametrize("model", mostly_long(MODELS, MODELS[3], MODELS[7]), ids=str)
def test_eight_threads_learn_what_one_does(model):
    X = table()
    alone = learned(model, X)
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(lambda _: learned(model, X), EIGHT):
            assert_equal(alone, found)


def test_all_estimators_at_once():
    X = table()
    alone = [learned(model, X) for model in MODELS]
    with ThreadPoolExecutor(8) as threads:
        for wanted, found in zip(alone * 2, threads.map(lambda model: learned(model, X), MODELS * 2), strict=True):
            assert_equal(wanted, found)


def test_functions_in_eight_threads():
    X = table(40, 10)
    H = np.eye(2, 10) + np.eye(2, 10, 3)

    def work(_):
        path = sparsity_path(X, 2, effort="quick", random_state=0)
        return (
            path.loss_ratio,
            path.bound,
            polish(H, X, swaps=True),
            certify(H, X, effort="quick", random_state=0).bound,
        )

    alone = work(0)
    with ThreadPoolExecutor(8) as threads:
        for found in threads.map(work, EIGHT):
            for value, wanted in zip(found, alone, strict=True):
                np.testing.assert_array_equal(value, wanted)


@pytest.mark.filterwarnings("ignore:.* left out, because not numeric:sparing.errors.SparingWarning")
@pytest.mark.parametrize("name", sorted(set(FORMATS) - {"model"}))
def test_rows_of_a_file_shared_by_threads(name, tmp_path):
    path = FORMATS[name](tmp_path)
    rows = open_data(path, block_bytes=200)
    model = SparseEncoder(1, n_nonzero=2, effort="quick", random_state=0)
    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(lambda _: learned(model, rows), EIGHT))  # the first reading is all of theirs
    alone = learned(model, open_data(path, block_bytes=200))
    for found in results:
        assert_equal({**alone, "n_passes_": 0}, {**found, "n_passes_": 0})


@pytest.mark.filterwarnings("ignore:n_features=4 was requested:sparing.errors.SparingWarning")
@pytest.mark.parametrize("model", mostly_long(MODELS, MODELS[2], MODELS[3], MODELS[6], MODELS[9]), ids=str)
def test_one_blas_thread_or_two(model):
    """Small products are kept on one thread by us, so that these are as many as the user's in spirit only."""
    X, found = table(80, 24), []
    for count in (1, 2):
        with threadpool_limits(count, user_api="blas"):
            assert {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"} == {count}
            found.append(learned(model, X))
    assert_equal(*found, 1e-6)


def as_memmap(X, folder):
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def as_npy(X, folder):
    np.save(folder / "X.npy", X)
    return open_data(folder / "X.npy", block_bytes=2000)


def as_h5(X, folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file["X"] = X
    return open_data(folder / "X.h5", block_bytes=2000)


def as_dask(X, folder):
    return pytest.importorskip("dask.array").from_array(X, chunks=(17, -1))


@functools.cache
def learned_in_memory(number):
    return learned(MODELS[number], table())


STORAGES = {
    "csr": lambda X, _: sparse.csr_array(X),
    "csc": lambda X, _: sparse.csc_array(X),
    "memmap": as_memmap,
    "npy": as_npy,
    "h5": as_h5,
    "dask": as_dask,
}


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES.keys())
@pytest.mark.parametrize("model", mostly_long(MODELS, MODELS[3], MODELS[6]), ids=str)
def test_every_storage_learns_the_same(model, storage, tmp_path):
    X = table()
    assert_equal(learned_in_memory(MODELS.index(model)), learned(model, storage(X, tmp_path)), 1e-6)
