"""Components without common features, chosen together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import linear_sum_assignment

from sparing.gram import DataMatrix
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.span import encoder_of
from sparing.methods.deflation import DisjointDeflation
from sparing.methods.encoders.sequential import sequential_directions
from sparing.methods.solvers import Auto, Solver
from sparing.proof.trees.disjoint_supports import best_disjoint, countable
from sparing.results import Array, Encoder, Indices, Reference
from sparing.run import Budget, Run
from sparing.task import Task

FIRST_SOLVER = Auto(starts=3, finalists=2, perturbations=0)
"""A search over all supports follows."""

TURNS = 200
"""Times that features are shared out anew from one start, at most."""

CONTESTED, PRICES = 400, 20
"""Features that are assigned exactly, those whose best component is least clear, and rounds of prices at most."""

PERTURBED_SHARE = 0.3
"""Share of its features that each component gives up when perturbed."""


@dataclass(frozen=True)
class Disjoint:
    """Most variance of components that share no feature [asteris2015, Sec. 1], exactly where supports can be listed.

    One component after the other comes first, then a search over all disjoint supports that stops when nothing can be
    better. Where supports are too many to list, the first is the answer. Loadings are orthogonal by themselves.

    Parameters
    ----------
    solver : Solver
        Finds the components to begin with.
    max_nodes : int
        Nodes of the search at most.

    Notes
    -----
    **Differs from the paper.** It matches features to approximate directions; here all supports are listed.
    """

    solver: Solver = FIRST_SOLVER
    max_nodes: int = 20_000

    deflation: ClassVar = DisjointDeflation()
    reference: ClassVar = Reference("asteris2015", "Sec. 1, disjoint supports")

    def encode(self, task: Task, run: Run) -> Encoder:
        """Components in falling order of variance where their sizes are alike, otherwise in the order of the sizes."""
        view, spectrum = task.gram, task.spectrum
        sizes = task.sizes
        base = view.cached()
        H = sequential_directions(self.solver, self.deflation, base, spectrum, sizes, run)
        if countable(view.n_features, sizes):
            A = view.gram()
            start = [np.flatnonzero(h) for h in H.T] if H.shape[1] == len(sizes) else None
            found = best_disjoint(A, sizes, budget=run.budget, max_nodes=self.max_nodes, start=start)
            if found is not None:
                H = _directions(A, found.supports)
        if len(set(sizes)) == 1:
            H = H[:, np.argsort(-np.einsum("ij,ij->j", H, base.gram_matmat(H)), kind="stable")]
        return encoder_of(base, H, spectrum.total)


def _directions(A: Array, supports: Sequence[Indices]) -> Array:
    """The best direction on each support (columns)."""
    H = np.zeros((len(A), len(supports)))
    for j, S in enumerate(supports):
        H[S, j] = top_eigenpairs(A[np.ix_(S, S)], 1)[1][:, 0]
    return H


def settled(
    view: DataMatrix, H: Array, sizes: list[int], pull: Callable[[Array], Array], growth: float, budget: Budget
) -> tuple[float, Array]:
    """Features shared out among directions (columns of H) while the sum of variances rises; and that sum.

    With p = Ax for each direction, 2 x'p - constant is below x'Ax and touches it where x is now, so that whoever raises
    the sum of |p on its features| raises the sum of variances. ``pull`` says what of p may be used.
    """
    P = view.gram_matmat(H)
    value = float(np.einsum("ij,ij->", H, P))
    for _ in range(TURNS):
        after = _shared_out(pull(P), H != 0, sizes)
        if not after.any(axis=0).all():
            break
        products = view.gram_matmat(after)
        higher = float(np.einsum("ij,ij->", after, products))
        if higher <= value * (1 + growth) or budget.expired:
            break
        value, H, P = higher, after, products
    return value, H


def perturbed(H: Array, rng: np.random.Generator) -> Array:
    """Directions without some of their features; the largest of each stays."""
    lengths = np.abs(H)
    out = np.where((rng.random(H.shape) >= PERTURBED_SHARE) | (lengths.max(axis=0) == lengths), H, 0.0)
    return np.asarray(out / np.linalg.norm(out, axis=0))


def anywhere(view: DataMatrix, n_components: int, rng: np.random.Generator) -> Array:
    """Single features drawn by chance, one for each component, those of large variance more often."""
    variances = np.maximum(view.gram_diagonal(), 0.0)
    alive = int((variances > 0).sum())
    out = np.zeros((view.n_features, n_components))
    chosen = rng.choice(len(variances), min(n_components, alive), replace=False, p=variances / variances.sum())
    out[chosen, np.arange(len(chosen))] = 1.0
    return out[:, out.any(axis=0)]


def _shared_out(P: Array, now: Array, sizes: list[int]) -> Array:
    """Each feature to one component at most, so that the sum of |p on its features| rises; p normalised there."""
    roots = np.sqrt(np.einsum("ij,ij->j", np.square(P), now.astype(float)))
    roots = np.where(roots > 0, roots, np.linalg.norm(P, axis=0))  # of a component whose features all pull back
    worth = np.square(P) / np.where(roots > 0, roots, 1.0)
    few = _candidates(worth, sum(sizes))
    owner = _assigned(worth[few], np.array(sizes))
    mine = np.flatnonzero(owner >= 0)
    out = np.zeros_like(P)
    out[few[mine], owner[mine]] = P[few[mine], owner[mine]]
    norms = np.linalg.norm(out, axis=0)
    return np.asarray(out / np.where(norms > 0, norms, 1.0))


def _candidates(worth: Array, total: int) -> Indices:
    """Features among which the best assignment is: the first ``total`` of each component, as others take no more."""
    count = min(total, len(worth))
    top = np.argpartition(-worth, count - 1, axis=0)[:count]
    return np.unique(top)


def _assigned(worth: Array, sizes: Indices) -> Indices:
    """The component of each feature, -1 for none, so that the sum of worths is largest.

    Prices of the components settle most of it where features are many; an exact assignment the closest cases.
    """
    owner, left = np.full(len(worth), -1), sizes.copy()
    contested = np.arange(len(worth))
    if len(worth) > CONTESTED:
        net = np.column_stack([worth - _prices(worth, sizes), np.zeros(len(worth))])  # the last is none
        first, second = -np.partition(-net, 1, axis=1)[:, :2].T
        order = np.argsort(first - second, kind="stable")
        contested, sure = order[:CONTESTED], order[CONTESTED:]
        best = net[sure].argmax(axis=1)
        for j in range(len(sizes)):
            mine = sure[best == j]
            mine = mine[np.argsort(-worth[mine, j], kind="stable")[: sizes[j]]]
            owner[mine] = j
            left[j] -= len(mine)
    slots = np.repeat(np.arange(len(sizes)), left)
    rows, columns = linear_sum_assignment(-worth[contested][:, slots])
    owner[contested[rows]] = slots[columns]
    return owner


def _prices(worth: Array, sizes: Indices) -> Array:
    """What a place in each component costs so that about as many features want one as there are."""
    price, d = np.zeros(len(sizes)), len(worth)
    for _ in range(PRICES):
        before, net = price.copy(), worth - price
        for j, size in enumerate(sizes.tolist()):
            net[:, j] = 0.0  # so that none is among the others
            surplus = worth[:, j] - np.maximum(net.max(axis=1), 0.0)
            price[j] = max(0.0, float(np.partition(surplus, d - size - 1)[d - size - 1])) if size < d else 0.0
            net[:, j] = worth[:, j] - price[j]
        if np.allclose(price, before, rtol=1e-3, atol=0.0):
            break
    return price
