"""What of each paper is where, and which test holds it: `docs/coverage.md`, from docstrings, registries and tests.

A row is a place that the library cites ("[magdonismail2015, Theorem 6(i)]" in a docstring, or the `reference` of a
registered algorithm), a numbered statement that a test of `tests/theorems` is named after, or a section of
`docs/papers.md`. Tests are those of the statement, and those that use what cites it by name.

    python benchmarks/coverage_page.py
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage.md"
SOURCES, TESTS, SCRIPTS = ROOT / "src" / "sparing", ROOT / "tests", ROOT / "benchmarks" / "results" / "papers"

PAPERS = {
    "magdonismail2015": ("Optimal sparse linear auto-encoders and sparse PCA", ()),
    "mackey2014": (
        "Lecture 14, with the papers that it presents",
        ("zou2006", "daspremont2007", "mackey2008", "witten2010", "jolliffe2003"),
    ),
    "asteris2014": ("Nonnegative sparse PCA with provable guarantees", ()),
    "boutsidis2011": ("Sparse features for PCA-like linear regression", ()),
    "fountoulakis2016": ("A randomized rounding algorithm for sparse PCA", ()),
}
"""Titles, and keys of references.bib that count as the paper's own."""

KINDS = {
    "theorem": "Theorem", "lemma": "Lemma", "lemmas": "Lemmas", "algorithm": "Algorithm", "eq": "eq.",
    "comment": "comment", "table": "Table", "figure": "Figure", "section": "Sec.",
}  # fmt: skip
CITED = re.compile(r"\[([a-z]+\d{4}), ([^\[\]]+)\]")
NAMED = re.compile(rf"test_({'|'.join(KINDS)})_(\d+)(i{{1,3}})?(?=_|$)")
MOST = 3
"""Places that a row names; the others are counted."""


@cache
def citations() -> dict[tuple[str, str], set[str]]:
    """From (key, place) to the functions and classes whose docstrings or `reference` cite it."""
    found = defaultdict(set)
    for file in sorted(SOURCES.rglob("*.py")):
        module = file.relative_to(SOURCES.parent).with_suffix("").as_posix().replace("/", ".").removesuffix(".__init__")
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.ClassDef | ast.FunctionDef):
                continue
            places = CITED.findall(" ".join((ast.get_docstring(node) or "").split()))
            for key, place in [*places, *_references(node)]:
                found[key, place].add(f"{module}.{node.name}")
    return dict(found)


def _references(node: ast.ClassDef | ast.FunctionDef) -> Iterator[tuple[str, str]]:
    """What a class says in `reference = Reference(key, where)`."""
    for line in node.body if isinstance(node, ast.ClassDef) else ():
        call = getattr(line, "value", None)
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Reference":
            yield call.args[0].value, call.args[1].value  # type: ignore[attr-defined,misc]


@cache
def statements() -> dict[tuple[str, str], dict[str, set[str]]]:
    """From (key, statement) to the tests named after it, by file."""
    found: dict[tuple[str, str], dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for file in sorted((TESTS / "theorems").glob("test_*.py")):
        key = file.stem.split("_")[1]
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef) and (name := NAMED.match(node.name)):
                kind, number, part = name.groups()
                place = f"{KINDS[kind]} {number}" + (f"({part})" if part else "")
                found[key, place][file.relative_to(ROOT).as_posix()].add(node.name)
    return found


@cache
def words_of_tests() -> dict[str, set[str]]:
    """From test files to the names that their code uses."""
    files = {file.relative_to(ROOT).as_posix(): file.read_text() for file in sorted(TESTS.rglob("test_*.py"))}
    return {name: set(re.findall(r"[A-Za-z_]\w+", text)) for name, text in files.items()}


def tests_of(objects: set[str], words: dict[str, set[str]]) -> list[str]:
    """The test files of the objects' modules; where there are none, the first that uses one of them by name.

    Not all that use them: the page would change with every test that somebody adds.
    """
    using = [file for file, used in words.items() if used & {name.split(".")[-1] for name in objects}]
    places = {tuple(name.split(".")[1:-1]) for name in objects}
    of_modules = [file for file in words if _place(file) in places]
    return of_modules or using[:1]


def _place(file: str) -> tuple[str, ...]:
    """The module that a test file is named after: tests/linalg/test_loss.py is that of linalg.loss."""
    parts = Path(file).with_suffix("").parts[1:]
    return *parts[:-1], parts[-1].removeprefix("test_")


def sections() -> list[tuple[str, str, str]]:
    """(key, title, script) of every section of the page on the papers."""
    found = []
    for file in sorted(SCRIPTS.glob("*.md")):
        title = file.read_text().partition("\n")[0].removeprefix("## ")
        if key := re.search(r"\[([a-z]+\d{4})", title):
            found.append((key[1], re.sub(r" \[.*?\]$", "", title), f"benchmarks/papers/{file.stem}.py"))
    return found


def rows_of(paper: str) -> list[tuple[str, str, str]]:
    """(item, where, test) of one paper, sorted by item."""
    words, named = words_of_tests(), statements()
    own = {paper, *PAPERS[paper][1]}
    rows: dict[str, tuple[str, str]] = {}
    for (key, place), objects in citations().items():
        if key in own:
            item = place if key == paper else f"[{key}] {place}"
            tests = [*named.get((key, place), {}), *tests_of(objects, words)]
            rows[item] = (_shown(sorted(objects)), _shown(list(dict.fromkeys(tests))))
    for (key, place), tests in named.items():
        if key == paper and place not in rows:
            count = sum(map(len, tests.values()))
            rows[place] = ("the statement itself", f"{_shown(list(tests))} ({count} test{'s' if count > 1 else ''})")
    for key, title, script in sections():
        if key == paper:
            rows[title] = (f"`{script}`", "[comparison](papers.md)")
    return [(item, *rows[item]) for item in sorted(rows, key=_in_order)]


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(f"`{name.removeprefix('sparing.')}`" for name in names[:MOST]) + more


def _in_order(item: str) -> list[object]:
    """Numbers by size."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", item)]


def page() -> str:
    """The page as a whole."""
    parts = [
        "# Coverage of the papers",
        "*Where is Theorem 6 of the first paper implemented, and which test checks it?*",
        "`python benchmarks/coverage_page.py` writes this page from citations in docstrings, the registries of "
        "algorithms and the names of tests; a test keeps it up to date. [Errata](errata.md) lists differences from the "
        "printed papers, [Reproducing the papers](papers.md) compares results.",
    ]
    for paper, (title, _) in PAPERS.items():
        lines = [("item", "where", "test"), ("---", "---", "---"), *rows_of(paper)]
        parts += [f"## {title} [{paper}]", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
