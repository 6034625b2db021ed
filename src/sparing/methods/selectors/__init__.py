"""Column selectors, one file per algorithm. Register a new one here and nowhere else."""

from __future__ import annotations

from typing import Any

from sparing.methods.base import Selector
from sparing.methods.selectors.adaptive import Adaptive
from sparing.methods.selectors.count_sketch import CountSketch
from sparing.methods.selectors.dual_set import DualSet
from sparing.methods.selectors.exact import Exact
from sparing.methods.selectors.greedy import Greedy
from sparing.methods.selectors.leverage import Leverage
from sparing.methods.selectors.pivoted_qr import PivotedQR
from sparing.methods.selectors.uniform import Uniform

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
    """The name of a selector in the theorems' terms, from its name or instance; None if no theorem applies.

    ``auto`` satisfies the guarantee of the dual set, its fallback. A dual set on a sketch uses another V_k, and
    adaptive sampling with other settings has other constants, than the guarantee assumes. Derandomised adaptive
    sampling has a separate guarantee.
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
