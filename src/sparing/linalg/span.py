"""The best rank-k approximation of X within the span of chosen columns."""

from __future__ import annotations

import numpy as np
from scipy import linalg, sparse

from sparing.gram import DataMatrix
from sparing.linalg.eigen import top_eigenpairs
from sparing.linalg.rounding import orientations
from sparing.results import Array, Encoder, Indices, Selection

DEPENDENT = 1e-11
"""A column whose squared distance from the others' span is below this share of its own square adds nothing."""

WELL_CONDITIONED = 1e-3

ZERO_LOADING = 1e-12
"""Smaller entries of unit directions count as zero."""


def independent_columns(gram: Array) -> tuple[Indices, Array]:
    """Pivoted Cholesky of a Gram matrix on unit-norm columns, which is pivoted QR of the columns themselves.

    Returns the positions kept, in pivot order, and the upper triangular R with R'R = their unit-norm Gram matrix.
    """
    norms = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    alive = np.flatnonzero(norms > 0)
    unit = gram[np.ix_(alive, alive)] / np.multiply.outer(norms[alive], norms[alive])
    earlier = 1.0 - 1e-8 * np.arange(len(alive)) / max(len(alive), 1)  # the first of equal ones, despite rounding
    factor, pivots, rank, _ = linalg.lapack.dpstrf(unit * np.multiply.outer(earlier, earlier), tol=DEPENDENT)
    kept = pivots[:rank] - 1
    return alive[kept], np.triu(factor[:rank, :rank]) / earlier[kept]


def orthonormal(directions: Array) -> Array:
    """An orthonormal basis of the span of unit columns, without those that depend on earlier ones."""
    kept, _ = independent_columns(directions.T @ directions)
    return np.linalg.qr(directions[:, np.sort(kept)])[0]


def encoder_on(
    selection: Selection, rank: int, total: float, *, sketch: tuple[int, np.random.Generator] | None = None
) -> Encoder:
    """The encoder with the smallest information loss among all that use only the selected columns.

    Theorem 5 of [magdonismail2015, Sec. 2.2] with C = QR: the top of Q'X gives the loss ||X - X_{C,k}||^2. The
    computation uses Gram coordinates, W = X'Q = A[:, J] R^-1, so rows are not needed.

    ``sketch`` = (rows, rng) finds the directions from a random projection of X to that many rows instead. This is
    cheaper for huge d and within a factor 1 + O(k / rows) of the best; the reported loss is that of the returned
    encoder.

    Notes
    -----
    **Differs from the paper.** Its orthonormal H has correlated, unordered scores; R^-1 U_k spans the same features
    with the same loss, and its scores are uncorrelated and ordered. Rows have unit norm and fixed signs.
    """
    J, inside = selection.columns, selection.inside()
    kept, R = independent_columns(inside)
    norms = np.sqrt(np.diagonal(inside)[kept])
    rotation = np.zeros((len(J), len(kept)))  # Q = X[:, J] @ turn
    rotation[kept] = linalg.solve_triangular(R, np.eye(len(R))) / norms[:, None]
    if sketch is not None:
        W = _projected(selection.gram_columns, *sketch) @ rotation
        G = W.T @ W
    else:  # an ill-conditioned basis has digits that its squares lose
        G = selection.squares(rotation, careful=bool(np.abs(np.diagonal(R)).min() <= WELL_CONDITIONED))
    captured, U = top_eigenpairs(G, min(rank, len(kept)))
    loadings = rotation @ U
    images = selection.images(loadings)
    if sketch is not None:  # directions are approximate: recompute captured variances and sort by them
        captured = np.square(images).sum(axis=0)
        best = np.argsort(-captured, kind="stable")
        captured, loadings, images = captured[best], loadings[:, best], images[:, best]
    lengths = np.linalg.norm(loadings, axis=0) * orientations(loadings)
    order = kept[np.argsort(J[kept])]
    return Encoder(
        support=J[order],
        loadings=(loadings / lengths)[order].T,
        decoder=(images * lengths).T,
        captured=captured,
        loss=max(total - float(captured.sum()), 0.0),
        explained=np.square(images).sum(axis=1),
    )


def _projected(Z: Array, rows: int, rng: np.random.Generator) -> Array:
    """A sparse random projection of the rows of Z: each is added to one of ``rows`` with a random sign."""
    d = len(Z)
    signs = rng.choice([-1.0, 1.0], d)
    sketch = sparse.csr_array((signs, (rng.integers(0, rows, d), np.arange(d))), shape=(rows, d))
    return np.asarray(sketch @ Z)


def encoder_with(columns: Indices, loadings: Array, gram_columns: Array, total: float) -> Encoder:
    """The encoder with given directions (len(columns) x k, columns of ``loadings``) and its best linear decoder.

    ``captured`` is the variance that each direction adds to those before it. Repeated directions are left out.
    """
    H = loadings / np.linalg.norm(loadings, axis=0)
    H = H * orientations(H)
    return _with_images(columns, H, gram_columns @ H, total)


def encoder_of(view: DataMatrix, directions: Array, total: float) -> Encoder:
    """Like :func:`encoder_with`, from full directions (d x k) and one product with A, for many features."""
    H = directions / np.linalg.norm(directions, axis=0)
    H = np.where(np.abs(H) > ZERO_LOADING, H, 0.0) * orientations(H)
    support = np.flatnonzero(H.any(axis=1))
    return _with_images(support, H[support], view.gram_matmat(H), total)


def _with_images(columns: Indices, H: Array, images: Array, total: float) -> Encoder:
    """The encoder of unit directions H on ``columns`` whose images A H are known."""
    gram = H.T @ images[columns]
    kept, rotation, captured = [], np.zeros((H.shape[1], 0)), []
    for j in range(H.shape[1]):
        direction = np.eye(H.shape[1])[:, j]
        for _ in range(2):  # two rounds are enough
            direction = direction - rotation @ (rotation.T @ (gram @ direction))
        left = float(direction @ gram @ direction)
        if left <= DEPENDENT * gram[j, j]:
            continue
        rotation = np.column_stack([rotation, direction / np.sqrt(left)])
        kept.append(j)
        captured.append(float(np.square(images @ rotation[:, -1]).sum()))
    H, rotation = H[:, kept], rotation[kept]
    used = np.flatnonzero(H.any(axis=1))
    order = used[np.argsort(columns[used])]
    orthonormal = images[:, kept] @ rotation
    return Encoder(
        support=columns[order],
        loadings=H[order].T,
        decoder=rotation @ orthonormal.T,
        captured=np.array(captured),
        loss=max(total - float(np.sum(captured)), 0.0),
        explained=np.square(orthonormal).sum(axis=1),
    )
