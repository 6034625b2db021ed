"""The semidefinite relaxation of one sparse component, solved together with its dual.

max tr(AM) over positive semidefinite M of trace 1 with sum |M_ij| <= r: every unit vector x with r nonzeros gives such
an M = xx', because |x|_1^2 <= r. For every symmetric Y, lambda_max(A - Y) + r max|Y_ij| is an upper bound on x'Ax, and
the best Y makes it equal to the largest tr(AM).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.rounding import EPS
from sparing.proof_limits import SCHEDULES
from sparing.results import Array
from sparing.run import Budget


def relaxed(A: Array, r: int, *, max_iter: int, tolerance: float, budget: Budget) -> tuple[Array, Array]:
    """A feasible M and a dual Y (d x d), by the alternating direction method of [ma2013, Sec. 3] for a fixed l1 norm.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric; it need not be positive semidefinite.
    r : int
        The bound on the sum of all |M_ij|.
    max_iter : int
        Iterations at most, one eigendecomposition each.
    tolerance : float
        Stops when the dual value exceeds tr(AM) by at most this share.
    budget : Budget

    Notes
    -----
    **Differs from the paper.** The l1 norm is constrained, not penalised. The penalty parameter follows the residuals.
    M is made feasible: mixing it with its own diagonal keeps it semidefinite and of trace 1. Returns the best M and the
    best Y of all iterates; each is valid without the other.
    """
    return relaxation(A, r).run(max_iter, tolerance, budget)


def relaxation(A: Array, r: int) -> Alternation:
    """The same before its first iteration."""
    return Alternation(
        A,
        1,
        on_spectraplex,
        lambda W: into_l1_ball(W, r),
        lambda M: made_feasible(M, r),
        lambda Y: dual_value(A, Y, r),
    )


class Alternation:
    """The best M and Y of all iterates, for any two sets of matrices of one trace with computable projections.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric.
    trace : int
        Of the matrices.
    project, shrink : callable
        ``project(W, guess)`` is the nearest matrix of the first set and its rank, ``shrink(W)`` that of the second one.
    feasible : callable
        ``feasible(M)`` is in both for M in the first.
    bound : callable
        ``bound(Y)`` is what no such M exceeds by this Y.
    reached : float
        A value that some feasible matrix is known to have.
    """

    def __init__(
        self,
        A: Array,
        trace: int,
        project: Callable[[Array, int], tuple[Array, int]],
        shrink: Callable[[Array], Array],
        feasible: Callable[[Array], Array],
        bound: Callable[[Array], float],
        *,
        reached: float = -np.inf,
    ) -> None:
        d, values = len(A), np.linalg.eigvalsh(A)
        self.A, self.project, self.shrink, self.feasible, self.bound = A, project, shrink, feasible, bound
        self.size = self.rho = float(np.abs(values).max())
        self.M, self.Y = np.eye(d) * (trace / d), np.zeros((d, d))
        self.reached = max(float(np.trace(A)) * trace / d, reached)
        self.possible = float(values[d - trace :].sum())
        self._Z, self._U, self._rank, self.steps = np.zeros((d, d)), np.zeros((d, d)), trace, 0

    def run(self, max_iter: int, tolerance: float, budget: Budget) -> tuple[Array, Array]:
        """The best M and Y after so many iterations, with those of earlier calls."""
        while self.steps < max_iter and self.possible - self.reached > tolerance * abs(self.possible):
            self._step()
            last = self.steps == max_iter or budget.expired
            if self.steps % SCHEDULES.look_every == 0 or last:
                self._look()
            if last:
                break
        return self.M, self.Y

    def _step(self) -> None:
        guess = self._rank + SCHEDULES.spare_eigenpairs
        self._inside, self._rank = self.project(self._Z - self._U + self.A / self.rho, guess)
        self._before, self._Z = self._Z, self.shrink(self._inside + self._U)
        self._U = self._U + self._inside - self._Z
        self.steps += 1

    def _look(self) -> None:
        """Keep the best matrices, and double or halve the penalty where one residual exceeds the other."""
        M, Y = self.feasible(self._inside), self.rho / 2 * (self._U + self._U.T)
        if (value := float(np.vdot(self.A, M))) > self.reached:
            self.M, self.reached = M, value
        if (value := self.bound(Y)) < self.possible:
            self.Y, self.possible = Y, value
        apart = float(np.linalg.norm(self._inside - self._Z))
        moved = self.rho / self.size * float(np.linalg.norm(self._Z - self._before))
        if max(apart, moved) > SCHEDULES.unbalanced * min(apart, moved):
            factor = 2.0 if apart > moved else 0.5
            self.rho, self._U = self.rho * factor, self._U / factor


def dual_value(A: Array, Y: Array, r: int) -> float:
    """An upper bound on x'Ax over unit x with r nonzeros, from any symmetric Y; rounded up.

    x'Ax = x'(A - Y)x + x'Yx <= lambda_max(A - Y) + r max|Y_ij| [daspremont2007, Sec. 2].
    """
    rest, price = np.linalg.eigvalsh(A - Y), r * float(np.abs(Y).max())
    scale = float(np.abs(rest).max() + np.abs(A).max()) + price
    return float(rest[-1]) + price + 8 * len(A) * EPS * scale


def on_spectraplex(W: Array, rank: int) -> tuple[Array, int]:
    """The nearest positive semidefinite matrix of trace 1, and its rank; ``rank`` is a guess of it from above."""
    d = len(W)
    while True:
        values, vectors = top_eigenpairs(W, min(rank, d))
        excess = np.cumsum(values) - 1.0
        kept = int(np.flatnonzero(values * np.arange(1, len(values) + 1) > excess)[-1]) + 1
        if kept < len(values) or kept == d:
            values, vectors = values[:kept] - excess[kept - 1] / kept, vectors[:, :kept]
            return (vectors * values) @ vectors.T, kept
        rank *= 2


def into_l1_ball(W: Array, radius: float) -> Array:
    """The nearest matrix with sum |Z_ij| <= radius: all entries shrunk towards zero by one threshold."""
    sizes = np.abs(W)
    large, excess = sizes.ravel(), float(sizes.sum()) - radius
    if excess <= 0:
        return W
    threshold = excess / large.size
    while True:  # entries below the threshold drop out, which raises it, until none does
        kept = large[large > threshold]
        if kept.size == large.size:
            return np.asarray(np.sign(W) * np.maximum(sizes - threshold, 0.0))
        large, threshold = kept, (float(kept.sum()) - radius) / kept.size


def made_feasible(M: Array, radius: float) -> Array:
    """M moved towards its diagonal until sum |M_ij| <= radius; a radius of at least 1 can always be kept."""
    diagonal = np.diagonal(M)
    off = float(np.abs(M).sum() - np.abs(diagonal).sum())
    share = min((radius - 1.0) / off, 1.0) if off > 0 else 1.0
    return np.asarray(share * M + (1.0 - share) * np.diag(diagonal))


def relaxed_nonnegative(
    A: Array, r: int, *, max_iter: int, tolerance: float, budget: Budget, reached: float = -np.inf
) -> tuple[Array, Array]:
    """A feasible M and a dual Y (d x d), by the same method as :func:`~sparing.proof.relaxations.semidefinite.relaxed`.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric; it need not be positive semidefinite.
    r : int
        The bound on the sum of all M_ij.
    max_iter : int
        Iterations at most, one eigendecomposition each.
    tolerance : float
        Stops when the dual value exceeds tr(AM), or what is reached, by at most this share.
    budget : Budget
    reached : float
        The variance of some feasible x, where one is known.
    """
    M, Y = Alternation(
        A,
        1,
        on_spectraplex,
        lambda W: into_nonnegative_ball(W, r),
        lambda M: made_feasible(made_nonnegative(M), r),
        lambda Y: one_sided_value(A, Y, r),
        reached=reached,
    ).run(max_iter, tolerance, budget)
    return M, without_diagonal(Y)


def one_sided_value(A: Array, Y: Array, r: int) -> float:
    """An upper bound on x'Ax over unit x >= 0 with r nonzeros, from any symmetric Y; rounded up.

    The diagonal of Y is not used. x'Ax = x'(A - Y)x + x'Yx, where |x|_2 = 1 and |x|_1^2 <= r.
    """
    Y = without_diagonal(Y)
    rest, price = np.linalg.eigvalsh(A - Y), (r - 1) * float(Y.max())  # at least 0, as the diagonal is
    scale = float(np.abs(rest).max() + np.abs(A).max() + np.abs(Y).max()) + price
    return float(rest[-1]) + price + 8 * len(A) * EPS * scale


def without_diagonal(Y: Array) -> Array:
    """A copy with zeros on the diagonal."""
    Y = np.array(Y)
    np.fill_diagonal(Y, 0.0)
    return Y


def into_nonnegative_ball(W: Array, radius: float) -> Array:
    """The nearest matrix with Z_ij >= 0 and sum Z_ij <= radius."""
    return into_l1_ball(np.maximum(W, 0.0), radius)


def made_nonnegative(M: Array) -> Array:
    """M without its negative entries, still positive semidefinite and of trace 1.

    What takes them away, N >= 0, is made semidefinite itself by its row sums on the diagonal.
    """
    N = np.maximum(-M, 0.0)
    raised = M + N + np.diag(N.sum(axis=1))
    return np.asarray(raised / np.trace(raised))
