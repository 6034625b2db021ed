"""A short mark of anything that a fit is described by: equal for equal contents, in every process."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np

from sparing.data.rows import Rows

DIGITS = 16
"""Bytes of a mark."""


def fingerprint(thing: Any) -> str:
    """Hexadecimal digits that tell contents apart: arrays by type, shape and values, objects by class and attributes.

    Rows stand for themselves: what they hold is compared elsewhere, once.
    """
    return _mark(thing, ()).hex()


def _mark(thing: Any, above: tuple[int, ...]) -> bytes:
    """The mark of a thing inside those ``above`` it; a thing inside itself is named, not entered again."""
    digest = blake2b(type(thing).__qualname__.encode(), digest_size=DIGITS)
    if isinstance(thing, (type(None), bool, int, float, complex, str, bytes, slice, np.dtype)):
        digest.update(repr(thing).encode())
    elif isinstance(thing, (np.ndarray, np.generic)) and not thing.dtype.hasobject:
        digest.update(f"{thing.dtype.str}{thing.shape}".encode())
        digest.update(np.ascontiguousarray(thing).data.cast("B") if thing.size else b"")
    elif isinstance(thing, type) or (callable(thing) and hasattr(thing, "__qualname__")):
        digest.update(f"{thing.__module__}.{thing.__qualname__}".encode())
    elif id(thing) not in above and not isinstance(thing, Rows):
        for part in _parts(thing):
            digest.update(_mark(part, (*above, id(thing))))
    return digest.digest()


def _parts(thing: Any) -> list[Any]:
    """What a thing consists of, in an order that does not depend on how it was made."""
    if isinstance(thing, (tuple, list)):
        return list(thing)
    if isinstance(thing, np.ndarray):
        return [thing.shape, *thing.flat]
    if isinstance(thing, (set, frozenset)):
        return sorted(_mark(part, ()) for part in thing)
    if isinstance(thing, Mapping):
        return sorted(thing.items(), key=lambda pair: _mark(pair[0], ()))
    if isinstance(thing, partial):
        return [thing.func, thing.args, thing.keywords]
    if isinstance(thing, np.random.Generator):
        return [thing.bit_generator.state]
    if isinstance(thing, np.random.RandomState):
        return [thing.get_state(legacy=False)]
    if dataclasses.is_dataclass(thing):
        return [(field.name, getattr(thing, field.name)) for field in dataclasses.fields(thing)]
    if hasattr(thing, "__dict__"):
        return sorted(vars(thing).items())
    return [repr(thing)]
