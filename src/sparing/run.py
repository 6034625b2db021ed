"""How a fit goes about its task: chance, time, and who is told."""

from __future__ import annotations

import math
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
class Effort:
    """How much is tried where no time limit says so: counts, so that a seed gives one answer on every machine.

    Attributes
    ----------
    descents : int
        Local searches of the driver, at most.
    shortlist, refined : int
        Candidates that a descent keeps looking at; swaps evaluated exactly before it counts as a local optimum.
    unseen : float
        The driver ends where no larger share of descents ended at an optimum of their own.
    working_set, working_sets : int
        Features beside each of the best supports that are searched together; times that they are selected anew.
    proof_cost : float
        A bound is computed where its estimated cost is at most this, in seconds of one slow core.
    nodes : int
        Nodes of a search through supports: half a second for a thousand features.
    tree_work : float
        Nodes of the deletion tree times d^3: a second or less, whatever the number of features.
    optimality_steps : int
        Steps after the test of optimality.
    most_steps, least_steps : int
        Steps of a semidefinite relaxation while features are few, and at least.
    rounds, orthogonal_rounds : int
        Rounds of the search for a shared part of several components, and of orthogonal ones.
    joint_work, joint_restarts : float, int
        Starts and perturbations of the joint search times features times components; restarts where features are few.
    loss_perturbations : int
        Perturbations of the joint encoder, over all components.
    exchange_work : float
        Operations of all exchanges of features while nonnegative components improve by turns: half a second.
    restarts, restart_work : int, float
        Times that features are shared out anew among nonnegative components, at most; and times features times
        components, so that it takes about a second whatever their numbers.
    """

    descents: int = 64
    shortlist: int = 48
    refined: int = 24
    unseen: float = 0.1
    working_set: int = 100
    working_sets: int = 4
    proof_cost: float = 0.5
    nodes: int = 500
    tree_work: float = 4e7
    optimality_steps: int = 10
    most_steps: int = 200
    least_steps: int = 40
    rounds: int = 0
    orthogonal_rounds: int = 10
    joint_work: float = 1.2e4
    joint_restarts: int = 400
    loss_perturbations: int = 240
    exchange_work: float = 2e8
    restarts: int = 60
    restart_work: float = 1.5e5

    @property
    def levels(self) -> tuple[Effort, ...]:
        """The named efforts below this one, then this one: a search that goes through them is never worse for more."""
        return (*(level for level in (QUICK, DEFAULT, THOROUGH) if level.restarts < self.restarts), self)

    def n_restarts(self, n_features: int, n_samples: int | None, n_components: int) -> int:
        """Restarts for data of this shape; a product with A takes longer where samples are many as well."""
        longer = max(1.0, min(n_samples or n_features, n_features) / 400)
        return int(np.clip(self.restart_work / (n_features * n_components * longer), 1, self.restarts))

    def tree_nodes(self, n_features: int) -> int:
        """Nodes of the deletion tree."""
        return int(np.clip(self.tree_work / n_features**3, 20, 0.00005 * self.tree_work))

    def dual_steps(self, n_features: int, *, unhurried: int) -> int:
        """Steps of a relaxation: all of them up to so many features, then fewer as each costs more."""
        return int(np.clip(self.most_steps * (unhurried / n_features) ** 3, self.least_steps, self.most_steps))

    def raising_steps(self, n_features: int) -> int:
        """Steps to the matrix that makes a search of nonnegative directions sharp; none where each costs much."""
        return int(self.most_steps / 2 * min((200 / n_features) ** 3, 1.0))


QUICK = Effort(
    proof_cost=0.1,
    nodes=100,
    tree_work=1e7,
    most_steps=100,
    least_steps=20,
    orthogonal_rounds=2,
    joint_work=100,
    joint_restarts=40,
    loss_perturbations=100,
    restarts=12,
    restart_work=3e4,
)
DEFAULT = Effort()
THOROUGH = Effort(
    proof_cost=5.0,
    nodes=5000,
    tree_work=4e8,
    optimality_steps=100,
    least_steps=100,
    rounds=10,
    orthogonal_rounds=20,
    joint_work=1.2e5,
    joint_restarts=2000,
    loss_perturbations=2400,
    restarts=600,
    restart_work=1.5e6,
)
EFFORTS = {"quick": QUICK, "default": DEFAULT, "thorough": THOROUGH}
EXHAUSTIVE = Effort(
    proof_cost=math.inf,
    nodes=10**9,
    tree_work=1e18,
    optimality_steps=200,
    least_steps=200,
    rounds=20,
    orthogonal_rounds=20,
    restarts=600,
    restart_work=1.5e6,
)
"""Where a time limit ends the work."""


@dataclass(frozen=True)
class Run:
    """One per fit, handed to all of its parts: the generator of all random numbers, the budget and the effort."""

    rng: np.random.Generator
    budget: Budget = field(default_factory=Budget)
    effort: Effort = DEFAULT

    def share(self, part: float) -> Run:
        """The same for one of several attempts: this part of the time that is left."""
        return replace(self, budget=self.budget.share(part))

    def unlimited(self) -> Run:
        """The same without a limit in time: for what is quick anyway."""
        return replace(self, budget=Budget())
