"""What a command prints is stored in benchmarks/results, and the pages that quote it are filled in (pages.py).

python benchmarks/stored.py stories examples/story_cells.py ...    # run these scripts, store what each prints
"""

from __future__ import annotations

import contextlib
import io
import os
import runpy
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType

import pages

RESULTS = Path(__file__).parent / "results"


class Tee(io.StringIO):
    """Keeps what it passes on."""

    def write(self, text: str) -> int:
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


def store(command: str, part: str, work: Callable[[], object]) -> None:
    """Do ``work`` and store what it prints, where the real data are there: without them parts of it are missing."""
    said = Tee()
    with contextlib.redirect_stdout(said):
        work()
    if not os.environ.get("SPARING_DATA"):
        print(f"({command}/{part}: not stored, SPARING_DATA is not set)\n")
        return
    folder = RESULTS / command
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{part}.txt").write_text(said.getvalue().rstrip() + "\n")
    pages.fill()


def store_parts(command: str, parts: Mapping[str, ModuleType]) -> None:
    """Run and store all parts of a command, or those that the command line names."""
    unknown = set(sys.argv[1:]) - set(parts)
    if unknown:
        sys.exit(f"{', '.join(sorted(unknown))}: no such part. There are {', '.join(parts)}.")
    for name in sys.argv[1:] or parts:
        store(command, name, parts[name].main)


def store_scripts(command: str, *scripts: str) -> None:
    """Run and store scripts, each as if it had been called by itself."""
    for script in scripts:
        sys.argv, sys.path[0] = [script], str(Path(script).parent)
        store(command, Path(script).stem, lambda script=script: runpy.run_path(script, run_name="__main__"))


if __name__ == "__main__":
    store_scripts(*sys.argv[1:])
