"""Entries of dense and sparse matrices, alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from sparing.results import Array


def is_sparse(matrix: Any) -> bool:
    """Any storage of SciPy's."""
    return bool(sparse.issparse(matrix))


def dense(matrix: Any) -> Any:
    """The same, dense."""
    return matrix.toarray() if is_sparse(matrix) else matrix


def times(C: Any, factors: Array) -> Any:
    """Columns multiplied by factors."""
    return C.multiply(factors[None, :]).tocsc() if is_sparse(C) else C * factors


def squared(C: Any) -> Any:
    """Entries squared."""
    return C.multiply(C) if is_sparse(C) else C * C


def inner(A: Any, B: Any) -> Array:
    """Sums of the columns of A.B."""
    if is_sparse(A):
        return np.asarray(A.multiply(B).sum(axis=0)).ravel()
    return np.asarray(np.einsum("ij,ij->j", A, B))
