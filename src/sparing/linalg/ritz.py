"""Principal components from a given number of products with A, each as good as the products so far allow."""

from __future__ import annotations

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.krylov import value_error
from sparing.linalg.signs import orientations
from sparing.results import Array, Spectrum

EPS = float(np.finfo(float).eps)

TIE = 16 * EPS
"""Values that differ by less, relatively, stay in their order: components that tie do not change with each product."""

LOST = 1e-6
"""What is left of a unit vector that other directions explain but for rounding."""


class RitzSpace:
    """Rayleigh and Ritz, one product at a time: whoever reads the data next multiplies ``wanted`` as well.

    Between products the best directions so far and the residuals of all of them span the next space, so nothing that
    was read is lost and memory does not grow.

    Parameters
    ----------
    start : ndarray of shape (d, m)
        Directions to begin with; more than the components sought, so that the next eigenvalue is seen as well.
    """

    def __init__(self, start: Array) -> None:
        self.wanted: Array = np.linalg.qr(start)[0]
        self.basis = np.empty((len(start), 0))
        self.images = np.empty((len(start), 0))
        self.values = np.empty(0)
        self._size = self.wanted.shape[1]

    def absorb(self, image: Array) -> None:
        """A times ``wanted`` has been computed: turn to the best directions, and say what to multiply next."""
        basis = np.concatenate([self.basis, self.wanted], axis=1)
        images = np.concatenate([self.images, image], axis=1)
        small = basis.T @ images
        small = (small + small.T) / 2
        later = np.arange(len(small)) * TIE * float(np.abs(small).max(initial=0.0))
        rotation = np.linalg.eigh(small - np.diag(later))[1][:, : -self._size - 1 : -1]
        values = np.einsum("ij,ij->j", rotation, small @ rotation)
        self.basis, self.images, self.values = basis @ rotation, images @ rotation, np.maximum(values, 0.0)
        rest = self.images - self.basis * self.values
        rest /= np.maximum(np.linalg.norm(rest, axis=0), np.finfo(float).tiny)
        self.wanted = self._outside(rest)

    def _outside(self, rest: Array) -> Array:
        """Orthonormal directions off the basis, as many as there is room for; random ones where nothing is left."""
        rng = np.random.default_rng(0)
        for _ in range(3):  # random ones may come in the first time, and twice is enough
            rest, pivots = np.linalg.qr(rest - self.basis @ (self.basis.T @ rest))
            lost = np.abs(np.diagonal(pivots)) <= LOST
            rest[:, lost] = rng.standard_normal((len(rest), int(lost.sum()))) / np.sqrt(len(rest))
        return rest[:, : len(rest) - self.basis.shape[1]]

    def spectrum(self, view: DataMatrix, rank: int) -> Spectrum:
        """The leading components as they are known now, with what PCA's loss may be overstated by."""
        total = view.total
        top = float(self.values[0]) if len(self.values) else 0.0
        rank = min(rank, int((self.values > view.n_features * EPS * top).sum()))
        residuals = np.linalg.norm(self.images - self.basis * self.values, axis=0)
        basis, values, images = self.basis[:, :rank], self.values[:rank], self.images[:, :rank]
        rounding = 8 * EPS * (rank + np.sqrt(view.n_features)) * total
        rounding += 8 * rank * float(np.sqrt(top)) * view.rounding_error
        error = value_error(self.values, residuals, rank) + rounding
        signs = orientations(basis)
        tail = max(total - float(values.sum()), 0.0)
        return Spectrum(basis * signs, values, images * signs, total, tail, error, exact=False)
