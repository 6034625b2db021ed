"""Theorems as functions: what an algorithm promises before it has run."""

from __future__ import annotations

import math


def dual_set_factor(n_components: int, n_columns: int) -> float:
    """Loss over PCA's loss that dual set selection never exceeds, for r > k [magdonismail2015, Theorem 6(i)]."""
    if n_columns <= n_components:
        return math.inf
    return 1.0 + 1.0 / (1.0 - math.sqrt(n_components / n_columns)) ** 2
