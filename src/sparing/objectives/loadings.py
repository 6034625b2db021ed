"""Loadings of several components on given supports, optimised together by L-BFGS."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from sparing.results import Array
from sparing.run import Budget

SETTLED_GROWTH = 1e-13
"""Growth per step, as a share of the variance, that ends the search."""


def best_loadings(
    gram: Array,
    directions: Array,
    ridge: float,
    max_iter: int,
    budget: Budget | None = None,
    *,
    max_cosine: float = 1.0,
    charge: float = 0.0,
) -> Array:
    """Unit columns with the zeros of ``directions`` (u x k) and the largest tr((H'H + ridge I)^-1 H'AH) nearby.

    Squared cosines above that of ``max_cosine`` are charged, by the square of the excess, as a share of the variance.

    By L-BFGS from the directions given. Turns, one direction at a time, take ten times as long where these overlap.
    """
    shape, free = directions.shape, np.nonzero(directions)
    total, shift = float(np.trace(gram)), ridge * np.eye(shape[1])

    def unit(loadings: Array) -> tuple[Array, Array]:
        H = np.zeros(shape)
        H[free] = loadings
        lengths = np.maximum(np.linalg.norm(H, axis=0), np.finfo(float).tiny)
        return H / lengths, lengths

    def missed(loadings: Array) -> tuple[float, Array]:
        """What is not captured, but for a constant and as a share of all there is; and its slope."""
        H, lengths = unit(loadings)
        inverse, images = np.linalg.inv(H.T @ H + shift), gram @ H
        both = inverse @ (H.T @ images)
        slope = images @ inverse - H @ (both @ inverse)
        broken = 0.0
        if charge > 0:
            cosines = H.T @ H
            np.fill_diagonal(cosines, 0.0)
            excess = np.maximum(np.square(cosines) - max_cosine**2, 0.0)
            broken = charge * float(np.square(excess).sum()) / 2
            slope = slope - 2 * total * charge * (H @ (excess * cosines))
        slope -= H * np.einsum("ij,ij->j", slope, H)  # lengths do not matter
        return broken - float(np.trace(both)) / total, (slope * (-2 / (total * lengths)))[free]

    def in_time(xk: Array) -> None:
        if budget is not None and budget.expired:
            raise StopIteration

    found = minimize(
        missed,
        directions[free],
        jac=True,
        method="L-BFGS-B",
        callback=in_time,
        options={"maxiter": max_iter, "ftol": SETTLED_GROWTH, "gtol": 1e-9},
    )
    return unit(found.x)[0]
