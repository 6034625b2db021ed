"""Certificates of regressions that were altered: a recheck finds what is not so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparing import SparsePCARegressor


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12)) + rng.standard_normal((60, 1)) * np.linspace(-1, 1, 12)
    return X, X @ rng.standard_normal((12, 2)) + rng.standard_normal((60, 2))


@pytest.fixture(scope="module")
def certificate(data):
    genuine = SparsePCARegressor(2, n_nonzero=6, random_state=0).fit(*data).certificate_
    assert genuine.guarantees
    assert genuine.recheck(*data)
    return genuine


@pytest.mark.parametrize(
    "change", [{"limit": 30.0}, {"measured": 1.0}, {"strength": "for sure"}, {"claim": "Residual norm of anything"}]
)
def test_promises_of_theorems_are_computed_again(change, certificate, data):
    altered = replace(certificate, guarantees=(replace(certificate.guarantees[0], **change),))
    again = altered.recheck(*data)
    assert not again
    assert "does not match the theorem here" in str(again)


def test_promises_are_neither_left_out_nor_added(certificate, data):
    assert not replace(certificate, guarantees=()).recheck(*data)
    assert not replace(certificate, guarantees=certificate.guarantees * 2).recheck(*data)


def test_features_and_rank_are_counted(certificate, data):
    assert "it states 3 features and uses 6" in str(replace(certificate, n_nonzero=3).recheck(*data))
    assert "it states rank 1, and its fit has rank 2" in str(
        replace(certificate, n_components=1, pca_value=_pca_of_one(certificate, data)).recheck(*data)
    )


def _pca_of_one(certificate, data):
    X, Y = (part - part.mean(axis=0) for part in data)
    U = np.linalg.svd(X, full_matrices=False)[0][:, :1]
    return float(np.linalg.norm(Y - U @ (U.T @ Y)))


def test_an_iteration_is_compared_with_its_own_error(rng):
    """More features than are decomposed for one component: limits differ a little from start to start."""
    X = rng.standard_normal((400, 230)) * np.linspace(3, 1, 230)
    y = X[:, 0] + 0.1 * rng.standard_normal(400)
    genuine = SparsePCARegressor(1, n_nonzero=4, random_state=0).fit(X, y).certificate_
    assert genuine.guarantees[0].strength == "numerical"
    assert genuine.recheck(X, y)
    low = replace(genuine.guarantees[0], limit=0.9 * genuine.guarantees[0].limit)
    assert not replace(genuine, guarantees=(low,)).recheck(X, y)
