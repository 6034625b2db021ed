"""Budget and Run: time limit, progress and random numbers of one fit."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sparing import errors
from sparing.effort import DEFAULT, Effort


@dataclass
class Budget:
    """The deadline, number of search nodes and progress output of one fit.

    Without a deadline limits are counts, never seconds, so that a seed gives the same answer on every machine.
    """

    deadline: float | None = None
    nodes: int | None = None
    progress: Callable[[str], None] | None = None
    interruption: list[bool] = field(default_factory=list)  # shared by all parts; not empty once interrupted

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
        """Whether to stop and return the best answer so far."""
        return self.interrupted or (self.deadline is not None and time.monotonic() > self.deadline)

    def share(self, part: float) -> Budget:
        """A budget for one of several attempts: this share of the remaining time."""
        if self.deadline is None:
            return self
        now = time.monotonic()
        return Budget(now + part * (self.deadline - now), self.nodes, self.progress, self.interruption)

    @property
    def left(self) -> float | None:
        """Remaining seconds, as a limit for another call; None without a deadline."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), math.ulp(0.0))

    @property
    def interrupted(self) -> bool:
        """Whether the user interrupted and wants the best answer so far."""
        return bool(self.interruption)

    def interrupt(self) -> None:
        """Stop all work that uses this budget or a share of it."""
        self.interruption.append(True)

    def say(self, message: str) -> None:
        """Report progress if requested."""
        if self.progress is not None:
            self.progress(f"[sparing] {message}")


def _is_positive(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, (int, float, np.integer, np.floating)) and bool(value > 0)


@dataclass(frozen=True)
class Run:
    """The random number generator, budget and effort of one fit, passed to all of its parts."""

    rng: np.random.Generator
    budget: Budget = field(default_factory=Budget)
    effort: Effort = DEFAULT

    def levels(self) -> Iterator[Run]:
        """A run for each effort up to its own, with random numbers that do not depend on higher efforts."""
        seed = int(self.rng.integers(2**32))
        for number, effort in enumerate(self.effort.levels):
            yield replace(self, effort=effort, rng=np.random.default_rng(seed + number))

    def share(self, part: float) -> Run:
        """A run for one of several attempts: this share of the remaining time."""
        return replace(self, budget=self.budget.share(part))

    def unlimited(self) -> Run:
        """A run without a time limit, for quick computations."""
        return replace(self, budget=Budget())
