"""A dual of one sparse component with a price for each feature, minimised without a solver.

Let x be a unit vector with at most r nonzeros, on S. For every matrix Q with zero diagonal let n_i be the norm of the
r - 1 largest entries of row i, and for every vector a let b_i = (sqrt(n_i^2 + a_i^2) - a_i) / 2. Then

    x'Ax <= lambda_max(A - (Q + Q')/2 + Diag(a)) + the sum of the r largest b_i.

Proof. x'Ax is x'(A - (Q + Q')/2 + Diag(a))x, at most the first term, plus the sum over i in S of x_i (Qx)_i - a_i
x_i^2. In (Qx)_i at most r - 1 entries of x other than x_i enter, whose norm is sqrt(1 - x_i^2); so with s = x_i^2 the
summand is at most n_i sqrt(s(1 - s)) - a_i s. With s = (1 - cos t)/2 that is (n_i sin t + a_i cos t - a_i)/2, at most
b_i. All b_i are at least 0, and S has at most r elements.

So every Q and every a prove something: there is nothing to be feasible for. A symmetric Q with
|Q_ij| <= (p_i + p_j)/sqrt(r), p_i^2 = a_i b_i, and rows of norm 2 sqrt(a_i b_i) are the weaker forms in which this is
known: there |x|_1 <= sqrt(r) and 2 p_i |x_i| <= a_i x_i^2 + b_i are used.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import Bounds, OptimizeResult, minimize

from sparing.linalg.rounding import EPS
from sparing.linalg.rows import strongest, sum_of_largest
from sparing.proof.relaxations.semidefinite import relaxed
from sparing.proof_limits import SCHEDULES
from sparing.results import Array
from sparing.run import Budget

SHIFT_UNIT = 0.1
"""The unit of a in the search: it curves the objective more than Q does, and L-BFGS-B has no scaling of its own."""

NO_CORNER = 1e-12
"""Added under the square roots to smooth their corners at zero."""


def sharper_value(A: Array, Q: Array, a: Array, r: int) -> float:
    """An upper bound on x'Ax over unit x with r nonzeros, from any Q (its diagonal is ignored) and any a.

    Rounded against us.
    """
    d = len(A)
    off = Q - np.diag(np.diagonal(Q))
    _, beside = strongest(off, np.arange(d), r)
    price = sum_of_largest(prices(np.sqrt(np.square(beside).sum(axis=1)), a), r)
    rest = np.linalg.eigvalsh(A - (off + off.T) / 2 + np.diag(a))
    scale = sum(float(np.abs(part).max()) for part in (rest, A, off, a)) + price
    return float(rest[-1]) + price + 8 * d * EPS * scale


def prices(norms: Array, a: Array) -> Array:
    """(sqrt(n^2 + a^2) - a) / 2, without cancellation where a is positive."""
    root = np.hypot(norms, a)
    together = np.where(a > 0, root + a, 1.0)
    return np.where(a > 0, np.square(norms) / together, root - a) / 2


def sharpened(
    A: Array, r: int, *, max_iter: int, max_relaxed: int, target: float, budget: Budget
) -> tuple[Array, Array]:
    """Q (d x d) and a (d) of a small bound, by L-BFGS-B from the dual of the plain relaxation.

    Parameters
    ----------
    A : ndarray of shape (d, d)
        Symmetric; it need not be positive semidefinite.
    r : int
    max_iter : int
        Iterations at most, one eigendecomposition each.
    max_relaxed : int
        Iterations at most for the plain relaxation that it starts from.
    target : float
        It ends when the bound is this small: nothing is left to be proved.
    budget : Budget
    """
    d = len(A)
    nothing = np.zeros((d, d)), np.zeros(d)
    if r == 1:  # all that is beside the diagonal is free
        diagonal = np.diagonal(A)
        return A - np.diag(diagonal), diagonal.min() - diagonal
    size = float(np.abs(np.linalg.eigvalsh(A)).max())
    if r >= d or size == 0.0:
        return nothing
    _, Y = relaxed(A, r, max_iter=max_relaxed, tolerance=1e-4, budget=budget)
    largest = max(float(np.abs(Y).max()) / size, SCHEDULES.smallest_start)
    search = _Search(A / size, r, largest, target / size, budget)
    z = search.start(Y / size)
    search.smoothed(z, SCHEDULES.temperatures[0][0])  # in case there is time for nothing else
    for temperature, share in SCHEDULES.temperatures:
        if search.done:
            break
        z = search.descend(z, temperature, max(int(share * max_iter), 1))
    Q, a = search.witness()
    return min((nothing, (size * Q, size * a)), key=lambda pair: sharper_value(A, pair[0], pair[1], r))


class _Search:
    """The smoothed objective in terms of Q_ij = n_i T_ij / sqrt(r - 1) + m_i R_ij.

    T and R are symmetric, the entries of T within [-1, 1]. So the r - 1 largest entries of row i have a norm of at most
    n_i + m_i |R_i|. The first part does most while r is small, the second where r is near the number of features that
    matter. The unknowns are the upper halves of T and R, n, m, a and the threshold t of the largest prices: the sum of
    the r largest b is the minimum over t of r t + sum (b - t)_+.
    """

    def __init__(self, A: Array, r: int, largest: float, target: float, budget: Budget) -> None:
        self.A, self.r, self.root = A, r, math.sqrt(r - 1)
        self.unit, self.target, self.budget = self.root * largest, target, budget
        self.upper = np.triu_indices(len(A), 1)
        self.cuts = np.cumsum([len(self.upper[0])] * 2 + [len(A)] * 3)
        self.least, self.best = math.inf, np.zeros(0)  # the smallest bound so far, and where it is

    @property
    def done(self) -> bool:
        return self.least <= self.target or self.budget.expired

    def start(self, Y: Array) -> Array:
        """All n_i equal and all a_i equal: except for m this is as good as the plain dual with price (r - 1) max|Y_ij|.

        In the optimum R is the matrix M of the gradient, so it begins there.
        """
        norms = np.full(len(Y), self.unit)
        a = norms * (self.r - 2) / (2 * self.root)
        values, vectors = np.linalg.eigh(self.A - Y)
        _, M = softened(values, vectors, SCHEDULES.temperatures[0][0])
        R = M - np.diag(np.diagonal(M))
        R /= max(float(np.sqrt(np.square(R).sum(axis=1).max())), NO_CORNER)
        T = np.clip(Y * self.root / self.unit, -1.0, 1.0)
        shifts = np.append(a, prices(norms, a)[0]) / SHIFT_UNIT
        ones = np.ones(len(Y))
        return np.concatenate([T[self.upper], R[self.upper], ones, SCHEDULES.free_start * ones, shifts])

    def parts(self, z: Array) -> tuple[Array, Array, Array, Array, Array, float]:
        """T, R, n, m, a and t."""
        T, R, norms, free, a, t = np.split(z, self.cuts)
        shift = float(t[0]) * SHIFT_UNIT
        return self._full(T), self._full(R), self.unit * norms, self.unit * free, SHIFT_UNIT * a, shift

    def _full(self, half: Array) -> Array:
        """The symmetric matrix with this upper half, and no diagonal."""
        matrix = np.zeros(self.A.shape)
        matrix[self.upper] = half
        return matrix + matrix.T

    def witness(self) -> tuple[Array, Array]:
        """Q and a of the smallest bound."""
        T, R, norms, free, a, _ = self.parts(self.best)
        return norms[:, None] * T / self.root + free[:, None] * R, a

    def descend(self, z: Array, temperature: float, max_iter: int) -> Array:
        """Minimise at one temperature."""
        lower, upper = np.full(len(z), -np.inf), np.full(len(z), np.inf)
        lower[: self.cuts[0]], upper[: self.cuts[0]] = -1.0, 1.0
        lower[self.cuts[1] : self.cuts[3]] = 0.0
        found = minimize(
            self.smoothed,
            z,
            args=(temperature,),
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(lower, upper),
            callback=self.stop_in_time,
            options={
                "maxiter": max_iter,
                "maxfun": 2 * max_iter,
                "maxcor": SCHEDULES.remembered_steps,
                "ftol": 0.0,
                "gtol": 1e-9,
            },
        )
        return np.asarray(found.x)

    def stop_in_time(self, intermediate_result: OptimizeResult) -> None:
        """Called between iterations; SciPy requires the name of the parameter."""
        if self.done:
            raise StopIteration

    def smoothed(self, z: Array, temperature: float) -> tuple[float, Array]:
        """Log-sum-exp of the eigenvalues and softplus of the prices, with gradient; the best exact value is kept."""
        T, R, norms, free, a, t = self.parts(z)
        boxed, unboxed = (norms[:, None] + norms) / (2 * self.root), (free[:, None] + free) / 2
        values, vectors = np.linalg.eigh(self.A - boxed * T - unboxed * R + np.diag(a))
        top, M = softened(values, vectors, temperature)

        lengths = np.sqrt(np.square(R).sum(axis=1) + NO_CORNER)
        together = norms + free * lengths
        root = np.sqrt(np.square(together) + np.square(a) + NO_CORNER**2)
        excess = ((root - a) / 2 - t) / temperature
        chosen = np.exp(-np.logaddexp(0.0, -excess))
        value = top + self.r * t + temperature * float(np.logaddexp(0.0, excess).sum())
        exact = float(values[-1]) + sum_of_largest(prices(together, a), self.r)
        if exact < self.least:
            self.least, self.best = exact, z.copy()

        by_together = chosen * together / root / 2
        shared = by_together * free / lengths
        return value, np.concatenate(
            [
                -2 * (M * boxed)[self.upper],
                ((shared[:, None] + shared) * R - 2 * M * unboxed)[self.upper],
                self.unit * (by_together - (M * T).sum(axis=1) / self.root),
                self.unit * (by_together * lengths - (M * R).sum(axis=1)),
                SHIFT_UNIT * (np.diagonal(M) + chosen * (a / root - 1) / 2),
                [SHIFT_UNIT * (self.r - float(chosen.sum()))],
            ]
        )


def softened(values: Array, vectors: Array, temperature: float) -> tuple[float, Array]:
    """A smooth largest eigenvalue, from above, and its gradient: a positive semidefinite matrix of trace 1."""
    weights = np.exp((values - values[-1]) / temperature)
    total = float(weights.sum())
    return float(values[-1]) + temperature * math.log(total), (vectors * (weights / total)) @ vectors.T
