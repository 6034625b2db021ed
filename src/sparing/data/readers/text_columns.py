"""Text columns of a file: names of samples or features, and class labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sparing import errors
from sparing.data.readers import annotated, hdf5, market, parquet, text, text_format, zarrs
from sparing.data.readers.base import readable

GROUPED: dict[str, Any] = {".h5ad": hdf5, ".h5": hdf5, ".zarr": zarrs}
"""Formats with tables of samples and features beside X."""


def has_columns(path: str | Path) -> bool:
    """Whether it is a file with text columns."""
    place = Path(path).expanduser()
    return text_format.is_text(place) or _is_parquet(place)


def _is_parquet(place: Path) -> bool:
    return place.suffix.lower() == ".parquet" or (place.is_dir() and parquet.holds_parquet(place))


def is_annotated_file(path: str | Path) -> bool:
    """Whether its extension is that of AnnData, which stores columns of samples in ``obs``."""
    return Path(path).suffix.lower() in {".h5ad", ".zarr"}


def _cells(place: Path, name: str) -> list[str]:
    """A column of a Parquet file."""
    with readable(place, parquet.WHAT), parquet.opened(place) as file:
        if name not in file.schema_arrow.names:
            raise errors.no_column(place, name, file.schema_arrow.names)
        cells = file.read(columns=[name]).column(name).to_pylist()
        return ["" if cell is None else str(cell) for cell in cells]


def read_column(path: str | Path, name: str, delimiter: str | None = None) -> list[str]:
    """The cells of a column of a text table, a Parquet file or AnnData's ``obs``, as text; "" for missing ones."""
    place = Path(path).expanduser()
    if is_annotated_file(place):
        with GROUPED[place.suffix.lower()].tables_of(place) as top:
            return annotated.sample_column(place, top, name)
    if _is_parquet(place):
        return [cell for file in parquet.files_of(place) for cell in _cells(file, name)]
    if not text_format.is_text(place):
        raise errors.unreadable(
            path,
            f"column {name!r} cannot be taken from such a file; labels come from text tables (.csv, .tsv, .tab, .txt), "
            ".parquet files and the samples (obs) of AnnData (.h5ad, .zarr)",
        )
    with readable(place, text.WHAT):
        form = text_format.format_of(place, delimiter)
        if name not in form.header:
            raise errors.no_column(path, name, form.header)
        j = form.header.index(name)
        return [row[j].strip() for _, row in form.rows()]


def sample_names(path: str | Path) -> list[str] | None:
    """Sample names of formats that store them: AnnData's observations, PLINK's people (.fam)."""
    place = Path(path).expanduser()
    if is_annotated_file(place):
        with GROUPED[place.suffix.lower()].tables_of(place) as top:
            return annotated.row_names(place, top["obs"]) if "obs" in top else None
    if place.is_dir() and not _is_parquet(place):
        return market.sample_names(place)
    if place.suffix.lower() != ".bed":
        return None
    people = place.with_suffix(".fam")
    with readable(people, "a PLINK file of people (.fam)"):
        return [line.split()[1] for line in read_lines(people)]


def feature_column(path: str | Path, name: str) -> tuple[list[str], list[str]] | None:
    """Names of AnnData's variables and a column of their table (``var``), if the file has both."""
    place = Path(path).expanduser()
    if (reader := GROUPED.get(place.suffix.lower())) is None:
        return None
    with reader.tables_of(place) as top:
        if "var" not in top:
            return None
        names, cells = annotated.row_names(place, top["var"]), annotated.text_column(place, top["var"], name)
    return None if names is None or cells is None else (names, cells)


def column_place(path: str | Path, name: str) -> int | None:
    """The index of a column of a text table; an error unless exactly one has this name."""
    place = Path(path).expanduser()
    if not text_format.is_text(place):
        return None
    header = text_format.format_of(place).header
    return header.index(name) if header.count(name) == 1 else None


def read_lines(path: str | Path) -> list[str]:
    """The stripped lines of a text file, without empty ones at the end."""
    place = Path(path).expanduser()
    with readable(place, "a text file in UTF-8 with one name on each line"):
        return [line.strip() for line in place.read_text(encoding="utf-8-sig").rstrip().split("\n")]
