"""Results as plain data: JSON for what is small, arrays beside it, and nothing that could run when it is read.

Of classes only names are written, and only those of records of this package (dataclasses and named tuples) are accepted
when reading. There are no functions: a bound has the name of what checks it.
"""

from __future__ import annotations

import dataclasses
import math
import os
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np

Json = Any
"""What the json module reads and writes."""

RECORDS = re.compile(r"sparing\.(results|data|certificates|clustering|methods|proof)\b")
"""Where records may come from."""

Keep = Callable[[Any], str]
"""Puts an array aside and says under which name."""


def encoded(value: Any, keep: Keep) -> Json:
    """A value as JSON; arrays are put aside. TypeError for anything that is no plain data, with the value."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, np.ndarray) and value.dtype == object and all(isinstance(item, str) for item in value.flat):
        return {"~names": value.tolist()}
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fiub":
        return {"~array": keep(np.asarray(value))}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"~float": repr(float(value))}
    if isinstance(value, list):
        return [encoded(item, keep) for item in value]
    if isinstance(value, tuple) and type(value) is tuple:
        return {"~tuple": [encoded(item, keep) for item in value]}
    kind = type(value)
    if _is_record(kind):
        fields = _initial(value) if dataclasses.is_dataclass(kind) else value._asdict()
        return {"~record": [f"{kind.__module__}:{kind.__qualname__}", _fields(fields, keep)]}
    raise Unplain(value)


class Unplain(TypeError):
    """A value that is no plain data."""

    def __init__(self, value: object) -> None:
        self.value = value
        super().__init__(type(value).__name__)


def decoded(json: Json, arrays: Callable[[str], Any]) -> Any:
    """The value again. ValueError for anything that this module does not write."""
    if isinstance(json, list):
        return [decoded(item, arrays) for item in json]
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
        return tuple(decoded(content, arrays))
    if kind == "~record":
        name, fields = content
        record = _found(_text(name))
        if not _is_record(record):
            raise ValueError(f"{name!r} is no record")
        return record(**_again(fields, arrays))
    raise ValueError(f"a part of it is of the unknown kind {kind!r}")


def _fields(values: dict[str, Any], keep: Keep) -> Json:
    return {name: encoded(value, keep) for name, value in values.items()}


def _again(fields: Json, arrays: Callable[[str], Any]) -> dict[str, Any]:
    return {name: decoded(value, arrays) for name, value in dict(fields).items()}


def _initial(value: Any) -> dict[str, Any]:
    """What a dataclass was made from."""
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value) if field.init}


def _is_record(kind: Any) -> bool:
    plain = isinstance(kind, type) and (
        dataclasses.is_dataclass(kind) or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    )
    return plain and RECORDS.match(kind.__module__) is not None


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a name in it is no text")
    return value


def _found(name: str) -> Any:
    """A class of this package, by its name."""
    module, _, qualified = name.partition(":")
    if not (RECORDS.match(name) and re.fullmatch(r"[\w.]+", module) and qualified.isidentifier()):
        raise ValueError(f"{name!r} is not among what may be named")
    found = getattr(import_module(module), qualified)
    if getattr(found, "__module__", None) != module:
        raise ValueError(f"{name!r} is not among what may be named")
    return found
