"""Values as plain data: JSON for what is small, arrays beside it, and nothing that could run when it is read.

Of classes and functions only names are written, and only those that a codec accepts are looked up when reading.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

Json = Any
"""What the json module reads and writes."""

Keep = Callable[[Any], str]
"""Puts an array aside and says under which name."""

NOTHING = re.compile(r"(?!)")
"""Matches no name."""

SPARSE = {"csc_array": sparse.csc_array, "csc_matrix": sparse.csc_matrix}


class Unplain(TypeError):
    """A value that is no plain data."""

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(f"a {type(value).__module__}.{type(value).__qualname__} cannot be stored")


@dataclass(frozen=True)
class Codec:
    """What may be named in a file, beside numbers, texts, arrays, sparse columns, tuples and lists.

    Parameters
    ----------
    records : pattern
        Modules whose dataclasses and named tuples are stored by what they are made from; reading calls constructors.
    functions : pattern
        Functions, as ``module:name``, that are stored by name, also with keywords bound to them.
    objects : pattern
        Modules of which any other class is stored by its attributes; reading calls no constructor, so nothing is
        checked: for files of one's own.
    """

    records: re.Pattern[str]
    functions: re.Pattern[str] = NOTHING
    objects: re.Pattern[str] = NOTHING

    def encode(self, value: Any, keep: Keep) -> Json:
        """A value as JSON; arrays are put aside. ``Unplain`` for anything that is no plain data."""
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if isinstance(value, (np.ndarray, np.generic)):
            return _array(value, keep)
        if isinstance(value, float):
            return float(value) if math.isfinite(value) else {"~float": repr(float(value))}
        if isinstance(value, list):
            return [self.encode(item, keep) for item in value]
        if isinstance(value, partial) and not value.args:
            return {"~partial": [self.encode(value.func, keep), self._fields(value.keywords, keep)]}
        if self.functions.fullmatch(name := _name(value)):
            return {"~check": name}
        kind = type(value)
        if kind is tuple:
            return {"~tuple": [self.encode(item, keep) for item in value]}
        if kind.__name__ in SPARSE:
            parts = (value.data, value.indices, value.indptr)
            return {"~sparse": [kind.__name__, list(value.shape), *(_array(part, keep) for part in parts)]}
        if self._is_record(kind):
            fields = _initial(value) if dataclasses.is_dataclass(kind) else value._asdict()
            return {"~record": [_name(kind), self._fields(fields, keep)]}
        if self.objects.match(kind.__module__):
            return {"~object": [_name(kind), self._fields(vars(value), keep)]}
        raise Unplain(value)

    def decode(self, json: Json, arrays: Callable[[str], Any]) -> Any:
        """The value again. ValueError or the like for anything that this codec does not write."""
        if isinstance(json, list):
            return [self.decode(item, arrays) for item in json]
        if not isinstance(json, dict):
            return json
        if len(json) != 1:
            raise ValueError("a part of it is of no known kind")
        (kind, content), *_ = json.items()
        if kind == "~names":
            return np.array([_text(name) for name in content], dtype=object)
        if kind == "~array":
            array = arrays(_text(content))
            return array if array.ndim else array[()]
        if kind == "~float":
            return float(_text(content))
        if kind == "~tuple":
            return tuple(self.decode(content, arrays))
        if kind == "~check":
            return _found(_text(content), self.functions)
        if kind == "~partial":
            function, keywords = content
            return partial(self.decode(function, arrays), **self._again(keywords, arrays))
        if kind == "~sparse":
            name, shape, *parts = content
            matrix = SPARSE[_text(name)](tuple(self.decode(parts, arrays)), shape=tuple(shape))
            matrix.check_format(full_check=True)
            return matrix
        if kind == "~record":
            name, fields = content
            record = _found(_text(name), self.records)
            if not self._is_record(record):
                raise ValueError(f"{name!r} is no record")
            return record(**self._again(fields, arrays))
        if kind == "~object":
            name, attributes = content
            return _with_attributes(_found(_text(name), self.objects), self._again(attributes, arrays))
        raise ValueError(f"a part of it is of the unknown kind {kind!r}")

    def _fields(self, values: dict[str, Any], keep: Keep) -> Json:
        return {name: self.encode(value, keep) for name, value in values.items()}

    def _again(self, fields: Json, arrays: Callable[[str], Any]) -> dict[str, Any]:
        return {name: self.decode(value, arrays) for name, value in dict(fields).items()}

    def _is_record(self, kind: Any) -> bool:
        plain = isinstance(kind, type) and (
            dataclasses.is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
        )
        return plain and self.records.match(kind.__module__) is not None


def _array(value: Any, keep: Keep) -> Json:
    """Numbers put aside, texts as they are."""
    if value.dtype.kind in "fiub":
        return {"~array": keep(np.asarray(value))}
    if value.dtype == object and isinstance(value, np.ndarray) and all(isinstance(item, str) for item in value.flat):
        return {"~names": value.tolist()}
    raise Unplain(value)


def _initial(value: Any) -> dict[str, Any]:
    """What a dataclass was made from."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}


def _with_attributes(kind: Any, attributes: dict[str, Any]) -> Any:
    """An instance of a class as it was: a constructor that checks or computes is not called."""
    if not inspect.isclass(kind):
        raise ValueError(f"{kind!r} is no class")
    thing = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(thing, name, value)
    return thing


def _name(thing: Any) -> str:
    return f"{getattr(thing, '__module__', '')}:{getattr(thing, '__qualname__', '')}"


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a name in it is no text")
    return value


def _found(name: str, allowed: re.Pattern[str]) -> Any:
    """A class or function of this package, by its name."""
    module, _, qualified = name.partition(":")
    if not (allowed.match(name) and re.fullmatch(r"[\w.]+", module) and qualified.isidentifier()):
        raise ValueError(f"{name!r} is not among what may be named")
    found = getattr(import_module(module), qualified)
    if getattr(found, "__module__", None) != module:
        raise ValueError(f"{name!r} is not among what may be named")
    return found
