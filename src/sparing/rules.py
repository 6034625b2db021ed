"""Rules on features: required and allowed features, a budget, and limits by group."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

COST_ROUNDING = 1e-9
"""Share of the largest cost by which rounded sums of costs may exceed a budget: ten times 0.1 is not more than 1."""

NO_GROUP = -1


@dataclass(frozen=True, eq=False)
class Rules:
    """The rules that a support must satisfy. Every rule except ``required`` still holds if a feature is removed.

    Attributes
    ----------
    required : ndarray of int
        Sorted indices of the features that must be read.
    allowed : ndarray of bool of shape (d,), optional
        Mask of the features that may be read; None means all.
    costs : ndarray of shape (d,), optional
        Cost of each feature, at least 0; the total is at most ``max_cost``.
    groups : ndarray of int of shape (d,), optional
        The group of each feature, -1 for none; of group g at most ``max_per_group[g]`` are read.
    """

    required: Indices = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    allowed: Mask | None = None
    costs: Array | None = None
    max_cost: float = math.inf
    groups: Indices | None = None
    max_per_group: Indices | None = None

    def __bool__(self) -> bool:
        return len(self.required) > 0 or self.allowed is not None or self.has_limits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rules) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        arrays = (self.required, self.allowed, self.costs, self.groups, self.max_per_group)
        return (*(None if part is None else tuple(part.tolist()) for part in arrays), self.max_cost)

    @property
    def has_limits(self) -> bool:
        """Whether there is a budget or a limit by group, so that allowed features depend on the others."""
        return self.costs is not None or self.groups is not None

    @property
    def has_budget(self) -> bool:
        """Whether costs limit the features, so that a support may have fewer than its count."""
        return self.costs is not None

    def cost(self, support: ArrayLike) -> float:
        """Total cost of the features of a support."""
        return 0.0 if self.costs is None else float(self.costs[np.asarray(support, dtype=np.intp)].sum())

    def usable(self, n_features: int) -> Mask:
        """Mask of the features that belong to some permitted support."""
        mask: Mask = self._room(1, n_features).open()[0]
        mask[self.required] = True
        return mask

    def permits(self, support: ArrayLike) -> bool:
        """Whether a support satisfies all rules."""
        return bool(self.permitted(np.asarray(support, dtype=np.intp)[None])[0])

    def permitted(self, supports: Indices) -> Mask:
        """Mask of the supports (rows) that satisfy all rules."""
        kept = np.ones(len(supports), dtype=bool)
        if len(self.required):
            kept &= (supports[:, :, None] == self.required).any(axis=1).all(axis=1)
        if self.allowed is not None:
            kept &= self.allowed[supports].all(axis=1)
        return kept & self.within_limits(supports)

    def within_limits(self, supports: Indices) -> Mask:
        """Mask of the supports within the budget and the limits of groups."""
        kept = np.ones(len(supports), dtype=bool)
        if self.costs is not None:
            kept &= self.costs[supports].sum(axis=1) <= self._budget
        if self.groups is not None:
            kept &= (self._counted(supports) <= self._per_group).all(axis=1)
        return kept

    def swaps(self, supports: Indices, candidates: Indices) -> Mask:
        """Mask of the permitted swaps (S, r, c): the c-th candidate (S, c) instead of the r-th feature."""
        mask = np.ones((*supports.shape, candidates.shape[1]), dtype=bool)
        if len(self.required):
            mask &= ~np.isin(supports, self.required)[:, :, None]
        if self.allowed is not None:
            mask &= self.allowed[candidates][:, None, :]
        if self.costs is not None:
            spent = self.costs[supports].sum(axis=1)[:, None, None]
            after = spent - self.costs[supports][:, :, None] + self.costs[candidates][:, None, :]
            mask &= after <= self._budget
        if self.groups is not None:
            leaving, coming = self.groups[supports][:, :, None], self.groups[candidates][:, None, :]
            full = np.append(self._counted(supports) >= self._per_group, np.zeros((len(supports), 1), bool), axis=1)
            mask &= ~np.take_along_axis(full, self.groups[candidates], axis=1)[:, None, :] | (leaving == coming)
        return mask

    def restricted(self, features: Indices, n_features: int) -> Rules:
        """The same rules for some features, including the required ones, renumbered.

        Indices from ``n_features`` on are empty slots: they cost nothing and belong to no group.
        """
        if not self:
            return self
        real = features < n_features

        def part(values: Any, nothing: Any) -> Any:
            return None if values is None else np.where(real, values[np.where(real, features, 0)], nothing)

        return replace(
            self,
            required=np.flatnonzero(np.isin(features, self.required)),
            allowed=part(self.allowed, True),
            costs=part(self.costs, 0.0),
            groups=part(self.groups, NO_GROUP),
        )

    def beside(self, taken: Indices) -> Rules:
        """The rules for further features after some required ones are taken."""
        if len(taken) == 0:
            return self
        groups = None if self.groups is None else self._per_group - self._counted(taken[None])[0]
        required = np.setdiff1d(self.required, taken)
        return replace(self, required=required, max_cost=self.max_cost - self.cost(taken), max_per_group=groups)

    def narrowed(self, features: Indices, n_features: int) -> Rules:
        """The same rules with only these features allowed."""
        mask = np.zeros(n_features, dtype=bool)
        mask[features] = True
        return replace(self, allowed=mask if self.allowed is None else mask & self.allowed)

    def rooms(self, count: int, n_features: int) -> Rooms:
        """The state of supports that start from the required features."""
        return self._room(count, n_features)

    def most_features(self, n_features: int) -> int:
        """The largest number of features in a permitted support."""
        allowed = np.ones(n_features, dtype=bool) if self.allowed is None else self.allowed.copy()
        allowed[self.required] = False
        rest = np.flatnonzero(allowed)
        costs = np.zeros(n_features) if self.costs is None else self.costs
        rest = rest[np.argsort(costs[rest], kind="stable")]
        if self.groups is not None:
            left = self._per_group - self._counted(self.required[None])[0]
            ranks = np.zeros(len(rest), dtype=np.intp)
            for group in np.unique(self.groups[rest]):
                members = np.flatnonzero(self.groups[rest] == group)
                ranks[members] = np.arange(len(members))
            limits = np.append(left, n_features)[self.groups[rest]]
            rest = rest[ranks < limits]
        within = np.cumsum(costs[rest]) + self.cost(self.required) <= self._budget
        return len(self.required) + int(within.sum())

    def fewest_deletions(self, columns: Indices, kept: int, size: int) -> int | None:
        """Lower bound of the number of columns to remove while the first ``kept`` stay; None if it is useless."""
        needed, free = max(len(columns) - size, 0), columns[kept:]
        if self.costs is not None:
            excess = self.cost(columns) - self._budget
            dearest = np.cumsum(np.sort(self.costs[free])[::-1])
            if excess > 0:
                if len(free) == 0 or dearest[-1] < excess:
                    return None
                needed = max(needed, int(np.searchsorted(dearest, excess)) + 1)
        if self.groups is not None:
            if not self.within_limits(columns[None, :kept])[0]:
                return None
            needed = max(needed, int(np.maximum(self._counted(columns[None])[0] - self._per_group, 0).sum()))
        return needed if needed <= len(free) else None

    @property
    def _budget(self) -> float:
        largest = 0.0 if self.costs is None else float(self.costs.max(initial=0.0))
        return self.max_cost + COST_ROUNDING * largest

    @property
    def _per_group(self) -> Indices:
        assert self.max_per_group is not None
        return self.max_per_group

    def _counted(self, supports: Indices) -> Indices:
        """Number of features of each group in each support (S, n_groups)."""
        assert self.groups is not None
        labels = self.groups[supports]
        return cast(Indices, (labels[:, :, None] == np.arange(len(self._per_group))).sum(axis=1))

    def _room(self, count: int, n_features: int) -> Rooms:
        return Rooms(self, count, n_features)


class Rooms:
    """Supports that grow in parallel from the required features, and the features that may be added to each."""

    def __init__(self, rules: Rules, count: int, n_features: int) -> None:
        self.rules = rules
        allowed = np.ones(n_features, dtype=bool) if rules.allowed is None else rules.allowed.copy()
        allowed[rules.required] = False
        self._free = np.tile(allowed, (count, 1))
        self._spent = np.full(count, rules.cost(rules.required))
        if rules.groups is not None:
            self._counts = np.tile(rules._counted(rules.required[None]), (count, 1))

    def open(self) -> Mask:
        """Mask of the features that may be added to each support (S, d)."""
        mask, rules = self._free.copy(), self.rules
        if rules.costs is not None:
            mask &= self._spent[:, None] + rules.costs <= rules._budget
        if rules.groups is not None:
            full = self._counts >= rules._per_group
            mask &= ~np.append(full, np.zeros((len(full), 1), bool), axis=1)[:, rules.groups]
        return mask

    def take(self, added: Indices) -> None:
        """Add one feature to each support."""
        rows, rules = np.arange(len(self._free)), self.rules
        self._free[rows, added] = False
        if rules.costs is not None:
            self._spent += rules.costs[added]
        if rules.groups is not None:
            labels = rules.groups[added]
            self._counts[rows[labels >= 0], labels[labels >= 0]] += 1

    def copy(self) -> Self:
        """Return a copy, to continue in another way."""
        twin = object.__new__(type(self))
        twin.__dict__ = {name: value.copy() if hasattr(value, "copy") else value for name, value in vars(self).items()}
        return twin


NO_RULES = Rules()
