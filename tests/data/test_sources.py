"""Sources of rows that are no arrays: read slice by slice, with the answer of the array."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from sparing import SparseEncoder, SparseKMeans, SparsePCA
from sparing.data import ArrayRows, SparseRows, as_rows
from sparing.data.containers import is_source
from sparing.data.sources import Slices, source_rows


class Source:
    """Rows made when they are asked for; it remembers what that was."""

    def __init__(self, X, dtype=None):
        self._X, self.shape, self.dtype, self.asked = X, X.shape, X.dtype if dtype is None else dtype, []

    def __getitem__(self, rows):
        self.asked.append(rows.stop - rows.start)
        return self._X[rows]


@pytest.fixture
def X(rng):
    return rng.standard_normal((203, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((203, 12)) + 2.0


def same_fit(source, X):
    wanted, found = (SparseEncoder(2, n_nonzero=4, random_state=0).fit(data) for data in (X, source))
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_allclose(found.components_, wanted.components_, atol=1e-9)
    np.testing.assert_allclose(found.transform(source), wanted.transform(X), atol=1e-9)
    assert found.n_features_in_ == 12


def test_an_hdf5_data_set(X, tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5", "w") as file:
        same_fit(file.create_dataset("X", data=X, chunks=(50, 5), compression="gzip"), X)
        same_fit(file.create_dataset("big", data=X.astype(">f8")), X)
        with pytest.raises(ValueError, match="values of type"):
            as_rows(file.create_dataset("text", data=np.full((3, 2), b"abc")))
        with pytest.raises(ValueError, match="two dimensions are needed"):
            as_rows(file.create_dataset("cube", data=np.zeros((2, 2, 2))))
        with pytest.raises(ValueError, match=r"0 sample\(s\)"):
            as_rows(file.create_dataset("empty", data=np.zeros((0, 2))))
        rows = as_rows(file["X"])
    with pytest.raises(ValueError, match=r"X is a Dataset.*X\[0:203\] failed"):
        next(rows.blocks())  # the file is closed


def test_a_zarr_array(X, tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.open(str(tmp_path / "X.zarr"), mode="w", shape=X.shape, dtype="f8", chunks=(50, 12))
    array[:] = X
    same_fit(array, X)


def test_ones_own_source_is_asked_for_blocks_of_64_mebibytes_at_most():
    class Wide:
        shape, dtype, asked = (4000, 20_000), "float32", 0

        def __getitem__(self, rows):
            Wide.asked = max(Wide.asked, rows.stop - rows.start)
            return np.zeros((rows.stop - rows.start, 20_000), np.float32)

    rows = as_rows(Wide())
    assert rows.dtype == np.float32
    next(rows.blocks())
    assert 700 < Wide.asked <= 2**26 / (4 * 20_000)


def in_fifties(source):
    """At most fifty rows of twelve features at a time."""
    return source_rows(Slices(source), block_bytes=8 * 12 * 50)


def test_no_method_asks_for_all_rows(X):
    source = Source(X)
    same_fit(in_fifties(source), X)
    SparsePCA(n_nonzero=3, random_state=0).fit(in_fifties(source))
    assert max(source.asked) == 50


def test_blocks_end_where_chunks_do(X):
    source = Source(X)
    source.chunks = (20, 12)
    assert in_fifties(source).block_rows == 40
    source.shards = (30, 12)
    assert in_fifties(source).block_rows == 30
    source.shards, source.chunks = None, ((20, 20), (12,))
    assert in_fifties(source).block_rows == 50


def test_methods_that_need_the_whole_get_it(X):
    np.testing.assert_array_equal(
        SparseKMeans(2, random_state=0, effort="quick").fit(Source(X)).labels_,
        SparseKMeans(2, random_state=0, effort="quick").fit(X).labels_,
    )
    C = np.cov(X.T)
    model = SparsePCA(n_nonzero=3, precomputed=True, random_state=0, effort="quick")
    np.testing.assert_array_equal(model.fit(Source(C)).components_, model.fit(C).components_)


def test_slices_that_break_the_promise_get_a_sentence(X):
    class Broken(Source):
        def __init__(self, given, **more):
            super().__init__(X, **more)
            self.given = given

        def __getitem__(self, rows):
            return self.given(X[rows])

    def fails(_):
        raise OSError("no network")

    for given, sentence in (
        (lambda part: part[:, :5], r"shape \(203, 5\) came, not \(203, 12\)"),
        (lambda part: part[1:], r"shape \(202, 12\) came"),
        (lambda part: part.astype(str), "type <U32 came, not float64"),
        (lambda part: part + 1j, "type complex128 came"),
        (sparse.csr_array, "came, not"),
        (fails, "OSError: no network"),
    ):
        with pytest.raises(ValueError, match=r"X is a Broken.*X\[0:203\] failed: .*" + sentence):
            SparsePCA(n_nonzero=2).fit(Broken(given))
    with pytest.raises(ValueError, match="type float64 came, not int8"):
        SparsePCA(n_nonzero=2).fit(Broken(lambda part: part, dtype=np.int8))
    with pytest.raises(ValueError, match="complex"):
        as_rows(Source(X, dtype=complex))
    assert as_rows(Source(X.astype(np.longdouble))).source[0:3].dtype == np.float64


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
def test_what_is_in_memory_goes_its_old_way(X):
    frame = pd.DataFrame(X)
    for known in (X, X.tolist(), np.asmatrix(X), np.ma.masked_array(X), frame, pl.DataFrame(X), frame[0], X[0], 3.0):
        assert not is_source(known)
    assert not is_source(sparse.csr_array(X))
    assert isinstance(as_rows(sparse.csr_array(X)), SparseRows)
    for known in (X, X.tolist(), frame, np.asmatrix(X)):
        rows = as_rows(known)
        assert isinstance(rows, ArrayRows)
        assert isinstance(rows.source, np.ndarray)
    assert isinstance(as_rows(Source(X)).source, Slices)


def test_a_type_that_numpy_does_not_know_is_not_a_source(X):
    """As tensors of other libraries, which convert as a whole."""

    class Tensor(Source):
        def __array__(self, dtype=None, copy=None):
            return self._X

    assert isinstance(as_rows(Tensor(X, dtype="tensor.float32")).source, np.ndarray)
