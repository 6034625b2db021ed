"""Which theorems a choice of columns may quote."""

from __future__ import annotations

from typing import Any

from sparing.methods.selectors.adaptive import Adaptive
from sparing.methods.selectors.dual_set import DualSet
from sparing.methods.selectors.leverage import Leverage


def applicable_theorem(selector: Any) -> str | None:
    """The name under which theorems speak of a selector, given by name or with its settings; None where none does.

    ``auto`` keeps the promise of the dual set, which it falls back to. A sketch of the dual set has another V_k, and
    settings of adaptive sampling other constants, than the promise is stated for.
    """
    if isinstance(selector, str):
        return "dual_set" if selector == "auto" else selector
    if isinstance(selector, DualSet):
        return "dual_set" if selector.sketch is None else None
    if isinstance(selector, Adaptive):
        return "adaptive" if selector == Adaptive() else None
    return "leverage" if isinstance(selector, Leverage) else None
