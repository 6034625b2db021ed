"""Values as plain data: JSON and separate arrays, and no code that could run on loading.

Classes are stored by name, and only those that a codec knows are accepted on loading. Functions are not stored.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

Json = Any
"""Types of the json module."""

Keep = Callable[[Any], str]
"""Stores an array and returns its name."""

SPARSE = {"csc_array": sparse.csc_array, "csc_matrix": sparse.csc_matrix}


class Unplain(TypeError):
    """A value that is not plain data."""

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(f"a {type(value).__module__}.{type(value).__qualname__} cannot be stored")


class Codec:
    """Codec of numbers, strings, arrays, sparse columns, tuples, lists, and the records of a registry by name.

    Parameters
    ----------
    records : mapping from str to type
        Dataclasses and named tuples are stored by their constructor arguments, and loading calls the constructor. Other
        classes are stored by their attributes, and loading calls no constructor, so nothing is checked.
    """

    def __init__(self, records: Mapping[str, type]) -> None:
        self._kinds = dict(records)
        self._names = {kind: name for name, kind in records.items()}

    def encode(self, value: Any, keep: Keep) -> Json:
        """A value as JSON, with arrays stored separately. Raises ``Unplain`` for anything that is not plain data."""
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
        kind = type(value)
        if kind is tuple:
            return {"~tuple": [self.encode(item, keep) for item in value]}
        if kind is dict:
            return {"~dict": [[self.encode(part, keep) for part in pair] for pair in value.items()]}
        if kind.__name__ in SPARSE:
            parts = (value.data, value.indices, value.indptr)
            return {"~sparse": [kind.__name__, list(value.shape), *(_array(part, keep) for part in parts)]}
        if (name := self._names.get(kind)) is None:
            raise Unplain(value)
        if is_record(kind):
            fields = _initial(value) if dataclasses.is_dataclass(kind) else value._asdict()
            return {"~record": [name, self._fields(fields, keep)]}
        return {"~object": [name, self._fields(vars(value), keep)]}

    def decode(self, json: Json, arrays: Callable[[str], Any]) -> Any:
        """Restore a value. Raises ValueError or similar for anything that this codec does not write."""
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
        if kind == "~dict":
            return {self.decode(key, arrays): self.decode(value, arrays) for key, value in content}
        if kind == "~sparse":
            name, shape, *parts = content
            matrix = SPARSE[_text(name)](tuple(self.decode(parts, arrays)), shape=tuple(shape))
            matrix.check_format(full_check=True)
            return matrix
        if kind in ("~record", "~object"):
            name, fields = content
            if (found := self._kinds.get(_text(name))) is None:
                raise ValueError(f"{name!r} is not among what may be named")
            if is_record(found) != (kind == "~record"):
                raise ValueError(f"{name!r} is of another kind")
            again = self._again(fields, arrays)
            return found(**again) if kind == "~record" else _with_attributes(found, again)
        raise ValueError(f"a part of it is of the unknown kind {kind!r}")

    def _fields(self, values: dict[str, Any], keep: Keep) -> Json:
        return {name: self.encode(value, keep) for name, value in values.items()}

    def _again(self, fields: Json, arrays: Callable[[str], Any]) -> dict[str, Any]:
        return {name: self.decode(value, arrays) for name, value in dict(fields).items()}


def is_record(kind: type) -> bool:
    """Whether it is a dataclass or a named tuple."""
    return dataclasses.is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))


def _array(value: Any, keep: Keep) -> Json:
    """Store numbers separately, strings inline."""
    if value.dtype.kind in "fiub":
        return {"~array": keep(np.asarray(value))}
    if value.dtype == object and isinstance(value, np.ndarray) and all(isinstance(item, str) for item in value.flat):
        return {"~names": value.tolist()}
    raise Unplain(value)


def _initial(value: Any) -> dict[str, Any]:
    """The constructor arguments of a dataclass."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}


def _with_attributes(kind: type, attributes: dict[str, Any]) -> Any:
    """Restore an instance of a class without calling its constructor."""
    thing: Any = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(thing, name, value)
    return thing


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a name in it is no text")
    return value
