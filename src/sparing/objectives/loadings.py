"""Loadings on given supports: those of several components together, and largest quotients of many matrices at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
from scipy.optimize import minimize

from sparing.results import Array
from sparing.run import Budget
from sparing.search_limits import SEARCH

DEFINITE = (0.0, 1e-6, 1e-3)
"""Ridges, of a diagonal of ones, for matrices that rounding made indefinite."""

NONE_BESIDE = 1e-12
"""Share of a direction outside the span of the others below which it is rounding error."""

SETTLED_SHARE = 1e-7
"""Share of a product with B that must be outside of a Krylov space to be a direction, not rounding."""

LEAST_FLOAT = float(np.finfo(float).tiny)

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
        """The uncaptured variance up to a constant, as a share of the total, and its gradient."""
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


def leading(B: Array, M: Array | None, near: Array | None, whiten: bool = False) -> tuple[Array, Array]:
    """A large v'Bv / v'Mv and its unit v, for each pair of matrices: the largest if they are small or few.

    Else the best of a Krylov space that starts at the direction given, so that nothing gets worse: decompositions of
    large matrices would take most of the time, and what is left is found in further turns. M defaults to the identity.
    """
    size = B.shape[-1]
    if near is None or size <= SEARCH.quotient_decomposed or len(B) * size**2 <= SEARCH.quotient_entries:
        values, v = _top(B, M)
        return values, v if M is None else v / np.linalg.norm(v, axis=1, keepdims=True)
    if M is None:
        return _of_lanczos(B, near)

    def products(v: Array) -> tuple[Array, Array]:
        return (B @ v[:, :, None])[:, :, 0], (M @ v[:, :, None])[:, :, 0]

    return of_krylov(products, near, cast(Array, np.linalg.inv(M)) if whiten else None)


def _of_lanczos(B: Array, near: Array) -> tuple[Array, Array]:
    """The largest x'Bx in a Krylov space that starts at the given directions, and its unit x."""
    steps = SEARCH.quotient_steps
    V, BV = np.zeros((len(B), steps + 1, B.shape[-1])), np.empty((len(B), steps + 1, B.shape[-1]))
    w = near[:, :, None]
    size = np.ones((len(B), 1))
    for step in range(steps + 1):
        length = np.sqrt(np.einsum("sij,sij->sj", w, w))
        there = length > SETTLED_SHARE * size  # else nothing is left to be found
        V[:, step] = w[:, :, 0] * np.divide(1.0, length, out=np.zeros_like(length), where=there)
        image = B @ V[:, step, :, None]
        BV[:, step] = image[:, :, 0]
        if step < steps:
            known = V[:, : step + 1]
            size = np.sqrt(np.einsum("sij,sij->sj", image, image))
            w = image - known.transpose(0, 2, 1) @ (known @ image)
    inside = BV @ V.transpose(0, 2, 1)
    least, unused = np.minimum(inside[:, 0, 0], 0.0), ~V.any(axis=2)
    each = np.arange(steps + 1)
    inside[:, each, each] += unused * (2 * least - LEAST_FLOAT)[:, None]  # none of these is a direction
    values, c = np.linalg.eigh(inside)
    x = (c[:, None, :, -1] @ V)[:, 0]
    return values[:, -1], x / np.sqrt(np.einsum("si,si->s", x, x))[:, None]


def of_krylov(
    products: Callable[[Array], tuple[Array, Array]], near: Array, inverse: Array | None
) -> tuple[Array, Array]:
    """The best of a Krylov space that starts at the directions given, by products of directions with B and M."""
    steps = SEARCH.quotient_steps
    V = np.zeros((len(near), steps + 1, near.shape[1]))
    BV, MV = np.zeros_like(V), np.zeros_like(V)
    w = near
    for step in range(steps + 1):
        if step:
            w = w - ((V[:, :step] @ w[:, :, None]).transpose(0, 2, 1) @ V[:, :step])[:, 0]
        length = np.sqrt(np.einsum("si,si->s", w, w))[:, None]
        V[:, step] = np.divide(w, length, out=np.zeros_like(w), where=length > (SETTLED_SHARE if step else NONE_BESIDE))
        BV[:, step], MV[:, step] = products(V[:, step])
        if step == 0:
            length, rho = np.einsum("si,si->s", V[:, 0], MV[:, 0]), np.einsum("si,si->s", V[:, 0], BV[:, 0])
            rho = np.divide(rho, length, out=np.zeros_like(rho), where=length > 0)
        if step < steps:
            w = BV[:, step] - rho[:, None] * MV[:, step]
            w = w if inverse is None else (inverse @ w[:, :, None])[:, :, 0]
            w = w / np.sqrt(np.maximum(np.einsum("si,si->s", w, w), LEAST_FLOAT))[:, None]
    Vt = V.transpose(0, 2, 1)
    numerator, inside, each, unused = BV @ Vt, MV @ Vt, np.arange(steps + 1), ~V.any(axis=2)
    nothing = 2 * np.minimum(rho, 0.0) - LEAST_FLOAT  # charges may leave less than nothing of all that is a direction
    numerator[:, each, each] += unused * nothing[:, None]
    inside[:, each, each] += unused
    values, c = _top(numerator, inside)
    v = (c[:, None, :] @ V)[:, 0]
    return values, v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), LEAST_FLOAT)


def _top(B: Array, M: Array | None) -> tuple[Array, Array]:
    """The largest v'Bv / v'Mv and its v."""
    if M is None:
        values, vectors = np.linalg.eigh(B)
        return values[:, -1], vectors[:, :, -1]
    inverse = np.linalg.inv(_cholesky((M + M.transpose(0, 2, 1)) / 2))
    K = inverse @ B @ inverse.transpose(0, 2, 1)
    values, vectors = np.linalg.eigh((K + K.transpose(0, 2, 1)) / 2)
    return values[:, -1], (inverse.transpose(0, 2, 1) @ vectors[:, :, -1:])[:, :, 0]


def _cholesky(M: Array) -> Array:
    """Cholesky factors, with the least ridge that lets them be: quotients can only fall by it."""
    for ridge in DEFINITE:
        try:
            return cast(Array, np.linalg.cholesky(M + ridge * np.eye(M.shape[-1])))
        except np.linalg.LinAlgError:
            continue
    return cast(Array, np.linalg.cholesky(M + np.abs(M).sum(axis=2).max() * np.eye(M.shape[-1])))
