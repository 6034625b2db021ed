"""A certificate says what is proved, no more; it can be stored and checked again, and it fails on other data."""

from __future__ import annotations

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparing import SparseEncoder
from sparing.certificates import Certificate
from sparing.data import Preprocessing
from sparing.datasets import load_pitprops, make_spiked
from sparing.errors import SparingWarning
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
        n_asked=2,
        pca_variance=total - pca_value,
        n_samples=1234,
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
    first, second = str(model.certificate_).splitlines()
    pca = "the variance that PCA's 2 keep (PCA: 77.2% of the total), on these 13 samples."
    assert first == f"2 components on 5 of 13 features keep 99.6% of {pca}"
    assert second == "No choice of 5 features can keep more: proved optimal."
    assert model.certificate_.details().splitlines()[2:4] == [
        "Loss: 1.012 times what PCA loses (PCA loses 22.8% of the variance).",
        "Lower bound: this loss, by trying all 1,287 sets.",
    ]
    assert "Theorem 6(i)" in model.certificate_.details().splitlines()[4]
    given = SparseEncoder(2, n_nonzero=5, precomputed=True).fit(load_pitprops().correlation).certificate_
    assert "samples" not in str(given)  # a covariance does not say of how many


def test_a_bound_of_pca_alone_is_not_printed():
    wide = make_spiked(30, 300, random_state=0).X  # too many features for the tree
    certificate = SparseEncoder(2, n_nonzero=5).fit(wide).certificate_
    assert len(str(certificate).splitlines()) == 1
    assert "Lower bound: PCA's own loss; other features lose at most" in certificate.details()
    with pytest.warns(SparingWarning):
        fewer = SparseEncoder(2, n_nonzero=1).fit(wide).certificate_  # PCA with one component bounds it here
    assert "No choice of 1 feature can keep more" in str(fewer)


def test_sentences_are_rounded_against_us_and_say_when_nothing_is_proved():
    assert "keep 99.9% of" in str(certificate_of(10.0001, 10.0))  # never 100.0% for less
    assert "keep 98.8% of" in str(certificate_of(11.0001, 10.0))
    assert "can keep more than 98.9%." in str(certificate_of(12.0, 10.9999))
    assert "more than" not in str(certificate_of(12.0, 10.01))
    assert "1.101 times" in certificate_of(11.0001, 10.0).details()
    assert "1.0003 times" in certificate_of(10.0021, 10.0).details()
    assert "on these 1,234 samples." in str(certificate_of(10.0, 10.0))
    assert str(certificate_of(10.0, 10.0)).endswith("can keep more: proved optimal.")
    assert "Lower bound: none." in certificate_of(10.0, 0.0).details()
    assert "Loss: nothing, as with PCA." in certificate_of(0.0, 0.0, pca_value=0.0).details()
    assert "20.0% of the variance, where PCA loses nothing" in certificate_of(20.0, 0.0, pca_value=0.0).details()
    assert certificate_of(20.0, 0.0, pca_value=0.0).ratio == np.inf
    assert "iterative eigensolver, error subtracted" in certificate_of(11.0, 10.0, strength="numerical").details()
    one = certificate_of(11.0, 10.0)
    one = dataclasses.replace(one, problem=Problem(1, 1, 1), support=np.arange(1), loadings=np.ones((1, 1)))
    one = dataclasses.replace(one, n_asked=1)
    assert str(one).startswith("1 component on 1 of 1 feature keeps 98.8% of the variance that PCA's first component")


def test_notebooks_show_text_as_text():
    html = certificate_of(11.0, 10.0)._repr_html_()
    assert html.startswith("<div><p><strong>2 components")
    assert "PCA&#x27;s 2 keep" in html


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
    assert "Lower bound: 1.166 times what PCA loses" in claim.details()
    assert dataclasses.replace(claim, witness=Bound(11.0, "pca_loss", "PCA's own loss", "always")).bound_ratio == 1


def test_the_error_of_pca_is_checked_again():
    claim = SparseEncoder(2, n_nonzero=4, random_state=0).fit(X).certificate_
    assert claim.pca_error >= 0
    assert claim.recheck(X)
    assert not dataclasses.replace(claim, pca_error=-0.01 * claim.pca_value).recheck(X)


@given(
    total=st.floats(0.1, 1e6),
    pca=st.floats(0.05, 1.0),
    kept=st.floats(0.0, 1.0),
    better=st.floats(0.0, 1.0),
    error=st.floats(0.0, 1e-3),
)
@settings(max_examples=300)
def test_what_is_printed_never_claims_too_much(total, pca, kept, better, error):
    variance = pca * total
    value = total - kept * variance
    bound = max(value - better * (value - (total - variance)), 0.0)
    claim = dataclasses.replace(
        certificate_of(value, bound, total=total, pca_value=total - variance),
        pca_variance=variance * (1 + error),
        pca_variance_error=2 * error * variance,
    )
    first, *rest = str(claim).splitlines()
    said = float(first.partition("keep ")[2].partition("%")[0]) / 100
    assert said <= kept + 2e-9
    assert said > kept / (1 + error) - 0.0011
    if rest and "more than" in rest[0]:
        assert float(rest[0].partition("more than ")[2].rstrip("%.")) / 100 >= (total - bound) / variance - 2e-9


def test_forged_comparisons_with_pca_are_found():
    certificate = SparseEncoder(2, n_nonzero=4).fit(X).certificate_
    assert certificate.recheck(X)
    forged = {
        "PCA keeps": {"pca_variance": 0.99 * certificate.pca_variance},
        "which these data do not have": {"pca_variance": 1.01 * certificate.pca_variance},
        "do not have": {"pca_variance_error": certificate.pca_variance},
        "with 1 of PCA": {"n_asked": 1},
        "it is about 60 samples, but X has 50": {"n_samples": 60},
    }
    for said, changed in forged.items():
        checked = dataclasses.replace(certificate, **changed).recheck(X)
        assert not checked
        assert said in str(checked)
    wider = dataclasses.replace(certificate, n_asked=3)  # another claim, and a wrong one
    assert not wider.recheck(X)
