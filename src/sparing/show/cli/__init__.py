"""The ``sparing`` command."""

from __future__ import annotations

import io
import os
import signal
import sys
from typing import Any

INTERRUPTED, TERMINATED = 130, 143
"""Exit code as in shells: 128 plus the number of the signal."""


class Terminated(KeyboardInterrupt):
    """The system, a scheduler or ``timeout`` terminates the process: clean up as after Ctrl-C."""


_signals: list[KeyboardInterrupt] = []
"""Those that this process received."""


def main() -> None:
    """Run the command line; if a dependency is missing, say what to install."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _received)
    sys.unraisablehook = _heard
    try:
        from sparing.show.cli.commands import sparing
    except (Exception, KeyboardInterrupt) as problem:
        if (stop := as_signal(problem)) is not None:
            sys.exit(exit_code(stop))
        if not isinstance(problem, ModuleNotFoundError) or problem.name not in {"click", "wcwidth"}:
            raise
        sys.exit(f"The command line needs the {problem.name} package: pip install 'sparing[cli]'")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # names may contain characters that the terminal lacks
    try:
        sparing()
    except SystemExit as end:  # click exits with 1 where a signal arrives before or after the command itself
        sys.exit(exit_code(_signals[-1]) if end.code and _signals else end.code)
    except OSError as refused:  # the help texts of the group cannot be written
        sys.exit(f"Error: Cannot write the output: {refused.strerror}. Free some space or choose another path.")


def as_signal(problem: BaseException) -> KeyboardInterrupt | None:
    """The signal behind an exception: itself, or the one that it hides; None for other errors.

    Code in C that is running when the signal arrives may raise an error of its own instead, as NumPy does while it
    parses the format of a buffer.
    """
    if isinstance(problem, KeyboardInterrupt):
        return problem
    return _signals[-1] if _signals else None


def exit_code(stop: KeyboardInterrupt) -> int:
    """The exit code of a terminated process."""
    return TERMINATED if isinstance(stop, Terminated) else INTERRUPTED


def _received(number: int, _frame: Any) -> None:
    _signals.append(Terminated() if number == signal.SIGTERM else KeyboardInterrupt())
    raise _signals[-1]


def _heard(lost: Any) -> None:
    """Send a signal again if it arrived in a finaliser, where Python discards it."""
    if isinstance(lost.exc_value, KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGTERM if isinstance(lost.exc_value, Terminated) else signal.SIGINT)
    else:
        sys.__unraisablehook__(lost)
