"""A model without the features it does not use says the same."""

from __future__ import annotations

import numpy as np
import pytest

from sparing import SparseEncoder, SparseKMeans, SparsePCA, SparsePCARegressor
from sparing.estimators.saving import restricted_to

X = np.random.default_rng(0).standard_normal((40, 7)) + np.arange(7)


@pytest.mark.parametrize(
    "model",
    [
        SparseEncoder(2, n_nonzero=3, scale=True, missing="mean"),
        SparsePCA(2, n_nonzero=2),
        SparsePCARegressor(2, n_nonzero=3),
    ],
)
def test_the_scores_are_the_same(model):
    model.random_state = 0
    model.fit(X, X[:, 0])
    columns = X[:, model.support_].copy()
    np.testing.assert_allclose(restricted_to(model).transform(columns), model.transform(X), atol=1e-13)
    if hasattr(model, "predict"):
        np.testing.assert_allclose(restricted_to(model).predict(columns), model.predict(X), atol=1e-13)
    if hasattr(model, "imputation_"):
        holes, few = X.copy(), columns.copy()
        holes[3, model.support_[1]] = few[3, 1] = np.nan
        np.testing.assert_allclose(restricted_to(model).transform(few), model.transform(holes), atol=1e-13)
    assert model.n_features_in_ == 7


def test_models_without_components():
    with pytest.raises(TypeError, match="SparseKMeans, which has no components"):
        restricted_to(SparseKMeans(2, random_state=0).fit(X))
