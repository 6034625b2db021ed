"""Variance captured by several components with separate supports, and all swaps of each at once.

With directions X (columns, each zero outside of its support), capture(X) = tr((X'MX)^-1 X'BX). M = I and B = A is the
variance of their span, the criterion of [mackey2008, Sec. 3]; M = A and B = A^2 is what the best decoder rebuilds from
their scores [magdonismail2015, Sec. 2.2]. Given the others, each direction has a quotient x'B_b x / x'M_b x, which is
its gain.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from sparing.objectives.loadings import LEAST_FLOAT, NONE_BESIDE, leading, of_krylov
from sparing.results import Array, Indices
from sparing.search_limits import SEARCH

LEAST_RIDGE = 1e-9
"""Smallest ridge: a component in the span of the others adds nothing, despite rounding errors."""

APART = 1e-7
"""Share of a feature that M must leave beside the others, or a swap is no gain but rounding: above twice the ridge of
the joint loss, which is all that is left of a feature in the span of two directions that are copies of each other."""


class BlockState(NamedTuple):
    """Loadings (S, R) of all slots; BX and MX (S, u, k)."""

    loadings: Array
    images: Array
    measures: Array


class BlockCapture:
    """A working set of features, for the search of k supports of r features that capture most together.

    A row of slots (k r of them, those of a component side by side) holds the supports of all components. A feature may
    stand in several components, but once in each.

    Parameters
    ----------
    weight : ndarray of shape (u, u)
        B on the working set.
    metric : ndarray of shape (u, u), optional
        M on the working set with a diagonal of ones; the identity where it is not given.
    blocks : int
        Number of components k.
    ridge : float
        Added to the diagonal of each component's own M: near-copies of a direction would buy it more features.
    padding : int
        Features at the end that are nothing and stay where they are: they fill up the supports of components that have
        fewer features than others.
    """

    def __init__(self, weight: Array, metric: Array | None, blocks: int, ridge: float, *, padding: int = 0) -> None:
        if padding:
            weight = np.pad(weight, (0, padding))
            metric = None if metric is None else linalg.block_diag(metric, np.eye(padding))
        self.weight, self.metric, self.blocks, self.ridge = weight, metric, blocks, max(ridge, LEAST_RIDGE)
        self.size, self.padding = len(weight), padding
        self.diagonal = np.ascontiguousarray(np.diagonal(weight))

    softer = ()

    def fitted(self, supports: Indices, before: Array | None = None, sweeps: int = 1) -> tuple[Array, BlockState]:
        """Captured variance with loadings from block coordinate ascent, and these loadings.

        ``before`` (S, R) are loadings to start from, 0 where a feature is new. Without them the first components are
        sequential.
        """
        n_supports, k = len(supports), self.blocks
        places = supports.reshape(n_supports, k, -1)
        work = _Turns(self, places)
        if before is None:
            work.sweep(np.zeros((n_supports, k), dtype=bool))
        else:
            work.start(before.reshape(places.shape))
        for _ in range(sweeps):
            work.sweep((work.loadings == 0).any(axis=2))
        return work.captured, BlockState(work.loadings.reshape(n_supports, -1), work.images, work.measures)

    def kept(self, state: BlockState, same: NDArray[np.bool_]) -> Array:
        """Loadings of the slots that stay the same, to start from."""
        return np.where(same, BlockState(*state).loadings, 0.0)

    def quotient(self, places: Indices, inside: Array, Z: Array, Y: Array, Q: Array, QWQ: Array) -> tuple[Array, Array]:
        """B_b and M_b on supports (q, r), given B there, MX and BX there and Q, the inverse of X'MX without b."""
        ZQ, Zt, size = Z @ Q, Z.transpose(0, 2, 1), places.shape[1]
        M = self.metric_of(places[:, :, None], places[:, None, :]) - ZQ @ Zt
        M[:, np.arange(size), np.arange(size)] += self.ridge
        T = ZQ @ Y.transpose(0, 2, 1)
        return inside - T - T.transpose(0, 2, 1) + Z @ QWQ @ Zt, M

    def best(
        self, places: Indices, inside: Array, Z: Array, Y: Array, Q: Array, QWQ: Array, near: Array
    ) -> tuple[Array, Array]:
        """A large quotient of B_b and M_b on supports (q, r) and its direction, beginning with those given, if any.

        Of many features B_b and M_b are never formed where M is the identity: they are B and I less what is of rank k.
        """
        warm = bool(near.any(axis=1).all())
        if not warm or self.metric is not None or places.shape[1] <= SEARCH.quotient_formed:
            B, M = self.quotient(places, inside, Z, Y, Q, QWQ)
            return leading(B, M, near if warm else None, self.metric is not None)
        Zt, Yt = Z.transpose(0, 2, 1), Y.transpose(0, 2, 1)

        def products(v: Array) -> tuple[Array, Array]:
            """B_b v and M_b v."""
            v = v[:, :, None]
            of_z, of_y = Zt @ v, Yt @ v
            along = Q @ of_z
            Bv = inside @ v - Y @ along + Z @ (QWQ @ of_z - Q @ of_y)
            return Bv[:, :, 0], ((1.0 + self.ridge) * v - Z @ along)[:, :, 0]

        return of_krylov(products, near, None)

    def metric_of(self, rows: Indices, columns: Indices) -> Array:
        """Blocks of M."""
        if self.metric is not None:
            return np.asarray(self.metric[rows, columns])
        return np.asarray(rows == columns, dtype=float)

    def swap_gains(self, supports: Indices, state: BlockState, candidates: Indices | None = None) -> Array:
        """Lower bounds of the gains of all swaps (S, R, c), in the component that the slot belongs to.

        All loadings but the two that change stay as they are, in proportion: a plane of directions, whose best is
        closed form. The gain is the increase from this direction while the other components stay fixed.
        """
        beside = Quotients(supports, BlockState(*state), self.diagonal, self.blocks, self.ridge)
        n_supports, n_slots = supports.shape
        count = self.size if candidates is None else candidates.shape[-1]
        out = np.empty((n_supports, self.blocks, n_slots // self.blocks, count))
        step = max(1, SEARCH.swap_entries // (out.shape[2] * count))
        everything = np.arange(self.size)[None]
        for first in range(0, n_supports * self.blocks, step):
            pairs = np.arange(first, min(first + step, n_supports * self.blocks))
            s, b = np.divmod(pairs, self.blocks)
            out[s, b] = beside.swaps(self, s, b, everything if candidates is None else candidates[s, b])
        return out.reshape(n_supports, n_slots, count)

    def sharper_values(self, supports: Indices, state: BlockState, slots: Indices, taken: Indices) -> Array:
        """Captured variance after some swaps (S, c), with the best loadings of the component that changes."""
        beside, count = Quotients(supports, BlockState(*state), self.diagonal, self.blocks, self.ridge), taken.shape[1]
        s = np.repeat(np.arange(len(supports)), count)
        b, within = np.divmod(slots.ravel(), supports.shape[1] // self.blocks)
        places = beside.places[s, b]
        places[np.arange(len(s)), within] = taken.ravel()
        before = beside.captured[:, None] - beside.rho[s, b].reshape(taken.shape)
        return np.asarray(before + beside.best(self, s, b, places).reshape(taken.shape))

    def renewed(self, supports: Indices, state: BlockState, rng: np.random.Generator) -> tuple[Indices, Array]:
        """Each support with one random component restarted from a feature drawn with probability proportional to its
        gain.

        Swaps alone seldom lead there: every feature of the component changes at once.
        """
        beside = Quotients(supports, BlockState(*state), self.diagonal, self.blocks, self.ridge)
        n_supports, real = len(supports), self.size - self.padding
        s, b = np.arange(n_supports), rng.integers(self.blocks, size=n_supports)
        places, loadings = beside.places.copy(), beside.x.copy()
        added = np.maximum(beside.own(s, b)[:, :real], 0.0)
        for one in range(n_supports):
            seed = rng.choice(real, p=added[one] / added[one].sum()) if added[one].any() else 0
            row = beside.row(self, one, int(b[one]), int(seed))[:real]
            slots = np.flatnonzero(places[one, b[one]] < real)
            best = np.argpartition(-np.abs(row), len(slots) - 1)[: len(slots)]
            places[one, b[one], slots] = best
            loadings[one, b[one], slots] = row[best] / max(float(np.linalg.norm(row[best])), LEAST_FLOAT)
        return places.reshape(n_supports, -1), loadings.reshape(n_supports, -1)


class _Turns:
    """Loadings of S states that are improved one component at a time."""

    def __init__(self, objective: BlockCapture, places: Indices) -> None:
        self.objective, self.places = objective, places
        n_states, k, _ = places.shape
        self.loadings = np.zeros(places.shape)
        self.images = np.zeros((n_states, objective.size, k))
        self.measures = np.zeros((n_states, objective.size, k))
        self.C, self.W = np.zeros((n_states, k, k)), np.zeros((n_states, k, k))
        self._states = np.arange(n_states)

    def start(self, loadings: Array) -> None:
        """Begin with these."""
        k, objective = self.places.shape[1], self.objective
        self.loadings = loadings.copy()
        self.images = images_of(objective.weight, self.places, loadings)
        if objective.metric is None:
            np.put_along_axis(self.measures, self.places.transpose(0, 2, 1), loadings.transpose(0, 2, 1), axis=1)
        else:
            self.measures = images_of(objective.metric, self.places, loadings)
        states = self._states[:, None, None]
        for products, of in ((self.C, self.measures), (self.W, self.images)):
            inside = (loadings[:, :, None, :] @ of[states, self.places])[:, :, 0]
            products[:] = (inside + inside.transpose(0, 2, 1)) / 2
        self.C[:, np.arange(k), np.arange(k)] += objective.ridge * np.square(loadings).sum(axis=2)

    def _set(self, b: Indices, x: Array, rows: Array) -> None:
        """Updated loadings of component b, one for each state, from rows of the weight matrix."""
        states, objective = self._states, self.objective
        here = self.places[states, b]
        self.loadings[states, b] = x
        self.images[states, :, b] = (x[:, None, :] @ rows)[:, 0]
        if objective.metric is None:
            self.measures[states, :, b] = 0.0
            self.measures[states[:, None], here, b[:, None]] = x
        else:
            self.measures[states, :, b] = (x[:, None, :] @ objective.metric[here])[:, 0]
        for products, of in ((self.C, self.measures), (self.W, self.images)):
            column = (x[:, None, :] @ of[states[:, None], here])[:, 0]
            products[states, b, :] = products[states, :, b] = column
        self.C[states, b, b] += objective.ridge * np.einsum("si,si->s", x, x)

    @property
    def captured(self) -> Array:
        """tr(C^-1 W)."""
        return np.asarray(np.trace(np.linalg.solve(_defined(self.C), self.W), axis1=1, axis2=2))

    def sweep(self, changed: NDArray[np.bool_]) -> None:
        """Turns of all components; changed components come first, so that the promised gain of a swap is realised."""
        order = np.argsort(~changed, axis=1, kind="stable")
        for turn in range(changed.shape[1]):
            self.turn(order[:, turn])

    def turn(self, b: Indices) -> None:
        """The best direction of one component of each state, given the others."""
        here, objective = self.places[self._states, b], self.objective
        Q = _without(self.C, b)
        Z, Y = (part[self._states[:, None], here] for part in (self.measures, self.images))
        rows = objective.weight[here]
        inside = np.take_along_axis(rows, here[:, None, :], axis=2)
        self._set(b, objective.best(here, inside, Z, Y, Q, Q @ self.W @ Q, self.loadings[self._states, b])[1], rows)


def images_of(matrix: Array, places: Indices, loadings: Array) -> Array:
    """Products (S, u, k) of a matrix with directions that have these loadings (S, k, r) at these places."""
    n_states, k, size = places.shape
    out, places, loadings = np.empty((n_states * k, len(matrix))), places.reshape(-1, size), loadings.reshape(-1, size)
    step = max(1, SEARCH.swap_entries // (size * len(matrix)))
    for first in range(0, len(out), step):
        some = slice(first, first + step)
        out[some] = (loadings[some, None, :] @ matrix[places[some]])[:, 0]
    return np.ascontiguousarray(out.reshape(n_states, k, -1).transpose(0, 2, 1))


def _defined(C: Array) -> Array:
    """C with ones on the diagonal where a direction is nothing yet."""
    out, k = C.copy(), np.arange(C.shape[-1])
    own = out[..., k, k]
    out[..., k, k] = np.where(own > 0, own, 1.0)
    return out


def _without(C: Array, b: Indices) -> Array:
    """The inverse of each C without one row and column b, which are 0."""
    C, n = _defined(C), np.arange(len(C))
    C[n, b, :] = C[n, :, b] = 0.0
    C[n, b, b] = 1.0
    Q = np.linalg.inv(C)
    Q[n, b, b] = 0.0
    return cast(Array, Q)


class Quotients:
    """The quotients of each component given the others, for S states.

    ``diagonal`` (u,) is that of B; where it is that of all features, gains of all of them are known from BX and MX.
    """

    def __init__(self, supports: Indices, state: BlockState, diagonal: Array, blocks: int, ridge: float) -> None:
        self.diagonal, self.ridge = diagonal, ridge
        n_states, k = len(supports), blocks
        self.places = places = supports.reshape(n_states, k, -1)
        self.x, self.Y, self.Z = state.loadings.reshape(places.shape), state.images, state.measures
        states = np.arange(n_states)[:, None, None]
        self.Yp, self.Zp = self.Y[states, places], self.Z[states, places]  # (S, k, r, k)
        C = np.einsum("sbi,sbij->sbj", self.x, self.Zp)
        C = (C + C.transpose(0, 2, 1)) / 2
        C[:, np.arange(k), np.arange(k)] += ridge * np.square(self.x).sum(axis=2)
        W = np.einsum("sbi,sbij->sbj", self.x, self.Yp)
        W = (W + W.transpose(0, 2, 1)) / 2
        self.captured = np.trace(np.linalg.solve(_defined(C), W), axis1=1, axis2=2)
        self.Q = _without(np.repeat(C, k, axis=0), np.tile(np.arange(k), n_states)).reshape(
            n_states, k, k, k
        )  # (S, k, k, k)
        self.QWQ = self.Q @ W[:, None] @ self.Q
        columns = C.transpose(0, 2, 1)[:, :, :, None]  # C_b for each b
        self.q = np.eye(k)[None] - (self.Q @ columns)[..., 0]  # (S, k, k): x beside the others is X q
        self.p = (self.Q @ (W[:, None] @ self.q[..., None]))[..., 0]
        Mx = (self.Zp @ self.q[..., None])[..., 0] + ridge * self.x
        Bx = (self.Yp @ self.q[..., None] - self.Zp @ self.p[..., None])[..., 0]
        self.length = np.einsum("sbi,sbi->sb", self.x, Mx)
        there = self.length > NONE_BESIDE  # else it is in the span of the others, and adds nothing
        added = np.einsum("sbi,sbi->sb", self.x, Bx)
        self.rho = np.divide(added, self.length, out=np.zeros_like(added), where=there)
        self.Mx, self.Nx = Mx, self.rho[..., None] * Mx - Bx
        self.Mii, self.Nii = self._own(self.Zp, self.Yp, places)

    def _own(
        self, Z: Array, Y: Array, places: Indices, pairs: tuple[Indices, Indices] | None = None
    ) -> tuple[Array, Array]:
        """Diagonals of M and N = rho M - B of features with these rows of MX and BX."""
        Q, QWQ, rho = (
            (self.Q, self.QWQ, self.rho) if pairs is None else (part[pairs] for part in (self.Q, self.QWQ, self.rho))
        )
        ZQ = Z @ Q
        M = 1.0 + self.ridge - np.einsum("...ij,...ij->...i", ZQ, Z)
        B = self.diagonal[places] - 2 * np.einsum("...ij,...ij->...i", ZQ, Y)
        B += np.einsum("...ij,...ij->...i", Z @ QWQ, Z)
        return M, rho[..., None] * M - B

    def _outside(self, s: Indices, b: Indices, candidates: Indices) -> tuple[Array, ...]:
        """Rows of MX and BX of candidates (q, c), and Mx, Nx, and diagonals of M and N there."""
        Z, Y = (part[s[:, None], candidates] for part in (self.Z, self.Y))
        q, p, rho = self.q[s, b][..., None], self.p[s, b][..., None], self.rho[s, b][:, None]
        Mx = (Z @ q)[..., 0]
        Nx = rho * Mx - (Y @ q - Z @ p)[..., 0]
        return Z, Y, Mx, Nx, *self._own(Z, Y, candidates, (s, b))

    def best(self, objective: BlockCapture, s: Indices, b: Indices, places: Indices) -> Array:
        """The best quotients of component b on other supports (q, r), given the other components of state s."""
        inside = objective.weight[places[:, :, None], places[:, None, :]]
        Z, Y = (part[s[:, None], places] for part in (self.Z, self.Y))
        near = np.where(places == self.places[s, b], self.x[s, b], 0.0)
        return objective.best(places, inside, Z, Y, self.Q[s, b], self.QWQ[s, b], near)[0]

    def own(self, s: Indices, b: Indices) -> Array:
        """The gain of each single feature (q, u) in place of component b of state s."""
        everything = np.broadcast_to(np.arange(len(self.diagonal)), (len(s), len(self.diagonal)))
        M, N = self._own(self.Z[s], self.Y[s], everything, (s, b))
        return np.asarray((self.rho[s, b][:, None] * M - N) / np.maximum(M, NONE_BESIDE))

    def row(self, objective: BlockCapture, s: int, b: int, j: int) -> Array:
        """A row of B_b."""
        Z, Y, Q, QWQ = self.Z[s], self.Y[s], self.Q[s, b], self.QWQ[s, b]
        return np.asarray(objective.weight[j] - Y @ (Q @ Z[j]) - Z @ (Q @ Y[j] - QWQ @ Z[j]))

    def entering(self) -> Array:
        """Lower bounds (S, k, u) of the gain of each component from adding each feature to its support."""
        n_states, k, _ = self.places.shape
        s, b = (index.ravel() for index in np.indices((n_states, k)))
        everything = np.broadcast_to(np.arange(len(self.diagonal)), (len(s), len(self.diagonal)))
        _, _, Mx, Nx, M, N = self._outside(s, b, everything)
        gains = plane(self.length[s, b][:, None], np.zeros((len(s), 1)), Mx, Nx, M, N)
        np.put_along_axis(gains, self.places[s, b], -np.inf, axis=1)
        return gains.reshape(n_states, k, -1)

    def leaving(self) -> Array:
        """Lower bounds (S, k, r), at most 0, of the gain when a component gives up a feature."""
        x, Mx, Nx = self.x, self.Mx, self.Nx
        length = self.length[..., None] - 2 * x * Mx + np.square(x) * self.Mii
        lost = -2 * x * Nx + np.square(x) * self.Nii
        there = length > NONE_BESIDE
        return np.asarray(np.where(there, -lost / np.where(there, length, 1.0), -self.rho[..., None]))

    def swaps(self, objective: BlockCapture, s: Indices, b: Indices, candidates: Indices) -> Array:
        """Gains (q, r, c) of swaps in component b of state s."""
        here, real = self.places[s, b], objective.size - objective.padding
        candidates = np.broadcast_to(candidates, (len(s), candidates.shape[-1]))
        Z, Y, Mx, Nx, Mjj, Njj = self._outside(s, b, candidates)
        x, rho, Q = self.x[s, b][:, :, None], self.rho[s, b][:, None, None], self.Q[s, b]
        ZQ, YQ = self.Zp[s, b] @ Q, self.Yp[s, b] @ Q
        Zt, Yt = Z.transpose(0, 2, 1), Y.transpose(0, 2, 1)
        pair = here[:, :, None], candidates[:, None, :]
        M = objective.metric_of(*pair) - ZQ @ Zt
        N = rho * M - objective.weight[pair] + ZQ @ Yt + (YQ - self.Zp[s, b] @ self.QWQ[s, b]) @ Zt
        Mx_i, Nx_i, Mii, Nii = (part[s, b][:, :, None] for part in (self.Mx, self.Nx, self.Mii, self.Nii))
        length = self.length[s, b][:, None, None] - 2 * x * Mx_i + np.square(x) * Mii
        lost = -2 * x * Nx_i + np.square(x) * Nii
        gains = plane(length, lost, Mx[:, None, :] - x * M, Nx[:, None, :] - x * N, Mjj[:, None, :], Njj[:, None, :])
        taken = (here[:, :, None] == candidates[:, None, :]).any(axis=1)
        stays = (taken | (candidates >= real))[:, None, :] | (here >= real)[:, :, None]
        return np.where(stays, -np.inf, gains)


def plane(Maa: Array, Naa: Array, Maj: Array, Naj: Array, Mjj: Array, Njj: Array) -> Array:
    """The largest -z'Nz / z'Mz in the plane of a and e_j; that of e_j alone if M is singular on the plane."""
    a = Maa * Mjj - np.square(Maj)
    b = Naa * Mjj + Maa * Njj - 2 * Naj * Maj
    c = Naa * Njj - np.square(Naj)
    there = Mjj > APART
    apart = (a > APART * Maa * Mjj) & (Maa > APART) & there
    root = np.sqrt(np.maximum(b * b - 4 * a * c, 0.0))
    alone = np.where(there, -Njj / np.where(there, Mjj, 1.0), -np.inf)
    return np.where(apart, (root - b) / np.where(apart, 2 * a, 1.0), alone)


def plane_of_units(Maa: Array, Naa: Array, Naj: Array, Njj: Array) -> Array:
    """The same for the identity M, which is never singular; ``Naj`` is overwritten.

    With a of unit length the value is -p/2 - q/2 + sqrt((q - p)^2/4 + n^2), for [[p, n], [n, q]] that is N.
    """
    there = Maa > APART
    inverse = np.divide(1.0, Maa, out=np.zeros_like(Maa), where=there)
    gains = np.square(Naj, out=Naj)
    gains *= inverse
    half = Njj - Naa * inverse
    half *= 0.5
    gains += half * half
    np.sqrt(gains, out=gains)
    gains += half
    gains -= Njj
    if not there.all():
        np.copyto(gains, -Njj, where=~there)
    return gains
