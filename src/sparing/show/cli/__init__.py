"""The ``sparing`` command."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line, or say what to install where it is missing."""
    try:
        from sparing.show.cli.commands import sparing
    except ModuleNotFoundError as missing:
        if missing.name not in {"click", "wcwidth"}:
            raise
        sys.exit(f"The command line needs the {missing.name} package: pip install 'sparing[cli]'")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # names may hold signs that the terminal does not have
    sparing()
