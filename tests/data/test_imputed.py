"""Missing values: where they are, and what takes their place."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from counted_rows import CountedRows
from sparing.data import Imputed, as_rows
from sparing.data.standardized import StandardizedRows
from sparing.errors import NotFiniteError

STORAGES = pytest.mark.parametrize(
    "storage",
    [as_rows, lambda X: as_rows(sparse.csr_matrix(X)), CountedRows, lambda X: CountedRows(sparse.csr_array(X), cuts=4)],
    ids=["array", "sparse", "blocks", "sparse blocks"],
)


def holes(rng):
    X = rng.standard_normal((250, 6)) * (rng.random((250, 6)) < 0.6)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@STORAGES
def test_missing_says_where(storage, rng):
    X = holes(rng)
    found = Imputed(storage(X)).missing()
    np.testing.assert_array_equal(found.toarray() if sparse.issparse(found) else found, np.isnan(X))


@STORAGES
def test_means_of_the_values_there_are(storage, rng):
    X = holes(rng)
    filled = Imputed(storage(X))
    np.testing.assert_allclose(filled.means, np.nanmean(X, axis=0))
    source = filled.source
    dense = source.toarray() if sparse.issparse(source) else source
    np.testing.assert_allclose(dense, np.where(np.isnan(X), np.nanmean(X, axis=0), X))


@STORAGES
def test_infinity_is_found_where_it_is_and_not_where_a_value_is_missing(storage, rng):
    X = holes(rng)
    X[3, 2], X[40, 2] = np.nan, np.inf
    with pytest.raises(NotFiniteError, match=r"infinity .first at row 40, feature 2"):
        StandardizedRows(Imputed(storage(X)))
