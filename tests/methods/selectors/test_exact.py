"""The exact selector returns the optimum, and says when it cannot."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from sparing import SparseEncoder
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.selectors import Exact, Greedy
from sparing.results import Selection
from sparing.run import Budget, Run
from sparing.task import Task

PITPROPS = {2: 1.196949, 3: 1.066813, 4: 1.022584, 5: 1.011763, 6: 1.007023, 7: 1.004128, 8: 1.001760}
OPTIMAL = {2: [0, 9], 3: [0, 5, 6], 4: [1, 2, 5, 6], 5: [1, 2, 5, 6, 7], 6: [1, 2, 6, 7, 9, 11]}


@pytest.mark.parametrize("r", range(2, 14))
def test_pitprops(r):
    X = load_pitprops().correlation
    model = SparseEncoder(2, n_nonzero=r, center=False, selector="exact", random_state=0).fit(X)
    assert model.certificate_.gap <= 1e-6
    assert "proved optimal" in str(model.certificate_)
    assert model.certificate_.recheck(X)
    if r in PITPROPS:
        assert model.loss_ratio_ == pytest.approx(PITPROPS[r], abs=1e-6)
    if r in OPTIMAL:
        assert list(model.support_) == OPTIMAL[r]


@pytest.mark.parametrize("k", [1, 3])
def test_pitprops_closes_for_other_numbers_of_components(k):
    X = load_pitprops().correlation
    for r in range(k, 14):
        assert SparseEncoder(k, n_nonzero=r, center=False, random_state=0).fit(X).certificate_.gap <= 0.05
        exact = SparseEncoder(k, n_nonzero=r, center=False, selector="exact", random_state=0).fit(X)
        assert exact.certificate_.gap <= 1e-6


def test_real_data_are_proved():
    wine = load_wine().data
    for r in (3, 5, 8, 12):
        model = SparseEncoder(3, n_nonzero=r, scale=True, selector="exact", random_state=0).fit(wine)
        assert model.certificate_.gap <= 1e-6


@pytest.mark.long
def test_more_features_are_proved():
    cancer = load_breast_cancer().data
    for k, wanted in ((3, 1.120932), (5, 1.426630)):
        model = SparseEncoder(k, n_nonzero=5, scale=True, selector="exact", random_state=0).fit(cancer)
        assert model.loss_ratio_ == pytest.approx(wanted, abs=2e-6)
        assert model.certificate_.gap <= 1e-6


def test_equals_brute_force(rng):
    for _ in range(10):
        X = rng.standard_normal((20, 7)) @ rng.standard_normal((7, 7))
        view = as_view(X, Preprocessing(center=False))
        spectrum = top_spectrum(view, 2, rng)
        for r in (2, 4):
            losses = [
                encoder_on(Selection(np.array(J), view.gram_columns(J)), 2, view.total).loss
                for J in combinations(range(7), r)
            ]
            found = encoder_on(Exact().select(Task.of_columns(view, r, spectrum), Run(rng)), 2, view.total).loss
            assert found == pytest.approx(min(losses), rel=1e-9)


def test_says_when_nothing_is_proved(rng):
    X = rng.standard_normal((60, 30))
    with pytest.warns(UserWarning, match="not proved to be the best possible: the search ended after 2 nodes"):
        SparseEncoder(2, n_nonzero=8, selector=Exact(max_nodes=2), certify=False, random_state=0).fit(X)
    collinear = np.column_stack([X[:, :5], X[:, 0] + X[:, 1]])
    with pytest.warns(UserWarning, match="nearly collinear"):
        SparseEncoder(2, n_nonzero=3, selector="exact", random_state=0).fit(collinear)
    with pytest.raises(ValueError, match="selector='exact' searches supports of at most 200 features; X has 300"):
        SparseEncoder(2, n_nonzero=3, selector="exact").fit(rng.standard_normal((50, 300)))


def test_a_time_limit_ends_the_search(rng):
    """It was handed a budget of its own, and went on for minutes."""
    X = rng.standard_normal((60, 30))
    model = SparseEncoder(2, n_nonzero=8, selector="exact", certify=False, time_limit=1e-9, random_state=0)
    with pytest.warns(UserWarning, match="the search ended after 0 nodes"):
        model.fit(X)
    view = as_view(X, Preprocessing())
    nested = Greedy(swaps=False).select(Task.of_columns(view, 8, top_spectrum(view, 2, rng)), Run(rng))
    np.testing.assert_array_equal(model.support_, np.sort(nested.columns))  # the first answer there is
    with pytest.warns(UserWarning, match="the search ended after 0 nodes"):
        Exact().select(Task.of_columns(view, 8, top_spectrum(view, 2, rng)), Run(rng, Budget(deadline=0.0)))


def test_a_capped_certificate_is_still_a_bound_and_time_buys_more(rng, ticking):
    ticking(1e-3)
    X = rng.standard_normal((60, 20)) @ rng.standard_normal((20, 20))
    quick = SparseEncoder(3, n_nonzero=8, random_state=0).fit(X)
    longer = SparseEncoder(3, n_nonzero=8, time_limit=3.0, random_state=0).fit(X)
    np.testing.assert_array_equal(quick.components_, longer.components_)
    assert longer.certificate_.bound >= quick.certificate_.bound * (1 - 1e-12)
    exact = SparseEncoder(3, n_nonzero=8, selector="exact", certify=False, random_state=0).fit(X)
    assert quick.certificate_.bound <= exact.loss_ * (1 + 1e-9)


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
@pytest.mark.parametrize("precomputed", [False, True])
def test_a_residual_is_not_called_collinear_features(strategy, precomputed):
    X = load_wine().data
    X = np.corrcoef(X.T) if precomputed else X
    model = SparseEncoder(2, n_nonzero=6, selector="exact", strategy=strategy, scale=True, precomputed=precomputed)
    with pytest.warns(UserWarning, match="in what earlier components leave, features depend") as caught:
        model.fit(X)
    assert not any("collinear" in str(warning.message) for warning in caught)
