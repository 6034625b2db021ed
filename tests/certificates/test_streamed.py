"""What one reading proves: the loss is at most ``value``, PCA's at least ``bound``; and forgeries are found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counted_rows import factors
from sparing import SparseEncoder, information_loss
from sparing.certificates import streamed as module
from sparing.data import stream as stream_module
from sparing.methods.encoders import Batch
from sparing.results import Guarantee, Reference

PROMISE = Guarantee("Loss over PCA's loss", 1.1, 1.0, "always", Reference("magdonismail2015", "Theorem 6(i)"))
KINDS = ["plain", "drifting", "sorted", "dominated", "growing"]


def example(rng, kind, n=120, d=24):
    X = factors(rng, n, d, 3, noise=1.0)
    if kind == "drifting":
        X += 10 * np.linspace(-1, 1, n)[:, None] * rng.standard_normal(d)
    elif kind == "sorted":
        X = X[np.argsort(X[:, 0])]
    elif kind == "dominated":
        X[:, :2] *= 30
    elif kind == "growing":
        X *= np.exp(np.linspace(-3, 3, n))[:, None]
    return X


def fitted(X, batch=40, length=6, weights=None, **kw):
    """A model of a stream of which few directions are kept, so that much is dropped."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream_module.Stream.__init__, "__kwdefaults__", {"length": length})
        model = SparseEncoder(2, n_nonzero=4, random_state=0, **kw)
        for first in range(0, len(X), batch):
            some = None if weights is None else weights[first : first + batch]
            model.partial_fit(X[first : first + batch], sample_weight=some)
    return model


def pca_loss(X, k=2):
    return float(np.sum(np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[k:] ** 2))


@settings(deadline=None, max_examples=6)
@given(kind=st.sampled_from(KINDS), seed=st.integers(0, 10**6), batch=st.integers(30, 80), orthonormal=st.booleans())
def test_losses_are_within_what_is_proved(kind, seed, batch, orthonormal):
    X = example(np.random.default_rng(seed), kind)
    certificate = (model := fitted(X, batch, strategy=Batch(orthonormal=orthonormal))).certificate_
    loss = information_loss(model.components_, X)
    slack = 1e-9 * certificate.total
    assert loss <= certificate.value + slack
    assert certificate.bound <= pca_loss(X) + slack
    assert certificate.bound <= certificate.estimate + slack
    assert certificate.estimate <= certificate.value + slack
    assert certificate.recheck(X)


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
@pytest.mark.parametrize("scale", [True, False])
def test_other_strategies_weights_and_scales(strategy, scale, rng):
    X, weights = example(rng, "drifting"), rng.integers(1, 4, 120)
    certificate = fitted(X, strategy=strategy, scale=scale, weights=weights).certificate_
    assert certificate.recheck(X, weights)
    assert not certificate.recheck(X)


def test_control_without_what_was_dropped_the_claims_are_false(monkeypatch):
    """Both sides of the interval need it somewhere."""
    real = module.certify_stream
    with monkeypatch.context() as patch:
        patch.setattr(
            "sparing.estimators.streaming.certify_stream",
            lambda task, sketch, *rest: real(task, sketch._replace(dropped=0.0), *rest),
        )
        too_small = too_large = 0
        for seed in range(3):
            for kind in KINDS:
                X = example(np.random.default_rng(seed), kind)
                model = fitted(X, batch=60)
                certificate = model.certificate_
                too_small += information_loss(model.components_, X) > certificate.value * (1 + 1e-9)
                too_large += certificate.bound > pca_loss(X) * (1 + 1e-9)
    assert too_large > 0
    assert too_small > 0


@pytest.mark.parametrize("mean", [1e4, 1e8, 1e10])
def test_means_that_cost_digits_widen_the_claim(mean, rng):
    X = example(rng, "plain") + mean * np.linspace(0.3, 1, 24)
    certificate = fitted(X, batch=17, length=50).certificate_
    assert certificate.recheck(X)
    assert certificate.value <= 1.01 * certificate.estimate  # and not by much


def test_forgeries_are_found(rng):
    X = example(rng, "plain")
    good = fitted(X).certificate_
    loss, least = information_loss(good.components, X), pca_loss(X)
    assert good.recheck(X)

    def witness(bound):
        return replace(good.witness, value=bound)

    forged = {
        "loss of at most": replace(good, value=loss * 0.999),
        "found": replace(good, value=float("nan")),
        "nothing loses less": replace(good, witness=witness(least * 1.001)),
        "PCA loses": replace(good, pca_value=least * 1.001),
        "data of variance": replace(good, total=good.total * 1.01),
        "features, not 3": replace(good, problem=replace(good.problem, n_nonzero=3)),
        "2 components, not 1": replace(good, problem=replace(good.problem, n_components=1), pca_value=0.0),
        "its problem about a variance": replace(good, problem=replace(good.problem, objective="variance")),
        "as zero": replace(good, nothing=2 * good.total),
        "not within what it claims": replace(good, estimate=0.9 * good.bound),
        "a stream has no promise": replace(good, guarantees=(PROMISE,)),
        "PCA keeps at most": replace(good, pca_variance=0.9 * (good.total - least)),
        "with 1 of PCA": replace(good, n_asked=1),
        "samples, but X has": replace(good, n_samples=7),
    }
    for said, certificate in forged.items():
        assert said in str(certificate.recheck(X)), said
        assert not certificate.recheck(X), said
    assert not good.recheck(X[::-1] * 1.01)
    assert replace(good, value=loss * 1.001).recheck(X)  # weaker claims are true as well


def test_in_words(rng):
    X = example(rng, "plain")
    certificate = fitted(X, length=60).certificate_
    first, second = str(certificate).splitlines()
    assert first.startswith("2 components on 4 of 24 features keep about ")
    assert first.endswith("that PCA's 2 keep, by an estimate from one pass over 120 samples.")
    assert second == f"At least {np.floor(1000 * certificate.variance_kept) / 10:.1f}% is proved."
    share = certificate.estimate / certificate.total
    assert f"Loss: {share:.1%} of the variance by the estimate" in certificate.details()
    assert "Where X can be read again, certify(components_, X) is exact." in certificate.details()
    assert "The certificate holds: loss" in str(certificate.recheck(X))


def test_where_nothing_is_lost(rng):
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 10))
    certificate = fitted(X, length=20).certificate_
    assert "At least 99.9% is proved." in str(certificate)
    assert certificate.value <= 1e-8 * certificate.total
    assert certificate.recheck(X)
