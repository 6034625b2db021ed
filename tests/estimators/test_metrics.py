"""Losses and variances of foreign loadings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.decomposition import SparsePCA as SklearnSparsePCA

from sparing import explained_variance, information_loss
from sparing.datasets import make_spiked

X = make_spiked(60, 10, random_state=2).X
TOTAL = ((X - X.mean(axis=0)) ** 2).sum()


def test_pca_explains_what_pca_says():
    pca = PCA(3).fit(X)
    np.testing.assert_allclose(explained_variance(pca.components_, X), np.cumsum(pca.explained_variance_ratio_))
    np.testing.assert_allclose(information_loss(pca.components_, X), TOTAL * (1 - pca.explained_variance_ratio_.sum()))


def test_other_packages_loadings_are_never_above_pca_and_loss_and_variance_agree():
    theirs = SklearnSparsePCA(3, random_state=0).fit(X).components_
    explained = explained_variance(theirs, X)
    assert np.all(explained <= np.cumsum(PCA(3).fit(X).explained_variance_ratio_) + 1e-12)
    assert np.all(np.diff(explained) >= 0)
    np.testing.assert_allclose(information_loss(theirs, X), TOTAL * (1 - explained[-1]))


def test_length_sign_mixing_and_storage_do_not_matter(rng):
    H = rng.standard_normal((2, 10))
    wanted = information_loss(H, X)
    for same in (-H, H * 1e-200, H * 1e200, rng.standard_normal((2, 2)) @ H, np.vstack([H, H])):
        np.testing.assert_allclose(information_loss(same, X), wanted, rtol=1e-9)
    np.testing.assert_allclose(information_loss(sparse.csr_array(H), sparse.csr_array(X)), wanted)
    np.testing.assert_allclose(information_loss(H, np.cov(X, rowvar=False), precomputed=True) * 59, wanted)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    np.testing.assert_allclose(information_loss(H, X, scale=True), information_loss(H, scaled))


@pytest.mark.parametrize("definition", ["information", "symmetric", "basis", "adjusted"])
@pytest.mark.parametrize("scale", [False, True])
def test_all_definitions_agree_with_pca_on_principal_components(definition, scale):
    pca = PCA(3).fit((X - X.mean(axis=0)) / X.std(axis=0, ddof=1) if scale else X)
    settings = {"definition": definition, "scale": scale}
    for factor in (1.0, -7.0, 1e-150):
        each = explained_variance(factor * pca.components_, X, cumulative=False, **settings)
        np.testing.assert_allclose(each, pca.explained_variance_ratio_)
        np.testing.assert_allclose(explained_variance(factor * pca.components_, X, **settings), np.cumsum(each))


def test_definitions_differ_on_correlated_components_and_storage_does_not_matter(rng):
    H = rng.standard_normal((3, 10))
    totals = {}
    for definition in ("information", "symmetric", "basis", "adjusted"):
        shares = explained_variance(H, X, definition=definition)
        np.testing.assert_allclose(explained_variance(H, sparse.csr_array(X), definition=definition), shares)
        covariance = np.cov(X, rowvar=False)
        np.testing.assert_allclose(explained_variance(H, covariance, definition=definition, precomputed=True), shares)
        totals[definition] = shares[-1]
    assert totals["information"] > totals["symmetric"] == pytest.approx(totals["basis"])
    assert totals["adjusted"] != pytest.approx(totals["basis"], rel=1e-3)
    np.testing.assert_allclose(explained_variance(H, X), explained_variance(H, X, definition="information"))
    by_parts = explained_variance(H, X, cumulative=False)
    np.testing.assert_allclose(np.cumsum(by_parts), explained_variance(H, X))


def test_an_unknown_definition_gets_a_sentence():
    with pytest.raises(ValueError, match=r"definition='total' is not known. Choose one of 'adjusted', 'basis', 'info"):
        explained_variance(np.eye(10)[:1], X, definition="total")


@pytest.mark.parametrize(
    ("components", "sentence"),
    [
        (np.ones((10, 2)), r"components has shape \(10, 2\), but X has 10 features"),
        (np.zeros((1, 10)), r"components\[0\] is all zero"),
        (np.full((1, 10), np.nan), "NaN"),
        (np.ones(10), r"components.reshape\(1, -1\)"),
        ([["a"] * 10], "real number"),
    ],
)
def test_bad_components_get_a_sentence(components, sentence):
    for metric in (information_loss, explained_variance):
        with pytest.raises((ValueError, TypeError), match=sentence):
            metric(components, X)


def test_bad_data_get_a_sentence():
    with pytest.raises(ValueError, match="no variance"):
        information_loss(np.ones((1, 3)), np.ones((5, 3)))
    with pytest.raises(ValueError, match="not positive semidefinite"):
        information_loss(np.ones((1, 2)), [[1.0, 2.0], [2.0, 1.0]], precomputed=True)


def test_settings_are_checked_as_elsewhere():
    H = np.eye(2, X.shape[1])
    for call in (information_loss, explained_variance):
        with pytest.raises(TypeError, match="center='no'"):
            call(H, X, center="no")
    for nonsense in (["adjusted"], np.zeros(2), "none"):
        with pytest.raises(ValueError, match="definition"):
            explained_variance(H, X, definition=nonsense)
