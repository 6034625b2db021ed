"""Tables in text files: CSV and TSV with a header."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparing import errors
from sparing.results import Array

MISSING = {"", "na", "nan", "null", "none", "?"}


@dataclass(frozen=True)
class Table:
    """The numeric columns of a text file, and the names of those that were left out."""

    values: Array
    names: list[str]
    left_out: list[str]


def read_delimited(path: str | Path) -> Table:
    """Read a CSV or TSV file (by its ending) whose first row names the columns.

    A column is numeric when every cell is a number or empty; empty cells become NaN, for the estimator to refuse.
    """
    path = Path(path)
    delimiter = "\t" if path.suffix.lower() in {".tsv", ".tab"} else ","
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file, delimiter=delimiter)
            lines = [(reader.line_num, row) for row in reader if row]
    except (UnicodeDecodeError, csv.Error) as broken:
        raise errors.cannot_read(path, "it is not a text table in UTF-8; save it as CSV") from broken
    except OSError as refused:
        raise errors.cannot_read(path, f"{(refused.strerror or 'it cannot be opened').lower()}") from refused
    if len(lines) < 2:
        raise errors.cannot_read(path, "a header and at least one row of numbers are needed")
    header = lines[0][1]
    if len(header) == 1 and ";" in header[0]:
        raise errors.cannot_read(path, "its cells are separated by ';'; save it with commas (and decimal points)")
    if _numbers(tuple(header)) is not None:
        raise errors.cannot_read(path, "its first row holds numbers only; a header that names the columns is needed")
    for number, row in lines[1:]:
        if len(row) != len(header):
            why = (
                f"line {number} has {len(row)} cells, the header has {len(header)}; quote cells that hold '{delimiter}'"
            )
            raise errors.cannot_read(path, why)
    body = [row for _, row in lines[1:]]
    columns = [_numbers(cells) for cells in zip(*body, strict=True)]
    names = [name for name, column in zip(header, columns, strict=True) if column is not None]
    numeric = [column for column in columns if column is not None]
    if not numeric:
        raise errors.cannot_read(path, "no column holds only numbers")
    return Table(np.column_stack(numeric), names, [n for n, c in zip(header, columns, strict=True) if c is None])


def _numbers(cells: tuple[str, ...]) -> Array | None:
    """A column as floats, or None where it holds text or nothing at all."""
    stripped = [cell.strip() for cell in cells]
    if any("_" in cell for cell in stripped):  # Python's numbers may hold them, a table's may not
        return None
    if all(cell.lower() in MISSING for cell in stripped):
        return None
    try:
        return np.array([np.nan if cell.lower() in MISSING else float(cell) for cell in stripped])
    except ValueError:
        return None
