"""Atomic file writes: a file is replaced as a whole or stays as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from tempfile import mkstemp
from time import time
from typing import BinaryIO

from sparing import errors

if os.name == "posix":
    import fcntl

UNFINISHED = ".unfinished"
JUST_MADE = 60.0
"""Seconds during which a new file may not have its lock yet."""


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces ``path`` when everything is written and on disk.

    Until then, and if writing fails or is interrupted, the old file stays as it was. Links keep pointing to their file;
    devices and pipes are written directly.
    """
    place = Path(path).expanduser()
    try:
        target = place.resolve()
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:
                yield device
            return
        _remove_abandoned(target)
        handle, name = mkstemp(prefix=_beginning(target), suffix=UNFINISHED, dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                _lock(handle)
                yield file
                file.flush()
                os.fsync(handle)
            os.chmod(name, _mode(target))
            os.replace(name, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(name)
            raise
    except OSError as refused:
        if refused.errno is None:  # one of our own errors, with another cause
            raise
        raise errors.cannot_write(path, refused) from refused


def _beginning(target: Path) -> str:
    return f".{target.name[:50]}-"


def _lock(handle: int) -> None:
    """Lock a file that is being written; the lock ends with the process."""
    if os.name == "posix":
        with suppress(OSError):  # some file systems have no locks
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove_abandoned(target: Path) -> None:
    """Delete files left by killed processes, whose locks nobody holds."""
    if os.name != "posix":
        return
    for left in target.parent.glob(f"{escape(_beginning(target))}*{UNFINISHED}"):
        with suppress(OSError):
            if time() - left.stat().st_mtime < JUST_MADE:
                continue
            with left.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                left.unlink()


def _mode(target: Path) -> int:
    """The permissions of the replaced file, or those of a new file."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
