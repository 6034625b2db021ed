"""What predicts everything from a few features: one method is one package's way to choose them, under rules or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from entry import Array


@dataclass(frozen=True)
class Rule:
    """What a choice must keep to: nothing, a budget for what its features cost, or a limit for those of one region."""

    costs: Array | None = None
    max_cost: float = math.inf
    region: Array | None = None  # a mask
    max_region: int = 0

    @property
    def kind(self) -> str:
        """Free, costs or region."""
        return "costs" if self.costs is not None else "free" if self.region is None else "region"

    def allows(self, features: Array) -> bool:
        """Is it kept?"""
        if self.costs is not None:
            return bool(self.costs[features].sum() <= self.max_cost * (1 + 1e-9))
        return self.region is None or bool(self.region[features].sum() <= self.max_region)


class Choice(NamedTuple):
    """Features, and the package's own way to predict all from them: ``predict(centred columns)``, where it has one."""

    features: Array
    predict: Callable[[Array], Array] | None = None


@dataclass(frozen=True)
class Method:
    """``choose(X, k, r, rule)`` gets centred rows; ``rules`` are the kinds of rules that it knows."""

    package: str
    name: str
    choose: Callable[[Array, int, int, Rule], Choice]
    rules: tuple[str, ...] = ("free",)
