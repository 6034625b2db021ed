"""Which columns? One file per algorithm; a new one is registered here and nowhere else."""

from __future__ import annotations

from sparing.methods.selectors.adaptive import Adaptive
from sparing.methods.selectors.base import Selector
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
    "leverage": Leverage,
    "pivoted_qr": PivotedQR,
    "uniform": Uniform,
}

__all__ = [
    "SELECTORS",
    "Adaptive",
    "DualSet",
    "Exact",
    "Greedy",
    "Leverage",
    "PivotedQR",
    "Selector",
    "Uniform",
]
