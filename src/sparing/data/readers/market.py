"""Matrix Market text files, and folders of Cell Ranger with names of genes and cells beside one, read whole."""

from __future__ import annotations

import gzip
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import IO, Any, cast

from scipy import io

from sparing import errors
from sparing.data.readers.base import NONZERO_BYTES, LoadedRows, Options, check_room, readable
from sparing.data.readers.text_format import opened

WHAT = "a Matrix Market file (.mtx)"
CHUNK = 2**20
"""Number of characters read at a time; longer than any line."""


FOLDER = "a folder of Cell Ranger (matrix.mtx.gz, features.tsv.gz, barcodes.tsv.gz)"
FEATURES, CELLS = ("features", "genes"), ("barcodes",)

AS_ARRAY: dict[str, Any] = {"spmatrix": False} if "spmatrix" in signature(io.mmread).parameters else {}
"""Versions of SciPy with sparse matrices and sparse arrays need to be told which."""

BESIDE = ("features.tsv", "features.tsv.gz", "genes.tsv", "genes.tsv.gz")
"""Lists of genes, as Cell Ranger writes them next to its matrix."""


def open_rows(path: Path, options: Options) -> LoadedRows:
    """Open a sparse matrix, or a dense one if the file says ``array``; ``.mtx.gz`` is unpacked while reading."""
    if path.is_dir():
        return _folder(path, options)
    table = read_matrix(path)
    rows = LoadedRows(path, table.T if options.transpose else table, options)
    if not options.transpose and any((path.parent / name).exists() for name in BESIDE):
        rows.notes.append(
            "it is read as samples by features, but the gene list next to it suggests that its rows are genes; open "
            "the "
            "folder for cells by genes with their names, or pass transpose=True"
        )
    return rows


def _folder(path: Path, options: Options) -> LoadedRows:
    """Open cells by genes. Genes are named by the second column of their list, or by their ids if there is only one
    column."""
    if options.transpose:
        raise errors.unreadable(
            path, "transpose=True was passed, but the folder is read as cells by genes. Leave it out"
        )
    file = next(path / name for name in ("matrix.mtx", "matrix.mtx.gz") if (path / name).exists())
    matrix = read_matrix(file)
    genes, cells = _listed(path, FEATURES), _listed(path, CELLS)
    if genes is None or cells is None:
        raise errors.unreadable(
            path,
            "features.tsv or barcodes.tsv (or .tsv.gz) is missing next to its matrix, which may be of genes by cells "
            "or of "
            f"cells by genes. Put them there, or open {file.name} itself, with transpose=True if its rows are genes",
        )
    if matrix.shape != (len(genes), len(cells)):
        said = f"{len(genes)} genes and {len(cells)} cells are listed for a matrix of {matrix.shape}"
        raise errors.broken_file(path, FOLDER, said)
    return LoadedRows(file, matrix.T, options, [gene[1] if len(gene) > 1 else gene[0] for gene in genes])


def sample_names(path: Path) -> list[str] | None:
    """The barcodes."""
    cells = _listed(path, CELLS)
    return None if cells is None else [cell[0] for cell in cells]


def _listed(path: Path, names: tuple[str, ...]) -> list[list[str]] | None:
    """The fields of each line of a list, if the file exists."""
    for name in (f"{name}{ending}" for name in names for ending in (".tsv", ".tsv.gz")):
        if (path / name).exists():
            with readable(path / name, "a list of names"), opened(path / name, "utf-8-sig") as file:
                return [line.rstrip("\r\n").split("\t") for line in file]
    return None


def read_matrix(path: Path) -> Any:
    """Read the matrix, if it is complete and fits into memory."""
    with readable(path, WHAT):
        length, ended = _text_of(path)
        n, d, entries, *_ = io.mminfo(path)
        if min(n, d) < 1:
            raise errors.not_a_matrix(path, (n, d))
        if entries > length:  # each entry has two characters, or its mirror image has
            raise errors.broken_file(path, WHAT, f"it claims to have {entries} entries and is too short for them")
        check_room(path, NONZERO_BYTES * entries + (0 if ended else 2 * length))
        return io.mmread(path if ended else _with_an_end(path), **AS_ARRAY)


def _opened(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")


def _text_of(path: Path) -> tuple[int, bool]:
    """The number of characters, and whether the last line is terminated; an error if some are not text.

    SciPy's parser reads beyond the text, and crashes the process, at a zero byte and if the last line continues after
    its number without an end.
    """
    length, last = 0, b""
    with _opened(path) as file:
        while chunk := file.read(CHUNK):
            if b"\0" in chunk:
                raise errors.broken_file(path, WHAT, "it holds bytes that are not text")
            if len(chunk) == CHUNK and b"\n" not in chunk:
                raise errors.broken_file(path, WHAT, f"a line has more than {CHUNK} characters")
            length, last = length + len(chunk), chunk[-1:]
    return length, last == b"\n"


def _with_an_end(path: Path) -> BytesIO:
    with _opened(path) as file:
        return BytesIO(file.read() + b"\n")
