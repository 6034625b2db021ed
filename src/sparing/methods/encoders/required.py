"""Required features: components of any encoder, with slots for them, improved in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.span import encoder_of
from sparing.linalg.variance import symmetric_total
from sparing.methods.deflation import Deflation
from sparing.objectives.joint import VarianceAlternation, keeps
from sparing.objectives.nonnegative import NonnegativeObjective
from sparing.objectives.variance import GROWTH, RayleighObjective
from sparing.results import Array, Encoder, Indices, Spectrum
from sparing.run import Run
from sparing.search_limits import SEARCH

RIDGE = 0.01
"""Keeps components from becoming near-copies of one another, as in the search of all together."""


@dataclass(frozen=True)
class Required:
    """Components that have required features among theirs: a feature has a place in some component.

    Its loading may be zero, where any other would lower the variance. Each component in turn gets the features that add
    most to the other components; required features come first; all choices are tried where they are few, else single
    swaps.

    Parameters
    ----------
    features : ndarray of int
    deflation : Deflation, optional
        What the components are among one another, where their pairs are constrained: orthogonal, uncorrelated,
        disjoint.
    nonnegative : bool
    """

    features: Indices
    deflation: Deflation | None = None
    nonnegative: bool = False

    def placed(
        self,
        view: DataMatrix,
        spectrum: Spectrum,
        found: Encoder,
        sizes: Sequence[int],
        run: Run,
        *,
        more: bool = False,
    ) -> tuple[Encoder, list[int]] | None:
        """The components with places for all required features, and how many features each may have.

        ``more`` adds these places to the sizes; without it other features make room. None if no directions satisfy the
        constraints on pairs.
        """
        H = found.components.T
        wanted, sizes = self._shared_out(view, H, list(sizes), more=more)
        if np.isin(self.features, np.flatnonzero(H.any(axis=1))).all():
            return found.including(self.features), sizes
        values = spectrum.values
        ridge = 0.0 if self.deflation is not None else min(RIDGE, 0.1 * float(values[-1] / values[0]))
        turns = VarianceAlternation(view, ridge, run.budget)
        H = self._by_turns(turns, H, wanted, sizes, run)
        for x, mine, size in zip(H.T, wanted, sizes, strict=True):
            if len(np.union1d(np.flatnonzero(x), mine)) > size:
                return None
        order = np.argsort(-np.einsum("ij,ij->j", H, view.gram_matmat(H)), kind="stable")
        H = H[:, order] if self.deflation is not None else turns.ordered(H)
        return encoder_of(view, H, spectrum.total).including(self.features), sizes

    def worth(self, view: DataMatrix, found: Encoder) -> float:
        """Objective of the components: the sum of variances if pairs are constrained, else the variance of the span."""
        H = found.components.T
        return symmetric_total(view, H) if self.deflation is None else float(np.vdot(H, view.gram_matmat(H)))

    def _shared_out(
        self, view: DataMatrix, H: Array, sizes: list[int], *, more: bool
    ) -> tuple[list[Indices], list[int]]:
        """The required features that each component must have: those that it has, or that pull it most."""
        pulls, wanted = np.abs(view.gram_matmat(H)), [list[int]() for _ in H.T]
        for feature in sorted(self.features.tolist(), key=lambda j: -np.abs(H[j]).max()):
            if H[feature].any():
                wanted[int(np.argmax(np.abs(H[feature])))].append(feature)
                continue
            room = [more or len(mine) < size for mine, size in zip(wanted, sizes, strict=True)]
            best = int(np.argmax(np.where(room, pulls[feature], -1.0)))
            wanted[best].append(feature)
            sizes[best] += int(more)
        return [np.array(mine, dtype=np.intp) for mine in wanted], sizes

    def _by_turns(
        self, turns: VarianceAlternation, H: Array, wanted: list[Indices], sizes: list[int], run: Run
    ) -> Array:
        """Update each component given the others until nothing improves; the first sweep is accepted in any case."""
        for sweep in range(SEARCH.required_sweeps):
            before = turns.captured(H)
            for j, required in enumerate(wanted):
                objective = self._beside(turns, np.delete(H, j, axis=1), run)
                x = _best_with(objective, sizes[j], required, H[:, j], run, run.effort.enumerated // len(sizes))
                if x is None or not keeps(objective.metric, x):
                    continue
                trial = H.copy()
                trial[:, j] = x
                lacks = sweep == 0 and not np.isin(required, np.flatnonzero(H[:, j])).all()
                if lacks or turns.captured(trial) > turns.captured(H) * (1 + GROWTH):
                    H = trial
            if run.budget.expired or (sweep > 0 and turns.captured(H) <= before * (1 + GROWTH)):
                break
        return H

    def _beside(self, turns: VarianceAlternation, others: Array, run: Run) -> RayleighObjective:
        """Objective of one more direction, given the others."""
        if self.deflation is None or others.shape[1] == 0:
            free = turns.without(others)
            view, metric = free.view, free.metric
        else:
            view, metric = self.deflation.deflate(turns.view, others)
        return NonnegativeObjective(view, metric, run.budget) if self.nonnegative else RayleighObjective(view, metric)


def _best_with(
    objective: RayleighObjective, size: int, required: Indices, start: Array, run: Run, enumerated: int
) -> Array | None:
    """The best direction found whose features are the required ones and others, ``size`` in all; none without any."""
    inside = required[objective.usable[required]]
    others = np.setdiff1d(np.flatnonzero(objective.usable), required)
    n_others = min(max(size - len(required), 0), len(others))
    if comb(len(others), n_others) <= enumerated:
        supports: Iterator[Indices] = (
            np.append(inside, some).astype(np.intp) for some in combinations(others, n_others)
        )
        solved = ((*objective.solve(support), support) for support in supports if len(support))
        value, v, support = max(solved, key=lambda one: one[0], default=(0.0, np.zeros(0), inside))
    else:
        strength = np.abs(start[others])
        first = others[np.argsort(-strength, kind="stable")[:n_others]]
        value, v, support = _swapped(objective, np.append(inside, first), len(inside), run)
    if value <= 0:
        return None
    x = np.zeros(len(start))
    x[support] = v / np.linalg.norm(v)
    return x


def _swapped(objective: RayleighObjective, support: Indices, n_fixed: int, run: Run) -> tuple[float, Array, Indices]:
    """Single swaps while they gain, of features that pull most for those missed least; the first ones stay."""
    value, v = objective.solve(support)
    is_long = len(support) > SEARCH.required_many
    leaving, coming = (1, 2) if is_long else (SEARCH.required_leaving, SEARCH.required_coming)
    for _ in range(SEARCH.required_swaps if n_fixed < len(support) else 0):
        if run.budget.expired:
            break
        x = np.zeros(objective.view.n_features)
        x[support] = v
        slope = objective.slope(value, x)
        pull = np.where(objective.usable, slope if isinstance(objective, NonnegativeObjective) else np.abs(slope), -1.0)
        pull[support] = -1.0
        near = np.argsort(-pull, kind="stable")[:coming]
        slots = n_fixed + np.argsort(np.abs(v[n_fixed:]), kind="stable")[:leaving]
        trials = [np.append(np.delete(support, slot), j) for slot in slots for j in near if pull[j] > 0]
        solved = ((*objective.solve(trial), trial) for trial in trials)
        best = max(solved, key=lambda one: one[0], default=(value, v, support))
        if best[0] <= value * (1 + GROWTH):
            break
        value, v, support = best
    return value, v, support
