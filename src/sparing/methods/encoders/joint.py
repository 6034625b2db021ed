"""Components with features of their own, optimised together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.rotation import varimax
from sparing.linalg.span import encoder_with
from sparing.linalg.truncation import keep_largest
from sparing.methods.encoders.iterative import compact, residual_directions
from sparing.methods.selectors import Selector
from sparing.methods.selectors.greedy import RELIABLE
from sparing.objectives.joint import LossAlternation
from sparing.results import Array, Encoder, Indices, Reference, Spectrum
from sparing.run import Run
from sparing.task import Task

CORE = 160
"""Features beside those of the first solution that the alternation may choose from; all of them up to twice as many."""

SWEEPS, REFITS = 30, 200

KEPT = 0.5
"""The share of loadings that a perturbation keeps, where features are few."""

SHAKEN = 1e-5
"""Share of the loss that sweeps of what was shaken, and shaking itself, must gain: less may hang on ties."""


@dataclass(frozen=True)
class Joint:
    """Alternating re-selection of all components, from several starts; the problem of [magdonismail2015, Sec. 1].

    For each component in turn: the features and loadings that lose least beside the others, by swaps scored all at
    once. Starts are the iterative encoder, components grown one after the other, and truncated rotations of the
    principal components. The best is kept, ordered by what each component adds. Prefixes are not encoders of their own.

    Parameters
    ----------
    selector : Selector
        For the iterative start.
    starts : int
        Rotated starts besides the two sequential ones.

    Notes
    -----
    **Differs from the paper.** It has no such algorithm; it gives up the iterative encoder's order for a lower loss.
    """

    selector: Selector
    starts: int = 12

    reference: ClassVar = Reference("magdonismail2015", "Sec. 1, optimal r-sparse encoder")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The best of all starts."""
        view, spectrum = task.gram, task.spectrum
        sizes = task.sizes
        rows = compact(view)
        first = residual_directions(self.selector, view, spectrum, sizes, run.share(0.5), rows=rows)
        core = core_features(view, spectrum, first)
        search = LossAlternation(
            view.restricted(core).gram(), view.gram_squared(core), run.budget, rows=rows, core=core
        )
        best: Array | None = None
        for start in self._starts(search, spectrum, first[core], core, sizes, run.rng):
            H = search.improve(start, SWEEPS)
            if best is None or search.gains(best, H, 1e-9):
                best = H
            reached = [search.captured(found) / spectrum.total for found in (H, best)]
            run.budget.say(f"joint start: {reached[0]:.4%} of the variance, best {reached[1]:.4%}")
            if run.budget.expired:
                break
        best = first[core] if best is None else best
        best = best if rows is None else _perturbed(search, best, sizes, run)
        found = _encoder(view, spectrum, core, search.ordered(search.refit(best, REFITS)))
        if spectrum.tail > RELIABLE * spectrum.total:
            return found
        return min(found, _encoder(view, spectrum, core, first[core]), key=lambda encoder: encoder.loss)

    def _starts(
        self,
        search: LossAlternation,
        spectrum: Spectrum,
        first: Array,
        core: Indices,
        sizes: list[int],
        rng: np.random.Generator,
    ) -> list[Array]:
        """Sequential solutions, then rotations of the principal components cut to size."""
        k, V = first.shape[1], spectrum.basis[core]
        starts = [first, search.grown(sizes[:k])]  # what further components would explain is rounding
        for rotation in range(self.starts):
            if rotation == 0:
                rotated = V
            elif rotation == 1:
                rotated = varimax(V)
            else:
                rotated = varimax(V @ np.linalg.qr(rng.standard_normal((V.shape[1], V.shape[1])))[0], steps=rotation)
            starts.append(keep_largest(rotated[:, :k], sizes[:k]))
        return [start for start in starts if start.shape[1] == k and start.any(axis=0).all()]


def _perturbed(search: LossAlternation, best: Array, sizes: list[int], run: Run) -> Array:
    """The best again and again without some of its loadings, which others may replace; kept where that loses less."""
    for _ in range(run.effort.loss_perturbations // len(best)):
        H = search.improve(np.where(run.rng.random(best.shape) < KEPT, best, 0.0), SWEEPS, sizes, growth=SHAKEN)
        best = H if search.gains(best, H, SHAKEN) else best
    return best


def _encoder(view: DataMatrix, spectrum: Spectrum, core: Indices, H: Array) -> Encoder:
    """The encoder of directions given on a core of features."""
    used = np.flatnonzero(H.any(axis=1))
    return encoder_with(core[used], H[used], view.gram_columns(core[used]), spectrum.total)


def core_features(view: DataMatrix, spectrum: Spectrum, H: Array) -> Indices:
    """All features where they are few; else those of the first solution and those that matter most to the spectrum."""
    squares = view.gram_diagonal()
    varies = np.flatnonzero(squares > 0)
    if len(varies) <= 2 * CORE:
        return varies
    weight = np.square(spectrum.basis * np.sqrt(spectrum.values)).sum(axis=1)
    share = np.divide(weight * spectrum.values[0], squares, out=np.zeros_like(weight), where=squares > 0)
    extent = np.abs(spectrum.basis).max(axis=1)
    ranks = [np.argsort(np.argsort(-score, kind="stable"), kind="stable") for score in (weight, share, extent)]
    best = np.argsort(np.min(ranks, axis=0), kind="stable")[:CORE]  # the first by any of the three
    return np.union1d(np.flatnonzero(H.any(axis=1)), best).astype(np.intp)
