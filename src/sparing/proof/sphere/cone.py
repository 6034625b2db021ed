"""Where a quadratic form is largest on the unit sphere within a cone."""

from __future__ import annotations

import numpy as np

from sparing.results import Array


def best_direction_in_cone(R: Array, Q: Array, *, tolerance: float = 1e-9) -> Array | None:
    """The unit c with Rc >= 0 and the largest c'Qc [asteris2014, Section 5]; None where there is none.

    Where neither u nor -u, for a leading eigenvector u of Q, satisfies all constraints, some best c satisfies one with
    equality: a local maximum is in the leading eigenspace, and if this has more directions than u one can walk in it
    from a best c towards u until a constraint stops it. So constraints are made equalities, one more at a time, as long
    as what is left can be better than the best found. (As printed, that every best c does so fails for such ties.)
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
