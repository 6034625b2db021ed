"""Checks of a recheck besides value and bound: rules on loadings, PCA, strength of the proof, theorem guarantees."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.proof.bounds import BOUNDS, EachAlone
from sparing.results import Array, Bound, Guarantee, Indices, Problem, Spectrum

ORTHOGONAL = 1e-6
"""The largest cosine that counts as none."""

COSINE = 1e-9
"""Rounding error allowed on top of the largest cosine."""

TOO_WIDE = 0.05
"""Largest claimed error of PCA's loss, as a share of it: more than the error of any converged iteration."""

LOSS_ROUNDING = 1e-9
"""A share of the total that rounding may leave of a loss."""

CONTRADICTION = 1e-7
"""A bound past a value by more than this share is no rounding: one of them is wrong."""

SAME_NUMBER, NEARLY = 1e-6, 1e-3
"""How much a number may differ from the same one computed again, from an exact spectrum and from an iteration."""


def fresh_spectrum(view: DataMatrix, n_components: int) -> Spectrum:
    """PCA again, from an independent start."""
    return top_spectrum(view, n_components, np.random.default_rng(np.random.SeedSequence(entropy=0x5AFE)))


def dense_spectrum(view: DataMatrix, n_components: int) -> Spectrum:
    """The same with enough components requested that no iteration is needed, if the sizes allow that."""
    smaller = min(view.n_samples or view.n_features, view.n_features)
    return fresh_spectrum(view, max(n_components, -(-smaller // 32))).leading(n_components)


def iterates(bound: Bound) -> bool:
    """Does a proof, or the one that it is a multiple of, rest on a spectrum that may come from an iteration?"""
    inner = bound.witness[0] if bound.name == EachAlone.name else bound.name
    return BOUNDS[inner].iterates


def broken_rule(problem: Problem, support: Indices, loadings: Array, pca: Spectrum) -> str | None:
    """The violated constraint of the problem, in words."""
    H, used = loadings, loadings != 0
    beyond_rank = (
        problem.objective == "loss" and pca.tail <= LOSS_ROUNDING * pca.total
    )  # what the data have no dimension for adds nothing
    if len(H) > problem.n_components and not beyond_rank:
        return f"there are {len(H)} components, not {problem.n_components}"
    if not problem.shared_support:
        most = int(used.sum(axis=1).max(initial=0))
    else:
        most = int(used.any(axis=0).sum() if problem.objective == "loss" else used.sum())
    if most > problem.n_nonzero:
        return f"they use {most} features, not {problem.n_nonzero}"
    if (left := _places_left(problem, used)) < (waiting := _unread(problem, support, used)):
        return f"{waiting} required features have no loading, and there are {left} places for them"
    if problem.disjoint and used.sum(axis=0).max(initial=0) > 1:
        return "components share a feature"
    if problem.nonnegative and H.min(initial=0.0) < 0:
        return "some are negative"
    if problem.orthogonal:
        some = H[used.any(axis=1)]
        unit = some / np.linalg.norm(some, axis=1, keepdims=True)
        if not np.abs(unit @ unit.T - np.eye(len(some))).max(initial=0.0) <= ORTHOGONAL:
            return "they are not orthogonal"
    if not problem.max_cosine >= 1:  # neither is what is no number
        some = H[used.any(axis=1)]
        unit = some / np.linalg.norm(some, axis=1, keepdims=True)
        largest = float(np.abs(np.triu(unit @ unit.T, 1)).max(initial=0.0))
        if not largest <= problem.max_cosine + COSINE:
            return f"two of them have a cosine of {largest:.4g}, above {problem.max_cosine:.4g}"
    return None


def _places_left(problem: Problem, used: NDArray[np.bool_]) -> int:
    """Features that the problem counts, and no component has."""
    if not problem.shared_support:
        return problem.n_components * problem.n_nonzero - int(used.sum())
    return problem.n_nonzero - int(used.any(axis=0).sum() if problem.objective == "loss" else used.sum())


def _unread(problem: Problem, support: Indices, used: NDArray[np.bool_]) -> int:
    """Required features without a loading."""
    return len(problem.rules.required) - int(np.isin(problem.rules.required, support[used.any(axis=0)]).sum())


def counts_for_none(nothing: float, pca: Spectrum, unit: float) -> bool:
    """May a loss as small as this be called none?"""
    return 0.0 <= nothing <= max(2 * pca.nothing, LOSS_ROUNDING * pca.total) * unit


def error_agrees(error: float, pca: Spectrum, unit: float) -> bool:
    """Is the claimed error of PCA's loss at most that of a converged iteration?"""
    width = pca.most_loss - pca.least_loss
    return 0.0 <= error <= (2 * width + TOO_WIDE * pca.tail + 1e-10 * pca.total) * unit


def same_promise(claimed: Guarantee, again: Guarantee | None, *, exact: bool) -> bool:
    """Does this agree with the theorem about the fit?"""
    if again is None:
        return False
    words = (claimed.claim, claimed.strength, claimed.reference) == (again.claim, again.strength, again.reference)
    close = partial(math.isclose, rel_tol=SAME_NUMBER if exact else NEARLY)
    return (
        words
        and close(claimed.limit, again.limit)
        and math.isclose(claimed.measured, again.measured, rel_tol=SAME_NUMBER)
    )
