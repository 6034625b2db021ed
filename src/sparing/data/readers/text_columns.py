"""Text columns of a file: names of samples or features, and class labels."""

from __future__ import annotations

from pathlib import Path

from sparing import errors
from sparing.data.readers import hdf5, parquet, tenx, text, text_format, zarrs
from sparing.data.readers.base import readable


def has_columns(path: str | Path) -> bool:
    """Is it a file with columns of text?"""
    place = Path(path).expanduser()
    return text_format.is_text(place) or _is_parquet(place)


def _is_parquet(place: Path) -> bool:
    return place.suffix.lower() == ".parquet" or (place.is_dir() and parquet.holds_parquet(place))


def is_annotated_file(path: str | Path) -> bool:
    """Is it AnnData, by its ending, whose columns of samples stand beside its table?"""
    return Path(path).suffix.lower() in {".h5ad", ".zarr"}


def _cells(place: Path, name: str) -> list[str]:
    """A column of a Parquet file."""
    with readable(place, parquet.WHAT), parquet.opened(place) as file:
        if name not in file.schema_arrow.names:
            raise errors.no_column(place, name, file.schema_arrow.names)
        cells = file.read(columns=[name]).column(name).to_pylist()
        return ["" if cell is None else str(cell) for cell in cells]


def read_column(path: str | Path, name: str, delimiter: str | None = None) -> list[str]:
    """The cells of a column of a text table, a Parquet file or AnnData's ``obs``, as text; "" where one is missing."""
    place = Path(path).expanduser()
    if is_annotated_file(place):
        if place.suffix.lower() == ".zarr":
            return zarrs.sample_column(place, name)
        return hdf5.sample_column(place, name)
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
    """What a format with a place for them calls the samples: AnnData's observations, PLINK's people (.fam)."""
    place = Path(path).expanduser()
    if place.suffix.lower() == ".h5ad":
        return hdf5.sample_names(place)
    if place.suffix.lower() == ".zarr":
        return zarrs.sample_names(place)
    if place.is_dir() and not _is_parquet(place):
        return tenx.sample_names(place)
    if place.suffix.lower() != ".bed":
        return None
    people = place.with_suffix(".fam")
    with readable(people, "a PLINK file of people (.fam)"):
        return [line.split()[1] for line in read_lines(people)]


def feature_column(path: str | Path, name: str) -> tuple[list[str], list[str]] | None:
    """Names of AnnData's variables and a column of their table (``var``), if the file has both."""
    place = Path(path).expanduser()
    readers = {".h5ad": hdf5.feature_column, ".h5": hdf5.feature_column, ".zarr": zarrs.feature_column}
    if (read := readers.get(place.suffix.lower())) is None:
        return None
    names, cells = read(place, name)
    return None if names is None or cells is None else (names, cells)


def column_place(path: str | Path, name: str) -> int | None:
    """Where a column of a text table is, if just one has this name."""
    place = Path(path).expanduser()
    if not text_format.is_text(place):
        return None
    header = text_format.format_of(place).header
    return header.index(name) if header.count(name) == 1 else None


def read_lines(path: str | Path) -> list[str]:
    """The lines of a text file, without blanks around them and without empty ones at the end."""
    place = Path(path).expanduser()
    with readable(place, "a text file in UTF-8 with one name on each line"):
        return [line.strip() for line in place.read_text(encoding="utf-8-sig").rstrip().split("\n")]
