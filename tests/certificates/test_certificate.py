"""A certificate says what is proved, no more; it can be stored and checked again, and it fails on other data."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from scipy import sparse

from sparing import SparseEncoder
from sparing.certificates import Certificate
from sparing.data import Preprocessing
from sparing.datasets import load_pitprops, make_spiked
from sparing.results import Bound, Guarantee, Problem, Reference

X = make_spiked(50, 12, random_state=3).X


def certificate_of(value, bound, *, objective="loss", total=100.0, pca_value=10.0, strength="always"):
    return Certificate(
        problem=Problem(2, 5, 13, objective=objective),
        value=value,
        witness=Bound(bound, "pca_loss", "PCA's own loss", strength),
        pca_value=pca_value,
        total=total,
        support=np.arange(5),
        loadings=np.ones((2, 5)),
        preprocessing=Preprocessing(),
    )


@pytest.mark.parametrize(
    ("value", "bound", "objective", "gap"),
    [
        (20.0, 10.0, "loss", 0.5),
        (10.0, 10.0, "loss", 0.0),
        (10.0, 0.0, "loss", 1.0),
        (0.0, 0.0, "loss", 0.0),
        (10.0, 20.0, "variance", 0.5),
        (10.0, 10.0, "variance", 0.0),
        (0.0, 0.0, "variance", 0.0),
        (10.0, 10.0 + 1e-13, "loss", 0.0),
    ],
)
def test_gap_is_between_zero_and_one_in_both_senses(value, bound, objective, gap):
    certificate = certificate_of(value, bound, objective=objective)
    assert certificate.gap == pytest.approx(gap)
    assert certificate.sense == ("min" if objective == "loss" else "max")


def test_the_sentence_of_a_fit():
    model = SparseEncoder(2, n_nonzero=5, center=False, random_state=0).fit(load_pitprops().correlation)
    first, second, third = str(model.certificate_).splitlines()
    assert first == "2 components on 5 of 13 features lose 1.012 times what PCA loses (PCA: 22.8% of the variance)."
    assert second == "No 5 features can lose less: proved optimal by branch and bound."
    assert "Theorem 6(i)" in third
    wide = make_spiked(30, 300, random_state=0).X  # too many features for the tree
    _, second, _ = str(SparseEncoder(2, n_nonzero=5, random_state=0).fit(wide).certificate_).splitlines()
    assert second.startswith("No encoder with 2 components can lose less than 1.000 times what PCA loses")
    assert "less. Nothing tighter is proved (PCA's own loss)" in second


def test_sentences_are_rounded_against_us_and_say_when_nothing_is_proved():
    assert "lose 1.101 times" in str(certificate_of(11.0001, 10.0))
    assert "lose 1.0003 times" in str(certificate_of(10.0021, 10.0))
    assert "proved optimal by PCA's own loss" in str(certificate_of(10.0, 10.0))
    assert "nothing is proved" in str(certificate_of(10.0, 0.0))
    assert "nothing either, where PCA loses nothing" in str(certificate_of(0.0, 0.0, pca_value=0.0))
    assert "20.0% of the variance, where PCA loses nothing" in str(certificate_of(20.0, 0.0, pca_value=0.0))
    assert certificate_of(20.0, 0.0, pca_value=0.0).ratio == np.inf
    assert "converged iteration" in str(certificate_of(11.0, 10.0, strength="numerical"))
    one = certificate_of(11.0, 10.0)
    one = dataclasses.replace(one, problem=Problem(1, 1, 1), support=np.arange(1), loadings=np.ones((1, 1)))
    assert str(one).startswith("1 component on 1 of 1 feature loses 1.100 times")


def test_notebooks_show_text_as_text():
    html = certificate_of(11.0, 10.0)._repr_html_()
    assert html.startswith("<div><p><strong>2 components")
    assert "PCA&#x27;s own loss" in html


@pytest.mark.parametrize("storage", [np.asarray, sparse.csr_array, lambda X: X.astype(np.float32).astype(float)])
def test_recheck_holds_in_any_storage_and_after_storage(storage):
    certificate = pickle.loads(pickle.dumps(SparseEncoder(2, n_nonzero=4, random_state=0).fit(X).certificate_))
    again = certificate.recheck(storage(X))
    assert again
    assert "holds" in str(again)
    np.testing.assert_allclose(again.value, certificate.value, rtol=1e-5)


def test_recheck_fails_on_other_data_and_for_false_claims():
    certificate = SparseEncoder(2, n_nonzero=4, random_state=0).fit(X).certificate_
    other = certificate.recheck(X + np.random.default_rng(0).standard_normal(X.shape))
    assert not other
    assert "it is about data of variance" in str(other)
    turned = X[:, [1, 0, *range(2, 12)]] * 1.0
    assert "does NOT hold for these data" in str(
        dataclasses.replace(certificate, support=certificate.support[::-1]).recheck(turned)
    )
    greedy_claim = dataclasses.replace(certificate, value=certificate.value * 0.99)
    assert not greedy_claim.recheck(X)
    bold = dataclasses.replace(
        certificate, witness=dataclasses.replace(certificate.witness, value=certificate.bound * 1.001)
    )
    assert "only" in str(bold.recheck(X))
    assert not bold.recheck(X)
    with pytest.raises(ValueError, match="X has 11 features, but this certificate is expecting 12"):
        certificate.recheck(X[:, :11])


def test_it_never_holds_the_data():
    tall = make_spiked(20000, 12, random_state=0).X
    certificate = SparseEncoder(2, n_nonzero=4, random_state=0).fit(tall).certificate_
    assert len(pickle.dumps(certificate)) < 10_000 < tall.nbytes


def test_a_covariance_is_rechecked_as_a_covariance():
    C = np.cov(X, rowvar=False)
    certificate = SparseEncoder(2, n_nonzero=4, precomputed=True, random_state=0).fit(C).certificate_
    assert certificate.recheck(C)
    assert not certificate.recheck(C + 0.1 * np.eye(12))


def test_a_guarantee_reads_well_and_can_fail():
    kept = Guarantee("Loss", 2.0, 1.5, "always", Reference("eckart1936", "Theorem 1"))
    assert str(kept) == "Loss: at most 2, measured 1.5; holds (always) [eckart1936, Theorem 1]"
    assert not dataclasses.replace(kept, measured=2.5).holds


def test_a_bound_is_compared_with_the_most_that_pca_may_lose():
    claim = dataclasses.replace(certificate_of(16.0, 14.0), pca_error=2.0)
    assert claim.ratio == pytest.approx(1.6)
    assert claim.bound_ratio == pytest.approx(14 / 12)
    assert "can lose less than 1.166 times what PCA loses" in str(claim)
    assert dataclasses.replace(claim, witness=Bound(11.0, "pca_loss", "PCA's own loss", "always")).bound_ratio == 1


def test_the_error_of_pca_is_checked_again():
    claim = SparseEncoder(2, n_nonzero=4, random_state=0).fit(X).certificate_
    assert claim.pca_error >= 0
    assert claim.recheck(X)
    assert not dataclasses.replace(claim, pca_error=-0.01 * claim.pca_value).recheck(X)
