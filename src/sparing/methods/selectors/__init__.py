"""Which columns? One file per algorithm; a new one is registered here and nowhere else."""

from __future__ import annotations

from typing import Any, Protocol

from sparing.methods.selectors.adaptive import Adaptive
from sparing.methods.selectors.count_sketch import CountSketch
from sparing.methods.selectors.dual_set import DualSet
from sparing.methods.selectors.exact import Exact
from sparing.methods.selectors.greedy import Greedy
from sparing.methods.selectors.leverage import Leverage
from sparing.methods.selectors.pivoted_qr import PivotedQR
from sparing.methods.selectors.uniform import Uniform
from sparing.results import Selection
from sparing.run import Run
from sparing.task import Task


class Selector(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def select(self, task: Task, run: Run) -> Selection:
        """At most ``task.n_nonzero`` columns; fewer only where no further column would add anything."""


SELECTORS: dict[str, type[Selector]] = {
    "greedy": Greedy,
    "dual_set": DualSet,
    "exact": Exact,
    "adaptive": Adaptive,
    "count_sketch": CountSketch,
    "leverage": Leverage,
    "pivoted_qr": PivotedQR,
    "uniform": Uniform,
}

__all__ = [
    "SELECTORS",
    "Adaptive",
    "CountSketch",
    "DualSet",
    "Exact",
    "Greedy",
    "Leverage",
    "PivotedQR",
    "Selector",
    "Uniform",
    "applicable_theorem",
]


def applicable_theorem(selector: Any) -> str | None:
    """The name under which theorems speak of a selector, given by name or with its settings; None where none does.

    ``auto`` keeps the promise of the dual set, which it falls back to. A sketch of the dual set has another V_k, and
    settings of adaptive sampling other constants, than the promise is stated for; derandomised, it has one of its own.
    """
    if isinstance(selector, str):
        return "dual_set" if selector in ("auto", "response_dual_set") else selector
    if isinstance(selector, DualSet):
        return "dual_set" if selector.sketch is None else None
    if isinstance(selector, Adaptive):
        if selector.derandomised:
            return "derandomised" if selector.split is None and selector.start.sketch is None else None
        return "adaptive" if selector == Adaptive() else None
    if isinstance(selector, PivotedQR):
        return "pivoted_qr" if selector.components_first else None
    return "leverage" if isinstance(selector, Leverage) else None
