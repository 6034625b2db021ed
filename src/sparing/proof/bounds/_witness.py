"""Witnesses come from files, where anything can be written."""

from __future__ import annotations

from typing import Any

import numpy as np

from sparing.proof.hypotheses import fits
from sparing.results import Array


def as_floats(witness: Any, *shape: int) -> Array | None:
    """An array of this shape as numbers that do not wrap round (|-128| is -128 in eight bits); None for all others."""
    return np.asarray(witness, dtype=np.float64) if fits(witness, *shape) else None
