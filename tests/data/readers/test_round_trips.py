"""A fit from a file is the fit in memory, whatever the format and the size of blocks."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from sparing import SparseEncoder
from sparing.data.readers import open_data

N, D = 60, 8
NAMES = [f"gene {j}" for j in range(D)]
SMALL = 8 * D * 7
"""Bytes of seven dense rows: nine blocks."""


def counts(dtype=np.float64):
    rng = np.random.default_rng(7)
    X = rng.poisson(1.2, (N, D)) * np.arange(1, D + 1)
    X[:, 1] += 2 * X[:, 0]
    X[5] = 0  # a row and a column without nonzeros
    X[:, 6] = 0
    return X.astype(dtype)


def write_npy(folder, X):
    np.save(folder / "X.npy", X)
    return folder / "X.npy"


def write_npy_by_columns(folder, X):
    return write_npy(folder, np.asfortranarray(X.astype(X.dtype.newbyteorder(">"))))


def write_npz(folder, X):
    np.savez_compressed(folder / "X.npz", X=X, other=X[:3], y=X[:, 0])
    return folder / "X.npz"


def write_sparse_npz(folder, X):
    sparse.save_npz(folder / "X.npz", sparse.csr_array(X))
    return folder / "X.npz"


def write_h5(folder, X):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("deep/table", data=X, chunks=(4, 3), compression="gzip")
        file["y"] = X[:, 0]
    return folder / "X.h5"


def write_h5ad(folder, X, store=None):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "X.h5ad", "w") as file:
        file["var/_index"] = NAMES
        file["var"].attrs["_index"] = "_index"
        _put(file, "X", X if store is None else store(X))
        _put(file, "layers/counts", sparse.csr_array(2 * X))
    return folder / "X.h5ad"


def _put(file, key, X):
    if not sparse.issparse(X):
        file[key] = X
        return
    group = file.create_group(key)
    group.attrs["encoding-type"], group.attrs["shape"] = f"{X.format}_matrix", X.shape
    group["data"], group["indices"], group["indptr"] = X.data, X.indices, X.indptr


def write_h5ad_csr(folder, X):
    return write_h5ad(folder, X, sparse.csr_array)


def write_h5ad_csc(folder, X):
    return write_h5ad(folder, X, sparse.csc_array)


def write_zarr(folder, X):
    zarr = pytest.importorskip("zarr", minversion="3")
    array = zarr.create_array(str(folder / "X.zarr"), shape=X.shape, chunks=(4, 3), dtype=X.dtype)
    array[:] = X
    return folder / "X.zarr"


def write_parquet(folder, X):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=NAMES, index=np.arange(5, N + 5))
    frame.insert(2, "label", "text")
    frame.to_parquet(folder / "X.parquet", row_group_size=25, engine="pyarrow")
    return folder / "X.parquet"


def write_csv(folder, X, name="X.csv", sep=","):
    frame = pd.DataFrame(X, columns=NAMES)
    frame.insert(2, "label", "a, b")
    frame.to_csv(folder / name, index=False, sep=sep)
    return folder / name


def write_tsv(folder, X):
    return write_csv(folder, X, "X.tsv", "\t")


def write_mtx(folder, X):
    io.mmwrite(folder / "X.mtx", sparse.coo_array(X))
    return folder / "X.mtx"


def write_mtx_gz(folder, X):
    import gzip

    plain = write_mtx(folder, X)
    (folder / "Y.mtx.gz").write_bytes(gzip.compress(plain.read_bytes()))
    return folder / "Y.mtx.gz"


def write_dense_mtx(folder, X):
    io.mmwrite(folder / "X.mtx", X)
    return folder / "X.mtx"


DENSE = [write_npy, write_npy_by_columns, write_npz, write_h5, write_h5ad, write_zarr]
SPARSE = [write_sparse_npz, write_h5ad_csr, write_h5ad_csc, write_mtx, write_mtx_gz]
TABLES = [write_parquet, write_csv, write_tsv]
ALL = [*DENSE, *SPARSE, *TABLES, write_dense_mtx]
NAMED = [write_h5ad, write_h5ad_csr, write_h5ad_csc, *TABLES]


def matrix(block):
    return block.rows if block.is_dense else block.matrix.toarray()


def fitted(X):
    return SparseEncoder(2, n_nonzero=3, random_state=0).fit(X)


NOTES = pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")
"""The column of text is left out, and some counts are few."""


@NOTES
@pytest.mark.parametrize("block_bytes", [SMALL, 2**26])
@pytest.mark.parametrize("write", ALL, ids=lambda write: write.__name__[6:])
def test_a_fit_from_a_file_is_the_fit_in_memory(write, block_bytes, tmp_path):
    X = counts()
    rows = open_data(write(tmp_path, X), block_bytes=block_bytes)
    assert rows.shape == X.shape
    for _ in range(2):  # read again and again
        blocks = list(rows.blocks())
        assert [block.start for block in blocks] == [0, *(block.stop for block in blocks[:-1])]
        np.testing.assert_array_equal(np.concatenate([matrix(block) for block in blocks]), X)
        assert all(block.is_dense == rows.is_dense for block in blocks)
    if block_bytes == SMALL and write not in {write_sparse_npz, write_mtx, write_mtx_gz}:
        assert len(blocks) > 5
    want = fitted(X)
    np.testing.assert_allclose(fitted(rows).components_, want.components_, atol=1e-8)
    np.testing.assert_allclose(want.transform(rows), want.transform(X), atol=1e-8)
    assert rows.feature_names == (NAMES if write in NAMED else None)
    left_out = ["label"] if write in TABLES else []
    assert rows.left_out == [*left_out, *(["__index_level_0__"] if write is write_parquet else [])]


@NOTES
@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, np.bool_])
@pytest.mark.parametrize("write", [*DENSE, write_parquet], ids=lambda write: write.__name__[6:])
def test_types_are_kept(write, dtype, tmp_path):
    X = counts(dtype)
    rows = open_data(write(tmp_path, X), block_bytes=SMALL)
    assert rows.dtype == dtype
    for block in rows.blocks():
        assert block.rows.dtype == dtype
        np.testing.assert_array_equal(block.rows, X[block.start : block.stop])


@pytest.mark.parametrize("write", [write_h5ad_csr, write_h5ad_csc, write_sparse_npz])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_sparse_types(write, dtype, tmp_path):
    rows = open_data(write(tmp_path, counts(dtype)), block_bytes=SMALL)
    assert rows.dtype == dtype
    np.testing.assert_allclose(fitted(rows).components_, fitted(counts()).components_, atol=1e-6)


def test_layers_and_parts_by_key(tmp_path):
    X = counts()
    file = write_h5ad(tmp_path, X)
    layer = open_data(file, key="layers/counts")
    np.testing.assert_array_equal(layer.source.toarray(), 2 * X)
    assert layer.feature_names == NAMES
    np.testing.assert_array_equal(open_data(write_npz(tmp_path, X), key="other").source, X[:3])
    zarr = pytest.importorskip("zarr", minversion="3")
    group = zarr.create_group(str(tmp_path / "group.zarr"))
    group.create_array("a", data=X)
    np.testing.assert_array_equal(open_data(tmp_path / "group.zarr").source, X)
    group.create_group("inner").create_array("b", data=X + 1)
    np.testing.assert_array_equal(open_data(tmp_path / "group.zarr", key="inner/b").source, X + 1)


@NOTES
@pytest.mark.parametrize("write", ALL, ids=lambda write: write.__name__[6:])
def test_copies_and_threads_read_the_same(write, tmp_path):
    X = counts()
    with open_data(write(tmp_path, X), block_bytes=SMALL) as rows:
        first = rows.blocks()
        next(first)  # a reading that is left in the middle

        def whole(source):
            return np.concatenate([matrix(block) for block in source.blocks()])

        with ThreadPoolExecutor(4) as pool:
            for read in pool.map(whole, [rows, rows, rows, pickle.loads(pickle.dumps(rows))]):
                np.testing.assert_array_equal(read, X)
        first.close()
    np.testing.assert_array_equal(whole(rows), X)  # closing forgets, and the file is still there


def test_sparse_columns_turn_into_rows_with_little_memory(tmp_path):
    import tracemalloc

    X = sparse.random_array((4000, 500), density=0.2, format="csc", random_state=np.random.default_rng(0))
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        _put(file, "X", X)
    tracemalloc.start()
    rows = open_data(tmp_path / "X.h5ad", block_bytes=2**18)
    total = sum(block.matrix.data.sum() for block in rows.blocks())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == pytest.approx(X.sum())
    assert peak < 4 * 2**18 < X.data.nbytes + X.indices.nbytes
    assert abs(rows.source - X).max() == 0
