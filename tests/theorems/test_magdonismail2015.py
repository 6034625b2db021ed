"""Optimal sparse linear auto-encoders: each numbered statement, and a control that must fail."""

from __future__ import annotations

import numpy as np
import pytest

from sparing import SparseEncoder, information_loss
from sparing.budget import Budget
from sparing.data import Preparation, as_view
from sparing.encoders import Batch
from sparing.linalg import encoder_on, top_spectrum
from sparing.linalg.promises import dual_set_factor
from sparing.results import Selection
from sparing.selection import DualSet, Greedy

UNCENTRED = Preparation(center=False)


def signal_in_few_columns(rng, n=60, d=40, k=2):
    """Two strong columns and many weak ones: bad columns lose far more than the theorem allows."""
    X = 0.05 * rng.standard_normal((n, d))
    X[:, :k] += rng.standard_normal((n, k)) * 10
    return X[:, rng.permutation(d)]


class SmallestColumns:
    """Sabotage: the columns of least norm."""

    def select(self, view, n_columns, target, rng):
        columns = np.argsort(view.gram_diagonal())[:n_columns]
        return Selection(columns, view.gram_columns(columns))


def ratio_by(selector, X, k, r, seed=0):
    view, rng = as_view(X, UNCENTRED), np.random.default_rng(seed)
    spectrum = top_spectrum(view, k, rng)
    return spectrum.loss_ratio(encoder_on(selector.select(view, r, spectrum, rng), k, spectrum.total).loss)


def test_theorem_5_no_encoder_on_these_columns_loses_less(rng):
    """l(H, X) = ||X - X_{C,k}||^2: equality, and H is optimal for its support."""
    X = rng.standard_normal((30, 12))
    for r in (3, 5, 9):
        C = np.sort(rng.choice(12, r, replace=False))
        Q = np.linalg.qr(X[:, C])[0]
        best = (X**2).sum() - (np.linalg.svd(Q.T @ X, compute_uv=False)[:3] ** 2).sum()
        H = encoder_on(Selection(C, X.T @ X[:, C]), 3, (X**2).sum()).components
        np.testing.assert_allclose(information_loss(H, X, center=False), best)
        for _ in range(20):  # nobody else on these columns does better
            other = np.zeros((3, 12))
            other[:, C] = H[:, C] + 0.1 * rng.standard_normal((3, r))
            assert information_loss(other, X, center=False) >= best * (1 - 1e-12)
        plain = np.eye(12)[C[:3]]  # control: three plain columns
        assert r == 3 or information_loss(plain, X, center=False) > best * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(("k", "r"), [(1, 2), (2, 3), (2, 8), (3, 12)])
def test_theorem_6i_dual_set(seed, k, r):
    X = signal_in_few_columns(np.random.default_rng(seed), k=k)
    assert ratio_by(DualSet(), X, k, r) <= dual_set_factor(k, r)


def test_theorem_6i_control_bad_columns_break_the_bound(rng):
    assert ratio_by(SmallestColumns(), signal_in_few_columns(rng), 2, 8) > 10 * dual_set_factor(2, 8)


def test_theorem_6i_holds_for_any_selector_with_its_safeguard(rng):
    X = signal_in_few_columns(rng)
    view = as_view(X, UNCENTRED)
    spectrum = top_spectrum(view, 2, rng)
    for safeguard, holds in ((DualSet(), True), (None, False)):
        found = Batch(SmallestColumns(), safeguard).encode(view, spectrum, 8, rng, budget=Budget())
        assert (spectrum.loss_ratio(found.loss) <= dual_set_factor(2, 8)) == holds


def test_theorem_6i_is_in_the_certificate_only_where_it_applies(rng):
    X = signal_in_few_columns(rng)
    (guarantee,) = SparseEncoder(2, n_nonzero=8, random_state=0).fit(X).certificate_.guarantees
    assert guarantee.holds
    assert guarantee.limit == dual_set_factor(2, 8) == pytest.approx(5.0)
    assert guarantee.reference.where == "Theorem 6(i)"
    assert SparseEncoder(2, n_nonzero=2, random_state=0).fit(X).certificate_.guarantees == ()  # needs r > k
    assert SparseEncoder(2, n_nonzero=8, selector="greedy", random_state=0).fit(X).certificate_.guarantees == ()


def test_loss_exceeds_pcas_by_at_most_what_of_the_target_is_not_spanned(rng):
    """The inequality that greedy selection on the principal components rests on."""
    for _ in range(20):
        X = rng.standard_normal((25, 10)) @ rng.standard_normal((10, 10))
        U, s, _ = np.linalg.svd(X, full_matrices=False)
        T, C = U[:, :2] * s[:2], rng.choice(10, 4, replace=False)
        Q = np.linalg.qr(X[:, C])[0]
        loss = (X**2).sum() - (np.linalg.svd(Q.T @ X, compute_uv=False)[:2] ** 2).sum()
        assert loss <= (s[2:] ** 2).sum() + ((T - Q @ (Q.T @ T)) ** 2).sum() + 1e-9


def test_comment_pca_is_the_least_loss_and_all_features_reach_it(rng):
    X = rng.standard_normal((40, 6)) @ rng.standard_normal((6, 6))
    model = SparseEncoder(2, n_nonzero=6, random_state=0).fit(X)
    assert model.loss_ratio_ == pytest.approx(1.0, abs=1e-9)
    assert SparseEncoder(2, n_nonzero=3, random_state=0).fit(X).loss_ratio_ > 1.0


def test_greedy_beats_dual_set_where_it_matters(rng):
    X = rng.standard_normal((100, 30)) @ rng.standard_normal((30, 30))
    assert ratio_by(Greedy(), X, 3, 8) < ratio_by(DualSet(), X, 3, 8)
