"""Groups of HDF5 and Zarr: selection of the table, sparse tables of AnnData and Cell Ranger, feature names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.readers.compressed import is_tenx, layout_of, whole


def table_key(path: Path, top: Any, parts: Callable[[], Iterable[tuple[str, Any]]], key: str | None) -> str:
    """The key of the table: ``key``, otherwise X, otherwise the only table of a file that is not AnnData.

    AnnData files store scores and graphs as well, which are never taken for X.
    """
    if key is not None and key in top and is_table(top[key]):
        return key
    if key is None and "X" in top:
        return "X"
    found = tables(parts())
    if key is not None:
        raise errors.no_part(path, key, found)
    if is_annotated(top):
        there = f"; it holds {errors.listed(found)}. Choose one with key={found[0]!r}" if found else ""
        raise errors.unreadable(path, f"it is AnnData without X{there or '. Write X, with a row per sample'}")
    if len(found) != 1:
        raise errors.which_part(path, found)
    return found[0]


def tables(parts: Iterable[tuple[str, Any]]) -> list[str]:
    """Two-dimensional arrays and sparse groups, without the members of sparse groups."""
    found: list[str] = []
    for name, part in sorted(parts, key=lambda item: item[0]):
        if not any(name.startswith(f"{group}/") for group in found) and is_table(part, n_dimensions=2):
            found.append(name)
    return found


def is_table(part: Any, n_dimensions: int | None = None) -> bool:
    """Whether it is an array (with this number of dimensions) or a sparse group."""
    if hasattr(part, "dtype"):
        return n_dimensions is None or len(part.shape) == n_dimensions
    return layout_of(part) is not None or is_tenx(part)


def is_annotated(top: Any) -> bool:
    """Whether it is AnnData, by its attribute or by its tables of observations and variables."""
    return str(_text(top.attrs.get("encoding-type", ""))) == "anndata" or ("obs" in top and "var" in top)


def feature_names(path: Path, top: Any, key: str) -> list[str] | None:
    """Names of AnnData's variables for X, its layers and the raw counts; those of Cell Ranger's features."""
    if not hasattr(top[key], "dtype") and is_tenx(top[key]):
        group = top[key]
        listed = next((part for part in ("features/name", "gene_names") if part in group), None)
        return None if listed is None else [_text(value) for value in whole(path, group[listed])]
    above = key.rpartition("/")[0]
    last = key.rpartition("/")[2]
    if above.rpartition("/")[2] == "layers":
        above, last = above.rpartition("/")[0], "X"
    where = f"{above}/var" if above else "var"
    return row_names(path, top[where]) if last == "X" and where in top else None


def row_names(path: Path, table: Any) -> list[str] | None:
    """The row names of a table of AnnData."""
    if hasattr(table, "dtype"):  # files of AnnData before 0.7: one array of records
        fields = table.dtype.names or ()
        field = next((f for f in ("index", "_index") if f in fields), fields[0]) if fields else None
        values = None if field is None else whole(path, table)[field]
    else:
        values = _column(path, table, str(_text(table.attrs.get("_index", "_index"))))
    return None if values is None else [_text(value) for value in values]


def sample_column(path: Path, top: Any, name: str) -> list[str]:
    """A column of AnnData's observations as text; missing values are empty strings."""
    if "obs" not in top:
        raise errors.unreadable(path, f"column {name!r} cannot be taken from it: it has no table of samples (obs)")
    obs = top["obs"]
    there = obs.dtype.names or () if hasattr(obs, "dtype") else sorted(set(obs) - {"__categories"})
    if name not in there:
        raise errors.no_column(path, name, list(there))
    found = text_column(path, obs, name)
    if found is None:
        raise errors.unreadable(path, f"column {name!r} of its samples is neither text nor numbers nor categories")
    return found


def text_column(path: Path, table: Any, name: str) -> list[str] | None:
    """A column of a table of AnnData as text; missing values are empty strings."""
    if hasattr(table, "dtype"):  # files of AnnData before 0.7
        values = whole(path, table)[name] if name in (table.dtype.names or ()) else None
    else:
        values = _column(path, table, name)
    return None if values is None else ["" if value is None or value != value else _text(value) for value in values]


def _column(path: Path, table: Any, name: str) -> Any:
    """A column: plain, categorical (negative codes are missing) or with a mask of missing values."""
    if name not in table:
        return None
    column = table[name]
    if hasattr(column, "dtype"):
        return whole(path, column)
    if "categories" in column and "codes" in column:
        categories, codes = whole(path, column["categories"]), whole(path, column["codes"])
        return [categories[code] if code >= 0 else None for code in codes]
    if "values" not in column:
        return None
    values = whole(path, column["values"])
    mask = whole(path, column["mask"]) if "mask" in column else np.zeros(len(values), dtype=bool)
    return [None if gone else value for value, gone in zip(values, mask, strict=True)]


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
