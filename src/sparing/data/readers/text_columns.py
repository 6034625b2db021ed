"""Text columns of a file: names of samples or features, and class labels."""

from __future__ import annotations

from pathlib import Path

from sparing import errors
from sparing.data.readers import hdf5, parquet, text
from sparing.data.readers.base import readable

TEXT = {".csv", ".tsv", ".tab"}
COLUMNAR = {*TEXT, ".parquet"}
"""Endings of text tables, and of all files with columns of text."""


def read_column(path: str | Path, name: str) -> list[str]:
    """The cells of the column ``name`` of a CSV, TSV or Parquet file, as text; a missing one is the empty string."""
    place = Path(path).expanduser()
    if place.suffix.lower() == ".parquet":
        with readable(place, parquet.WHAT), parquet.opened(place) as file:
            if name not in file.schema_arrow.names:
                raise errors.no_column(path, name, file.schema_arrow.names)
            cells = file.read(columns=[name]).column(name).to_pylist()
            return ["" if cell is None else str(cell) for cell in cells]
    if place.suffix.lower() not in TEXT:
        raise errors.unreadable(
            path,
            f"column {name!r} cannot be taken from such a file; labels come from .csv, .tsv, .tab and .parquet files",
        )
    with readable(place, text.WHAT):
        header = text.header_of(place)
        if name not in header:
            raise errors.no_column(path, name, header)
        j = header.index(name)
        return [row[j].strip() for rows in text.lines_of(place, 1024) for row in rows]


def sample_names(path: str | Path) -> list[str] | None:
    """What a format with a place for them calls the samples: AnnData's observations, PLINK's people (.fam)."""
    place = Path(path).expanduser()
    if place.suffix.lower() == ".h5ad":
        return hdf5.sample_names(place)
    if place.suffix.lower() != ".bed":
        return None
    people = place.with_suffix(".fam")
    with readable(people, "a PLINK file of people (.fam)"):
        return [line.split()[1] for line in read_lines(people)]


def column_place(path: str | Path, name: str) -> int | None:
    """Where a column of a text table is, if just one has this name."""
    place = Path(path).expanduser()
    if place.suffix.lower() not in TEXT:
        return None
    header = text.header_of(place)
    return header.index(name) if header.count(name) == 1 else None


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file, without blanks around them and without empty ones at the end."""
    place = Path(path).expanduser()
    with readable(place, "a text file in UTF-8 with one name on each line"):
        return [line.strip() for line in place.read_text(encoding="utf-8-sig").rstrip().split("\n")]
