"""``open_data``: rows from files of common formats, read in blocks.

One module for each family of formats. A module has ``open_rows(path, options)``, which imports the package it needs,
checks the file and returns its rows.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from sparing import errors
from sparing.data.containers import anndata_table, is_anndata
from sparing.data.readers.base import BLOCK_BYTES, FileRows, Options
from sparing.data.readers.parquet import holds_parquet
from sparing.data.readers.text_format import ENDINGS
from sparing.data.rows import Rows

READERS = {
    ".npy": "npy",
    ".npz": "npz",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".h5ad": "hdf5",
    ".zarr": "zarrs",
    ".parquet": "parquet",
    **dict.fromkeys(ENDINGS, "text"),
    ".mtx": "market",
    ".mtx.gz": "market",
    ".bed": "plink",
}
"""The reader module of each file extension."""

USED_BY = {
    "key": {"npz", "hdf5", "zarrs"},
    "scaling": {"plink"},
    "transpose": {"market"},
    "delimiter": {"text"},
    "decimal": {"text"},
}
"""Modules that support an option; others raise an error."""

__all__ = ["BLOCK_BYTES", "READERS", "FileRows", "open_data", "open_rows"]


def open_data(
    path: str | os.PathLike[str] | Any,
    *,
    key: str | None = None,
    block_bytes: int = BLOCK_BYTES,
    scaling: str | None = None,
    transpose: bool = False,
    drop: Iterable[str] = (),
    drop_unreadable: bool = False,
    delimiter: str | None = None,
    decimal: str | None = None,
) -> Any:
    """Open a file of data for any estimator, which reads it in blocks of rows as often as it needs.

    Parameters
    ----------
    path : str or path
        The file extension determines the format: ``.npy``, ``.npz``, ``.h5``, ``.hdf5``, ``.h5ad``, ``.zarr``,
        ``.parquet``, ``.csv``, ``.tsv``, ``.tab``, ``.txt`` (these four also with ``.gz``, ``.bz2`` or ``.zst``
        appended), ``.mtx``, ``.mtx.gz`` or ``.bed`` (PLINK). A folder holds Parquet files, or what Cell Ranger writes:
        ``matrix.mtx.gz``, ``features.tsv.gz`` and ``barcodes.tsv.gz``. An AnnData object in memory is accepted too, to
        use ``key``.
    key : str, optional
        Table to read from a file that holds several: ``"X"``, ``"layers/counts"``, ``"raw/X"``. Not needed if there is
        only one, or one named X. The default for AnnData is X.
    block_bytes : int
        Memory for one block of rows. For ``.h5``, ``.zarr`` and ``.parquet`` the next block is read while one is
        processed, so there are two in memory. ``.npz`` and ``.mtx`` files are read as a whole.
    scaling : {None, "binomial"}
        Genotypes only: divide each SNP by sqrt(2 p (1 - p)), its standard deviation in equilibrium. See the notes.
    transpose : bool
        Matrix Market only: the file has one row per feature, such as genes by cells.
    drop : iterable of str
        Columns of a text table or of Parquet that are not features, such as labels.
    drop_unreadable : bool
        Drop, with a warning, columns of a text table that are mostly numeric but have unreadable cells. By default such
        a cell raises an error that names it.
    delimiter, decimal : str, optional
        Delimiter of the cells of a text table, and decimal sign (``"."`` or ``","``). By default both are inferred from
        the file: a comma is a decimal sign only if cells are separated by ``;``.

    Returns
    -------
    rows : FileRows
        With ``shape``, ``dtype``, ``feature_names``, ``left_out`` (non-numeric columns) and ``notes``. Use it in
        ``with`` to delete temporary files early.

    Warns
    -----
    SparingWarning
        If a non-numeric column is dropped, if features with the same name are numbered, or if a column looks like row
        numbers or class codes.

    Notes
    -----
    Cells of a text table that are empty or say ``NA``, ``N/A``, ``NaN``, ``null``, ``none``, ``-``, ``.`` or ``?`` are
    missing values. An estimator rejects them or, with ``missing="mean"``, replaces them.

    Of ``.bed`` files the copies of A1, the first allele in ``.bim``, are counted. Missing genotypes are always replaced
    by the mean of their SNP, as is usual in genetics, whatever ``missing`` an estimator has. Means and divisors are
    those of the people in the file for ``fit``, which keeps them and the names of the alleles (``coding_``);
    a fitted model applies its own to ``.bed`` files, however these were opened. SNPs whose id is ``.`` or repeats are
    named chromosome:position:allele:allele, the alleles in alphabetical order.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from sparing import SparseEncoder
    >>> file = tempfile.mkdtemp() + "/X.npy"
    >>> np.save(file, np.random.default_rng(0).standard_normal((100, 6)))
    >>> SparseEncoder(2, n_nonzero=3).fit(open_data(file)).components_.shape
    (2, 6)
    """
    if is_anndata(path):
        return _rows_of_anndata(path, key)
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        raise TypeError(
            f"open_data was given a {type(path).__name__}; the path of a file is needed, as a str or pathlib.Path. "
            "Pass data that are already in memory to fit directly."
        )
    if isinstance(block_bytes, bool) or not hasattr(block_bytes, "__index__"):
        raise errors.not_an_integer("block_bytes", block_bytes)
    if block_bytes < 1:
        raise errors.not_positive("block_bytes", block_bytes)
    for name, flag in (("transpose", transpose), ("drop_unreadable", drop_unreadable)):
        if not isinstance(flag, bool):
            raise errors.not_a_flag(name, flag)
    if decimal not in {None, ".", ","}:
        raise errors.unknown_choice("decimal", decimal, [".", ","])
    if delimiter is not None and (not isinstance(delimiter, str) or len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ValueError(f"delimiter={delimiter!r} must be a single character, such as ',', ';' or '\\t'.")
    columns = (drop,) if isinstance(drop, str) else tuple(drop)
    options = Options(key, int(block_bytes), scaling, transpose, columns, drop_unreadable, delimiter, decimal)
    rows = open_rows(path, options)
    for name in columns:
        if name in (rows.feature_names or []):
            why = f"drop={list(columns)!r} was passed, which applies only to columns of text tables and Parquet"
            raise errors.unreadable(path, f"{why}. Leave it out, or write the file without them")
        if name not in rows.left_out:
            raise errors.no_column(path, name, [*(rows.feature_names or []), *rows.left_out])
    for note in rows.all_notes(columns):
        warnings.warn(f"{str(path)!r}: {note}.", errors.SparingWarning, stacklevel=2)
    return rows


def _rows_of_anndata(adata: Any, key: str | None) -> Rows:
    """A table of an AnnData object in memory, with names."""
    from sparing.data.ingest import as_rows

    table, names = anndata_table(adata, key)
    rows = as_rows(table)
    rows.feature_names = names
    return rows


def open_rows(path: str | os.PathLike[str], options: Options) -> FileRows:
    """Open a file; ``notes`` collects remarks for the caller to report."""
    place = Path(path).expanduser()
    reader = _reader_of(place, path)
    _check_used(path, reader, options)
    module: Any = import_module(f"sparing.data.readers.{reader}")
    return cast(FileRows, module.open_rows(place, options))


def _reader_of(place: Path, path: object) -> str:
    """The module that reads this file or folder."""
    name = place.name.lower()
    reader = next((READERS[ending] for ending in READERS if name.endswith(ending)), None)
    if place.is_dir() and reader != "zarrs":
        reader = _reader_of_folder(place, path)
    if reader is None:
        raise errors.unreadable(
            path, f"its file extension is not supported. Supported are {', '.join(READERS)}; rename or convert the file"
        )
    if not place.exists():
        raise errors.no_such_file(path)
    if reader == "zarrs" and not place.is_dir():
        raise errors.unreadable(path, "it is a file, but for this extension a folder is expected. Correct the path")
    return reader


def _reader_of_folder(place: Path, path: object) -> str:
    """Folders that are one table."""
    if any((place / name).exists() for name in ("matrix.mtx", "matrix.mtx.gz")):
        return "market"
    if holds_parquet(place):
        return "parquet"
    raise errors.unreadable(
        path,
        "it is a folder; a file is expected, or a folder with matrix.mtx.gz, features.tsv.gz and barcodes.tsv.gz, with "
        "Parquet files, or one whose name ends in .zarr. Correct the path",
    )


def _check_used(path: object, reader: str, options: Options) -> None:
    """Raise an error for options that would change nothing."""
    if options.key is not None and (reader not in USED_BY["key"] or not isinstance(options.key, str)):
        raise errors.key_not_used(path, options.key)
    if options.scaling is not None and reader not in USED_BY["scaling"]:
        raise errors.unreadable(
            path,
            f"scaling={options.scaling!r} was passed, which applies only to genotypes (.bed). Leave it out; most "
            "estimators have scale=True",
        )
    for name, readers in USED_BY.items():
        value = getattr(options, name)
        if name not in {"key", "scaling"} and value and reader not in readers:
            suits = ", ".join(ending for ending, known in READERS.items() if known in readers)
            raise errors.unreadable(path, f"{name}={value!r} was passed, which applies only to {suits}. Leave it out")
