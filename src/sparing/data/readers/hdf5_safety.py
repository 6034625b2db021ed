"""Texts of an HDF5 file stand in heaps, and a damaged one sends the HDF5 library around for ever: found out before."""

from __future__ import annotations

import struct
from mmap import ACCESS_READ, mmap
from pathlib import Path

SIGNATURE = b"GCOL\x01\x00\x00\x00"
SHORTEST, LOOKED_AT = 64, 2**25
"""Bytes that a file has at least, and up to which its heaps are looked at."""

HEADER = 16
"""Bytes of the header of a heap, and of that of each of its objects, where lengths have eight bytes as is usual."""

PLACES_OF_LENGTHS = {0: 14, 1: 14, 2: 10, 3: 10}
"""Where the file says how long lengths are, by the version of its first block."""


def heaps_end(path: Path) -> bool:
    """Does the walk through every heap come to its end? Without a look, true for large files and rare formats."""
    if not SHORTEST <= path.stat().st_size <= LOOKED_AT:
        return True
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as raw:
        if raw[PLACES_OF_LENGTHS.get(raw[8], 14)] != 8:
            return True
        at = raw.find(SIGNATURE)
        while at >= 0 and _ends(raw, at):
            at = raw.find(SIGNATURE, at + 1)
        return at < 0


def _ends(raw: mmap, at: int) -> bool:
    """Does each step from object to object, as the library takes them, lead on?"""
    end = len(raw)
    if at + HEADER <= end:
        end = min(at + struct.unpack_from("<Q", raw, at + 8)[0], end)
    at += HEADER
    while at + HEADER <= end:
        index, length = struct.unpack_from("<H6xQ", raw, at)
        step = (length if index == 0 else HEADER + (length + 7) // 8 * 8) % 2**64
        if step == 0:
            return False
        at += step
    return True
