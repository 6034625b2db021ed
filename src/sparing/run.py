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
    below : Effort, optional
        The effort whose answer this one starts from, so that more effort never ends with less.
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
    joint_work : float
        Starts and perturbations of the joint search with a constraint or a total times features times components.
    joint_rotations, joint_perturbations : int
        These starts and perturbations with a total, at most; with a constraint twice and seven times as many.
    joint_table : float
        Entries of tables of swaps that the joint search looks at from each of its starts and perturbations, together:
        fewer of them where features are many and each costs more. At 2e5 the first starts, and hardly a perturbation,
        are affordable for ten components of 15 genes.
    joint_starts, joint_descents : int
        Starts, and descents after them, of the joint search at most.
    joint_shared : int
        Times that features are shared out anew among components without a common one, for one of the starts. Ten take
        cbcl_faces, ten components of 20 pixels, from .611 of PCA's variance to .614.
    joint_working_set, joint_working_sets : int
        Features beside the best supports that the joint search looks at together, over all components; and times that
        they are selected.
    loss_refined : int
        Swaps looked at more closely by the joint encoder: where scores of features are correlated, loadings that stay
        as they are say little. With 24, movement_libras (4 components of 8) is left with half more excess.
    """

    below: Effort | None = None
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
    joint_rotations: int = 12
    joint_perturbations: int = 30
    joint_table: float = 2e5
    joint_starts: int = 16
    joint_descents: int = 32
    joint_shared: int = 24
    joint_working_set: int = 640
    joint_working_sets: int = 2
    loss_refined: int = 96

    @property
    def levels(self) -> tuple[Effort, ...]:
        """This effort after all those whose answers it starts from, the least first."""
        return (*(self.below.levels if self.below else ()), self)

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
    joint_table=5e4,
    joint_starts=8,
    joint_descents=0,
    joint_shared=4,
)
DEFAULT = Effort(QUICK)
THOROUGH = Effort(
    DEFAULT,
    proof_cost=5.0,
    nodes=5000,
    tree_work=4e8,
    optimality_steps=100,
    least_steps=100,
    rounds=10,
    orthogonal_rounds=20,
    joint_work=1.2e5,
    joint_table=4e6,
    joint_starts=32,
    joint_descents=256,
    joint_shared=100,
    joint_working_sets=6,
)
EFFORTS = {"quick": QUICK, "default": DEFAULT, "thorough": THOROUGH}
EXHAUSTIVE = Effort(
    DEFAULT,
    proof_cost=math.inf,
    nodes=10**9,
    tree_work=1e18,
    optimality_steps=200,
    least_steps=200,
    rounds=20,
    orthogonal_rounds=20,
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
