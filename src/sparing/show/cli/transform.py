"""``sparing transform``: scores of new data with a saved model."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, BinaryIO, NamedTuple

import click
import numpy as np

from sparing import errors, load_model
from sparing.data import ArrayRows, Rows, SparseRows
from sparing.data.readers.text_columns import has_columns, read_column, sample_names
from sparing.data.writing import replacing
from sparing.estimators.new_data import support_rows
from sparing.results import Array
from sparing.show.cli.declared import SCORE_FILES
from sparing.show.cli.opening import Table, opened, reading_of, writable
from sparing.show.wording import component_name

Write = Callable[[Array], Any]


def run(
    model: str,
    data: str,
    output: str | None,
    names: str | None,
    feature_names: str | None,
    force: bool,
    quiet: bool,
    **reading: Any,
) -> None:
    """Run ``sparing transform``."""
    if output is not None and not output.lower().endswith(SCORE_FILES):
        raise click.BadParameter(f"its extension must be one of {', '.join(SCORE_FILES)}.", param_hint="-o")
    if names is not None and output is not None and output.lower().endswith(".npy"):
        raise click.UsageError("An array (.npy) holds numbers only; write .csv or .parquet with --names.")
    writable(output, force, model, data)
    whole = load_model(model)
    table = opened(data, reading_of(reading), names=feature_names)
    rows = _used(whole, table)
    n = rows.shape[0]
    columns = [component_name(i).replace(" ", "_") for i in range(len(whole.components_))]
    others = table.not_numeric if feature_names else _no_features(whole, table)
    samples = samples_of(data, names, others, n, reading["delimiter"])
    with score_file(output, columns, n, samples) as write:
        _write_scores(whole, rows, write, quiet)


def _write_scores(model: Any, rows: Rows, write: Write, quiet: bool) -> None:
    """Write all scores, with a progress bar on terminals."""
    if quiet or not sys.stderr.isatty():
        for scores in _scores(model, rows):
            write(scores)
        return
    with click.progressbar(length=rows.shape[0], label="Scores", file=sys.stderr) as bar:
        for scores in _scores(model, rows):
            write(scores)
            bar.update(len(scores))


def _no_features(model: Any, table: Table) -> list[str]:
    """The error for a table without the features of the model."""
    names = getattr(model, "feature_names_in_", None)
    numeric = [] if names is None else [name for name in table.feature_names or [] if name not in set(names)]
    return [*table.not_numeric, *numeric]


def _used(model: Any, table: Table) -> Rows:
    """The columns that the model reads, in its order: by name, or by position without names."""
    if not hasattr(model, "components_"):
        raise TypeError(
            f"The model is a {type(model).__name__}, which has no components to make scores of. Scores come from "
            "SparseEncoder, SparsePCA, NonnegativeSparsePCA, DoublySparseEncoder and SparsePCARegressor."
        )
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            return support_rows(model, table.rows)
    except ValueError as flaw:
        raise ValueError(f"Cannot use {str(table.path)!r}: {flaw}") from flaw


def _scores(model: Any, rows: Rows) -> Iterator[Array]:
    """Scores, block by block."""
    for block in rows.blocks():
        raw: Any = block
        piece: Rows = ArrayRows(raw.rows, block_rows=len(raw.rows)) if raw.is_dense else SparseRows(raw.matrix)
        piece.feature_names = rows.feature_names
        try:
            yield model.transform(piece)
        except errors.NotFiniteError as flaw:
            raise errors.NotFiniteError(flaw.value, flaw.row + block.start, flaw.column) from None


@contextmanager
def score_file(
    path: str | None, names: Sequence[str], n_samples: int, samples: Samples | None = None
) -> Iterator[Write]:
    """A function that takes blocks of scores; the file appears when it is complete. CSV to the screen by default.

    Names of the samples come first, but not in arrays (.npy), which hold numbers only.
    """
    if path is None:
        yield _csv(sys.stdout, names, samples)
        return
    ending = next(ending for ending in SCORE_FILES if path.lower().endswith(ending))
    with replacing(path) as file, WRITERS[ending](file, names, n_samples, samples) as write:
        yield write


def _csv(stream: Any, names: Sequence[str], samples: Samples | None) -> Write:
    writer = csv.writer(stream, lineterminator="\n")
    if samples is None:
        writer.writerow(names)
        return lambda scores: writer.writerows(scores.tolist())
    writer.writerow([samples.title, *names])
    called = iter(samples.names)
    return lambda scores: writer.writerows([next(called), *row] for row in scores.tolist())


@contextmanager
def _csv_file(file: BinaryIO, names: Sequence[str], n_samples: int, samples: Samples | None) -> Iterator[Write]:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    yield _csv(text, names, samples)
    text.flush()
    text.detach()


@contextmanager
def _npy_file(file: BinaryIO, names: Sequence[str], n_samples: int, samples: Samples | None) -> Iterator[Write]:
    header = {"descr": "<f8", "fortran_order": False, "shape": (n_samples, len(names))}
    np.lib.format.write_array_header_1_0(file, header)
    yield lambda scores: file.write(np.ascontiguousarray(scores, dtype="<f8").tobytes())


@contextmanager
def _parquet_file(file: BinaryIO, names: Sequence[str], n_samples: int, samples: Samples | None) -> Iterator[Write]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise errors.needs_package("Writing Parquet", "pyarrow", "io") from None
    title = [] if samples is None else [(samples.title, pa.string())]
    schema = pa.schema([*title, *((name, pa.float64()) for name in names)])
    called = iter([] if samples is None else samples.names)

    def write(scores: Array) -> None:
        columns: list[Any] = [] if samples is None else [list(islice(called, len(scores)))]
        columns += [np.asarray(column, dtype=np.float64) for column in scores.T]
        writer.write_table(pa.table(columns, schema=schema))

    with pq.ParquetWriter(file, schema) as writer:
        yield write


WRITERS: dict[str, Any] = dict(zip(SCORE_FILES, (_csv_file, _npy_file, _parquet_file), strict=True))


TITLE = "sample"
"""Title of a column of names without a title."""

USUAL = {"", "unnamed: 0", "id", "ids", "name", "names", "index", TITLE, "samples", "sample_id", "sample id"}
"""Titles of a column of names, in lower case."""


class Samples(NamedTuple):
    """Names of the samples, and the title of their column."""

    title: str
    names: list[str]


def samples_of(
    path: str, column: str | None, columns: Iterable[str], n_samples: int, delimiter: str | None = None
) -> Samples | None:
    """Names from the requested column; otherwise those stored by the format, or a column in ``columns`` by its
    title."""
    if column is None:
        names = sample_names(path)
        if names is not None:
            return Samples(TITLE, names) if len(names) == n_samples else None
        if has_columns(path):
            column = next((name for name in columns if name.strip().lower() in USUAL), None)
    return None if column is None else Samples(column.strip() or TITLE, read_column(path, column, delimiter))
