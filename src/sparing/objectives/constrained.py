"""Variances of several components that are orthogonal, or whose scores are uncorrelated, and swaps of each.

Unit directions X (columns) capture tr(X'AX). Beside the others a direction x has x'Ax to maximise over those on its
support with W'x = 0, where W are the others, or A times them [mackey2014, Sec. 14.5]. A penalty on W'x replaces the
constraint where many swaps are scored at once, and for supports that do not admit feasible directions yet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparing.linalg.rounding import NOTHING
from sparing.objectives.blocks import images_of, plane, plane_of_units
from sparing.objectives.loadings import LEAST_FLOAT, leading
from sparing.results import Array, Indices
from sparing.search_limits import SEARCH

KEPT = 1e-10
"""Inner products of unit vectors below this are zero."""

BINDING = 1e-7
"""Inner products of unit vectors that count as a constraint where swaps are scored."""


class ConstrainedState(NamedTuple):
    """Loadings (S, R) of all slots; AX (S, u, k); W (S, u, k), the directions that each component forbids to the
    others."""

    loadings: Array
    images: Array
    forbidden: Array


class ConstrainedBlocks:
    """A working set of features, for k supports whose components capture most and keep a constraint.

    Rows of slots are those of :class:`~sparing.objectives.blocks.BlockCapture`.

    Parameters
    ----------
    gram : ndarray of shape (u, u)
    blocks : int
        Number of components k.
    level : float
        The largest eigenvalue, roughly: the unit of charges.
    uncorrelated : bool
        Scores are uncorrelated; else directions are orthogonal.
    charge : float, optional
        The constraint need not be kept: from tr(X'AX) is taken this times ``level`` times the sum of squares of W'x.
    charges : sequence of float
        Those of softer objectives, on the way to this one.
    padding : int
        Features at the end that are nothing and stay where they are.
    """

    def __init__(
        self,
        gram: Array,
        blocks: int,
        level: float,
        *,
        uncorrelated: bool = False,
        charge: float | None = None,
        charges: Sequence[float] = (),
        padding: int = 0,
    ) -> None:
        self.gram = np.pad(gram, (0, padding)) if padding else gram
        self.blocks, self.level, self.uncorrelated, self.charge = blocks, max(level, LEAST_FLOAT), uncorrelated, charge
        self.size, self.padding = len(self.gram), padding
        self.diagonal = np.ascontiguousarray(np.diagonal(self.gram))
        self.softer = tuple(
            ConstrainedBlocks(gram, blocks, level, uncorrelated=uncorrelated, charge=charge, padding=padding)
            for charge in charges
        )
        self.scored = self.level * (1.0 if charge is None else charge)

    def fitted(self, supports: Indices, before: Array | None = None, sweeps: int = 1) -> tuple[Array, ConstrainedState]:
        """Captured variance with loadings from block coordinate ascent; all pairs satisfy the constraint.

        ``before`` (S, R) are loadings to start from, 0 where a feature is new; components that change come first.
        """
        n, k = len(supports), self.blocks
        places = supports.reshape(n, k, -1)
        x = np.zeros(places.shape) if before is None else before.reshape(places.shape).copy()
        images = images_of(self.gram, places, x)
        if self.uncorrelated:
            state = ConstrainedState(x, images, images / self.level)
        else:
            state = ConstrainedState(x, images, np.zeros_like(images))
            np.put_along_axis(state.forbidden, places.transpose(0, 2, 1), x.transpose(0, 2, 1), axis=1)
        for _ in range(sweeps):
            order = np.argsort(~(x == 0).any(axis=2), axis=1, kind="stable")
            for turn in order.T:
                here, near = places[np.arange(n), turn], x[np.arange(n), turn]
                self._set(state, places, turn, self.best(state, np.arange(n), turn, here, near)[1])
        return self._captured(state, places), state._replace(loadings=x.reshape(n, -1))

    def _set(self, state: ConstrainedState, places: Indices, b: Indices, x: Array) -> None:
        """Updated loadings of component b, one for each state."""
        n = np.arange(len(places))
        here = places[n, b]
        state.loadings[n, b] = x
        state.images[n, :, b] = (x[:, None, :] @ self.gram[here])[:, 0]
        if self.uncorrelated:
            state.forbidden[n, :, b] = state.images[n, :, b] / self.level
        else:
            state.forbidden[n, :, b] = 0.0
            state.forbidden[n[:, None], here, b[:, None]] = x

    def _captured(self, state: ConstrainedState, places: Indices) -> Array:
        """The sum of variances minus the penalty."""
        n = np.arange(len(places))[:, None, None]
        values = np.einsum("sbi,sbib->s", state.loadings, state.images[n, places])
        if self.charge is not None:
            broken = np.square(np.einsum("sbi,sbij->sbj", state.loadings, state.forbidden[n, places]))
            own = np.einsum("sbb->s", broken)
            values = values - self.charge * self.level * (broken.sum(axis=(1, 2)) - own) / 2
        return np.asarray(values)

    def best(
        self, state: ConstrainedState, s: Indices, b: Indices, places: Indices, near: Array
    ) -> tuple[Array, Array]:
        """The best direction of component b on supports (q, r), given the other components of state s, and its gain.

        None if the constraint leaves no direction.
        """
        W = state.forbidden[s[:, None], places]
        W[np.arange(len(s)), :, b] = 0.0
        A = self.gram[places[:, :, None], places[:, None, :]]
        if self.charge is not None or not W.any():
            if self.charge is not None:
                A -= (self.charge * self.level) * (W @ W.transpose(0, 2, 1))
            return leading(A, None, near if near.any(axis=1).all() else None)
        lengths = np.linalg.norm(state.forbidden[s], axis=1) if self.uncorrelated else np.ones((len(s), self.blocks))
        U = _spans(W / np.maximum(lengths, LEAST_FLOAT)[:, None, :])
        A = A - U @ (U.transpose(0, 2, 1) @ A)
        A = A - (A @ U) @ U.transpose(0, 2, 1)
        near = _outside(near, U)
        known = (np.linalg.norm(near, axis=1) > KEPT).all()
        values, v = leading((A + A.transpose(0, 2, 1)) / 2, None, near if known else None)
        v = _outside(_outside(v, U), U)
        length = np.linalg.norm(v, axis=1)
        there = (length > 0.5) & (values > NOTHING * self.level)  # else all of it is forbidden
        v = np.where(there[:, None], v / np.where(there, length, 1.0)[:, None], 0.0)
        return np.where(there, values, 0.0), v

    def kept(self, state: ConstrainedState, same: NDArray[np.bool_]) -> Array:
        """Loadings of the slots that stay the same, to start from."""
        return np.where(same, ConstrainedState(*state).loadings, 0.0)

    def swap_gains(self, supports: Indices, state: ConstrainedState, candidates: Indices | None = None) -> Array:
        """Lower bounds of the gains of all swaps (S, R, c), in the component that the slot belongs to."""
        beside = Beside(supports, ConstrainedState(*state), self.diagonal, self.scored)
        n, n_slots = supports.shape
        k, count = self.blocks, self.size if candidates is None else candidates.shape[-1]
        out = np.empty((n, k, n_slots // k, count))
        bound = beside.bound if self.charge is None else np.zeros((n, k), dtype=bool)
        for score, chosen in ((beside.swaps, ~bound), (beside.kept_swaps, bound)):
            all_s, all_b = np.nonzero(chosen)
            step = max(1, SEARCH.swap_entries // (out.shape[2] * count))
            for first in range(0, len(all_s), step):
                s, b = all_s[first : first + step], all_b[first : first + step]
                out[s, b] = score(self, s, b, None if candidates is None else candidates[s, b])
        return out.reshape(n, n_slots, count)

    def sharper_values(self, supports: Indices, state: ConstrainedState, slots: Indices, taken: Indices) -> Array:
        """Captured variance after some swaps (S, c), with the best loadings of the component that changes."""
        state, (n, n_slots), count = ConstrainedState(*state), supports.shape, taken.shape[1]
        all_places = supports.reshape(n, self.blocks, -1)
        x = state.loadings.reshape(all_places.shape)
        s = np.repeat(np.arange(n), count)
        b, within = np.divmod(slots.ravel(), n_slots // self.blocks)
        places, near = all_places[s, b], x[s, b]
        now = np.einsum("qi,qi->q", near, state.images[s[:, None], places, b[:, None]])
        places[np.arange(len(s)), within], near[np.arange(len(s)), within] = taken.ravel(), 0.0
        if self.charge is not None:
            W = state.forbidden[s[:, None], all_places[s, b]]
            W[np.arange(len(s)), :, b] = 0.0
            now = now - self.charge * self.level * np.square(np.einsum("qi,qij->qj", x[s, b], W)).sum(axis=1)
        added = self.best(state, s, b, places, near)[0]
        whole = self._captured(state._replace(loadings=x), all_places)
        return np.asarray(whole[:, None] + (added - now).reshape(n, count))

    def renewed(self, supports: Indices, state: ConstrainedState, rng: np.random.Generator) -> tuple[Indices, Array]:
        """Each support with one random component restarted from a feature drawn with probability proportional to its
        gain."""
        beside = Beside(supports, ConstrainedState(*state), self.diagonal, self.scored)
        n, real = len(supports), self.size - self.padding
        places, loadings = beside.places.copy(), beside.x.copy()
        for s, b in enumerate(rng.integers(self.blocks, size=n).tolist()):
            W = np.delete(beside.W[s], b, axis=1)
            alone = self.diagonal - beside.charge * np.square(W).sum(axis=1)
            worth = np.maximum(alone[:real], 0.0)
            seed = int(rng.choice(real, p=worth / worth.sum())) if worth.any() else 0
            row = (self.gram[seed] - beside.charge * (W @ W[seed]))[:real]
            slots = np.flatnonzero(places[s, b] < real)
            best = np.argpartition(-np.abs(row), len(slots) - 1)[: len(slots)]
            places[s, b, slots] = best
            loadings[s, b, slots] = row[best] / max(float(np.linalg.norm(row[best])), LEAST_FLOAT)
        return places.reshape(n, -1), loadings.reshape(n, -1)


class Beside:
    """Quantities from which the swaps of each component are scored, for S states."""

    def __init__(self, supports: Indices, state: ConstrainedState, diagonal: Array, charge: float) -> None:
        blocks = state.images.shape[2]
        self.places = places = supports.reshape(len(supports), blocks, -1)
        self.x, self.W, self.charge, self.diagonal = (
            state.loadings.reshape(places.shape),
            state.forbidden,
            charge,
            diagonal,
        )
        k, inside = np.arange(blocks), self.W[np.arange(len(places))[:, None, None], places]
        inside[:, k, :, k] = 0.0
        self.bound = inside.any(axis=(2, 3))  # components (S, k) with features that the others forbid
        products = np.einsum("sbi,sbij->sbj", self.x, inside)
        self.Bx = state.images - self.charge * np.einsum("suj,sbj->sub", self.W, products)  # of each, (S, u, k)
        inside = np.take_along_axis(self.Bx, places.transpose(0, 2, 1), axis=1).transpose(0, 2, 1)
        self.rho = np.einsum("sbi,sbi->sb", self.x, inside)
        self.squares = np.square(self.W)

    def _own(self, s: Indices, b: Indices, features: Indices) -> Array:
        """Diagonal of B_b."""
        all_of_them = self.squares[s[:, None], features].sum(axis=2)
        others = all_of_them - self.squares[s[:, None], features, b[:, None]]
        return np.asarray(self.diagonal[features] - self.charge * others)

    def entering(self) -> Array:
        """Gains (S, k, u) of each component from adding each feature to its support."""
        n, k, _ = self.places.shape
        s, b = (index.ravel() for index in np.indices((n, k)))
        everything = np.broadcast_to(np.arange(len(self.diagonal)), (len(s), len(self.diagonal)))
        own, pull = self._own(s, b, everything), self.Bx.transpose(0, 2, 1).reshape(len(s), -1)
        rho, one, none = self.rho.reshape(-1, 1), np.ones((len(s), 1)), np.zeros((len(s), 1))
        gains = plane(one, none, none, -pull, one, rho - own)
        np.put_along_axis(gains, self.places.reshape(len(s), -1), -np.inf, axis=1)
        return gains.reshape(n, k, -1)

    def leaving(self) -> Array:
        """Gains (S, k, r), at most 0, where a component gives up a feature."""
        x, own = self.x, self.diagonal[self.places]
        inside = np.take_along_axis(self.Bx, self.places.transpose(0, 2, 1), axis=1).transpose(0, 2, 1)
        rho = self.rho[:, :, None]
        lost = -2 * x * (rho * x - inside) + np.square(x) * (rho - own)
        return np.asarray(-lost / np.maximum(1 - np.square(x), NOTHING))

    def swaps(self, objective: ConstrainedBlocks, s: Indices, b: Indices, candidates: Indices | None) -> Array:
        """Gains (q, r, c) of swaps in component b of state s, other loadings in proportion.

        Violations of the constraint are penalised; if none is allowed, forbidden features are excluded.
        """
        here, count = self.places[s, b], np.arange(len(s))
        x, rho, others = self.x[s, b], self.rho[s, b][:, None], self.W[s]
        others[count, :, b] = 0.0
        own, Bx = self.diagonal - self.charge * np.square(others).sum(axis=2), self.Bx[s, :, b]
        own_i, Bx_i = (np.take_along_axis(part, here, axis=1) for part in (own, Bx))
        B = objective.gram[here] if candidates is None else objective.gram[here[:, :, None], candidates[:, None, :]]
        if candidates is not None:
            own, Bx = (np.take_along_axis(part, candidates, axis=1) for part in (own, Bx))
        if objective.charge is not None:
            there = others if candidates is None else others[count[:, None], candidates]
            B -= self.charge * (others[count[:, None], here] @ there.transpose(0, 2, 1))
        B *= x[:, :, None]
        B -= Bx[:, None, :]
        lost = -2 * x * (rho * x - Bx_i) + np.square(x) * (rho - own_i)
        left = np.square(x).sum(axis=1, keepdims=True) - np.square(x)
        gains = plane_of_units(left[:, :, None], lost[:, :, None], B, (rho - own)[:, None, :])
        forbidden = np.abs(others).max(axis=2) > BINDING if objective.charge is None else None
        return _without_fixed(gains, here, candidates, objective, forbidden)

    def kept_swaps(self, objective: ConstrainedBlocks, s: Indices, b: Indices, candidates: Indices | None) -> Array:
        """The same for feasible directions: the best ones in planes that satisfy the constraint, the other components
        fixed.

        With P the projection on directions of the support that keep it: without feature i the direction is
        y = x - x_i q with q = P e_i / P_ii, and feature j comes in along d = e_j - c + c_i q, where c is the least
        direction on the support with W'c = W'e_j. Both satisfy the constraint, and M is singular on their plane.
        """
        here, given = self.places[s, b], candidates
        candidates = np.broadcast_to(np.arange(objective.size), (len(s), objective.size)) if given is None else given
        x, rho = self.x[s, b], self.rho[s, b]
        W = self.W[s] / np.maximum(np.linalg.norm(self.W[s], axis=1, keepdims=True), LEAST_FLOAT)
        W[np.arange(len(s)), :, b] = 0.0
        W_here, W_there = (np.take_along_axis(W, some[:, :, None], axis=1) for some in (here, candidates))
        U, values, Vt = np.linalg.svd(W_here, full_matrices=False)
        known = values > BINDING
        U = U * known[:, None, :]
        along = W_there @ Vt.transpose(0, 2, 1)  # (q, c, k)
        beyond = np.square(W_there).sum(axis=2) - np.square(along * known[:, None, :]).sum(axis=2)
        C = U @ (along / np.where(known, values, np.inf)[:, None, :]).transpose(0, 2, 1)  # (q, r, c)
        A = objective.gram[here[:, :, None], candidates[:, None, :]]
        N = rho[:, None, None] * np.eye(here.shape[1]) - objective.gram[here[:, :, None], here[:, None, :]]
        NC = N @ C
        pull = -A - NC  # N (e_j - c) on the support
        P = np.maximum(1.0 - np.square(U).sum(axis=2), 0.0)  # its diagonal
        free = P > BINDING
        inverse = np.divide(1.0, P, out=np.zeros_like(P), where=free)[:, :, None]
        NU = N @ U
        n = np.einsum("qii->qi", N) - 2 * np.einsum("qij,qij->qi", U, NU)
        n = n + np.einsum("qij,qij->qi", U @ (U.transpose(0, 2, 1) @ NU), U)
        n = n[:, :, None] * np.square(inverse)
        h = (pull - U @ (U.transpose(0, 2, 1) @ pull)) * inverse
        g = x[:, None, :] @ pull
        own = rho[:, None] - self.diagonal[candidates] + np.einsum("qrc,qrc->qc", C, 2 * A + NC)
        x = x[:, :, None]
        squares = np.square(C)
        Naj = g - x * (h + C * n)
        Njj = own[:, None, :] + C * (2 * h + C * n)
        Mjj = 1.0 + squares.sum(axis=1)[:, None, :] + squares * inverse
        length = np.square(x).sum(axis=1, keepdims=True)  # 0 where the constraint leaves no direction
        gains = plane(length - np.square(x) * inverse, np.square(x) * n, np.zeros_like(C), Naj, Mjj, Njj)
        gains = np.where(
            (free[:, :, None] | (np.abs(C) <= BINDING)) & (beyond <= BINDING**2)[:, None, :], gains, -np.inf
        )
        return _without_fixed(gains, here, given, objective)


def _without_fixed(
    gains: Array,
    here: Indices,
    candidates: Indices | None,
    objective: ConstrainedBlocks,
    forbidden: NDArray[np.bool_] | None = None,
) -> Array:
    """Set gains (q, r, c) to -inf, in place, for invalid swaps: padding, features already chosen, forbidden ones."""
    real = objective.size - objective.padding
    fixed = np.zeros((len(here), objective.size), dtype=bool) if forbidden is None else forbidden
    np.put_along_axis(fixed, here, True, axis=1)
    fixed[:, real:] = True
    if candidates is not None:
        fixed = np.take_along_axis(fixed, candidates, axis=1)
    np.copyto(gains, -np.inf, where=fixed[:, None, :])
    if objective.padding:
        np.copyto(gains, -np.inf, where=(here >= real)[:, :, None])
    return gains


def _spans(W: Array) -> Array:
    """Orthonormal columns that span those of each W (q, r, k), padded with zeros."""
    U, values, _ = np.linalg.svd(W, full_matrices=False)
    return np.asarray(U * (values > KEPT)[:, None, :])


def _outside(x: Array, U: Array) -> Array:
    """The part of x (q, r) that is orthogonal to the columns of U."""
    return np.asarray(x - (U @ (U.transpose(0, 2, 1) @ x[:, :, None]))[:, :, 0])
