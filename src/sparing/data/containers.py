"""Tables of other libraries in memory: AnnData, xarray, Arrow, Dask data frames, torch tensors.

They are recognised by their attributes, so that none of these libraries is imported or needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sparing import errors
from sparing.errors import listed


class Named(NamedTuple):
    """A table of a type that the package supports, and the names of its columns."""

    table: Any
    names: list[str] | None


def of_library(X: Any, name: str) -> bool:
    """Whether its class, or a base class, is from that library."""
    return any(kind.__module__.partition(".")[0] == name for kind in type(X).__mro__)


def is_anndata(X: Any) -> bool:
    """Whether it is an AnnData object."""
    return of_library(X, "anndata") and hasattr(X, "var_names") and hasattr(X, "layers")


def column_names(X: Any) -> list[Any]:
    """Names of the columns of a data frame; none for anything else."""
    return list(X.columns) if is_frame(X) else []


def is_frame(X: Any) -> bool:
    """Whether it is a data frame in memory, of pandas, polars or similar."""
    return hasattr(X, "columns") and hasattr(X, "to_numpy")


def is_dask(X: Any) -> bool:
    """Whether this is a Dask array, without importing Dask."""
    return type(X).__module__.startswith("dask.array") and hasattr(X, "to_delayed")


def is_lazy(X: Any) -> bool:
    """Whether it is a polars LazyFrame, without asking for its columns, for which polars would execute the plan."""
    return type(X).__name__ == "LazyFrame"


def is_source(X: Any) -> bool:
    """Whether X is a table with row slices: an HDF5 data set, a Zarr array, or a user's class."""
    if isinstance(X, np.ndarray) or sparse.issparse(X) or is_frame(X):
        return False
    shape, dtype = getattr(X, "shape", None), getattr(X, "dtype", None)
    if not isinstance(shape, tuple) or len(shape) < 2 or dtype is None or not hasattr(type(X), "__getitem__"):
        return False
    try:
        np.dtype(dtype)
    except TypeError:  # a dtype of another array library
        return False
    return True


def unwrapped(X: Any) -> Named:
    """The table in X; X itself if it is none of these."""
    if is_anndata(X):
        return anndata_table(X, None)
    if of_library(X, "xarray") and hasattr(X, "dims") and hasattr(X, "data"):
        return _xarray_table(X)
    if of_library(X, "pyarrow") and hasattr(X, "schema") and hasattr(X, "column"):
        return _arrow_table(X)
    if hasattr(X, "to_dask_array") and hasattr(X, "columns"):
        return _dask_frame(X)
    if of_library(X, "torch") and hasattr(X, "detach"):
        return Named(_tensor(X), None)
    if not is_frame(X) and hasattr(X, "__arrow_c_stream__"):
        try:
            import pyarrow as pa
        except ModuleNotFoundError:
            raise errors.needs_package(f"A {type(X).__name__}", "pyarrow", "io") from None
        try:
            return _arrow_table(pa.table(X))
        except pa.ArrowInvalid:  # one column, such as a Series of polars
            raise errors.ShapeError(tuple(getattr(X, "shape", (len(X),)))) from None
    return Named(X, None)


def anndata_table(adata: Any, key: str | None) -> Named:
    """X of AnnData, or ``layers/...`` or ``raw/X``, as in a file; backed tables are read from their file."""
    there = ["X", *(f"layers/{name}" for name in adata.layers), *(["raw/X"] if adata.raw is not None else [])]
    if key is not None and key not in there:
        raise ValueError(f"X is an AnnData object without a table {key!r}; it has {listed(there)}. Pass one of these.")
    holder = adata.raw if key == "raw/X" else adata
    names = [str(name) for name in holder.var_names]
    table = holder.X if key in {None, "X", "raw/X"} else adata.layers[key.removeprefix("layers/")]
    if table is None:
        raise ValueError(f"X is an AnnData object without X; it has {listed(there[1:])}. Pass one of these as key.")
    if not hasattr(table, "toarray") and hasattr(table, "to_memory"):  # a sparse matrix in the file of backed AnnData
        from sparing.data.readers import open_rows
        from sparing.data.readers.base import Options

        table = open_rows(str(adata.filename), Options(key=key or "X"))
    return Named(table, names)


