"""The best rank-k approximation within columns, also where columns depend on one another."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.linalg import encoder_on
from sparing.linalg.span import independent_columns
from sparing.results import Selection


def selection(X, J):
    J = np.array(J)
    return Selection(J, X.T @ X[:, J])


def least_loss_within(X, J, k):
    Q, s, _ = np.linalg.svd(X[:, J], full_matrices=False)
    Q = Q[:, s > 1e-9 * s[0]]
    return (X**2).sum() - (np.linalg.svd(Q.T @ X, compute_uv=False)[:k] ** 2).sum()


@pytest.mark.parametrize("J", [[0, 3, 5], [5, 3, 0, 7], [0, 8, 3], [9, 0, 3]], ids=str)
def test_loss_decoder_and_scores(J, rng):
    X = rng.standard_normal((30, 8))
    X = np.column_stack([X, X[:, 0], np.zeros(30)])  # 8 repeats 0, 9 is nothing
    X[:, 3] *= 1e-5
    found = encoder_on(selection(X, J), 2, (X**2).sum())
    H, G = found.components, found.decoder
    np.testing.assert_allclose(found.loss, least_loss_within(X, J, 2), rtol=1e-9)
    np.testing.assert_allclose(((X - X @ H.T @ G) ** 2).sum(), found.loss, rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1.0)
    scores = X @ H.T
    assert abs(np.corrcoef(scores.T)[0, 1]) < 0.3  # uncentred scores: orthogonal rather than uncorrelated
    np.testing.assert_allclose(scores[:, 0] @ scores[:, 1], 0, atol=1e-9 * (scores**2).sum())
    assert found.captured[0] >= found.captured[1]
    assert set(found.support) <= set(J)
    assert np.all(np.diff(found.support) > 0)
    assert 9 not in found.support
    assert not {0, 8} <= set(found.support)


def test_nearly_dependent_columns_keep_their_digits(rng):
    X = rng.standard_normal((40, 6))
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    found = encoder_on(selection(X, [0, 1, 2]), 3, (X**2).sum())
    np.testing.assert_allclose(found.loss, least_loss_within(X, [0, 1, 2], 3), rtol=1e-6)


def test_more_components_than_independent_columns(rng):
    X = rng.standard_normal((20, 5))
    assert encoder_on(selection(X, [1]), 3, (X**2).sum()).components.shape == (1, 5)


def test_pivots_come_in_units_of_each_column(rng):
    X = rng.standard_normal((30, 4)) * [1.0, 1e-8, 1e8, 1.0]
    kept, R = independent_columns(X.T @ X)
    assert sorted(kept) == [0, 1, 2, 3]
    unit = X[:, kept] / np.linalg.norm(X[:, kept], axis=0)
    np.testing.assert_allclose(R.T @ R, unit.T @ unit, atol=1e-12)


def test_a_random_projection_is_nearly_as_good_and_honest_about_its_loss(rng):
    """Within 1 + O(k/rows) on average; a projection to too few rows is not (the control)."""
    X = rng.standard_normal((40, 10)) @ rng.standard_normal((10, 600)) + rng.standard_normal((40, 600))
    J, k = np.arange(0, 600, 50), 3
    best = encoder_on(selection(X, J), k, (X**2).sum()).loss
    mean = {}
    for rows in (4, 200):
        losses = []
        for seed in range(20):
            found = encoder_on(selection(X, J), k, (X**2).sum(), sketch=(rows, np.random.default_rng(seed)))
            np.testing.assert_allclose(((X - X @ found.components.T @ found.decoder) ** 2).sum(), found.loss, rtol=1e-9)
            assert found.loss >= best * (1 - 1e-12)
            losses.append(found.loss)
        mean[rows] = np.mean(losses) / best
    assert mean[200] <= 1 + 3 * k / 200
    assert mean[4] > 1 + 3 * k / 200
