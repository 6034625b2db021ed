"""Loadings on given supports whose cosines keep a limit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparing.gram import GRAM_LIMIT
from sparing.linalg.rounding import first_largest
from sparing.linalg.truncation import unit_columns
from sparing.methods.encoders.joint_goals import JointVariances, unsigned_cosines
from sparing.objectives.loadings import best_loadings
from sparing.results import Array
from sparing.run import Run
from sparing.search_limits import SEARCH

INSIDE = 1e-12
"""Loadings stay this far within the limit, so that rounding does not break it."""


def best_within(
    goal: JointVariances, known: Sequence[Array], answers: Sequence[Array], max_cosine: float, run: Run
) -> Array:
    """The best of directions that keep the limit, and of others after their loadings are fitted under it."""
    kept = [*known]
    for H in answers:
        if run.budget.expired:
            break
        for trial in (H, goal.refitted(H, run), _charged(goal, H, max_cosine, run)):
            if (within := shrunk(trial, max_cosine)) is not None:
                kept.append(within)
    best = first_largest(goal.captured(*goal.with_images(kept), 0.0))
    return kept[best] if best < len(known) else goal.ordered(kept[best])


def shrunk(H: Array, max_cosine: float) -> Array | None:
    """The same supports with cosines within the limit; None if a component would vanish.

    Each component loses the necessary part along the earlier ones, on its support: all its inner products with them
    shrink by one factor, down to 0.
    """
    limit, out = max(max_cosine - INSIDE, 0.0), unit_columns(H)
    if out.shape != H.shape:
        return None
    for j in range(1, H.shape[1]):
        x, inside = out[:, j], out[:, j] != 0
        if _largest(out[:, : j + 1]) <= limit:
            continue
        left, values, _ = np.linalg.svd(out[inside, :j], full_matrices=False)
        span = left[:, values > 1e-10]
        along = np.zeros_like(x)
        along[inside] = span @ (span.T @ x[inside])
        low, high = 0.0, 1.0
        for _ in range(SEARCH.halvings):
            middle = (low + high) / 2
            if _beside(out[:, :j], x - middle * along) <= limit:
                high = middle
            else:
                low = middle
        y = x - high * along
        if np.linalg.norm(y) <= 1e-6 or _beside(out[:, :j], y) > max_cosine:
            return None
        out[:, j] = y / np.linalg.norm(y)
    return out


def _beside(others: Array, y: Array) -> float:
    """The largest |cosine| of a direction with unit directions; 0 if it vanishes."""
    length = float(np.linalg.norm(y))
    return float(np.abs(others.T @ y).max()) / length if length > 0 else np.inf


def _largest(H: Array) -> float:
    return float(unsigned_cosines(H.T @ H).max(initial=0.0))


def _charged(goal: JointVariances, H: Array, max_cosine: float, run: Run) -> Array:
    """Loadings on the same supports, cosines above the limit charged more and more."""
    used = np.flatnonzero(H.any(axis=1))
    if len(used) > GRAM_LIMIT:
        return H
    gram, inside = goal.view.restricted(used).gram(), H[used]
    for charge in SEARCH.cosine_charges:
        inside = best_loadings(
            gram, inside, goal.ridge, SEARCH.refits, run.budget, max_cosine=max_cosine, charge=charge
        )
    out = np.zeros_like(H)
    out[used] = inside
    return out
