"""Cones of directions: the best direction of a quadratic form in one, and wedges of a plane of samples.

A plane is given by two columns F, a wedge by its two rays (rows of a 2 x 2 array, the second to the left of the first
by less than half a circle). z belongs to it where h'z >= 0 and k'z >= 0 for h and k, the columns of F ``normals``.
Neither columns nor rays need have unit length.
"""

from __future__ import annotations

import math

import numpy as np

from sparing.linalg.rounding import EPS, TINY
from sparing.results import Array


def best_direction_in_cone(R: Array, Q: Array, *, tolerance: float = 1e-9) -> Array | None:
    """The unit c with Rc >= 0 and the largest c'Qc [asteris2014, Section 5]; None if there is none.

    Where neither u nor -u, for a leading eigenvector u of Q, satisfies all constraints, some best c satisfies one with
    equality: a local maximum is in the leading eigenspace, and if this has more directions than u one can walk in it
    from a best c towards u until a constraint stops it. So constraints are made equalities, one more at a time, as long
    as the remaining directions can be better than the best found. (As printed, that every best c does so fails for such
    ties.)
    """
    m = len(Q)
    lengths = np.linalg.norm(R, axis=1)
    R = R[lengths > 0] / lengths[lengths > 0, None]
    R = np.unique(R, axis=0)
    best, value = None, -np.inf
    waiting: list[tuple[int, Array]] = [(0, np.eye(m))]
    while waiting:
        following, basis = waiting.pop()
        values, vectors = np.linalg.eigh(basis.T @ Q @ basis)
        if values[-1] <= value:
            continue
        c = basis @ vectors[:, -1]
        entries = R @ c
        if entries.min(initial=0.0) >= -tolerance or entries.max(initial=0.0) <= tolerance:
            best, value = (c if entries.min(initial=0.0) >= -tolerance else -c), float(values[-1])
        elif basis.shape[1] > 1:
            for i in range(following, len(R)):
                normal = R[i] @ basis
                if np.linalg.norm(normal) > tolerance:
                    rotation = np.linalg.qr(normal[:, None], mode="complete")[0][:, 1:]
                    waiting.append((i + 1, basis @ rotation))
    return best


def turns(first: Array, second: Array) -> Array:
    """Positive only if the second ray is to the left of the first by less than half a turn.

    If all rays turn to the left and the last returns to the first, they have gone around: the wedges cover the plane.
    """
    crossed = first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]
    return np.asarray(crossed - 8 * EPS * np.abs(first).sum(axis=-1) * np.abs(second).sum(axis=-1))


def normals(wedge: Array) -> Array:
    """In the plane, as columns: nonnegative products with both, and only those, belong to the wedge."""
    (a, b), (c, d) = wedge
    return np.array([[-b, d], [a, -c]])


def shortened(a: Array, plane: Array, wedge: Array, top: Array, clear: float) -> tuple[Array, Array]:
    """p_i, and by how much (p_i'z)^2 may fall short of (a_i'z)^2 by rounding."""
    x, width = plane.T @ a, float(turns(wedge[0], wedge[1]))
    along, beside = wedge @ x, normals(wedge).T @ x
    sign = 1.0 if float((plane.T @ top) @ wedge.sum(axis=0)) >= 0 else -1.0
    kept = (beside >= 0).all(axis=0) | (sign * (top @ a) > clear)
    rays = wedge[along.argmax(axis=0)].T  # the nearer one, to be projected on
    moved = rays * np.maximum(along.max(axis=0), 0.0) / np.einsum("ij,ij->j", rays, rays) - x
    # moved = s (normal of the first) + t (normal of the second), and each ray is orthogonal to its own normal
    shares = np.where(kept, 0.0, np.maximum(wedge[::-1] @ moved, 0.0) / width)
    P = a + plane @ normals(wedge) @ shares
    reach = float(np.linalg.norm(plane)) * float(np.linalg.norm(wedge, axis=1).max())
    lost = 16 * EPS * (np.linalg.norm(a, axis=0) + reach * shares.sum(axis=0))
    return P, lost * (2 * np.linalg.norm(P, axis=0) + lost) * (1 + 1e-6)


def half_angle(wedge: Array) -> float:
    """Half the angle of a cone of unit rays, which is less than a right angle."""
    return 0.5 * math.asin(min(max(float(turns(wedge[0], wedge[1])), 1e-9), 1.0))


def room(X: Array, plane: Array, wedge: Array) -> float:
    """1 where X lies in the middle of the wedge, 0 at its border, -1 outside."""
    seen, ray = plane.T @ X @ plane, wedge.sum(axis=0) / np.linalg.norm(wedge.sum(axis=0))
    along = float(ray @ seen @ ray)
    aside = float(np.trace(seen)) - along
    return min(max(1 - aside / max(math.tan(half_angle(wedge)) ** 2 * along, TINY), -1.0), 1.0)
