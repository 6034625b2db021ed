"""What SparseEncoder itself promises: its parameters, its sentences, its numbers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris

from sparing import SparseEncoder
from sparing.datasets import load_pitprops, make_spiked
from sparing.methods.selectors import DualSet, Greedy

X = make_spiked(60, 10, n_nonzero=3, random_state=1).X
C = np.cov(X, rowvar=False)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 0}, "n_components=0 must be at least 1"),
        ({"n_components": -1}, "n_components=-1 must be at least 1"),
        ({"n_components": 2.0}, "n_components=2.0 is a float. Pass an integer"),
        ({"n_components": True}, "n_components=True is a bool"),
        ({"n_components": "two"}, "n_components='two' is a str"),
        ({"n_components": 11}, r"n_components=11, but X has n_features=10"),
        ({"n_nonzero": 0}, "n_nonzero=0 must be at least 1"),
        ({"n_nonzero": -3}, "n_nonzero=-3 must be at least 1"),
        ({"n_nonzero": True}, "n_nonzero=True is a bool"),
        ({"n_nonzero": 2.5}, "n_nonzero=2.5 is a float"),
        ({"n_nonzero": "five"}, "n_nonzero='five' is a str"),
        ({"n_nonzero": 11}, r"n_nonzero=11 is outside \[1, 10\]"),
        ({"n_nonzero": [3, 4]}, "n_nonzero is a list, but strategy='batch'"),
        ({"n_nonzero": 4, "max_loss": 1.1}, "Both n_nonzero and max_loss were given"),
        ({"max_loss": 0.9}, "max_loss=0.9 must be a number of at least 1"),
        ({"max_loss": float("nan")}, "max_loss=nan must be"),
        ({"max_loss": "low"}, "max_loss='low' must be"),
        ({"strategy": "magic"}, "strategy='magic' is not known. Choose one of 'batch'"),
        ({"selector": "magic"}, "selector='magic' is not known. Choose one of .*'greedy'"),
        ({"selector": Greedy}, "is not known"),
        ({"time_limit": 0}, "time_limit=0 must be a positive number of seconds"),
        ({"time_limit": True}, "time_limit=True must be"),
        ({"random_state": -1}, "random_state=-1 is neither"),
        ({"random_state": "a"}, "random_state='a' is neither"),
        ({"center": "no"}, "center='no' must be True or False"),
        ({"scale": 1}, "scale=1 must be True or False"),
        ({"selector": "x"}, "'auto'"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        SparseEncoder(**parameters).fit(X)


@pytest.mark.parametrize(
    ("bad", "parameters", "sentence"),
    [
        (np.ones((5, 3)), {}, "every feature is constant"),
        (np.zeros((5, 3)), {"center": False}, "every value is zero"),
        (X[:1], {}, "n_samples=1"),
        (
            np.array([[1.0, 2.0], [2.0, 1.0]]),
            {"precomputed": True},
            "eigenvalue -1 .*the largest is 3.*not positive semi",
        ),
        (X, {"precomputed": True}, "square covariance"),
    ],
)
def test_bad_data_get_a_sentence(bad, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparseEncoder(1, **parameters).fit(bad)


def test_fewer_features_than_components_give_that_many_components_and_one_warning():
    with pytest.warns(UserWarning, match="n_nonzero=2 shared features") as caught:
        model = SparseEncoder(4, n_nonzero=2, random_state=0).fit(X)
    assert len(caught) == 1
    assert model.components_.shape == (2, 10)


def test_wrong_width_later_is_refused():
    model = SparseEncoder(2, n_nonzero=4).fit(X)
    with pytest.raises(ValueError, match="X has 9 features, but SparseEncoder is expecting 10"):
        model.transform(X[:, :9])
    with pytest.raises(ValueError, match="X has 3 features, but inverse_transform is expecting 2"):
        model.inverse_transform(np.ones((4, 3)))


def test_max_loss_is_kept_by_as_few_features_as_the_search_finds():
    for max_loss in (1.5, 1.1, 1.01):
        model = SparseEncoder(2, max_loss=max_loss, random_state=0).fit(X)
        assert model.loss_ratio_ <= max_loss
        fewer = SparseEncoder(2, n_nonzero=max(len(model.support_) - 1, 2), random_state=0).fit(X)
        assert fewer.loss_ratio_ > max_loss or len(model.support_) == 2
    default = SparseEncoder(2, random_state=0).fit(X)
    np.testing.assert_array_equal(
        default.components_, SparseEncoder(2, max_loss=1.1, random_state=0).fit(X).components_
    )
    assert SparseEncoder(2, max_loss=1.0, random_state=0).fit(X).loss_ratio_ == pytest.approx(1.0, abs=1e-9)


def test_a_covariance_gives_the_components_of_its_data():
    from_data, from_covariance = (
        SparseEncoder(2, n_nonzero=4, random_state=0).fit(X),
        SparseEncoder(2, n_nonzero=4, precomputed=True, random_state=0).fit(C),
    )
    np.testing.assert_allclose(from_covariance.components_, from_data.components_, atol=1e-9)
    np.testing.assert_allclose(from_covariance.loss_ * (len(X) - 1), from_data.loss_)
    np.testing.assert_allclose(from_covariance.transform(X - X.mean(axis=0)), from_data.transform(X), atol=1e-9)
    scaled, correlation = (
        SparseEncoder(2, n_nonzero=4, scale=True, random_state=0).fit(X),
        SparseEncoder(2, n_nonzero=4, scale=True, precomputed=True, random_state=0).fit(C),
    )
    np.testing.assert_allclose(correlation.components_, scaled.components_, atol=1e-9)
    np.testing.assert_allclose(correlation.transform(X - X.mean(axis=0)), scaled.transform(X), atol=1e-9)
    assert correlation.n_passes_ == 0


def test_selectors_by_name_and_with_their_own_settings():
    by_name = SparseEncoder(2, n_nonzero=4, selector="dual_set", random_state=0).fit(X)
    by_hand = SparseEncoder(2, n_nonzero=4, selector=DualSet(), random_state=0).fit(X)
    np.testing.assert_array_equal(by_name.components_, by_hand.components_)
    assert SparseEncoder(2, n_nonzero=4, selector=Greedy(swaps=False), random_state=0).fit(X).loss_ratio_ >= 1


def test_any_random_state_of_scikit_learn_is_accepted():
    for state in (None, 3, np.random.RandomState(3), np.random.default_rng(3)):
        assert SparseEncoder(2, n_nonzero=4, random_state=state).fit(X).loss_ratio_ >= 1


def test_verbose_shows_progress_and_a_time_limit_still_answers(capsys):
    model = SparseEncoder(2, max_loss=1.0001, verbose=True, time_limit=1e-9, random_state=0).fit(X)
    assert "features: loss ratio 1.0000" in capsys.readouterr().out
    assert model.loss_ratio_ <= 1.0001
    assert model.certificate_.recheck(X)
    SparseEncoder(2, n_nonzero=3).fit(X)
    assert capsys.readouterr().out == ""


def test_the_true_features_are_found():
    spiked = make_spiked(400, 60, n_components=2, n_nonzero=4, spike=20.0, random_state=0)
    model = SparseEncoder(2, n_nonzero=8, random_state=0).fit(spiked.X)
    np.testing.assert_array_equal(model.support_, np.flatnonzero(spiked.components.any(axis=0)))


# --- reference numbers, measured independently ----------------------------------------------------------------------

PITPROPS = {2: 1.1970, 3: 1.0669, 4: 1.0227, 5: 1.0119, 6: 1.0093, 7: 1.0063, 8: 1.0033}


@pytest.mark.parametrize("r", PITPROPS)
def test_pitprops(r):
    model = SparseEncoder(2, n_nonzero=r, center=False, random_state=0).fit(load_pitprops().correlation)
    assert model.loss_ratio_ <= PITPROPS[r]


def excess(data, k, r, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return 100 * (SparseEncoder(k, n_nonzero=r, random_state=0, **parameters).fit(data).loss_ratio_ - 1)


def test_excess_loss_on_real_data_within_3_percent_of_reference():
    assert excess(load_breast_cancer().data, 5, 5, scale=True) <= 43.2 * 1.03
    assert excess(load_digits().data, 5, 20) <= 2.7 * 1.03


def test_excess_loss_on_gene_data_within_3_percent_of_reference(shared):
    assert excess(shared("colon_cov500.npz", "C"), 2, 8, center=False) <= 0.29 * 1.03
    assert excess(shared("lymphoma_cov500.npz", "C"), 2, 8, center=False) <= 0.69 * 1.03
    assert excess(shared("nci60.npz"), 5, 20) <= 1.22 * 1.03


# --- what careful users found ---------------------------------------------------------------------------------------


def test_max_loss_never_gives_up_components(rng):
    noise = rng.standard_normal((200, 50))
    noise[:, 0] *= 5
    for k in (2, 5):
        assert SparseEncoder(k, random_state=0).fit(noise).components_.shape == (k, 50)


def test_smooth_spectra_whose_columns_nearly_depend_on_one_another(rng):
    t = np.linspace(0, 1, 300)
    shapes = np.array([np.exp(-((t - c) ** 2) / 0.02) for c in np.linspace(0, 1, 6)])
    spectra = rng.standard_normal((120, 6)) @ shapes + 1e-4 * rng.standard_normal((120, 300))
    model = SparseEncoder(6, n_nonzero=50, effort="quick", random_state=0).fit(spectra)
    assert len(model.support_) == 50
    assert model.loss_ratio_ < 1.05
    assert SparseEncoder(6, max_loss=1.1, effort="quick").fit(spectra).loss_ratio_ <= 1.1
    a, b, c = rng.standard_normal((3, 200))
    near = SparseEncoder(2, n_nonzero=3, random_state=0).fit(np.column_stack([a, a + 2e-4 * b, a + 2e-4 * c]))
    assert near.components_.shape == (2, 3)
    assert near.loss_ratio_ == pytest.approx(1.0, abs=1e-4)


def test_data_far_from_zero_without_centring(rng):
    far = rng.standard_normal((100, 8)) + 1e4
    assert SparseEncoder(3, n_nonzero=5, center=False, random_state=0).fit(far).components_.shape == (3, 8)


def test_a_certificate_holds_on_its_data_also_when_means_are_a_trillion_times_the_spread(rng):
    far = rng.standard_normal((3000, 20))
    far[:, :5] += 1e12 * (1 + rng.random(5))
    assert SparseEncoder(2, n_nonzero=6, random_state=0).fit(far).certificate_.recheck(far)


@pytest.mark.parametrize("scale", [False, True])
def test_constant_columns_of_sparse_data(scale, rng):
    table = np.column_stack([np.full(3000, 0.3), rng.standard_normal((3000, 2))])
    dense, thin = (
        SparseEncoder(2, n_nonzero=2, scale=scale, random_state=0).fit(storage)
        for storage in (table, sparse.csr_array(table))
    )
    np.testing.assert_array_equal(thin.support_, [1, 2])
    np.testing.assert_allclose(thin.components_, dense.components_, atol=1e-9)


def test_an_earlier_certificate_does_not_outlive_its_fit():
    model = SparseEncoder(2, n_nonzero=3, random_state=0).fit(X)
    assert not hasattr(model.set_params(certify=False).fit(X[:30]), "certificate_")


def test_one_warning_with_the_true_count(rng):
    with pytest.warns(UserWarning, match="n_components=3 was requested.*: 1 component") as caught:
        SparseEncoder(3, n_nonzero=2, random_state=0).fit(np.repeat(rng.standard_normal((35, 1)), 3, axis=1))
    assert len(caught) == 1


def test_nearly_no_loss_makes_no_promise_that_fails(rng):
    a, b, c = rng.standard_normal((3, 50))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one component may be all that double precision can tell
        model = SparseEncoder(2, n_nonzero=3, random_state=0).fit(np.column_stack([a, a + 3e-6 * b, a + 3e-6 * c]))
    assert all(guarantee.holds for guarantee in model.certificate_.guarantees)


def test_equal_columns_give_one_answer_in_every_storage():
    twice = np.repeat(load_iris().data, 2, axis=1)
    plain = SparseEncoder(2, n_nonzero=3, random_state=0).fit(twice).support_
    for storage in (sparse.csr_array(twice), np.asfortranarray(twice), twice * 2.0**9):
        np.testing.assert_array_equal(SparseEncoder(2, n_nonzero=3, random_state=0).fit(storage).support_, plain)


def test_scores_of_other_scales_and_of_sparse_integers(rng):
    model = SparseEncoder(2, n_nonzero=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="range of double precision"):
        model.score(X * 1e160)
    counts = rng.integers(0, 5, (30, 10)).astype(np.int8)
    assert model.transform(sparse.csr_array(counts)).dtype == np.float64
    np.testing.assert_allclose(model.transform(sparse.csr_array(counts)), model.transform(counts), atol=1e-12)


def test_matrices_made_to_break_triangular_factors():
    kahan = (0.8 ** np.arange(30))[:, None] * (np.triu(-0.6 * np.ones((30, 30)), 1) + np.eye(30))
    for selector in ("greedy", "auto", "dual_set"):
        model = SparseEncoder(1, n_nonzero=30, selector=selector, center=False, random_state=0).fit(kahan)
        assert model.loss_ratio_ == pytest.approx(1.0, abs=1e-6)
    powers = SparseEncoder(5, n_nonzero=200, random_state=0).fit(np.vander(np.linspace(0, 1, 50), 200))
    assert powers.loss_ratio_ == pytest.approx(1.0, abs=1e-4)
