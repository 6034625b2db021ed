"""Sparse vectors on both sides: planted ones are found, each side is projected off what it has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from sparing.data import Preprocessing, as_view
from sparing.linalg import top_spectrum
from sparing.methods.encoders import TwoSided
from sparing.methods.solvers import Auto, TruncatedPower
from sparing.results import Component, Encoder
from sparing.run import Run
from sparing.task import Task

UNCENTRED = {"center": False}


def encode(encoder, X, k, r, **preprocessing):
    view, rng = as_view(X, Preprocessing(**preprocessing)), np.random.default_rng(0)
    return encoder.encode(Task.of_components(view, top_spectrum(view, k, rng), r), Run(rng)), view


def planted(rng, n=40, d=30, noise=0.05):
    """Two sparse pairs on disjoint rows and columns, under noise."""
    U, V = np.zeros((2, n)), np.zeros((2, d))
    U[0, [3, 7, 11, 20]], U[1, [1, 2, 30]] = 0.5, [0.6, -0.6, np.sqrt(0.28)]
    V[0, [0, 4, 9]], V[1, [12, 13, 25]] = 1 / np.sqrt(3), [-0.8, 0.36, 0.48]
    return U, V, 5 * np.outer(U[0], V[0]) + 3 * np.outer(U[1], V[1]) + noise * rng.standard_normal((n, d))


@pytest.mark.parametrize("solver", [Auto(), TruncatedPower()], ids=["auto", "truncated power"])
def test_planted_vectors_are_found_on_both_sides(solver, rng):
    U, V, X = planted(rng)
    found, _ = encode(TwoSided(solver, (4, 3)), X, 2, 3, **UNCENTRED)
    assert isinstance(found, Encoder)
    np.testing.assert_array_equal(found.components != 0, V != 0)
    np.testing.assert_array_equal(found.rows != 0, U != 0)
    np.testing.assert_allclose(np.abs(np.sum(found.components * V, axis=1)), 1, atol=0.01)
    np.testing.assert_allclose(np.abs(np.sum(found.rows * U, axis=1)), 1, atol=0.01)
    strengths = np.einsum("kn,nd,kd->k", found.rows, X, found.components)
    np.testing.assert_allclose(strengths, [5, 3], atol=0.2)  # both sides point the same way


def test_sizes_norms_and_the_best_decoder():
    X = load_wine().data
    found, view = encode(TwoSided(Auto(), 6), X, 3, 4, scale=True)
    assert found.rows.shape == (3, 178)
    assert np.all(np.count_nonzero(found.rows, axis=1) <= 6)
    assert np.all(np.count_nonzero(found.components, axis=1) <= 4)
    np.testing.assert_allclose(np.linalg.norm(found.rows, axis=1), 1)
    np.testing.assert_allclose(np.linalg.norm(found.components, axis=1), 1)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) / np.sqrt(view.square_unit)
    np.testing.assert_allclose(np.square(Z - Z @ found.components.T @ found.decoder).sum(), found.loss)


def test_each_side_is_what_the_printed_algorithm_gives(rng):
    """X <- X - X v v' after each v, and the same for Y = X', with matrices in full."""
    X = rng.standard_normal((25, 6)) @ rng.standard_normal((6, 12))
    found, _ = encode(TwoSided(Auto(), 5), X, 3, 4, **UNCENTRED)
    for matrix, directions, size in ((X, found.components, 4), (X.T, found.rows, 5)):
        for direction in directions:
            view = as_view(matrix, Preprocessing(**UNCENTRED))
            best = Auto().solve(Task.of_component(view, size), Run(np.random.default_rng(0)))
            reached = np.square(matrix @ direction).sum() / view.square_unit
            np.testing.assert_allclose(reached, best.variance, rtol=1e-6)
            matrix = matrix - np.outer(matrix @ direction, direction)


def test_a_solver_sees_matrices_projected_off_what_it_has_returned(rng):
    seen = []

    class Largest:
        """The feature of most variance."""

        def solve(self, task, run):
            squares = task.gram.gram_diagonal()
            seen.append(squares)
            j = int(np.argmax(squares))
            return Component(np.array([j]), np.ones(1), float(squares[j]))

    X = rng.standard_normal((9, 5))
    found, _ = encode(TwoSided(Largest(), 1), X, 3, 1, **UNCENTRED)
    columns, rows = np.argmax(found.components, axis=1), np.argmax(np.abs(found.rows), axis=1)
    assert len(set(columns)) == len(set(rows)) == 3
    for side, taken in ((seen[:3], columns), (seen[3:], rows)):
        for step, squares in enumerate(side):
            assert np.all(squares[taken[:step]] == 0)
            assert np.all(np.delete(squares, taken[:step]) > 0)


def test_it_ends_where_nothing_is_left(rng):
    X = np.zeros((8, 6))
    X[1, 2], X[5, 4] = 3.0, -2.0
    found, _ = encode(TwoSided(Auto(), 2), X, 3, 2, **UNCENTRED)
    assert len(found.loadings) == len(found.rows) == 2
    np.testing.assert_allclose(np.einsum("kn,nd,kd->k", found.rows, X, found.components), [3, 2])
    assert found.loss == pytest.approx(0, abs=1e-12)


def test_dense_and_sparse_agree(rng):
    X = rng.standard_normal((30, 15)) * (rng.random((30, 15)) < 0.4)
    plain, other = (encode(TwoSided(Auto(), 4), storage, 2, 3)[0] for storage in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(other.components, plain.components, atol=1e-6)
    np.testing.assert_allclose(other.rows, plain.rows, atol=1e-6)


def test_data_points_are_needed_and_no_more_than_there_are(rng):
    with pytest.raises(ValueError, match="works on the rows of X, but only a 5 x 5 covariance"):
        encode(TwoSided(Auto(), 2), np.eye(5), 2, 2, precomputed=True)
    with pytest.raises(ValueError, match=r"n_rows=21 is outside \[1, 20\]: X has 20 data points"):
        encode(TwoSided(Auto(), 21), rng.standard_normal((20, 5)), 2, 2)


def test_its_reference_is_in_the_bibliography():
    known = (Path(__file__).parents[3] / "docs" / "references.bib").read_text()
    assert str(TwoSided.reference) in TwoSided.__doc__
    assert f"{{{TwoSided.reference.key}," in known
