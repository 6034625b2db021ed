"""Temporary files that go away by themselves."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from tempfile import gettempdir


class Scratch:
    """A file that is deleted, without a word, once nobody holds this object, or at the end of the process.

    Who deletes it is settled before it exists: no interruption comes in between.
    """

    def __init__(self) -> None:
        self.path = Path(gettempdir(), f"sparing-{token_hex(8)}")
        for _ in range(2):  # an interruption that comes while one of them is at it is heard by nobody
            weakref.finalize(self, _delete, str(self.path))
        os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def _delete(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)
