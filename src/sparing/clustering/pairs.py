"""Pairs of samples of which not all values are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing.clustering.entries import dense
from sparing.clustering.table import Table
from sparing.results import Array


@dataclass(frozen=True)
class Pairs:
    """p / (features that both have), zero on the diagonal; places of pairs without any, and number of the others."""

    upscaling: Array
    unknown: tuple[Any, ...]
    n_known: int


def known_pairs(table: Table) -> Pairs:
    """What missing values leave of every pair."""
    Z = table.missing
    p = table.shape[1]
    gone = np.asarray(Z.sum(axis=1)).ravel()
    both = p - gone - gone[:, None] + dense(Z @ Z.T)
    np.fill_diagonal(both, 0.0)
    known = both > 0.5
    if not known.any() and len(both) > 1:
        raise ValueError(
            "No two samples have a feature for which both values are known, so nothing says how far apart they are. "
            "Impute missing values with sklearn.impute.SimpleImputer, or check that the right rows and columns were "
            "passed."
        )
    upscaling = np.zeros_like(both)
    np.divide(p, both, out=upscaling, where=known)
    np.fill_diagonal(known, True)
    return Pairs(upscaling, np.nonzero(~known), max(int(np.count_nonzero(upscaling)), 1))
