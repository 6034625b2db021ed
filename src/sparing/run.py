"""How a fit goes about its task: chance, time, and who is told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparing import errors


@dataclass
class Budget:
    """One per fit: a deadline, a number of search nodes and a place to report progress.

    Without a deadline the limits are counts, never seconds, so that a seed gives one answer on every machine.
    """

    deadline: float | None = None
    nodes: int | None = None
    progress: Callable[[str], None] | None = None
    interruption: list[bool] = field(default_factory=list)  # shared by all parts; not empty once the user interrupted

    @classmethod
    def of(cls, time_limit: float | None, verbose: bool | int = False) -> Budget:
        """The budget of an estimator with these parameters."""
        if time_limit is not None and not _is_positive(time_limit):
            raise ValueError(f"time_limit={time_limit!r} must be a positive number of seconds, or None for no limit.")
        if not isinstance(verbose, (int, np.integer, np.bool_)):
            raise errors.not_a_flag("verbose", verbose)
        deadline = None if time_limit is None else time.monotonic() + float(time_limit)
        return cls(deadline, progress=print if verbose else None)

    @property
    def expired(self) -> bool:
        """Is it time to return the best answer so far?"""
        return self.interrupted or (self.deadline is not None and time.monotonic() > self.deadline)

    def share(self, part: float) -> Budget:
        """A budget for one of several attempts: this part of the time that is left."""
        if self.deadline is None:
            return self
        now = time.monotonic()
        return Budget(now + part * (self.deadline - now), self.nodes, self.progress, self.interruption)

    @property
    def interrupted(self) -> bool:
        """Did the user ask for what there is?"""
        return bool(self.interruption)

    def interrupt(self) -> None:
        """End all work that looks at this budget, and at those it was shared into."""
        self.interruption.append(True)

    def say(self, message: str) -> None:
        """Report progress where somebody listens."""
        if self.progress is not None:
            self.progress(f"[sparing] {message}")


def _is_positive(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating)) and bool(value > 0)


@dataclass(frozen=True)
class Run:
    """One per fit, handed to all of its parts: the generator of all random numbers, and the budget."""

    rng: np.random.Generator
    budget: Budget = field(default_factory=Budget)

    def share(self, part: float) -> Run:
        """The same for one of several attempts: this part of the time that is left."""
        return replace(self, budget=self.budget.share(part))

    def unlimited(self) -> Run:
        """The same without a limit in time: for what is quick anyway."""
        return replace(self, budget=Budget())
