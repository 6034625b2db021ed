"""Tables of other libraries: the numbers of the array, and the names that the library has for its columns."""

from __future__ import annotations

import sys
import types
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from sparing import SparseEncoder, open_data
from sparing.data import SparseRows, as_rows
from sparing.errors import SparingWarning

X = np.random.default_rng(0).standard_normal((30, 5)) @ np.diag([3.0, 2.0, 1.0, 1.0, 1.0])
NAMES = ["a", "b", "c", "d", "e"]


def fitted(data):
    return SparseEncoder(2, n_nonzero=3, effort="quick", random_state=0).fit(data)


def same_fit(data, names=NAMES):
    want, found = fitted(X), fitted(data)
    np.testing.assert_allclose(found.components_, want.components_, atol=1e-12)
    np.testing.assert_allclose(found.transform(data), want.transform(X), atol=1e-12)
    assert (None if names is None else list(names)) == (
        list(found.feature_names_in_) if hasattr(found, "feature_names_in_") else None
    )


def library(name):
    """A decorator that puts a class into a library, as far as its name says."""

    def moved(kind):
        kind.__module__ = name
        return kind

    return moved


@library("anndata._core.anndata")
class AnnData:
    """What is used of one, where the library is not installed; it has no end for whoever counts its rows."""

    def __init__(self, table, names=NAMES, layers=None, raw=None):
        self.X, self.var_names, self.layers, self.raw = table, pd.Index(names), layers or {}, raw
        self.shape = (30, 5)

    def __len__(self):
        return sys.maxsize

    def __getitem__(self, _):
        raise AssertionError("nobody asks for single rows")


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_anndata(store):
    raw = types.SimpleNamespace(X=store(X[:, ::-1]), var_names=pd.Index(NAMES[::-1]))
    adata = AnnData(store(X + 1), layers={"scaled": store(X)}, raw=raw)
    same_fit(adata.layers["scaled"], None)
    same_fit(AnnData(store(X)))
    same_fit(open_data(adata, key="layers/scaled"))
    assert isinstance(as_rows(adata), SparseRows) == (store is not np.asarray)
    rows = open_data(adata, key="raw/X")
    assert rows.feature_names == NAMES[::-1]
    assert open_data(adata).feature_names == NAMES
    with pytest.raises(ValueError, match=r"without a table 'layers/counts'; it has 'X', 'layers/scaled', 'raw/X'"):
        open_data(adata, key="layers/counts")
    with pytest.raises(ValueError, match="AnnData object without X"):
        fitted(AnnData(None))


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # of the library itself
def test_anndata_that_was_installed(tmp_path):
    anndata = pytest.importorskip("anndata")
    adata = anndata.AnnData(sparse.csr_matrix(X), var=pd.DataFrame(index=NAMES))
    same_fit(adata)
    adata.write_h5ad(tmp_path / "X.h5ad")
    same_fit(anndata.read_h5ad(tmp_path / "X.h5ad", backed="r"))


def test_names_that_repeat_are_told_apart_in_every_container():
    twice, unique = ["a", "b", "a", "d", "b"], ["a", "b", "a-1", "d", "b-1"]
    for data in (pd.DataFrame(X, columns=twice), AnnData(X, twice)):
        with pytest.warns(SparingWarning, match="several features are named 'a', 'b'"):
            assert list(fitted(data).feature_names_in_) == unique
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert list(fitted(pd.DataFrame(X, columns=NAMES)).feature_names_in_) == NAMES


def test_xarray():
    @library("xarray.core.dataarray")
    class DataArray:
        def __init__(self, data, names):
            self.data, self.shape, self.dims = data, data.shape, ("cell", "gene")
            self.coords = {} if names is None else {"gene": types.SimpleNamespace(values=np.array(names))}

    same_fit(DataArray(X, NAMES))
    same_fit(DataArray(X, None), None)
    real = pytest.importorskip("xarray")
    same_fit(real.DataArray(X, dims=("cell", "gene"), coords={"gene": NAMES}))
    with pytest.raises(TypeError, match="X is a xarray"):
        as_rows(real.Dataset({"a": ("x", [1.0, 2.0])}))


def test_arrow_tables():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: X[:, j] for j, name in enumerate(NAMES)})
    same_fit(table)
    same_fit(pa.concat_tables([table[:10], table[10:]]))
    same_fit(table.combine_chunks().to_batches()[0])
    holes = pa.table({"a": pa.array([1, None, 3], pa.int8()), "b": [True, False, None], "c": [Decimal("1.5")] * 3})
    np.testing.assert_array_equal(as_rows(holes).source, [[1, 1, 1.5], [np.nan, 0, 1.5], [3, np.nan, 1.5]])
    with pytest.raises(ValueError, match="values of type string in columns 'word'"):
        as_rows(pa.table({"a": [1.0], "word": ["x"]}))

    class Stream:
        def __arrow_c_stream__(self, schema=None):
            return table.__arrow_c_stream__(schema)

    same_fit(Stream())


