"""Numbers of README and guide are filled in from what commands stored; `pages.toml` says which from where.

python benchmarks/pages.py            # fill in what has changed; commands that store results do so by themselves

An entry is a fragment of a page (`says`) and a fragment of a file (`found`): a result in `benchmarks/results`, or a
test or constant that has the number. In both `{}` stands for a number, `{_}` for one that is left alone, `...` for
anything; white space counts as one space, and each must occur once. The page gets the file's number `times` a unit,
such as 100 for percent, with as many digits as it shows; with `rule = "at most"` it has a bound, which is raised where
it is passed.
"""

from __future__ import annotations

import contextlib
import functools
import io
import math
import re
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
WRITTEN_BY_COMMANDS = {"docs/papers.md", "docs/peers.md", "docs/data.md"}
PAGES = sorted({"README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))} - WRITTEN_BY_COMMANDS)

WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()  # noqa: SIM905
NUMBER = rf"(?<![\w.])(?:(?:\d[\d,]*\d|\d)(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?|\b(?:{'|'.join(WORDS)})\b"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


EXECUTED = "<!-- executed -->"
"""Marks a page whose Python blocks are run, the block below each holding what it prints."""


@dataclass(frozen=True)
class Entry:
    """A fragment of a page whose numbers are those of a fragment of a file."""

    page: str
    says: str
    file: str
    found: str
    times: float = 1.0
    rule: str = "equal"

    def filled(self, shown: str, stored: str) -> str:
        """The page's number: that of the file, in the form that the page has."""
        true, now = float(number(stored)) * self.times, number(shown)
        if self.rule == "at most":
            return shown if true <= float(now) else f"{_rounded_up(true):,}"
        digits = max(-int(now.as_tuple().exponent), 0)
        if abs(float(now) - true) <= 0.5001 * 10.0**-digits and "e" not in shown:
            return shown
        if shown in WORDS and round(true) < len(WORDS):
            return WORDS[round(true)]
        if "e" in shown:
            return f"{true:.{len(re.split('[.e]', shown)[1]) if '.' in shown else 0}e}".replace("e-0", "e-")
        text = f"{true:,.{digits}f}"
        return text if "," in shown or true < 10_000 else text.replace(",", "")


def _rounded_up(value: float) -> int:
    """Two digits, never less than the truth."""
    unit = 10 ** max(math.floor(math.log10(value)) - 1, 0)
    return math.ceil(value / unit) * unit


def entries() -> list[Entry]:
    """What `pages.toml` has."""
    traced = tomllib.loads((Path(__file__).parent / "pages.toml").read_text())["traced"]
    return [Entry(each["page"], file=each["file"], **entry) for each in traced for entry in each["claims"]]


def number(text: str) -> Decimal:
    """Of digits or of a word."""
    return Decimal(WORDS.index(text)) if text in WORDS else Decimal(text.replace(",", ""))


def pattern(fragment: str) -> re.Pattern[str]:
    """Of a fragment with `{}` for numbers, `...` for anything and any white space for a space."""
    literal = r"\s+".join(re.escape(word) for word in fragment.split())
    literal = literal.replace(r"\{\}", f"({NUMBER})").replace(r"\{_\}", f"(?:{NUMBER})")
    return re.compile(literal.replace(r"\.\.\.", r".*?"), re.DOTALL)


@functools.cache
def stored_lines() -> set[str]:
    """Every line that a command printed."""
    return {line.strip() for file in RESULTS.rglob("*.txt") for line in file.read_text().splitlines()}


def _printed(text: str) -> Iterator[tuple[int, int]]:
    """Places of blocks, and of lines that a command printed: they are no prose."""
    yield from (block.span() for block in BLOCK.finditer(text))
    start = 0
    for line in text.splitlines(keepends=True):
        if line.strip() and line.strip() in stored_lines():
            yield start, start + len(line)
        start += len(line)


def place(entry: Entry, text: str) -> re.Match[str]:
    """Where a page with this text has the fragment, once."""
    printed = list(_printed(text))
    found = [
        match
        for match in pattern(entry.says).finditer(text)
        if not any(start <= match.start() < end for start, end in printed)
    ]
    if len(found) != 1:
        raise LookupError(f"{entry.page} has {entry.says!r} {len(found)} times; wanted: once")
    return found[0]


def stored(entry: Entry) -> tuple[str, ...]:
    """The numbers of the file."""
    found = list(pattern(entry.found).finditer((ROOT / entry.file).read_text()))
    if len(found) != 1:
        raise LookupError(f"{entry.file} has {entry.found!r} {len(found)} times; wanted: once")
    return found[0].groups()


def filled(page: str, text: str) -> str:
    """The text of a page with the numbers that are stored."""
    for entry in entries():
        if entry.page == page:
            match = place(entry, text)
            groups = range(len(match.groups()), 0, -1)
            for group, value in zip(groups, reversed(stored(entry)), strict=True):
                start, end = match.span(group)
                text = text[:start] + entry.filled(match[group], value) + text[end:]
    return text


def with_registries(text: str) -> str:
    """The text of a page with every algorithm of the registries that it names, in their order."""

    def listed(match: re.Match[str]) -> str:
        tables = [getattr(import_module(name.rpartition(".")[0]), name.rpartition(".")[2]) for name in match[1].split()]
        kinds = [kind for table in tables for kind in table.values()]
        lines = "".join(f"::: {_public(kind)}\n" for kind in kinds)
        return f"<!-- registry: {match[1]} -->\n\n{lines}\n<!-- end -->"

    return re.sub(r"<!-- registry: ([\w. ]+) -->.*?<!-- end -->", listed, text, flags=re.DOTALL)


def _public(kind: type) -> str:
    """Where users find a class: in its package, if that has it."""
    package = kind.__module__.rpartition(".")[0]
    while package.count(".") > 1 and not hasattr(import_module(package), kind.__name__):
        package = package.rpartition(".")[0]
    named = hasattr(import_module(package), kind.__name__) and package != "sparing.methods"
    return f"{package if named else kind.__module__}.{kind.__name__}"


def with_output(text: str) -> str:
    """The text of a page with its output as it is stored.

    A block is all that a command printed if it begins alike and is as long, and a part of it if some lines differ from
    it in numbers alone. Where several parts would do, one that the page has already stays, and so does a block of none.
    """
    stored = [file.read_text().rstrip().splitlines() for file in sorted(RESULTS.rglob("*.txt"))]

    def printed(match: re.Match[str]) -> str:
        lines = match[2].rstrip().splitlines()
        same = [each for each in stored if not match[1] and lines and each[:1] == lines[:1] and len(each) == len(lines)]
        if not match[1] and lines and not same:
            wanted = [_without_numbers(line) for line in lines]
            starts = [(each, i) for each in stored for i in range(len(each) - len(lines) + 1)]
            parts = [each[i : i + len(lines)] for each, i in starts if _without_numbers(each[i]) == wanted[0]]
            parts = [part for part in parts if [_without_numbers(line) for line in part] == wanted]
            same = parts[:1] if lines not in parts and all(part == parts[0] for part in parts) else []
        return "```\n" + "\n".join(same[0]) + "\n```" if len(same) == 1 else match[0]

    return BLOCK.sub(printed, text)


def with_executed(text: str) -> str:
    """The text of a page marked as executed, with what its Python blocks print below each of them, in one namespace."""
    if EXECUTED not in text:
        return text
    names: dict[str, object] = {}

    def printed(match: re.Match[str]) -> str:
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(match["code"], "page", "exec"), names)
        return match[0] if match["output"] is None else f"{match['head']}```\n{said.getvalue().rstrip()}\n```"

    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        return re.sub(
            r"(?P<head>^```python\n(?P<code>.*?)^```\n\n?)(?P<output>```\n.*?^```)?",
            printed,
            text,
            flags=re.DOTALL | re.MULTILINE,
        )


def _without_numbers(line: str) -> str:
    """What stays of a line of output when it is printed again; columns may be narrower."""
    return " ".join(re.sub(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?", "#", line).split())


def without_executed(text: str) -> str:
    """The text of a page without the Python blocks that are executed, and without their output."""
    return re.sub(r"^```python\n.*?^```\n(?:\n?```\n.*?^```)?", "", text, flags=re.DOTALL | re.MULTILINE)


def not_printed(text: str) -> list[str]:
    """Lines of output on a page, in blocks without a language, that no command printed."""
    text = without_executed(text) if EXECUTED in text else text
    shown = [line.strip() for language, block in BLOCK.findall(text) if not language for line in block.splitlines()]
    return [line for line in shown if line and line not in stored_lines()]


def fill() -> None:
    """Fill in all pages, and name those that changed."""
    stored_lines.cache_clear()
    for page in PAGES:
        before = (ROOT / page).read_text()
        if (after := with_executed(with_output(with_registries(filled(page, before))))) != before:
            (ROOT / page).write_text(after)
            print(f"{page}: filled in")


if __name__ == "__main__":
    fill()
