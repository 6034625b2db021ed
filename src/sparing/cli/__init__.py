"""The ``sparing`` command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say what to install where its one dependency is missing."""
    try:
        from sparing.cli.commands import sparing
    except ModuleNotFoundError as missing:
        if missing.name != "click":
            raise
        sys.exit("The command line needs the click package: pip install 'sparing[cli]'")
    sparing()
