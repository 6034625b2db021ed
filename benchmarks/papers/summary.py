"""Where the scripts of this folder find their data, and how what each of them finds becomes one page.

A script keeps its section in `benchmarks/results/papers`; `docs/papers.md` is those sections in their order, and a
count of what agrees.

    python benchmarks/papers/summary.py    # put the page together again from the sections that are kept
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from PIL import Image

mpl.use("Agg")

ROOT = Path(__file__).parents[2]
SECTIONS = ROOT / "benchmarks" / "results" / "papers"
IMAGES = ROOT / "docs" / "images" / "papers"
PAGE = ROOT / "docs" / "papers.md"

ORDER = (
    "encoders_figure1",
    "encoders_example",
    "encoders_input_sparsity",
    "lecture_spca_dspca",
    "nonnegative_spannogram",
    "nonnegative_figures",
    "table3",
    "regression_rivals",
    "regression_choice",
    "rounding_figure1",
    "rounding_figure2",
    "rounding_table1",
    "rounding_table2",
)
"""Scripts, and sections of the page, by paper and place."""

AGREES = "agrees"

INTRODUCTION = """# Reproducing the papers

*Which tables and figures of the five papers can be reproduced, and where do the results differ?*

`make papers` computes them from the real data in `SPARING_DATA` and writes this page; `python benchmarks/papers/run.py
table3` runs one script. Each section gives the printed result, our result, and the reason for a difference. Errors in
the papers are listed in [their errata](errata.md).

- The available copies of the papers are text. Of figures we know the captions and the text about them, not the curves;
  no number was read off a plot.
- Methods were not tuned to match the papers.
- Three conventions that the papers leave open were inferred from printed results, so these results are not an
  independent check: targets, rows and ties of Table 3 of [boutsidis2011], and uncentred words and half the bound in
  Tables 1 and 2 of [fountoulakis2016].
"""


class Compared(NamedTuple):
    """One thing that a paper prints, and what we get; the reason is `AGREES` where there is no difference."""

    what: str
    printed: str
    ours: str
    reason: str = AGREES


def verdict(holds: bool, otherwise: str = "not so here") -> str:
    """The reason of a row: none where the print holds."""
    return AGREES if holds else otherwise


def shared(name: str) -> Path:
    """A file of the real data sets."""
    path = Path(os.environ.get("SPARING_DATA", "/nonexistent")) / name
    if not path.exists():
        raise SystemExit(f"This script reads {name}: set SPARING_DATA to the folder that has it.")
    return path


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def compared(rows: Iterable[Compared]) -> str:
    """Print against ours."""
    return table(("what", "print", "ours", "why they differ"), rows)


def picture(name: str, says: str) -> str:
    """A picture of the page; ``says`` is read where it is not seen."""
    return f"![{says}](images/papers/{name}.png)"


def draw(figure: Any, name: str) -> None:
    """Keep a picture, small: a few dozen colours are all that lines and gray faces need."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=80)
    Image.open(drawn).convert("RGB").quantize(48).save(IMAGES / f"{name}.png", optimize=True)


def section(title: str, *paragraphs: str) -> str:
    """A heading and what is below it."""
    return "\n\n".join([f"## {title}", *(paragraph.strip() for paragraph in paragraphs)]) + "\n"


def keep(name: str, text: str) -> None:
    """Print a section, store it, and put the page together again."""
    print(text, flush=True)
    SECTIONS.mkdir(parents=True, exist_ok=True)
    (SECTIONS / f"{name}.md").write_text(text)
    PAGE.write_text(page())


def page() -> str:
    """The sections there are, and how many rows of each agree with print."""
    texts = [file.read_text() for name in ORDER if (file := SECTIONS / f"{name}.md").exists()]
    return "\n".join([INTRODUCTION, overview(texts) + "\n", *texts])


def overview(texts: Iterable[str]) -> str:
    """One line for each section that compares with print."""
    lines = []
    for text in texts:
        rows = text.partition("| what | print |")[2].splitlines()[2:]
        rows = rows[: next((i for i, row in enumerate(rows) if not row.startswith("|")), len(rows))]
        if rows:
            agree = sum(row.endswith(f"| {AGREES} |") for row in rows)
            lines.append((text.partition("\n")[0].removeprefix("## "), len(rows), agree))
    return table(("section", "compared", "agree"), lines)


if __name__ == "__main__":
    PAGE.write_text(page())
