"""Results of passes as JSON and plain arrays, and back: nothing in a file is ever run.

Numbers, arrays, SciPy's sparse columns, tuples, lists and any class of ``sparing.data`` (named tuples by their fields,
others by their attributes) are understood, so a new job needs nothing but a result made of these.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from sparing.results import Array

HOME = "sparing.data."
"""Where classes must be defined."""

SPARSE = {"csc_array": sparse.csc_array, "csc_matrix": sparse.csc_matrix}


def encoded(thing: Any, arrays: list[Array]) -> Any:
    """What JSON can hold; arrays are appended to ``arrays`` and named by their place."""
    if thing is None or type(thing) in (bool, int, float, str):
        return thing
    if isinstance(thing, (np.ndarray, np.generic)):
        if thing.dtype.hasobject:
            raise TypeError("an array of objects cannot be stored")
        arrays.append(np.asarray(thing))
        return {"scalar" if isinstance(thing, np.generic) else "array": len(arrays) - 1}
    if type(thing) in (tuple, list):
        return {type(thing).__name__: [encoded(part, arrays) for part in thing]}
    kind = type(thing)
    if kind.__name__ in SPARSE:
        parts = (thing.data, thing.indices, thing.indptr, np.array(thing.shape))
        return {"sparse": kind.__name__, "parts": [encoded(part, arrays) for part in parts]}
    if not kind.__module__.startswith(HOME):
        raise TypeError(f"a {kind.__module__}.{kind.__qualname__} cannot be stored; {__name__} says what can")
    named = thing._asdict() if isinstance(thing, tuple) and hasattr(thing, "_asdict") else vars(thing)
    fields = {name: encoded(part, arrays) for name, part in named.items()}
    return {"class": [kind.__module__, kind.__qualname__], "fields": fields}


def decoded(text: Any, arrays: list[Array]) -> Any:
    """The result again; KeyError, TypeError, ValueError or the like where the text was not made by ``encoded``."""
    match text:
        case None | bool() | int() | float() | str():
            return text
        case {"array": int(place)}:
            return arrays[place]
        case {"scalar": int(place)}:
            return arrays[place][()]
        case {"tuple": list(parts)}:
            return tuple(decoded(part, arrays) for part in parts)
        case {"list": list(parts)}:
            return [decoded(part, arrays) for part in parts]
        case {"sparse": str(name), "parts": list(parts)}:
            data, indices, indptr, shape = (decoded(part, arrays) for part in parts)
            matrix = SPARSE[name]((data, indices, indptr), shape=tuple(shape.tolist()))
            matrix.check_format(full_check=True)
            return matrix
        case {"class": [str(module), str(name)], "fields": dict(fields)}:
            return _made(_known(module, name), {field: decoded(part, arrays) for field, part in fields.items()})
    raise ValueError(f"not a result: {str(text)[:60]}")


def _known(module: str, name: str) -> type:
    """A class of this package's data layer, and nothing that is merely imported there."""
    if not module.startswith(HOME):
        raise ValueError(f"a class of {module}")
    kind = getattr(import_module(module), name)
    if not isinstance(kind, type) or kind.__module__ != module:
        raise ValueError(f"{name} is no class of {module}")
    return kind


def _made(kind: type, fields: dict[str, Any]) -> Any:
    """An instance with these attributes, as it was: constructors that check or compute are not called."""
    if issubclass(kind, tuple):
        return kind(**fields)
    thing = kind.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(thing, name, value)
    return thing
