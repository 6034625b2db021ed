"""Views of some rows beside views of others: what is learned is learned of the first, in every storage."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from sparing.data import ArrayRows, Preprocessing, as_view

TRAIN, TEST = np.array([0, 3, 4, 5, 11, 12, 20]), np.array([1, 2, 6, 13, 19])


@pytest.fixture(scope="module")
def X():
    X = np.random.default_rng(0).normal(size=(21, 5)) + 3.0
    X[TRAIN, 2] *= 4
    return X


class Slices:
    """Rows that are somewhere else."""

    def __init__(self, X):
        self._X, self.shape, self.dtype = X, X.shape, X.dtype

    def __getitem__(self, rows):
        return self._X[rows]


STORAGES = {
    "array": np.asarray,
    "sparse": sparse.csr_array,
    "blocks that have none of them": lambda X: ArrayRows(Slices(X), block_rows=2),
    "dask": lambda X: da.from_array(X, chunks=(2, 5)),
}


@pytest.mark.parametrize("storage", STORAGES.values(), ids=STORAGES)
@pytest.mark.parametrize("scale", [False, True])
def test_rows_of_a_fold(storage, scale, X):
    train, test = as_view(storage(X), Preprocessing(scale=scale)).split(TRAIN, TEST)
    mean, deviation = X[TRAIN].mean(axis=0), X[TRAIN].std(axis=0, ddof=1) if scale else np.ones(5)
    new = (X[TEST] - mean) / deviation
    np.testing.assert_allclose(train.mean, mean)
    np.testing.assert_allclose(test.matmat(np.eye(5)), new, atol=1e-12)
    np.testing.assert_allclose(test.rmatmat(np.eye(5)), new.T, atol=1e-12)
    np.testing.assert_allclose(test.gram_diagonal(), np.square(new).sum(axis=0))
    old = (X[TRAIN] - mean) / deviation
    np.testing.assert_allclose(train.gram() * train.square_unit, old.T @ old, atol=1e-10)
    assert not np.allclose(X.mean(axis=0), mean)  # control: means of all rows would show


def test_gaps_are_filled_with_means_of_the_fold(X):
    X = X.copy()
    X[TRAIN[0], 1] = X[TEST[0], 1] = np.nan
    train, test = as_view(X, Preprocessing(missing="mean")).split(TRAIN, TEST)
    mean = np.nanmean(X[TRAIN, 1])
    assert train.imputation[1] == pytest.approx(mean)
    assert test.matmat(np.eye(5))[0, 1] == pytest.approx(0.0)
    assert np.nanmean(X[:, 1]) != pytest.approx(mean)  # control
