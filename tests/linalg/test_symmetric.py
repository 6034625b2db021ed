"""Leading eigenpairs, also where LAPACK's subset drivers fail."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.linalg.eigen import top_eigenpairs


def test_a_matrix_whose_largest_eigenvalue_subset_drivers_miss():
    A = np.array([[0.75, 0, -0.75], [0, 2, 0], [-0.75, 0, 0.75]])
    values, vectors = top_eigenpairs(A, 1)
    np.testing.assert_allclose(values, [2.0])
    np.testing.assert_allclose(np.abs(vectors[:, 0]), [0, 1, 0], atol=1e-12)


@pytest.mark.parametrize("size", [3, 99, 100, 150])
@pytest.mark.parametrize("kind", ["dense", "blocks"])
def test_pairs_in_falling_order(size, kind, rng):
    A = rng.standard_normal((size, size))
    A = A @ A.T
    if kind == "blocks":
        A *= np.equal.outer(np.arange(size) // 2, np.arange(size) // 2)
    values, vectors = top_eigenpairs(A, 3)
    np.testing.assert_allclose(values, np.linalg.eigvalsh(A)[::-1][:3], rtol=1e-9)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-8 * values[0])


def test_all_are_computed_where_a_subset_of_eigenpairs_fails(rng, monkeypatch):
    W = rng.standard_normal((120, 120))
    W = W + W.T
    wanted = np.linalg.eigvalsh(W)[::-1][:3]

    def fails(*args, **kwargs):
        raise np.linalg.LinAlgError("Internal Error.")

    monkeypatch.setattr("scipy.linalg.eigh", fails)
    np.testing.assert_allclose(top_eigenpairs(W, 3)[0], wanted)
