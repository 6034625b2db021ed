"""Orthogonal nonnegative components: features shared out among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from sparing.budget import Budget
from sparing.data import DataMatrix, Remembered
from sparing.deflation import DisjointDeflation
from sparing.encoders.iterative import counts_per_component
from sparing.encoders.sequential import sequential_directions
from sparing.linalg.span import encoder_of
from sparing.results import Array, Encoder, Indices, Reference, Spectrum
from sparing.search.nonnegative import NonnegativeQuotient
from sparing.solvers import Solver

TURNS = 200
"""Times that features are shared out anew, at most."""

GROWTH = 1e-9

SHAKEN = 0.3
"""Share of its features that each component gives up when shaken."""


@dataclass(frozen=True)
class OrthogonalNonnegative:
    """Orthogonal nonnegative components found together: each feature is used once [asteris2014, Sec. 7].

    Removing features after each component lets the first have what later ones would miss more. Here the features are
    then shared out anew, all at once and again and again, while the sum of variances rises; and after shaking.

    Parameters
    ----------
    solver : Solver
        For the start, one component after the other; a nonnegative one.
    kicks : int
        Times that features are shared out again, by turns after shaking the best and from single features by chance.

    Notes
    -----
    **Optimises** the sum of x'Ax over disjoint unit nonnegative columns with given counts: nonnegative directions are
    orthogonal exactly where they have no feature in common. With p = Ax for each component, 2 x'p - constant is below
    x'Ax and touches it where x is now, so that whoever raises the sum of |p on its features| raises the sum of
    variances; the square roots are bounded by their tangents likewise, and what is left is an assignment problem.
    **Differs from the paper.** It stops after one component after the other.
    """

    solver: Solver
    kicks: int = 60

    deflation: ClassVar = DisjointDeflation()
    reference: ClassVar = Reference("asteris2014", "Sec. 7")

    def encode(
        self,
        view: DataMatrix,
        spectrum: Spectrum,
        n_nonzero: int | Sequence[int],
        rng: np.random.Generator,
        *,
        budget: Budget,
    ) -> Encoder:
        """The components, by falling variance."""
        sizes, whole = counts_per_component(n_nonzero, spectrum.rank), Remembered(view)
        start = sequential_directions(self.solver, self.deflation, whole, spectrum, sizes, rng, budget.share(0.5))
        sizes = sizes[: start.shape[1]]
        reached, best = _settled(whole, start, sizes, budget)
        for turn in range(self.kicks if len(sizes) > 1 else 0):
            if budget.expired:
                break
            H = _shaken(best, rng) if turn % 3 else _anywhere(whole, sizes, rng)
            value, H = _settled(whole, H, sizes, budget)
            if value > reached * (1 + GROWTH):
                reached, best = value, H
                budget.say(f"orthogonal components: {reached / spectrum.total:.4%} of the variance")
        values = np.einsum("ij,ij->j", best, whole.gram_matmat(best))
        return encoder_of(whole, best[:, np.argsort(-values, kind="stable")], spectrum.total)


def _shaken(H: Array, rng: np.random.Generator) -> Array:
    """Directions without some of their features; the largest of each stays."""
    kept = (rng.random(H.shape) >= SHAKEN) | (H.max(axis=0) == H)
    out = np.where(kept, H, 0.0)
    return np.asarray(out / np.linalg.norm(out, axis=0))


def _anywhere(view: DataMatrix, sizes: list[int], rng: np.random.Generator) -> Array:
    """Single features drawn by chance, one for each component, those of large variance more often."""
    variances = np.maximum(view.gram_diagonal(), 0.0)
    alive = int((variances > 0).sum())
    out = np.zeros((view.n_features, len(sizes)))
    chosen = rng.choice(len(variances), min(len(sizes), alive), replace=False, p=variances / variances.sum())
    out[chosen, np.arange(len(chosen))] = 1.0
    return out[:, out.any(axis=0)]


def _settled(view: DataMatrix, H: Array, sizes: list[int], budget: Budget) -> tuple[float, Array]:
    """Features shared out until nothing changes, then the best loadings on them; and the sum of variances."""
    quotient, P = NonnegativeQuotient(view, None, budget), view.gram_matmat(H)
    value = float(np.einsum("ij,ij->", H, P))
    for _ in range(TURNS):
        after = _shared_out(np.where(quotient.usable[:, None], np.maximum(P, 0.0), 0.0), H != 0, sizes)
        if not after.any(axis=0).all():
            break
        products = view.gram_matmat(after)
        higher = float(np.einsum("ij,ij->", after, products))
        if higher <= value * (1 + GROWTH) or budget.expired:
            break
        value, H, P = higher, after, products
    refined = np.column_stack([quotient.settled(x)[1] for x in H.T]) if H.shape[1] else H
    return float(np.einsum("ij,ij->", refined, view.gram_matmat(refined))), refined


def _shared_out(P: Array, now: Array, sizes: list[int]) -> Array:
    """Each feature to one component at most, so that the sum of |p on its features| rises; p normalised there."""
    roots = np.sqrt(np.einsum("ij,ij->j", np.square(P), now.astype(float)))
    roots = np.where(roots > 0, roots, np.linalg.norm(P, axis=0))  # of a component whose features all pull back
    worth = np.square(P) / np.where(roots > 0, roots, 1.0)
    few = _candidates(worth, sum(sizes))
    slots = np.repeat(np.arange(len(sizes)), sizes)
    rows, columns = linear_sum_assignment(-worth[few][:, slots])
    out = np.zeros_like(P)
    out[few[rows], slots[columns]] = P[few[rows], slots[columns]]
    norms = np.linalg.norm(out, axis=0)
    return np.asarray(out / np.where(norms > 0, norms, 1.0))


def _candidates(worth: Array, total: int) -> Indices:
    """Features among which the best assignment is: the first ``total`` of each component, as others take no more."""
    count = min(total, len(worth))
    top = np.argpartition(-worth, count - 1, axis=0)[:count]
    return np.unique(top)
