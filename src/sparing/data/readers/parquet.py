"""Parquet, in batches of rows; columns of text, dates and the like are left out and named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.blocks import DenseBlock
from sparing.data.readers.base import FileRows, Options, check_stored, readable
from sparing.data.rows import RawBlock

WHAT = "a Parquet file (.parquet)"
PEEK_BYTES = 4096  # read at once where one row of a column is wanted


def opened(path: Path, **config: Any) -> Any:
    """The file, for reading."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise errors.needs_package("Reading Parquet", "pyarrow", "io") from None
    return pq.ParquetFile(path, **config)


class ParquetRows(FileRows):
    """The numeric columns of a table; nulls are NaN, for the estimator to refuse or to fill in."""

    what = WHAT
    reads_ahead = True

    def read(self) -> Iterator[RawBlock]:
        """Batches, which may be shorter where a group of rows ends."""
        assert self.feature_names is not None
        start = 0
        with opened(self.path) as file:
            for batch in file.iter_batches(batch_size=self.block_rows, columns=self.feature_names):
                if not batch.num_rows:
                    continue
                rows = np.empty((batch.num_rows, self.shape[1]), dtype=self.dtype, order="F")
                for j, name in enumerate(self.feature_names):
                    rows[:, j] = _values(batch.column(name))
                yield DenseBlock(rows, start)
                start += batch.num_rows


def open_rows(path: Path, options: Options) -> ParquetRows:
    """Find the numeric columns, and the one type that holds them all."""
    with readable(path, WHAT), opened(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        index = {name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)}
        repeated = [name for name, times in Counter(schema.names).items() if times > 1]
        if repeated:
            raise errors.column_repeated(path, repeated)
        whole = [field.name for field in schema if _is_whole(field.type)]
        _check_summaries(path, metadata, whole)
        holes = _with_nulls(metadata, set(whole))
        kinds = {field.name: _kind(field.type, field.name in holes) for field in schema if field.name not in index}
        numeric = {name: kind for name, kind in kinds.items() if kind is not None}
        if not numeric:
            raise errors.no_numeric_column(path, schema.names)
        left_out = [name for name in schema.names if name not in numeric]
        shape, kind = (metadata.num_rows, len(numeric)), np.result_type(*numeric.values())
        names = list(numeric)
        rows = ParquetRows(path, shape, kind, options.block_bytes, feature_names=names, left_out=left_out)
        check_stored(path, WHAT, rows, lambda: path.stat().st_size)
        return rows


def _kind(arrow: Any, has_nulls: bool) -> np.dtype[Any] | None:
    """NumPy's type for a column, or None where it holds no numbers; whole numbers with gaps become floats."""
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
    """Are they whole numbers, or true and false?"""
    import pyarrow as pa

    return bool(pa.types.is_integer(arrow) or arrow == pa.bool_())


def _check_summaries(path: Path, metadata: Any, names: list[str]) -> None:
    """Raise where the summary of a column named is damaged: a look at one ends the process, in Arrow.

    Reading a row meets the same summary, and says so by an exception; little more than that row is read.
    """
    if not names:
        return
    with opened(path, pre_buffer=False, buffer_size=PEEK_BYTES) as file:
        for g in range(metadata.num_row_groups):
            next(file.iter_batches(batch_size=1, row_groups=[g], columns=names), None)


def _with_nulls(metadata: Any, names: set[str]) -> set[str]:
    """Columns, of those named, that hold nulls, or may, as nobody counted them; no others are looked at."""
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


def _values(column: Any) -> Any:
    """A column as an array."""
    import pyarrow as pa

    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy(zero_copy_only=False) if not column.null_count else _with_gaps(column)


def _with_gaps(column: Any) -> Any:
    """A column with NaN in place of nulls."""
    import pyarrow as pa

    if column.type == pa.bool_():
        column = column.cast(pa.int8())
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