def _xarray_table(array: Any) -> Named:
    """A DataArray, with the names of its second dimension if it has any."""
    if len(array.dims) != 2:
        raise errors.ShapeError(tuple(array.shape))
    along = array.dims[1]
    names = [str(name) for name in array.coords[along].values] if along in array.coords else None
    return Named(array.data, names)


def _arrow_table(table: Any) -> Named:
    """The columns of a table or batch of Arrow as one array; nulls are NaN."""
    from sparing.data.readers.parquet import kind_of, values_of

    names = [str(name) for name in table.schema.names]
    columns = [table.column(j) for j in range(len(names))]
    kinds = [kind_of(column.type, bool(column.null_count)) for column in columns]
    strange = [name for name, kind in zip(names, kinds, strict=True) if kind is None]
    if strange:
        raise not_numeric({str(columns[names.index(name)].type) for name in strange}, strange)
    array = np.empty(
        (len(columns[0]) if columns else 0, len(columns)),
        dtype=np.result_type(*(kind for kind in kinds if kind is not None)) if columns else float,
        order="F",
    )
    for j, column in enumerate(columns):
        array[:, j] = values_of(column.combine_chunks() if hasattr(column, "combine_chunks") else column)
    return Named(array, names)


def _dask_frame(frame: Any) -> Named:
    """A data frame of Dask as an array with known lengths, which takes one pass."""
    if getattr(frame, "ndim", 2) != 2:  # a Series of Dask
        raise errors.ShapeError((len(frame),))
    names = list(frame.columns)
    kinds = list(frame.dtypes)
    strange = [name for name, kind in zip(names, kinds, strict=True) if getattr(kind, "kind", "O") not in "fiub"]
    if strange:
        raise not_numeric({str(kinds[names.index(name)]) for name in strange}, strange)
    if nullable := [name for name, kind in zip(names, kinds, strict=True) if not isinstance(kind, np.dtype)]:
        frame = frame.astype(dict.fromkeys(nullable, np.float64))  # NumPy would convert their gaps to objects
    array = frame.to_dask_array(lengths=True)
    if not is_dask(array):
        raise TypeError(f"X is a {type(frame).__name__}, and to_dask_array gives a {type(array).__name__}.")
    return Named(array, [str(name) for name in names] if all(isinstance(name, str) for name in names) else None)


def _tensor(tensor: Any) -> Any:
    """The numbers of a tensor in main memory, not copied if NumPy has their type."""
    if getattr(getattr(tensor, "device", None), "type", "cpu") != "cpu":
        raise TypeError(f"X is a {type(tensor).__name__} on {tensor.device}; NumPy works on the CPU. Pass X.cpu().")
    if "sparse" in str(getattr(tensor, "layout", "")):
        raise TypeError(
            f"X is a {type(tensor).__name__} of layout {tensor.layout}. Pass X.to_dense(), or a SciPy sparse matrix."
        )
    plain = tensor.detach()
    try:
        return plain.numpy()
    except TypeError:  # a type that NumPy does not have, such as bfloat16
        return plain.float().numpy()


def not_numeric(dtypes: Iterable[object], columns: Sequence[object] = ()) -> errors.NotNumericError:
    """The error for strings, objects or dates among the values."""
    where = f" in columns {listed(columns)}" if len(columns) else ""
    kinds = " and ".join(sorted(map(str, dtypes)))
    return errors.NotNumericError(
        f"X holds values of type {kinds}{where}, but columns must be numeric: every argument must be a real number and "
        "a string or an object is not a number. Drop or encode such columns (sklearn.preprocessing.OneHotEncoder), or "
        "convert with X.astype(float)."
    )
