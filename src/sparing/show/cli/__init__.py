"""The ``sparing`` command."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any

INTERRUPTED, TERMINATED = 130, 143
"""As shells count: 128 and the number of the signal."""


class Terminated(KeyboardInterrupt):
    """The system, a scheduler or ``timeout`` asks the process to end: cleaned up as after Ctrl-C."""


def main() -> None:
    """Run the command line, or say what to install where it is missing."""
    signal.signal(signal.SIGTERM, _terminate)
    sys.unraisablehook = _heard
    try:
        from sparing.show.cli.commands import sparing
    except ModuleNotFoundError as missing:
        if missing.name not in {"click", "wcwidth"}:
            raise
        sys.exit(f"The command line needs the {missing.name} package: pip install 'sparing[cli]'")
    except KeyboardInterrupt as stop:
        sys.exit(exit_code(stop))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # names may hold signs that the terminal does not have
    sparing()


def exit_code(stop: KeyboardInterrupt) -> int:
    """The code of a process that was told to end."""
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


def _terminate(_number: int, _frame: Any) -> None:
    raise Terminated


def _heard(lost: Any) -> None:
    """Send a signal again that came inside a finaliser, where nobody hears it."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM if isinstance(lost.exc_value, Terminated) else signal.SIGINT)
    else:
        sys.__unraisablehook__(lost)
