"""Shares of variance that nested choices of features keep of rows that nobody has seen, for every k and r at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.span import independent_columns
from sparing.results import Array, Indices

UNREAD_SHARE = 1e-12
"""Features that are not read and have no larger share of the variance of new samples tell nothing."""


@dataclass(frozen=True, eq=False)
class Shares:
    """Shares of the variance of held-out rows that are kept, shape (R, K): by 1 ... R features, 1 ... K components.

    ``unread``: of the features that are not read, which is honest; ``everything``: of all features. With k > r there
    are r components.
    """

    unread: Array
    everything: Array


def held_out_shares(train: DataMatrix, test: DataMatrix, order: Indices, n_components: int) -> Shares:
    """What the best decoders on the first r columns of ``order`` keep of new rows, for every rank up to r.

    With A of the training rows (and noise), Z = A[:, J] and A_JJ = R'R, scores X_J R^-1 are orthonormal and B = Z R^-1
    predicts all features from them. The best decoder of rank k lies in the leading k eigenvectors U of B'B. Its error
    on new rows is a sum over k x k blocks of U'(...)U, so that one product with the new rows serves every k and r.
    """
    Z = train.gram_columns(order)
    kept = np.sort(independent_columns(Z[order])[0])
    order, Z = order[kept], Z[:, kept]
    inverse = linalg.solve_triangular(linalg.cholesky(Z[order], check_finite=False), np.eye(len(order)))
    unit = np.sqrt(train.square_unit)  # new rows are in the user's unit
    B, S = Z @ inverse * unit, test.columns(order) @ inverse / unit
    P, squares = test.rmatmat(S), test.gram_diagonal()
    products = B.T @ B, S.T @ S, P.T @ B
    unread, everything = np.zeros((len(kept), n_components)), np.zeros((len(kept), n_components))
    for r in range(1, len(kept) + 1):
        BB, SS, PB = (product[:r, :r] for product in products)
        U = np.linalg.eigh(BB)[1][:, ::-1][:, :n_components]
        J = order[:r]
        read = B[J, :r].T @ B[J, :r], P[J, :r].T @ B[J, :r]
        everything[r - 1] = _shares(U, BB, SS, PB, squares.sum(), n_components)
        left = max(float(squares.sum() - squares[J].sum()), 0.0)
        left = left if left > UNREAD_SHARE * squares.sum() else 0.0
        unread[r - 1] = _shares(U, BB - read[0], SS, PB - read[1], left, n_components)
    repeated = np.repeat(np.arange(len(kept)), np.diff(np.append(kept, kept[-1] + 1)))  # dependent ones add nothing
    return Shares(unread[repeated], everything[repeated])


def _shares(U: Array, BB: Array, SS: Array, PB: Array, total: float, n_components: int) -> Array:
    """Shares kept with the first 1, 2, ... columns of U; 0 where there is nothing to keep."""
    if total <= 0:
        return np.zeros(n_components)
    gained = 2 * np.cumsum(np.einsum("ij,ij->j", U, PB @ U))
    spent = np.diagonal(((U.T @ SS @ U) * (U.T @ BB @ U)).cumsum(axis=0).cumsum(axis=1))
    shares = (gained - spent) / total
    return np.append(shares, np.full(n_components - len(shares), shares[-1]))


def pca_shares(basis: Array, test: DataMatrix) -> Array:
    """What 1, 2, ... principal components, which read everything, keep of new rows."""
    squares = np.square(test.matmat(basis)).sum(axis=0)
    return np.cumsum(squares) / max(float(test.total), np.finfo(float).tiny)
