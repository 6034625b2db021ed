"""The protocol of solvers."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from sparing import errors
from sparing.results import Component
from sparing.run import Run
from sparing.task import Task


class Solver(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def solve(self, task: Task, run: Run) -> Component:
        """A unit direction with at most ``n_nonzero`` features and large x'Ax, or x'Ax / x'Mx with a metric M.

        ``start`` (d x m) holds directions worth starting from; those that have no use for them ignore it.
        """


def check_counts(**settings: Any) -> None:
    """Settings that must be whole numbers of at least one."""
    for name, value in settings.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise errors.not_an_integer(name, value)
        if value < 1:
            raise errors.not_positive(name, value)


def check_incumbent(incumbent: Any) -> None:
    """A solver whose answer another one starts from."""
    if isinstance(incumbent, type) or not callable(getattr(incumbent, "solve", None)):
        raise ValueError(
            f"Exact(incumbent={incumbent!r}): the search starts from the answer of another solver. Pass one with its "
            "settings, for example Auto() or TruncatedPower(), not its name or class."
        )
