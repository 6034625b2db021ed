"""Components with supports of their own, improved one after the other in a small core of features.

With the other directions H_o fixed, the loss of all is total - captured(H_o) - v'Bv / v'Mv for the remaining one, where
M = A - ZZ' is the Gram matrix of what the other scores leave, B = M^2 and Z = A H_o (H_o'AH_o)^-1/2. On a core U of
features A_UU and (A^2)_UU are all that is needed: no pass over X.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sparing.data import Covariance
from sparing.linalg.metric import Whole
from sparing.results import Array
from sparing.search.quotient import Quotient

DEPENDENT = 1e-10


class Alternation:
    """Directions (u x k, columns) on a core, and the moves that lower their loss.

    Parameters
    ----------
    gram, squared : ndarray of shape (u, u)
        A_UU and (A @ A)_UU.
    """

    def __init__(self, gram: Array, squared: Array) -> None:
        self.gram, self.squared = gram, squared

    def captured(self, H: Array) -> float:
        """What all directions capture together."""
        turn = self._whitening(H)
        return float(np.einsum("ij,ij->", turn, (H.T @ self.squared @ H) @ turn))

    def _whitening(self, H: Array) -> Array:
        """T with (H T)'A(H T) = I; directions that repeat others are left out."""
        if H.shape[1] == 0:
            return np.zeros((0, 0))
        gram = H.T @ self.gram @ H
        scale = np.sqrt(np.maximum(np.diagonal(gram), np.finfo(float).tiny))
        values, vectors = np.linalg.eigh(gram / np.multiply.outer(scale, scale))
        keep = values > DEPENDENT
        return cast(Array, (vectors[:, keep] / np.sqrt(values[keep])) / scale[:, None])

    def without(self, H: Array) -> Quotient:
        """The quotient of one more direction beside those of H."""
        F = H @ self._whitening(H)
        Z, AZ = self.gram @ F, self.squared @ F
        inner = F.T @ AZ
        B = self.squared - AZ @ Z.T - Z @ AZ.T + Z @ inner @ Z.T
        M = self.gram - Z @ Z.T
        return Quotient(Covariance((B + B.T) / 2), Whole((M + M.T) / 2))

    def refit(self, H: Array, sweeps: int) -> Array:
        """Best loadings for the supports as they are, by turns until nothing changes."""
        return self._sweep(H, sweeps, max_swaps=0, growth=1e-14)

    def improve(self, H: Array, sweeps: int) -> Array:
        """New supports of the same sizes and best loadings, by turns until nothing changes."""
        return self._sweep(H, sweeps, max_swaps=20, growth=1e-9)

    def _sweep(self, H: Array, sweeps: int, max_swaps: int, growth: float) -> Array:
        H, before = H.copy(), self.captured(H)
        for _ in range(sweeps):
            for j in range(H.shape[1]):
                support = np.flatnonzero(H[:, j])
                rho, support, v = self.without(np.delete(H, j, axis=1)).improved(support, max_swaps)
                if rho > 0:
                    H[:, j] = 0.0
                    H[support, j] = v / np.linalg.norm(v)
            after = self.captured(H)
            if after <= before * (1 + growth):
                break
            before = after
        return H

    def grown(self, sizes: list[int]) -> Array:
        """Directions one after the other, each by forward selection and swaps on what the earlier ones leave."""
        H = np.zeros((len(self.gram), 0))
        for size in sizes:
            quotient = self.without(H)
            if not quotient.usable.any():
                break
            _, support, v = quotient.improved(quotient.grown(size), 20)
            column = np.zeros(len(self.gram))
            column[support] = v / max(np.linalg.norm(v), np.finfo(float).tiny)
            H = np.column_stack([H, column])
        return H

    def ordered(self, H: Array) -> Array:
        """The direction that captures most first, then the one that adds most to it, and so on."""
        left, chosen = list(range(H.shape[1])), list[int]()
        while left:
            best = max(left, key=lambda j: self.captured(H[:, [*chosen, j]]))
            chosen.append(best)
            left.remove(best)
        return H[:, chosen]
