"""Notes on the columns of a table: names that repeat, row numbers, codes of classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from sparing.errors import listed

MOST_LEVELS, ROWS_PER_LEVEL = 10, 10
"""Whole numbers of so few levels are codes, most likely, where each level has so many rows."""

UNNAMED = "unnamed:"
"""How pandas calls a column without a name, with its place behind, in lower case."""


def unique_names(names: Iterable[object]) -> tuple[list[str], list[str]]:
    """Names as text, ``-1``, ``-2`` ... behind those that were there before, as in AnnData; and which repeat."""
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
    """Names that were made unique."""
    return (
        f"several features are named {listed(repeated)}; '-1', '-2' and so on are appended to the names after the first"
    )


def is_nameless(name: str) -> bool:
    """Is it a column without a name, as pandas writes row numbers?"""
    return not name.strip() or name.lower().startswith(UNNAMED)


def row_numbers_note(name: str, place: int) -> str:
    """A column of whole numbers without a name, or of consecutive ones."""
    called = f"(column {place + 1}, no name)" if not name.strip() else f"column {name!r}"
    return f"{called} is used as a feature; if it numbers the rows, pass drop=[{name!r}]"


def are_values(names: Sequence[str]) -> bool:
    """Are these names numbers that look like the values of a row? Years and wavelengths come in order."""
    try:
        numbers = [float(name) for name in names]
    except ValueError:
        return False
    steps = [after > before for before, after in pairwise(numbers)]
    return len(names) < 3 or not (all(steps) or not any(steps))


def values_note(names: Sequence[str]) -> str:
    """A first row that may hold values."""
    return f"features are named {listed(names)}, as in its first row; if these are values write a header above them"


def code_columns(names: Sequence[str], levels: Sequence[float], n_rows: int) -> list[str]:
    """Columns of whole numbers with few levels, where most others have more; ``levels`` is infinite for fractions."""
    codes = [
        name
        for name, count in zip(names, levels, strict=True)
        if 1 < count <= min(MOST_LEVELS, n_rows / ROWS_PER_LEVEL) and not is_nameless(name)
    ]
    return codes if 2 * len(codes) < len(names) else []


def codes_note(names: Sequence[str]) -> str:
    """Columns that may be labels."""
    hold, are = ("holds", "is") if len(names) == 1 else ("hold", "are")
    return (
        f"{listed(names)} {hold} few distinct integers, as class codes do, and {are} used like any feature; drop "
        f"labels with drop=[{names[0]!r}]"
    )
