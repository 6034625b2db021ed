"""One column of a table as text: what samples are called, or which group they belong to."""

from __future__ import annotations

from pathlib import Path

from sparing.data.readers import parquet, text
from sparing.data.readers.base import readable
from sparing.errors import files


def read_column(path: str | Path, name: str) -> list[str]:
    """The cells of the column ``name`` of a CSV, TSV or Parquet file, as text; a missing one is the empty string."""
    place = Path(path).expanduser()
    if place.suffix.lower() == ".parquet":
        with readable(place, parquet.WHAT), parquet.opened(place) as file:
            if name not in file.schema_arrow.names:
                raise files.no_column(path, name, file.schema_arrow.names)
            cells = file.read(columns=[name]).column(name).to_pylist()
            return ["" if cell is None else str(cell) for cell in cells]
    if place.suffix.lower() not in {".csv", ".tsv", ".tab"}:
        raise files.no_text_columns(path, name)
    with readable(place, text.WHAT):
        header = text.header_of(place)
        if name not in header:
            raise files.no_column(path, name, header)
        j = header.index(name)
        return [row[j].strip() for rows in text.lines_of(place, 1024) for row in rows]
