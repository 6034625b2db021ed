"""Type checks of the settings of algorithms that users construct."""

from __future__ import annotations

import dataclasses
from numbers import Integral, Real
from typing import Any

import numpy as np

from sparing import errors


def check_settings(algorithm: Any) -> None:
    """Refuse a count that is no count, a number that is none, a flag that is neither; other settings check themselves.

    Kinds are those of the dataclass's own declarations, which this package writes as text. What others wrote may mean
    something else by them.
    """
    if not type(algorithm).__module__.startswith("sparing."):
        return
    for field in dataclasses.fields(algorithm) if dataclasses.is_dataclass(algorithm) else ():
        name, value = field.name, getattr(algorithm, field.name)
        kind, *optional = str(field.type).split(" | ")
        if value is None and optional == ["None"]:
            continue
        if kind == "bool" and not isinstance(value, (bool, np.bool_)):
            raise errors.not_a_flag(name, value)
        if kind == "int" and (isinstance(value, bool) or not isinstance(value, Integral)):
            raise errors.not_an_integer(name, value)
        if kind == "int" and value < 0:
            raise errors.not_a_nonnegative_number(name, value)
        if kind == "float" and optional in ([], ["None"]) and not (isinstance(value, Real) and float(value) >= 0):
            raise errors.not_a_nonnegative_number(name, value)
