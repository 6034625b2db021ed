"""Where the numbers of README and guide come from: the entries of `claims.toml`, and how they are compared.

A claim is a fragment of a page (`says`) and a fragment of a file (`found`): what a command stored in
`benchmarks/results`, or a test or constant that has the number. In both `{}` stands for a number, `{_}` for one that is
not compared, `...` for anything; white space counts as one space, and each must occur once. The page's number must be
the file's, rounded to the digits that the page shows, up to `noise` (relative; 0 unless said). `times` is the unit of
the page over that of the file, such as 100 for percent; with `rule = "at most"` the page has an upper bound.

    python tests/claims.py [README.md ...]    # what page and file say, number by number
"""

from __future__ import annotations

import functools
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
WRITTEN_BY_COMMANDS = {"docs/papers.md", "docs/peers.md"}
PAGES = sorted({"README.md", *(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))} - WRITTEN_BY_COMMANDS)

WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()  # noqa: SIM905
NUMBER = rf"(?<![\w.])(?:(?:\d[\d,]*\d|\d)(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?|\b(?:{'|'.join(WORDS)})\b"
UNIT = re.compile(r" ?%| (?:percent|n?s|ms|seconds?|minutes?|[KMGT]i?B|times|passes|fits)\b")
NO_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)|\[[a-z]+\d{4}[^]]*\]|Sections? \d+\.\d+|Sec\. [\d.]+\d")
"""Code, addresses, citations and places in papers, which have numbers that claim nothing."""


@dataclass(frozen=True)
class Claim:
    """A fragment of a page whose numbers a file has, too."""

    page: str
    says: str
    file: str
    found: str
    noise: float = 0.0
    times: float = 1.0
    rule: str = "equal"

    def holds(self, said: str, stored: str) -> bool:
        """Is the page's number that of the file, to the digits shown and up to the noise?"""
        shown, true = number(said), float(number(stored)) * self.times
        off = float(shown) - true
        slack = 0.5001 * 10.0 ** int(shown.as_tuple().exponent) + self.noise * abs(true)
        return off >= -slack and (self.rule == "at most" or off <= slack)


@dataclass(frozen=True)
class Plain:
    """A fragment of a page whose numbers claim nothing that a command could print, and why."""

    page: str
    says: str
    why: str


def registered() -> tuple[list[Claim], list[Plain]]:
    """What `claims.toml` has."""
    entries = tomllib.loads((Path(__file__).parent / "claims.toml").read_text())
    claims = [Claim(each["page"], file=each["file"], **claim) for each in entries["traced"] for claim in each["claims"]]
    return claims, [Plain(each["page"], says, each["why"]) for each in entries["plain"] for says in each["says"]]


def number(text: str) -> Decimal:
    """Of digits or of a word."""
    return Decimal(WORDS.index(text)) if text in WORDS else Decimal(text.replace(",", ""))


def pattern(fragment: str) -> re.Pattern[str]:
    """Of a fragment with `{}` for numbers and `...` for anything."""
    literal = re.escape(" ".join(fragment.split()))
    return re.compile(
        literal.replace(r"\{\}", f"({NUMBER})").replace(r"\{_\}", f"(?:{NUMBER})").replace(r"\.\.\.", ".*?")
    )


@functools.cache
def stored_lines() -> set[str]:
    """Every line that a command printed."""
    return {line.strip() for file in RESULTS.rglob("*.txt") for line in file.read_text().splitlines()}


def blocks(text: str) -> list[tuple[str, str]]:
    """Language and content of fenced blocks; those without a language show output."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def prose(text: str) -> str:
    """A page without its blocks and without lines that a command printed, on one line."""
    text = re.sub(r"^```\w*\n.*?^```$", "", text, flags=re.DOTALL | re.MULTILINE)
    stored = stored_lines()
    return " ".join(" ".join(line for line in text.splitlines() if line.strip() not in stored).split())


def comparisons(claim: Claim, text: str) -> list[tuple[bool, str]]:
    """For each number of a claim on a page with this text: does it hold, and what do page and file say?"""
    source = ROOT / claim.file
    if not source.exists():
        return [(False, f"{claim.file} is not there; {claim.page} quotes it: {claim.says!r}")]
    on_page = list(pattern(claim.says).finditer(prose(text)))
    in_file = list(pattern(claim.found).finditer(" ".join(source.read_text().split())))
    if len(on_page) != 1 or len(in_file) != 1:
        there, here = f"{claim.page} has {claim.says!r}", f"{claim.file} has {claim.found!r}"
        return [(False, f"{there} {len(on_page)} times, {here} {len(in_file)} times; wanted: once each")]
    return [
        (
            claim.holds(said, stored),
            f"{claim.page} says {said} in {claim.says!r}, {claim.file} says {stored}{unit(claim)}",
        )
        for said, stored in zip(on_page[0].groups(), in_file[0].groups(), strict=True)
    ]


def complaints(claim: Claim, text: str) -> list[str]:
    """What is wrong with a claim on a page with this text."""
    return [said for holds, said in comparisons(claim, text) if not holds]


def unit(claim: Claim) -> str:
    """What to know before the two numbers are compared."""
    factor = "" if claim.times == 1 else f" times {claim.times:g}"
    return f"{factor} (noise {claim.noise:.0%}{'' if claim.rule == 'equal' else ', ' + claim.rule})"


def figures(line: str) -> Iterator[re.Match[str]]:
    """Numbers that look like a result: decimals, those with a unit, and both of "23 of 24"."""
    line = NO_PROSE.sub(lambda skipped: " " * len(skipped[0]), line)
    for found in re.finditer(NUMBER, line):
        before, after = line[: found.start()], line[found.end() :]
        is_decimal = not found[0].isalpha() and not found[0].replace(",", "").isdecimal()
        of = re.match(r" of \d", after) or re.search(r"\d of $", before)
        if is_decimal or UNIT.match(after) or (of and not found[0].isalpha()):
            yield found


def untraced(page: str, text: str, claims: list[Claim], plain: list[Plain]) -> list[str]:
    """Figures in the prose of a page that no entry covers."""
    line, covered = prose(text), []
    for claim in claims:
        if claim.page == page and (found := pattern(claim.says).search(line)):
            covered += [found.span(group) for group in range(1, found.re.groups + 1)]
    covered += [
        found.span() for each in plain if each.page == page for found in re.finditer(re.escape(each.says), line)
    ]
    return [
        f"{page}: {found[0]} in '... {line[max(found.start() - 40, 0) : found.end() + 30]} ...'"
        for found in figures(line)
        if not any(start <= found.start() and found.end() <= end for start, end in covered)
    ]


def not_printed(text: str) -> list[str]:
    """Lines of output on a page that no command printed."""
    shown = [line.strip() for language, block in blocks(text) if not language for line in block.splitlines()]
    return [line for line in shown if line and line not in stored_lines()]


def main(pages: list[str]) -> None:
    for claim in registered()[0]:
        if not pages or claim.page in pages:
            for holds, said in comparisons(claim, (ROOT / claim.page).read_text()):
                print("ok   " if holds else "WRONG", said)


if __name__ == "__main__":
    main(sys.argv[1:])
