"""Notes on the columns of a table: repeated names, row numbers, class codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sparing.errors import listed

MOST_LEVELS, ROWS_PER_LEVEL = 10, 10
"""Integers with at most this many levels, and this many rows per level, are probably class codes."""

UNNAMED = "unnamed:"
"""Prefix of the name that pandas gives a column without a name, in lower case."""


def unique_names(names: Iterable[object]) -> tuple[list[str], list[str]]:
    """Names as text, with ``-1``, ``-2`` ... appended to repeated ones, as in AnnData; and the repeated names."""
    given = [str(name) for name in names]
    times = Counter(given)
    if len(times) == len(given):
        return given, []
    taken, seen, unique = set(given), Counter[str](), []
    for name in given:
        fresh = name
        if seen[name]:
            while (fresh := f"{name}-{seen[name]}") in taken:
                seen[name] += 1
            taken.add(fresh)
        seen[name] += 1
        unique.append(fresh)
    return unique, [name for name, count in times.items() if count > 1]


def repeated_note(repeated: Sequence[str]) -> str:
    """A note on names that were made unique."""
    return (
        f"several features are named {listed(repeated)}; '-1', '-2' and so on are appended to the names after the first"
    )


def is_nameless(name: str) -> bool:
    """Whether the column has no name, as pandas writes row numbers."""
    return not name.strip() or name.lower().startswith(UNNAMED)


def row_numbers_note(name: str, place: int) -> str:
    """A note on an integer column without a name, or with consecutive values."""
    called = f"(column {place + 1}, no name)" if not name.strip() else f"column {name!r}"
    return f"{called} is used as a feature; if it numbers the rows, pass drop=[{name!r}]"


def are_values(names: Sequence[str]) -> bool:
    """Whether these names are numbers that look like values of a row. Years and wavelengths are sorted."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    steps = [after > before for before, after in pairwise(numbers)]
    return len(names) < 3 or not (all(steps) or not any(steps))


def values_note(names: Sequence[str]) -> str:
    """A note on a header that may hold values."""
    return f"features are named {listed(names)}, as in its first row; if these are values, add a header line above them"


def code_columns(names: Sequence[str], levels: Sequence[float], n_rows: int) -> list[str]:
    """Integer columns with few levels, if most others have more; ``levels`` is infinite for fractions."""
    codes = [
        name
        for name, count in zip(names, levels, strict=True)
        if 1 < count <= min(MOST_LEVELS, n_rows / ROWS_PER_LEVEL) and not is_nameless(name)
    ]
    return codes if 2 * len(codes) < len(names) else []


def codes_note(names: Sequence[str]) -> str:
    """A note on columns that may be labels."""
    hold, are = ("holds", "is") if len(names) == 1 else ("hold", "are")
    return (
        f"{listed(names)} {hold} few distinct integers, as class codes do, and {are} used like any feature; drop "
        f"labels with drop=[{names[0]!r}]"
    )
