"""Certificates of variance: recomputed, rounded against us, false when altered, sentences that say it."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_problems import optimum
from sparing import SparsePCA
from sparing.certificates import VarianceCertificate, certify_variance
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.linalg import top_spectrum
from sparing.linalg.span import encoder_of
from sparing.proof.bounds import BranchAndBound
from sparing.results import Bound, Problem
from sparing.task import Task

COUNTEREXAMPLE = np.array(
    [[5, 5, 2, -3, -3], [5, 5, 2, -3, -3], [2, 2, 9, 2, 2], [-3, -3, 2, 5, 5], [-3, -3, 2, 5, 5]], dtype=float
)


def test_the_sentence():
    model = SparsePCA(n_nonzero=5, precomputed=True, random_state=0).fit(load_pitprops().correlation)
    said = str(model.certificate_)
    assert "1 component on 5 of 13 features keeps 80.7% of the variance that PCA's first component keeps" in said
    assert "No component with 5 features can keep more: proved optimal." in said
    assert "Upper bound: this variance, by branch and bound." in model.certificate_.details()
    assert model.certificate_.sense == "max"
    html = model.certificate_._repr_html_()
    assert "<strong>1 component" in html


def test_proved_optimal_where_bound_and_value_meet():
    model = SparsePCA(n_nonzero=13, precomputed=True, random_state=0).fit(load_pitprops().correlation)
    assert "proved optimal" in str(model.certificate_)
    assert model.certificate_.gap <= 1e-6
    one = SparsePCA(n_nonzero=1, random_state=0).fit(np.random.default_rng(0).standard_normal((20, 6)))
    assert "No component with 1 feature can keep more: proved optimal" in str(one.certificate_)


def test_no_bound_claims_k_times_the_single_optimum():
    """Components that are not orthogonal can have more than k lambda^(r) together: 27.217 > 24.849."""
    model = SparsePCA(2, n_nonzero=3, precomputed=True, random_state=0, effort="quick").fit(COUNTEREXAMPLE)
    single = optimum(COUNTEREXAMPLE, 3)
    assert 2 * single == pytest.approx(24.849, abs=1e-3)
    assert model.certificate_.bound >= 27.21699
    assert model.certificate_.bound > 2 * single


def test_recheck_holds_and_fails_when_it_should(rng):
    X = rng.standard_normal((40, 8)) @ rng.standard_normal((8, 8))
    certificate = SparsePCA(2, n_nonzero=3, random_state=0, effort="quick").fit(X).certificate_
    again = pickle.loads(pickle.dumps(certificate))
    assert isinstance(again, VarianceCertificate)
    assert again.recheck(X)
    assert again.recheck(X).value == pytest.approx(certificate.value)
    assert not again.recheck(X + rng.standard_normal(X.shape))
    better = replace(certificate, value=certificate.value * 1.01)
    assert "NOT hold" in str(better.recheck(X))
    tighter = replace(certificate, witness=replace(certificate.witness, value=certificate.bound * 0.9))
    assert "only" in str(tighter.recheck(X))
    assert all(part.recheck(X) for part in certificate.parts)
    assert len(certificate.parts) == 2


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6), d=st.integers(2, 7), r=st.integers(1, 7), integers=st.booleans(), scale=st.booleans()
)
def test_no_bound_is_below_brute_force(seed, d, r, integers, scale):
    rng = np.random.default_rng(seed)
    X = (
        rng.integers(-1, 2, (9, d)).astype(float)
        if integers
        else rng.standard_normal((9, d)) * 10.0 ** rng.integers(-3, 4)
    )
    r = min(r, d)
    if np.ptp(X, axis=0).min() == 0:
        return
    A = np.corrcoef(X, rowvar=False) if scale else np.cov(X, rowvar=False)
    certificate = SparsePCA(n_nonzero=r, scale=scale, random_state=0, effort="quick").fit(X).certificate_
    best = optimum(np.atleast_2d(A), r)
    assert certificate.value <= best * (1 + 1e-9)
    assert certificate.bound >= best * (1 - 1e-12)
    assert 0 <= certificate.gap <= 1
    assert certificate.value == pytest.approx(best, rel=0.05)
    assert certificate.recheck(X)


def test_copies_of_one_feature_are_named():
    """Floored expression data hold exactly collinear columns, and r of them are the best component of r features."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 12))
    X[:, 5] = X[:, 3]
    X[:, 7] = -2 * X[:, 3]
    model = SparsePCA(n_nonzero=3, scale=True, random_state=0).fit(X)
    assert list(model.support_) == [3, 5, 7]
    assert "Its 3 features are multiples of one another" in model.certificate_.details()
    fewer = SparsePCA(n_nonzero=4, scale=True, random_state=0).fit(X)
    assert "multiples of one another" not in fewer.certificate_.details()


