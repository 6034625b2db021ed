"""Temporary files that go away by themselves."""

from __future__ import annotations

import os
import weakref
from contextlib import suppress
from pathlib import Path
from tempfile import mkstemp


class Scratch:
    """A file that is deleted, without a word, once nobody holds this object, or at the end of the process."""

    def __init__(self) -> None:
        handle, name = mkstemp(prefix="sparing-")
        os.close(handle)
        self.path = Path(name)
        self._gone = weakref.finalize(self, _delete, name)


def _delete(name: str) -> None:
    with suppress(OSError):
        os.unlink(name)
