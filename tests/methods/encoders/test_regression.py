"""The best fit of rank k within the span of chosen columns, against NumPy."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse

from sparing.data import Preprocessing, as_view
from sparing.effort import QUICK
from sparing.errors import NeedsRowsError
from sparing.linalg import top_spectrum
from sparing.methods.encoders.regression import Regression, SparseRegression, regression_on
from sparing.methods.selectors import DualSet, Greedy
from sparing.methods.selectors.response import Response
from sparing.run import Run
from sparing.task import Task

UNCENTRED = Preprocessing(center=False)


def best_of_rank(C, Y, k):
    """Pi_{C,k}(Y) by plain linear algebra."""
    Q = np.linalg.qr(C)[0]
    U, s, Wt = np.linalg.svd(Q.T @ Y, full_matrices=False)
    return Q @ (U[:, :k] * s[:k]) @ Wt[:k]


def encode(X, Y, r=4, k=2, selector=None, **kw):
    view, rng = as_view(X, UNCENTRED), np.random.default_rng(0)
    return Regression(selector or Greedy(), **kw).encode(
        Task.of_components(view, top_spectrum(view, k, rng), r), Y, Run(rng, effort=QUICK)
    ), view


@pytest.mark.parametrize("n_targets", [1, 2, 3, 7])
@pytest.mark.parametrize("k", [1, 2, 5])
def test_fit_features_and_residual(n_targets, k, rng):
    """C Psi = Pi_{C,k}(Y); the features alone reach the same; their scores are uncorrelated, in order of worth."""
    X, Y = rng.standard_normal((40, 9)), rng.standard_normal((40, n_targets))
    columns = np.array([7, 1, 4, 3])
    view = as_view(X, UNCENTRED)
    found = regression_on(view, columns, Y, k)
    C = view.columns(found.support)
    wanted = best_of_rank(C, Y, k)
    np.testing.assert_array_equal(found.support, [1, 3, 4, 7])
    np.testing.assert_allclose(C @ found.coefficients.T, wanted, atol=1e-12)
    np.testing.assert_allclose(found.residual, np.linalg.norm(Y - wanted))
    m = min(k, n_targets, 4)
    assert found.loadings.shape == (m, 4)
    np.testing.assert_allclose(np.linalg.norm(found.loadings, axis=1), 1)
    assert (found.loadings.max(axis=1) == np.abs(found.loadings).max(axis=1)).all()  # signs are fixed
    scores = C @ found.loadings.T
    unit = scores / np.linalg.norm(scores, axis=0)
    np.testing.assert_allclose(unit.T @ unit, np.eye(m), atol=1e-12)
    np.testing.assert_allclose(unit @ (unit.T @ Y), wanted, atol=1e-12)
    assert np.all(np.diff(np.linalg.norm(unit.T @ Y, axis=1)) <= 1e-12)


def test_with_at_most_k_targets_it_is_least_squares(rng):
    X, Y = rng.standard_normal((40, 9)), rng.standard_normal((40, 2))
    view = as_view(X, UNCENTRED)
    found = regression_on(view, np.array([0, 2, 5]), Y, 2)
    np.testing.assert_allclose(
        found.coefficients.T, np.linalg.lstsq(view.columns([0, 2, 5]), Y, rcond=None)[0], atol=1e-12
    )


def test_it_spans_what_the_papers_recipe_spans(rng):
    """F = C U_psi S_psi from the singular vectors of Psi: another basis of the same features."""
    X, Y = rng.standard_normal((30, 8)), rng.standard_normal((30, 5))
    view = as_view(X, UNCENTRED)
    found = regression_on(view, np.arange(4), Y, 2)
    C = view.columns(found.support)
    psi = np.linalg.pinv(C) @ best_of_rank(C, Y, 2)
    U, s, _ = np.linalg.svd(psi)
    paper = C @ (U[:, :2] * s[:2])
    ours = C @ found.loadings.T
    np.testing.assert_allclose(ours @ np.linalg.lstsq(ours, paper, rcond=None)[0], paper, atol=1e-12)


def test_dependent_columns_are_left_out_and_ill_conditioned_ones_fitted_well(rng):
    z = rng.standard_normal((50, 3))
    X = np.column_stack([z, z[:, 0] + z[:, 1], np.zeros(50), z[:, 2] + 1e-4 * rng.standard_normal(50)])
    y = X @ rng.standard_normal((6, 1)) + rng.standard_normal((50, 1))
    view = as_view(X, UNCENTRED)
    found = regression_on(view, np.arange(6), y, 1)
    assert len(found.support) == 4
    assert 4 not in found.support
    C = view.columns(found.support)
    best = np.linalg.norm(y - C @ np.linalg.lstsq(C, y, rcond=None)[0])
    assert found.residual == pytest.approx(best, rel=1e-12)
    assert np.linalg.norm(C.T @ (y - C @ found.coefficients.T)) < 1e-10  # normal equations would leave 1e-8


def test_dependent_targets_have_no_more_features_than_rank(rng):
    X, y = rng.standard_normal((30, 6)), rng.standard_normal((30, 1))
    found, _ = encode(X, np.hstack([y, 2 * y, -y]), k=3)
    assert found.loadings.shape[0] == 1
    np.testing.assert_allclose(found.coefficients[1], 2 * found.coefficients[0], atol=1e-12)


def test_targets_of_zero_get_coefficients_of_zero_and_still_a_feature(rng):
    found, _ = encode(rng.standard_normal((30, 6)), np.zeros((30, 2)))
    assert not found.coefficients.any()
    assert found.loadings.shape == (1, 4)
    np.testing.assert_allclose(np.linalg.norm(found.loadings), 1)
    assert found.residual == 0


@pytest.mark.parametrize("selector", [Greedy(), DualSet(), Response(), Response(by="targets")], ids=str)
def test_same_fit_in_every_storage(selector, rng):
    X = rng.standard_normal((50, 300)) * (rng.random((50, 300)) < 0.3)
    Y = X @ rng.standard_normal((300, 3))
    plain, _ = encode(X, Y, r=8, k=3, selector=selector)
    for storage in (sparse.csr_array(X), np.asfortranarray(X)):
        other, _ = encode(storage, Y, r=8, k=3, selector=selector)
        np.testing.assert_array_equal(other.support, plain.support)
        np.testing.assert_allclose(other.coefficients, plain.coefficients, atol=1e-10)
        np.testing.assert_allclose(other.loadings, plain.loadings, atol=1e-10)


def test_the_safeguard_is_silent_where_its_theorem_is(rng):
    """r <= k: whatever the selector chose stays."""
    X, Y = rng.standard_normal((30, 6)), rng.standard_normal((30, 2))

    class Never:
        def select(self, *arguments, budget):
            raise AssertionError("not needed")

    encode(X, Y, r=2, k=2, safeguard=Never())


def test_targets_may_be_regressed_on_rows_centred_otherwise(rng):
    X, Y = rng.standard_normal((30, 6)) + 3, rng.standard_normal((30, 2))
    view, rng2 = as_view(X, UNCENTRED), np.random.default_rng(0)
    spectrum = top_spectrum(view, 2, rng2)
    found = Regression(Greedy(), DualSet()).encode(
        Task.of_components(view, spectrum, 3), Y - Y.mean(axis=0), Run(rng2), on=as_view(X)
    )
    C = X[:, found.support] - X[:, found.support].mean(axis=0)
    best = np.linalg.lstsq(C, Y - Y.mean(axis=0), rcond=None)[0]
    assert found.residual == pytest.approx(np.linalg.norm(Y - Y.mean(axis=0) - C @ best))


def test_what_cannot_be_done_is_said(rng):
    C = np.cov(rng.standard_normal((30, 6)), rowvar=False)
    view = as_view(C, Preprocessing(precomputed=True))
    spectrum = top_spectrum(view, 2, rng)
    with pytest.raises(NeedsRowsError, match="Regression works on the rows of X, but only a 6 x 6 covariance"):
        Regression(Greedy()).encode(Task.of_components(view, spectrum, 3), np.ones((30, 1)), Run(rng))
    X = np.column_stack([np.full(9, 2.0), rng.standard_normal(9)])
    with pytest.raises(ValueError, match="feature\\(s\\) chosen are constant, which an intercept explains already"):
        regression_on(as_view(X), np.array([0]), np.ones((9, 1)), 1)


def test_it_is_a_frozen_algorithm_with_one_verb():
    assert Regression.__dataclass_params__.frozen
    assert dataclasses.is_dataclass(SparseRegression)
    assert str(Regression.reference) in Regression.__doc__
    assert [name for name in vars(Regression) if callable(getattr(Regression, name)) and name[0] != "_"] == ["encode"]
