"""What selectors and solvers offer, and checks of the settings that users give them."""

from __future__ import annotations

import dataclasses
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np

from sparing import errors
from sparing.results import Component, Selection
from sparing.run import Run
from sparing.task import Task


class Selector(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def select(self, task: Task, run: Run) -> Selection:
        """Select at most ``task.n_nonzero`` columns, and fewer only if no further column would add anything."""


class Solver(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def solve(self, task: Task, run: Run) -> Component:
        """Return a unit direction with at most ``n_nonzero`` features and large x'Ax, or x'Ax / x'Mx with a metric M.

        ``start`` (d x m) holds directions to start from; solvers without starts ignore it.
        """


def check_settings(algorithm: Any) -> None:
    """Check the types of counts, numbers and flags; other settings are checked where they are used.

    The types are the annotations of the dataclass, which this package writes as strings. Annotations in classes of
    others may have another meaning and are not checked.
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


def check_counts(**settings: Any) -> None:
    """Check settings that must be integers of at least 1."""
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise errors.not_an_integer(name, value)
        if value < 1:
            raise errors.not_positive(name, value)


def check_incumbent(incumbent: Any) -> None:
    """Check a setting that must be a solver, whose answer is the start of another one."""
    if isinstance(incumbent, type) or not callable(getattr(incumbent, "solve", None)):
        raise ValueError(
            f"Exact(incumbent={incumbent!r}): the search starts from the answer of another solver. Pass one with its "
            "settings, for example Auto() or TruncatedPower(), not its name or class."
        )