def test_a_bound_below_the_value_is_never_shown():
    C = load_pitprops().correlation
    view = as_view(C, Preprocessing(precomputed=True))
    found = encoder_of(view, np.eye(13, 1), view.total)
    wrong = Bound(0.5, "row_sums", "wishful thinking", "always")
    task = Task(view, Problem(1, 1, 13, "variance"), top_spectrum(view, 1, np.random.default_rng(0)))
    with pytest.raises(RuntimeError, match=r"wishful thinking.*a bug in sparing"):
        certify_variance(task, found, [wrong], Preprocessing(precomputed=True))


def test_dear_bounds_are_left_out_once_a_cheap_one_proves_the_value(monkeypatch):
    def never(*args, **kwargs):
        raise AssertionError("not needed")

    monkeypatch.setattr(BranchAndBound, "bound", never)
    model = SparsePCA(n_nonzero=13, precomputed=True, random_state=0).fit(load_pitprops().correlation)
    assert model.certificate_.gap <= 1e-6
    with pytest.raises(AssertionError, match="not needed"):
        SparsePCA(n_nonzero=5, precomputed=True, random_state=0).fit(load_pitprops().correlation)


def forged(certificate, A, **changes):
    return replace(certificate, **changes).recheck(A)


def test_a_recheck_sees_through_forgeries():
    A = load_pitprops().correlation
    c = SparsePCA(n_nonzero=5, precomputed=True, solver="exact", random_state=0).fit(A).certificate_
    assert c.recheck(A)
    values, vectors = np.linalg.eigh(A[:5, :5])
    poor, loadings = float(values[-1]), vectors[:, [-1]].T
    wish = replace(c.witness, value=poor * (1 + 1e-9), witness=((14, poor * (1 + 1e-9), False),))
    assert not forged(c, A, support=np.arange(5), loadings=loadings, value=poor, witness=wish), "more than d features"
    dense = np.linalg.eigh(A)[1][:, [-1]].T
    said = forged(c, A, support=np.arange(13), loadings=dense, value=float(np.linalg.eigvalsh(A)[-1]))
    assert not said
    assert "they use 13 features, not 5" in str(said)
    said = forged(c, A, pca_value=c.value)
    assert not said
    assert "for PCA" in str(said)
    assert not forged(c, A, witness=replace(c.witness, value=0.9 * c.value))


def test_a_recheck_knows_the_rules_of_the_problem():
    A = load_pitprops().correlation
    several = SparsePCA(2, n_nonzero=4, precomputed=True, random_state=0, effort="quick").fit(A).certificate_
    assert several.recheck(A)
    for rule, words in (
        ({"orthogonal": True}, "not orthogonal"),
        ({"disjoint": True}, "share a feature"),
        ({"nonnegative": True}, "negative"),
        ({"n_components": 1}, "2 components, not 1"),
    ):
        H = several.loadings.copy()
        H[1, np.flatnonzero(H[0])[0]] = -0.5
        problem = replace(several.problem, n_nonzero=5, **rule)
        value = replace(several, loadings=H)._value_on(as_view(A, Preprocessing(precomputed=True)))
        certificate = replace(several, problem=problem, loadings=H, value=value, parts=())
        assert words in str(certificate.recheck(A))
    other = replace(several.parts[1], value=1.01 * several.parts[1].value)
    assert "Of one component alone" in str(replace(several, parts=(several.parts[0], other)).recheck(A))
