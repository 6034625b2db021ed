"""Some columns of any rows are the matrix of these columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing import SparseEncoder
from sparing.data import ArrayRows, SparseRows, as_view
from sparing.data.rows import ChosenColumns

X = np.random.default_rng(0).poisson(1.0, (50, 6)) + 1.0
J = np.array([4, 0, 3])


@pytest.mark.parametrize("rows", [ArrayRows(X, block_rows=7), SparseRows(sparse.csc_array(X))], ids=["dense", "sparse"])
def test_they_are_a_table_of_their_own(rows):
    chosen = ChosenColumns(rows, J, ["e", "a", "d"])
    np.testing.assert_allclose(as_view(chosen).gram(), as_view(X[:, J]).gram(), atol=1e-10)
    model = SparseEncoder(1, n_nonzero=2, random_state=0).fit(chosen)
    assert list(model.feature_names_in_) == ["e", "a", "d"]
    np.testing.assert_allclose(model.transform(chosen), model.transform(ChosenColumns(rows, J, ["e", "a", "d"])))
    np.testing.assert_allclose(model.transform(ChosenColumns(rows, J[::-1], ["d", "a", "e"])), model.transform(chosen))
    used = ["e", "a", "d"][model.support_[0]]
    with pytest.raises(ValueError, match=f"X lacks '{used}'"):
        model.transform(ChosenColumns(rows, J, ["z" if name == used else name for name in ("e", "a", "d")]))


def test_in_memory_as_well():
    np.testing.assert_array_equal(ChosenColumns(ArrayRows(X), J).source, X[:, J])
