"""Pass-efficient fitting: when an estimator reads the data only a few times, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing import errors
from sparing.data import Preprocessing, Rows
from sparing.data.rows import InMemoryRows
from sparing.data.sketch import Condensed, CountSketch, sketch_of

PASSES = ("auto", "any", "few")
"""How often the data may be read."""

CHOSEN = "The features were chosen in {} passes over the data, from a sketch of them; {} is exact."
"""A note of certificates."""

LARGE_BYTES = 2**32
"""Bytes of rows outside of memory (4 GiB) from which ``passes="auto"`` means few. On a cluster it always does: a
pass of many small tasks takes longer there than the work in it."""

NARROW = 1024
"""Features up to which X'X is computed in one pass: the same answer as in memory, for about the work of few passes."""

SKETCH_BYTES = 2**29
"""Memory that a sketch may take where it would profit from more rows."""


@dataclass(frozen=True)
class Reading:
    """How rows are read: all of them as often as needed, their Gram matrix at once, or with a sketch in few passes."""

    rows: Rows
    gram: bool = False
    sketch: CountSketch | Condensed | None = None


def reading_of(
    rows: Rows, passes: Any, possible: bool, n_nonzero: int, rng: np.random.Generator, preprocessing: Preprocessing
) -> Reading:
    """What suits the size of the rows and the user's wish; ``possible`` says whether the method has a few-pass form."""
    n, d = rows.shape
    few = _few(rows, passes) and not preprocessing.precomputed
    if not few or not possible or d <= NARROW:
        return gram_or_rows(rows, passes=passes, precomputed=preprocessing.precomputed)
    length = sketch_length(rows.is_dense, n_nonzero, d)
    if n <= (2 * length if rows.is_dense else length):  # a sketch would have as many rows
        return Reading(InMemoryRows(rows))
    return Reading(rows, sketch=sketch_of(rows, length, int(rng.integers(2**63)), scale=preprocessing.scale))


def gram_or_rows(rows: Rows, *, passes: Any, precomputed: bool) -> Reading:
    """For methods that have no few-pass form: the Gram matrix where there are few features."""
    few = _few(rows, passes) and not precomputed
    if few and rows.shape[1] > NARROW and passes == "few":
        raise ValueError(
            f"passes='few' with more than {NARROW} features is for SparseEncoder with selector='auto' or 'greedy', no "
            "sketch and, unless strategy='batch', a given n_nonzero; and for SparsePCA and NonnegativeSparsePCA with a "
            "number of features and without n_rows and exclude. Use these, or passes='any', with which X is read as "
            "often as the method needs."
        )
    return Reading(rows, gram=few and rows.shape[1] <= NARROW)


def _few(rows: Rows, passes: Any) -> bool:
    """Does the user, or the size of the rows, ask for few passes?"""
    if not isinstance(passes, str) or passes not in PASSES:
        raise errors.unknown_choice("passes", passes, PASSES)
    if passes != "auto" or rows.is_resident:
        return passes == "few"
    return not rows.is_local or rows.n_bytes >= LARGE_BYTES


def sketch_length(is_dense: bool, n_nonzero: int, n_features: int) -> int:
    """Rows of the sketch: with the features sought, and for sparse rows as many more as are cheap."""
    if is_dense:
        return max(100, 3 * n_nonzero // 2)
    return max(300, 6 * n_nonzero, min(1000, SKETCH_BYTES // (4 * n_features)))
