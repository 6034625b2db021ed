"""The loss of anybody's loadings, against least squares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparing.data import Preprocessing, as_view
from sparing.gram import CachedGram
from sparing.linalg import additional_variance, information_loss_of

UNCENTRED = Preprocessing(center=False)


def by_least_squares(X, H):
    scores = X @ H.T
    return float(((X - scores @ np.linalg.lstsq(scores, X, rcond=1e-10)[0]) ** 2).sum())


@settings(deadline=None, max_examples=80)
@example(seed=316628, n=2, d=7, k=1)  # scores that cancel to nothing but rounding
@given(seed=st.integers(0, 10**6), n=st.integers(2, 10), d=st.integers(1, 7), k=st.integers(1, 4))
def test_equals_least_squares(seed, n, d, k):
    rng = np.random.default_rng(seed)
    X, H = rng.integers(-3, 4, (n, d)).astype(float), rng.integers(-2, 3, (k, d)).astype(float)
    H[np.abs(H).sum(axis=1) == 0, 0] = 1.0
    view = as_view(X, UNCENTRED)
    total = (X**2).sum()
    np.testing.assert_allclose(
        information_loss_of(view, H) * view.square_unit, by_least_squares(X, H), atol=1e-9 * total + 1e-12
    )
    added = additional_variance(view, H) * view.square_unit
    for j in range(1, k + 1):
        np.testing.assert_allclose(added[:j].sum(), total - by_least_squares(X, H[:j]), atol=1e-9 * total + 1e-12)


def test_a_tiny_loss_keeps_its_digits(rng):
    X = rng.standard_normal((60, 2)) @ rng.standard_normal((2, 9)) + 1e-7 * rng.standard_normal((60, 9))
    H = rng.standard_normal((2, 9))
    wanted = by_least_squares(X, H)
    for storage in (X, sparse.csr_array(X)):
        view = as_view(storage, UNCENTRED)
        np.testing.assert_allclose(information_loss_of(view, H) * view.square_unit, wanted, rtol=1e-6)
    gram_only = as_view(X.T @ X, Preprocessing(precomputed=True))  # control: a difference cannot know it
    assert abs(information_loss_of(gram_only, H) * gram_only.square_unit / wanted - 1) > 1e-6


def test_repeated_and_nearly_repeated_components_add_nothing_they_have_not(rng):
    X, h = rng.standard_normal((30, 6)), rng.standard_normal(6)
    view = as_view(X, UNCENTRED)
    assert additional_variance(view, np.array([h, -2 * h]))[1] == 0
    near = np.array([h, h + 1e-4 * rng.standard_normal(6)])
    assert information_loss_of(view, near) * view.square_unit == pytest.approx(by_least_squares(X, near), rel=1e-6)


@pytest.mark.parametrize("mean", [0.0, 100.0, 1e4])
def test_scores_that_cancel_add_nothing_whatever_the_means(mean, rng):
    X = rng.standard_normal((200, 300)) + mean
    X[:, 2] = X[:, 0] + X[:, 1]
    cancelling = np.zeros((1, 300))
    cancelling[0, :3] = [1, 1, -1]
    view = as_view(X)
    assert additional_variance(view, cancelling)[0] == 0
    almost = cancelling.copy()
    almost[0, 3] = 1e-5
    assert additional_variance(view, almost)[0] > 0  # the control: a small score is a score


def cancelling_and_repeating(seed):
    """Two features that are equal but for 1e-9; a score that is nearly nothing, and two that nearly repeat another."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((10, 5))
    X = np.column_stack([Z, Z[:, 0] + 1e-9 * rng.standard_normal(10)])
    small, near = 10.0 ** rng.uniform(-6, -3), 10.0 ** rng.uniform(-3, -1)
    first = [1 + small, *(1e-2 * small * rng.standard_normal(4)), -1]
    return X, np.array([first, *([1, *(near * rng.standard_normal(4)), 1] for _ in range(2))])


def test_scores_that_nearly_cancel_and_nearly_repeat_one_another():
    """In Gram coordinates they lost their digits: some losses came out below PCA's own."""
    for seed in [*range(40), 740]:
        X, H = cancelling_and_repeating(seed)
        wanted = by_least_squares(X, H)
        for held in (False, True):
            view = as_view(X, UNCENTRED)
            if held:
                view.gram()
            for seen in (view, CachedGram(view)):
                found = information_loss_of(seen, H) * view.square_unit
                assert wanted * (1 - 1e-9) <= found <= wanted * (1 + 1e-3)


def test_without_rows_such_losses_are_rounded_against_us():
    for seed in [*range(40), 740]:
        X, H = cancelling_and_repeating(seed)
        view = as_view(X.T @ X, Preprocessing(precomputed=True))
        assert information_loss_of(view, H) * view.square_unit >= by_least_squares(X, H) * (1 - 1e-6)


@pytest.mark.parametrize("size", [1e-8, 1e-7, 1.0])
def test_a_small_feature_beside_large_ones_is_no_rounding(size, rng):
    f, g = rng.standard_normal((2, 12))
    X = np.column_stack([size * f, f / size, g / size])
    for held in (False, True):
        view = as_view(X)
        if held:
            view.gram()
        share = information_loss_of(view, np.array([[1.0, 0, 0]])) / view.total
        centred = X - X.mean(axis=0)
        assert share == pytest.approx(by_least_squares(centred, np.array([[1.0, 0, 0]])) / np.sum(centred**2), rel=1e-6)
