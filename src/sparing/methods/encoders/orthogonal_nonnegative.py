"""Orthogonal nonnegative components: features shared out among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparing.gram import DataMatrix, view_of_gram
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import DisjointDeflation
from sparing.methods.encoders.disjoint import anywhere, perturbed
from sparing.methods.encoders.sequential import sequential_directions
from sparing.methods.solvers import Solver
from sparing.objectives.nonnegative import SUPPORT_DECOMPOSED, NonnegativeObjective
from sparing.results import Array, Encoder, Reference
from sparing.run import Budget, Run
from sparing.search.sharing import settled
from sparing.search_limits import SEARCH
from sparing.task import Task

SHARING_GAIN, SHARINGS_APART = 1e-9, 1e-6
"""Relative gain below which the sweeps end, and relative difference that distinguishes two answers."""

LONG_GAIN = 1e-5
"""The gain for directions of hundreds of features, whose last sweeps gain little: a fifth of the time for 4e-4."""


@dataclass(frozen=True)
class OrthogonalNonnegative:
    """Orthogonal nonnegative components found together: each feature is used once [asteris2014, Sec. 7].

    Removing features after each component gives the first one features that later ones need more. Here the features are
    then reassigned, all at once and repeatedly, while the sum of variances rises; and again after perturbations.

    Parameters
    ----------
    solver : Solver
        For the start, one component after the other; a nonnegative one.
    restarts : int, optional
        Times that features are shared out again, by turns after perturbing the best and from single features by chance,
        instead of the number that ``effort`` sets.

    Notes
    -----
    **Optimises** the sum of x'Ax over disjoint unit nonnegative columns with given counts: nonnegative directions are
    orthogonal exactly where they have no feature in common. With p = Ax for each component, 2 x'p - constant is below
    x'Ax and touches it where x is now, so that whoever raises the sum of |p on its features| raises the sum of
    variances; the square roots are bounded by their tangents likewise, and what is left is an assignment problem.
    **Differs from the paper.** It stops after one component after the other.
    """

    solver: Solver
    restarts: int | None = None

    deflation: ClassVar = DisjointDeflation()
    reference: ClassVar = Reference("asteris2014", "Sec. 7")

    def encode(self, task: Task, run: Run) -> Encoder:
        """The components, by falling variance."""
        spectrum, whole = task.spectrum, held(task.gram)
        *_, best = orthogonal_starts(task, whole, self.solver, run, self.restarts)
        values = np.einsum("ij,ij->j", best, whole.gram_matmat(best))
        return encoder_of(whole, best[:, np.argsort(-values, kind="stable")], spectrum.total)


def orthogonal_starts(
    task: Task, whole: DataMatrix, solver: Solver, run: Run, restarts: int | None = None
) -> Iterator[Array]:
    """Sequential directions, then reassigned together, once for every effort up to the requested one."""
    sizes, usable = task.sizes, int((whole.gram_diagonal() > 0).sum())
    first = [min(size, max(usable // len(sizes), 1)) for size in sizes] if sum(sizes) > usable else sizes
    best = sequential_directions(solver, DisjointDeflation(), whole, task.spectrum, first, run.share(0.5))
    yield best
    shape = whole.n_features, whole.n_samples, len(sizes)
    counts = [level.n_restarts(*shape) for level in run.effort.levels] if restarts is None else [restarts]
    for count in counts:
        best = _shared_out(whole, best, sizes[: best.shape[1]], count, run)
        yield best


def held(view: DataMatrix) -> DataMatrix:
    """The view with what many products with A need in memory: A itself, or those of its columns that were asked for."""
    if view.has_gram or view.n_features > min(view.n_samples or view.n_features, SEARCH.held_features):
        return view.cached()
    return view_of_gram(view.gram(), is_psd=view.is_psd, psd_slack=view.psd_slack)


def _shared_out(view: DataMatrix, start: Array, sizes: list[int], restarts: int, run: Run) -> Array:
    """Nonnegative directions of the largest sum of variances found from those given, no feature in two of them."""
    elite = [_settled(view, start, sizes, run.budget)]
    for number in range(restarts if len(sizes) > 1 else 0):
        if run.budget.expired:
            break
        H = _restarted(view, elite[int(run.rng.integers(len(elite)))][1], number % 4, run.rng)
        if H.shape[1] < len(sizes) or not H.any(axis=0).all():
            continue
        value, H = _settled(view, H, sizes, run.budget)
        if all(abs(value - known) > SHARINGS_APART * known for known, _ in elite):
            elite = sorted([*elite, (value, H)], key=lambda pair: -pair[0])[: SEARCH.sharing_elite]
            run.budget.say(f"orthogonal components: {elite[0][0] / view.total:.4%} of the variance")
    return elite[0][1]


def _restarted(view: DataMatrix, known: Array, way: int, rng: np.random.Generator) -> Array:
    """New starts: from single features, from known results without some features, or with one component restarted."""
    H, k = anywhere(view, known.shape[1], rng), known.shape[1]
    if way == 0 or H.shape[1] < k:
        return H
    if way == 1:
        return perturbed(known, rng)
    j = int(rng.integers(k))
    out = np.where(H[:, [j]] > 0, 0.0, known)  # the feature that begins a component leaves its old one
    out[:, j] = H[:, j]
    return out


def _settled(view: DataMatrix, H: Array, sizes: list[int], budget: Budget) -> tuple[float, Array]:
    """Features shared out until nothing changes, then the best loadings on them; and the sum of variances."""
    objective = NonnegativeObjective(view, None, budget)

    def pull(P: Array) -> Array:
        return np.where(objective.usable[:, None], np.maximum(P, 0.0), 0.0)

    growth = SHARING_GAIN if max(sizes) <= SUPPORT_DECOMPOSED else LONG_GAIN
    _, H = settled(view, H, sizes, pull, growth, budget)
    refined = np.column_stack([objective.settled(x)[1] for x in H.T]) if H.shape[1] else H
    return float(np.einsum("ij,ij->", refined, view.gram_matmat(refined))), refined
