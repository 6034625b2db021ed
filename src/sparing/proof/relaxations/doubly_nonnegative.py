"""The doubly nonnegative relaxation of one sparse component with x >= 0, solved together with its dual.

max tr(AM) over positive semidefinite M of trace 1 with M_ij >= 0 and sum M_ij <= r: every unit vector x >= 0 with r
nonzeros gives such an M = xx'. For every symmetric Y whatever no such x exceeds

    lambda_max(A - Y) + (r - 1) max(Y_ij, 0),    Y with zero diagonal,

because x'Yx is at most max(Y_ij, 0) (|x|_1^2 - |x|_2^2) then; the best Y makes that equal to the largest tr(AM). Unlike
the dual for x of any sign (``semidefinite_relaxation.py``), negative entries of Y cost nothing.
"""

from __future__ import annotations

import numpy as np

from sparing.proof.relaxations.semidefinite import EPS, alternating, into_l1_ball, made_feasible, on_spectraplex
from sparing.results import Array
from sparing.run import Budget


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
    M, Y = alternating(
        A,
        1,
        on_spectraplex,
        lambda W: into_nonnegative_ball(W, r),
        lambda M: made_feasible(made_nonnegative(M), r),
        lambda Y: one_sided_value(A, Y, r),
        max_iter=max_iter,
        tolerance=tolerance,
        budget=budget,
        reached=reached,
    )
    return M, without_diagonal(Y)


def one_sided_value(A: Array, Y: Array, r: int) -> float:
    """What no x'Ax over unit x >= 0 with r nonzeros exceeds, from any symmetric Y; rounded against us.

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
