"""Parquet files, in batches of rows; text, date and other non-numeric columns are left out and named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, check_stored, readable
from sparing.data.readers.notes import is_nameless, row_numbers_note
from sparing.data.rows import RawBlock
from sparing.errors import listed

WHAT = "a Parquet file (.parquet)"
PEEK_BYTES = 4096  # read at once for a single row of a column


def opened(path: Path, **config: Any) -> Any:
    """The file, for reading."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise errors.needs_package("Reading Parquet", "pyarrow", "io") from None
    return pq.ParquetFile(path, **config)


class ParquetRows(FileRows):
    """The numeric columns of a table, in one file or several; nulls are NaN, which the estimator rejects or
    replaces."""

    what = WHAT
    reads_ahead = True
    files: list[Path]
    columns: list[tuple[int, str]]  # positions among the columns read, and names in the file

    def read(self) -> Iterator[RawBlock]:
        """Batches, which may be shorter at the end of a row group."""
        start, names = 0, list(dict.fromkeys(name for _, name in self.columns))
        for path in self.files:
            with opened(path) as file:
                for batch in file.iter_batches(batch_size=self.block_rows, columns=names):
                    if not batch.num_rows:
                        continue
                    rows = np.empty((batch.num_rows, self.shape[1]), dtype=self.dtype, order="F")
                    for j, (place, _) in enumerate(self.columns):
                        rows[:, j] = values_of(batch.column(place))
                    yield DenseBlock(rows, start)
                    start += batch.num_rows


def open_rows(path: Path, options: Options) -> ParquetRows:
    """Find the numeric columns and their common type."""
    files = files_of(path)
    with readable(path, WHAT):
        parts = [_part(file) for file in files]
        first = parts[0]
        for file, part in zip(files, parts, strict=True):
            if part.names != first.names:
                other = [name for name in (*part.names, *first.names) if (name in part.names) != (name in first.names)]
                which = (
                    f"other columns than {files[0].name!r} ({listed(other)})"
                    if other
                    else (f"its columns in another order than {files[0].name!r}")
                )
                raise errors.unreadable(path, f"{file.name!r} has {which}. Write them alike")
        kinds = [_common(part.kinds[j] for part in parts) for j in range(len(first.names))]
        numeric = [j for j, kind in enumerate(kinds) if kind is not None]
        if not numeric:
            raise errors.no_numeric_column(path, first.names)
        used = [j for j in numeric if first.names[j] not in options.drop]
        if not used:
            raise errors.unreadable(path, "all numeric columns were dropped. Keep at least one")
        shape = sum(part.n_rows for part in parts), len(used)
        kind = np.result_type(*(kinds[j] for j in used))
        names = [first.names[j] for j in used]
        features = set(used)
        left_out = [name for j, name in enumerate(first.names) if j not in features]
        rows = ParquetRows(path, shape, kind, options.block_bytes, feature_names=names, left_out=left_out)
        rank = {name: place for place, name in enumerate(dict.fromkeys(names))}  # Arrow reads them in this order
        read = sorted((j for j, name in enumerate(first.names) if name in rank), key=lambda j: rank[first.names[j]])
        place = {j: k for k, j in enumerate(read)}
        rows.files, rows.columns = files, [(place[j], first.names[j]) for j in used]
        rows.explained |= first.row_names
        check_stored(path, WHAT, rows, lambda: sum(file.stat().st_size for file in files))
        rows.notes += [row_numbers_note(first.names[j], j) for j in used if is_nameless(first.names[j])]
        if folders := sorted({part for file in files for part in file.relative_to(path).parts[:-1] if "=" in part}):
            rows.notes.append(f"partition values in the folder names {listed(folders)} are ignored")
        return rows


def holds_parquet(folder: Path) -> bool:
    """Whether there are Parquet files in this folder, or in folders named ``column=value`` inside it."""
    patterns = ("*.[pP][aA][rR][qQ][uU][eE][tT]", "*=*/**/*.[pP][aA][rR][qQ][uU][eE][tT]")
    return any(any(folder.glob(pattern)) for pattern in patterns)


def files_of(path: Path) -> list[Path]:
    """The file, or all files of a folder sorted by name; names that begin with _ or . hold no rows."""
    if not path.is_dir():
        return [path]
    inside = (file for file in sorted(path.rglob("*")) if file.suffix.lower() == ".parquet" and file.is_file())
    return [file for file in inside if not any(part[0] in "_." for part in file.relative_to(path).parts)]


class _Part(NamedTuple):
    """The columns of one file."""

    names: list[str]
    kinds: list[np.dtype[Any] | None]
    n_rows: int
    row_names: frozenset[str]


def _part(path: Path) -> _Part:
    with opened(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        index = {name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)}
        whole = [field.name for field in schema if _is_whole(field.type)]
        _check_summaries(path, metadata, whole)
        holes = _with_nulls(metadata, set(whole))
        kinds = [None if field.name in index else kind_of(field.type, field.name in holes) for field in schema]
        return _Part(list(schema.names), kinds, metadata.num_rows, frozenset(index))


def _common(kinds: Iterable[np.dtype[Any] | None]) -> np.dtype[Any] | None:
    """The common type of a column in all files; None if one of them is not numeric."""
    found = list(kinds)
    known = [kind for kind in found if kind is not None]
    return np.result_type(*known) if len(known) == len(found) else None


def kind_of(arrow: Any, has_nulls: bool) -> np.dtype[Any] | None:
    """NumPy's type for a column, or None if it is not numeric; integers with nulls become floats."""
    import pyarrow as pa

    if pa.types.is_decimal(arrow):
        return np.dtype(np.float64)
    if not (_is_whole(arrow) or pa.types.is_floating(arrow)):
        return None
    kind = np.dtype(np.bool_ if arrow == pa.bool_() else arrow.to_pandas_dtype())
    if kind.kind == "f" or not has_nulls:
        return kind
    return np.dtype(np.float32 if kind.itemsize <= 2 else np.float64)


def _is_whole(arrow: Any) -> bool:
    """Whether the values are integers or booleans."""
    import pyarrow as pa

    return bool(pa.types.is_integer(arrow) or arrow == pa.bool_())


def _check_summaries(path: Path, metadata: Any, names: list[str]) -> None:
    """Raise an error if the statistics of a column are damaged: Arrow crashes the process when it reads them.

    Reading a row uses the same statistics but raises an exception; little more than that row is read.
    """
    if not names:
        return
    with opened(path, pre_buffer=False, buffer_size=PEEK_BYTES) as file:
        for g in range(metadata.num_row_groups):
            next(file.iter_batches(batch_size=1, row_groups=[g], columns=names), None)


def _with_nulls(metadata: Any, names: set[str]) -> set[str]:
    """The columns among ``names`` that have nulls, or may have them if the file does not count nulls."""
    holes = set()
    places = [c for c in range(metadata.num_columns) if metadata.schema.column(c).path in names]
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        for c in places:
            column = group.column(c)
            counted = column.statistics is not None and column.statistics.has_null_count
            if not counted or column.statistics.null_count:
                holes.add(column.path_in_schema)
    return holes


def values_of(column: Any) -> Any:
    """A column as an array."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False) if not column.null_count else _with_gaps(column)


def _with_gaps(column: Any) -> Any:
    """A column with NaN instead of nulls."""
    import pyarrow as pa

    if column.type == pa.bool_():
        column = column.cast(pa.int8())
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
