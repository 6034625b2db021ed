"""Rows from files of any common format, read in blocks: ``open_data``.

One module for each family of formats. A module has ``open_rows(path, options)``, which checks the file and returns its
rows, and imports the package it needs only then.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from sparing import errors
from sparing.data.readers.base import BLOCK_BYTES, FileRows, Options

READERS = {
    ".npy": "npy",
    ".npz": "npz",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".h5ad": "hdf5",
    ".zarr": "zarrs",
    ".parquet": "parquet",
    ".csv": "text",
    ".tsv": "text",
    ".tab": "text",
    ".mtx": "market",
    ".mtx.gz": "market",
    ".bed": "plink",
}
"""The module that reads each ending."""

PARTED = {"npz", "hdf5", "zarrs"}
"""Modules whose files hold several tables, told apart by ``key``."""

__all__ = ["BLOCK_BYTES", "READERS", "FileRows", "open_data"]


def open_data(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    block_bytes: int = BLOCK_BYTES,
    scaling: str | None = None,
) -> FileRows:
    """Open a file of data for any estimator, which reads it in blocks of rows as often as it needs.

    Parameters
    ----------
    path : str or path
        The format is told from its ending: ``.npy``, ``.npz``, ``.h5``, ``.hdf5``, ``.h5ad``, ``.zarr``, ``.parquet``,
        ``.csv``, ``.tsv``, ``.tab``, ``.mtx``, ``.mtx.gz`` or ``.bed`` (PLINK).
    key : str, optional
        Which table of a file that holds several: ``"X"``, ``"layers/counts"``. Not needed where there is only one, or
        one named X.
    block_bytes : int
        Memory for one block of rows. Of ``.h5``, ``.zarr`` and ``.parquet`` the next block is read while one is worked
        on, so that there are two. Files that can only be read as a whole (``.npz``, ``.mtx``) are.
    scaling : {None, "binomial"}
        Genotypes alone: divide each SNP by sqrt(2 p (1 - p)), its deviation in equilibrium. See the notes.

    Returns
    -------
    rows : FileRows
        With ``shape``, ``dtype``, ``feature_names`` and ``left_out`` (columns that hold no numbers). It may be used in
        ``with``, which gives temporary files back early.

    Notes
    -----
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
    if not isinstance(path, (str, os.PathLike)) or isinstance(os.fspath(path), bytes):
        raise TypeError(
            f"open_data was given a {type(path).__name__}; the path of a file is needed, as a str or pathlib.Path. "
            "Data that are in memory already go straight to fit."
        )
    place = Path(path).expanduser()
    if isinstance(block_bytes, bool) or not hasattr(block_bytes, "__index__"):
        raise errors.not_an_integer("block_bytes", block_bytes)
    if block_bytes < 1:
        raise errors.not_positive("block_bytes", block_bytes)
    name = place.name.lower()
    reader = next((READERS[ending] for ending in READERS if name.endswith(ending)), None)
    if reader is None:
        raise errors.unreadable(
            path, f"its ending names no known format. Known are {', '.join(READERS)}; rename or convert the file"
        )
    if not place.exists():
        raise errors.no_such_file(path)
    if place.is_dir() != (reader == "zarrs"):
        wrong, right = ("folder", "file") if place.is_dir() else ("file", "folder")
        raise errors.unreadable(path, f"it is a {wrong}; with this ending a {right} is expected. Correct the path")
    if key is not None and (reader not in PARTED or not isinstance(key, str)):
        raise errors.key_not_used(path, key)
    if scaling is not None and reader != "plink":
        raise errors.unreadable(
            path,
            f"scaling={scaling!r} was passed, which is for genotypes (.bed) alone. Leave it out; most estimators have "
            "scale=True",
        )
    module: Any = import_module(f"sparing.data.readers.{reader}")
    return cast(FileRows, module.open_rows(place, Options(key, int(block_bytes), scaling)))