def test_dask_data_frames():
    frames = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(X, columns=NAMES)
    same_fit(frames.from_pandas(frame, npartitions=3))
    with pytest.raises(ValueError, match="in columns 'word'"):
        as_rows(frames.from_pandas(frame.assign(word="x"), npartitions=2))
    gaps = frame.assign(a=pd.array([1, None, 3] * 10, dtype="Int64"))
    np.testing.assert_array_equal(as_rows(frames.from_pandas(gaps, npartitions=2)).source[:3, 0], [1, np.nan, 3])
    with pytest.raises(ValueError, match=r"X has shape \(30,\)"):
        as_rows(frames.from_pandas(frame, npartitions=2)["a"])


def test_sparse_frames_where_what_is_not_stored_is_missing():
    holes = np.where(X > 2.5, np.nan, X)
    frame = pd.DataFrame(holes, columns=NAMES).astype(pd.SparseDtype(float, np.nan))
    np.testing.assert_array_equal(as_rows(frame).source, holes)
    fills = {"a": pd.arrays.SparseArray([0.0, 1.0, 0.0]), "b": pd.arrays.SparseArray([5.0, np.nan, np.nan])}
    mixed = pd.DataFrame({**fills, "c": [1.0, 2.0, 3.0]})
    np.testing.assert_array_equal(as_rows(mixed).source, [[0, 5, 1], [1, np.nan, 2], [0, np.nan, 3]])


def test_columns_of_objects_are_named():
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    for odd in (pl.Series([[1.0], [2.0]]), pl.Series([{"x": 1.0}, {"x": 2.0}])):
        with pytest.raises(ValueError, match="in columns 'odd', but"):
            as_rows(frame.with_columns(odd=odd))
    with pytest.raises(ValueError, match="in columns 'odd', but"):
        as_rows(pd.DataFrame({"a": [1.0, 2.0], "odd": [object(), object()]}))
    with pytest.raises(ValueError, match=r"X has shape \(2,\)"):
        as_rows(frame["a"])


@pytest.mark.filterwarnings("ignore::UserWarning")  # polars: some of its types are new
def test_exact_types_of_polars():
    frame = pl.DataFrame({"a": [1, None, 3], "b": [Decimal("1.25"), Decimal("2.50"), None], "c": [1.0, 2.0, 3.0]})
    if hasattr(pl, "Int128"):
        frame = frame.with_columns(pl.col("a").cast(pl.Int128))
    np.testing.assert_array_equal(as_rows(frame).source, [[1, 1.25, 1], [np.nan, 2.5, 2], [3, np.nan, 3]])


def test_tensors():
    @library("torch")
    class Tensor:
        """What is used of one."""

        layout, dtype = "torch.strided", "torch.float64"

        def __init__(self, values, device="cpu", plain=False, numpy_knows=True):
            self._values, self.device = values, types.SimpleNamespace(type=device)
            self._plain, self._known, self.shape = plain, numpy_knows, values.shape

        def detach(self):
            return Tensor(self._values, plain=True, numpy_knows=self._known)

        def float(self):
            return Tensor(self._values, plain=True)

        def numpy(self):
            if not self._plain:
                raise RuntimeError("it requires grad")
            if not self._known:
                raise TypeError("bfloat16")
            return self._values

        def __getitem__(self, rows):
            return Tensor(self._values[rows])

    same_fit(Tensor(X), None)
    same_fit(Tensor(X, numpy_knows=False), None)
    assert as_rows(Tensor(X)).source is X
    with pytest.raises(TypeError, match=r"NumPy works on the CPU. Pass X.cpu\(\)"):
        as_rows(Tensor(X, device="cuda"))


class Unknown:
    """A table of a library that nobody here knows; it can be counted and indexed for ever."""

    def __len__(self):
        return sys.maxsize

    def __getitem__(self, _):
        raise AssertionError("it is refused before that")


def test_unknown_objects_are_refused_at_once_with_their_type():
    for take in (as_rows, fitted):
        with pytest.raises(TypeError, match=rf"X is a {__name__}.Unknown; a table of numbers is needed"):
            take(Unknown())
    with pytest.raises(TypeError, match="X is a generator"):
        as_rows(row for row in X)


def test_sequences_and_buffers_are_not_unknown():
    """The control: NumPy knows these."""
    from collections import deque

    for known in (X.tolist(), tuple(map(tuple, X)), deque(X.tolist()), memoryview(np.ascontiguousarray(X))):
        np.testing.assert_array_equal(as_rows(known).source, X)


def test_a_panel_is_told_by_its_names_in_any_order():
    """Positions were taken for names: other scores, without a word."""
    pa = pytest.importorskip("pyarrow")
    model = fitted(AnnData(X))
    order = [int(j) for j in model.support_[::-1]]
    names, panel = [NAMES[j] for j in order], X[:, order]
    for table in (AnnData(panel, names), pa.table(dict(zip(names, panel.T, strict=True)))):
        np.testing.assert_allclose(model.transform(table), model.transform(AnnData(X)), atol=1e-12)
    with pytest.raises(ValueError, match=f"X lacks '{names[0]}'"):
        model.transform(AnnData(panel, ["other", *names[1:]]))
