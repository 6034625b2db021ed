"""Atomic file writes: a file is replaced as a whole or stays as it was."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkstemp
from typing import BinaryIO

from sparing import errors


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of ``path`` once all is written and on the disk.

    Until then, and where writing fails or is interrupted, whatever was there stays as it was. A link keeps pointing to
    the file it names; devices and pipes are written to directly.
    """
    place = Path(path).expanduser()
    try:
        target = place.resolve()
        if target.exists() and not target.is_file() and not target.is_dir():
            with target.open("wb") as device:
                yield device
            return
        handle, name = mkstemp(prefix=f".{target.name[:50]}-", dir=target.parent)
        try:
            with os.fdopen(handle, "wb") as file:
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
        if refused.errno is None:  # one of our own sentences, about something else
            raise
        raise errors.cannot_write(path, refused) from refused


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    with suppress(OSError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
