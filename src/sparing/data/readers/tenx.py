"""Folders of Cell Ranger: a matrix of genes by cells, and the names of both beside it."""

from __future__ import annotations

from pathlib import Path

from sparing import errors
from sparing.data.readers.base import LoadedRows, Options, readable
from sparing.data.readers.market import read_matrix
from sparing.data.readers.text_format import opened

WHAT = "a folder of Cell Ranger (matrix.mtx.gz, features.tsv.gz, barcodes.tsv.gz)"
FEATURES, CELLS = ("features", "genes"), ("barcodes",)


def open_rows(path: Path, options: Options) -> LoadedRows:
    """Cells by genes. Genes have the names of the second column of their list, or their ids where there is one."""
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
        raise errors.broken_file(path, WHAT, said)
    return LoadedRows(file, matrix.T, options, [gene[1] if len(gene) > 1 else gene[0] for gene in genes])


def sample_names(path: Path) -> list[str] | None:
    """The barcodes."""
    cells = _listed(path, CELLS)
    return None if cells is None else [cell[0] for cell in cells]


def _listed(path: Path, names: tuple[str, ...]) -> list[list[str]] | None:
    """The fields of each line of a list, where there is one."""
    for name in (f"{name}{ending}" for name in names for ending in (".tsv", ".tsv.gz")):
        if (path / name).exists():
            with readable(path / name, "a list of names"), opened(path / name, "utf-8-sig") as file:
                return [line.rstrip("\r\n").split("\t") for line in file]
    return None
