"""Loadings from elsewhere: certified as they are, polished without harm."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.decomposition import SparsePCA as Theirs

from sparing import SparseEncoder, certify, explained_variance, information_loss, polish


def standardised(X):
    return (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)


def theirs(k=3, alpha=2.0):
    X = standardised(load_wine().data)
    return Theirs(k, alpha=alpha, random_state=0).fit(X).components_, X


def symmetric(H, X):
    return explained_variance(H, X, definition="symmetric")[-1]


def test_scikit_learns_loadings_certified_for_variance():
    H, X = theirs()
    certificate = certify(H, X, objective="variance", random_state=0)
    assert certificate.sense == "max"
    assert certificate.value / certificate.total == pytest.approx(symmetric(H, X))
    assert certificate.bound >= certificate.value
    assert certificate.recheck(X)
    assert len(certificate.parts) == 3


def test_scikit_learns_loadings_certified_for_loss():
    H, X = theirs()
    certificate = certify(H, X, random_state=0)
    assert certificate.sense == "min"
    assert certificate.value == pytest.approx(information_loss(H, X))
    assert certificate.bound <= certificate.value
    assert certificate.recheck(X)


def test_an_encoder_and_its_loadings_have_the_same_certificate():
    X = load_wine().data
    model = SparseEncoder(2, n_nonzero=4, scale=True, random_state=0).fit(X)
    certificate = certify(7.0 * model.components_, X, scale=True, random_state=0)
    assert certificate.value == pytest.approx(model.certificate_.value)
    assert certificate.bound == pytest.approx(model.certificate_.bound)
    assert "proved optimal" in str(certificate)


def test_principal_components_cannot_be_beaten():
    X = load_wine().data
    H = PCA(2).fit(X).components_
    for objective in ("loss", "variance"):
        assert certify(H, X, objective=objective, random_state=0).gap <= 1e-6


@pytest.mark.parametrize("swaps", [False, True])
def test_polish_improves_other_peoples_loadings(swaps):
    H, X = theirs()
    better = polish(H, X, swaps=swaps)
    assert symmetric(better, X) > symmetric(H, X)
    np.testing.assert_allclose(np.linalg.norm(better, axis=1), 1)
    assert (np.einsum("ij,ij->i", better, H) >= 0).all()
    if swaps:
        assert (np.count_nonzero(better, axis=1) <= np.count_nonzero(H, axis=1)).all()
    else:
        assert not better[H == 0].any()
    smaller = polish(H, X, swaps=swaps, objective="loss")
    assert information_loss(smaller, X) < information_loss(H, X)


def test_swaps_are_worth_more_than_loadings():
    X = standardised(load_breast_cancer().data)
    H = np.zeros((2, 30))
    H[0, :4] = H[1, 4:8] = 1.0
    assert symmetric(polish(H, X, swaps=True), X) > symmetric(polish(H, X), X) * 1.1 > symmetric(H, X)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 3),
    swaps=st.booleans(),
    objective=st.sampled_from(["variance", "loss"]),
)
def test_polish_never_harms(seed, k, swaps, objective):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((15, 6)) if seed % 2 else rng.integers(-2, 3, (15, 6)).astype(float)
    if np.ptp(X, axis=0).min() == 0:
        return
    H = rng.standard_normal((k, 6)) * (rng.random((k, 6)) < 0.6)
    H[:, 0] = 1.0
    better = polish(H, X, swaps=swaps, objective=objective)
    if objective == "variance":
        assert symmetric(better, X) >= symmetric(H, X) * (1 - 1e-9)
    else:
        assert information_loss(better, X) <= information_loss(H, X) * (1 + 1e-9)
    assert (np.count_nonzero(better, axis=1) <= np.count_nonzero(H, axis=1)).all()
    certificate = certify(H, X, objective=objective, random_state=0)
    assert certificate.recheck(X)
    assert 0 <= certificate.gap <= 1


@pytest.mark.parametrize(
    ("components", "sentence"),
    [
        (np.ones((2, 5)), "Transpose loadings"),
        (np.zeros((1, 13)), "all zero"),
        ([["a"] * 13], r"components \(list\) are not a table of real numbers"),
        (np.full((2, 13), 1j), r"components \(ndarray, dtype complex128, shape \(2, 13\)\) are not a table of real"),
        (np.where(np.eye(2, 13, 3) > 0, np.nan, 1.0), r"components contain NaN \(first in row 0, feature 3\)"),
        (np.where(np.eye(2, 13, -1) > 0, -np.inf, 1.0), r"components contain infinity \(first in row 1, feature 0\)"),
        (np.ones(13), r"components has shape \(13,\).*components.reshape\(1, -1\)"),
    ],
)
def test_bad_loadings_get_a_sentence(components, sentence):
    for judge in (certify, polish):
        with pytest.raises(ValueError, match=sentence) as said:
            judge(components, load_wine().data)
        assert not re.search(r"sample|impute|Reshape your data", str(said.value))  # which are about X


def test_bad_choices_get_a_sentence():
    for judge in (certify, polish):
        with pytest.raises(ValueError, match="objective='size' is not known"):
            judge(np.ones((1, 13)), load_wine().data, objective="size")
    with pytest.raises(TypeError, match="must be True or False"):
        polish(np.ones((1, 13)), load_wine().data, swaps=1)


def test_as_many_components_as_features_but_not_all_features_used(rng):
    """PCA loses nothing, these do, and no two features can do without."""
    X, H = rng.standard_normal((17, 3)), np.array([[1.0, 0, 0], [0, 1, 0], [1, 1, 0]])
    certificate = certify(H, X, random_state=0)
    assert "where PCA loses nothing" in certificate.details()
    assert certificate.recheck(X)
    assert certificate.bound > 0


@pytest.mark.parametrize("objective", ["loss", "variance"])
def test_missing_values_are_remembered_with_the_certificate(objective):
    H, X = theirs()
    filled, holes = X.copy(), X.copy()
    holes[3, 2] = holes[70, 5] = np.nan
    filled[[3, 70], [2, 5]] = np.nanmean(holes, axis=0)[[2, 5]]
    certificate = certify(H, holes, objective=objective, missing="mean", random_state=0)
    assert certificate.preprocessing.missing == "mean"
    assert certificate.recheck(holes)
    wanted = certify(H, filled, objective=objective, random_state=0)
    assert certificate.value == pytest.approx(wanted.value)
    assert certificate.bound == pytest.approx(wanted.bound)
    with pytest.raises(ValueError, match="contains NaN"):
        certify(H, holes, objective=objective)
    with pytest.raises(ValueError, match="missing='drop'"):
        certify(H, X, objective=objective, missing="drop")


@pytest.mark.parametrize("swaps", [False, True])
def test_signs_are_those_given_and_zeros_have_none(swaps):
    H = np.zeros((2, 13))
    H[0, :3], H[1, 4:6] = -1.0, [1.0, -1.0]
    better = polish(H, load_wine().data, scale=True, swaps=swaps)
    assert (better[0] < 0).any()
    assert not np.signbit(better[better == 0]).any()
