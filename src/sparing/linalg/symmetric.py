"""Leading eigenpairs of small dense symmetric matrices."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sparing.results import Array

SUBSET_PAYS = 100
"""From this size on, computing only some eigenvectors is faster than computing all."""


def top_eigenpairs(matrix: Array, rank: int) -> tuple[Array, Array]:
    """The ``rank`` largest eigenvalues in falling order, and their eigenvectors as columns.

    LAPACK's drivers for a subset return too few values on some matrices that split into blocks (for example
    [[.75, 0, -.75], [0, 2, 0], [-.75, 0, .75]] for the largest): all are computed then.
    """
    size = len(matrix)
    if size >= SUBSET_PAYS and rank < size / 2:
        try:
            values, vectors = linalg.eigh(matrix, subset_by_index=[size - rank, size - 1], check_finite=False)
            if len(values) == rank:
                return values[::-1], vectors[:, ::-1]
        except np.linalg.LinAlgError:
            pass  # "Internal Error": the same drivers give up on other matrices
    values, vectors = np.linalg.eigh(matrix)
    return values[::-1][:rank], vectors[:, ::-1][:, :rank]
