"""Data files for the scripts of this folder, and the page that their results make.

Each script stores its section in `benchmarks/results/papers`; `docs/papers.md` consists of these sections and a count
of the comparisons that agree.

    python benchmarks/papers/summary.py    # write the page again from the stored sections
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

- Only the text of the papers was available. For figures we compare with the captions and the text; no number was read
  off a plot.
- Methods were not tuned to match the papers.
- Some conventions that the papers do not state were inferred from the printed results, so agreement there is not an
  independent check: the targets, rows and tie-breaking of Table 3 of [boutsidis2011], and the uncentred word counts and
  half the l1 bound in Tables 1 and 2 of [fountoulakis2016].
- In the tables, *print* is the result in the paper. *agrees* means that ours is the same within the stated rounding.
"""


class Compared(NamedTuple):
    """A printed result and ours; the reason is `AGREES` if they do not differ."""

    what: str
    printed: str
    ours: str
    reason: str = AGREES


def verdict(holds: bool, otherwise: str = "does not hold here") -> str:
    """The reason of a row: `AGREES` if the printed claim holds."""
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
    """An image in Markdown; ``says`` is its alternative text."""
    return f"![{says}](images/papers/{name}.png)"


def draw(figure: Any, name: str) -> None:
    """Save a figure as a small PNG: lines and gray faces need only a few dozen colours."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=80)
    Image.open(drawn).convert("RGB").quantize(48).save(IMAGES / f"{name}.png", optimize=True)


def section(title: str, *paragraphs: str) -> str:
    """A heading and its paragraphs."""
    return "\n\n".join([f"## {title}", *(paragraph.strip() for paragraph in paragraphs)]) + "\n"


def keep(name: str, text: str) -> None:
    """Print a section, store it, and write the page again."""
    print(text, flush=True)
    SECTIONS.mkdir(parents=True, exist_ok=True)
    (SECTIONS / f"{name}.md").write_text(text)
    PAGE.write_text(page())


def page() -> str:
    """The stored sections, and how many rows of each agree with the paper."""
    texts = [file.read_text() for name in ORDER if (file := SECTIONS / f"{name}.md").exists()]
    return "\n".join([INTRODUCTION, overview(texts) + "\n", *texts])


def overview(texts: Iterable[str]) -> str:
    """One line for each section that compares with the paper."""
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
