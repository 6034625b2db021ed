"""Names of features in archives, and keys that are none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing import SparseEncoder, open_data
from sparing.errors import UnreadableError

X = np.random.default_rng(0).standard_normal((20, 4))
NAMES = ["alpha", "é🎉", "c d", ""]


@pytest.mark.parametrize("key", ["feature_names", "columns", "names"])
def test_names_come_with_the_table(key, tmp_path):
    np.savez(tmp_path / "X.npz", X=X, other=X[:, :3], **{key: NAMES})
    rows = open_data(tmp_path / "X.npz")
    assert rows.feature_names == NAMES
    assert list(SparseEncoder(1, n_nonzero=2).fit(rows).feature_names_in_) == NAMES
    assert open_data(tmp_path / "X.npz", key="other").feature_names is None


def test_names_come_with_a_sparse_matrix(tmp_path):
    sparse.save_npz(tmp_path / "S.npz", sparse.csr_array(X))
    parts = dict(np.load(tmp_path / "S.npz"))
    np.savez(tmp_path / "S.npz", **parts, feature_names=np.array(NAMES))
    assert open_data(tmp_path / "S.npz").feature_names == NAMES


@pytest.mark.parametrize(
    "names",
    [
        np.array(NAMES, dtype=object),
        np.array([name.encode() for name in NAMES]),
        np.array(NAMES[:3]),
        np.array([NAMES]),
        np.array("abcd"),
        np.arange(4),
    ],
)
def test_other_arrays_are_no_names(names, tmp_path):
    np.savez(tmp_path / "X.npz", X=X, feature_names=names)
    rows = open_data(tmp_path / "X.npz")
    assert rows.feature_names is None
    np.testing.assert_array_equal(rows.source, X)


def test_keys_that_are_not_there(tmp_path):
    sparse.save_npz(tmp_path / "S.npz", sparse.csr_array(X))
    with pytest.raises(UnreadableError, match=r"no table 'X'; it holds one sparse matrix. Leave key out"):
        open_data(tmp_path / "S.npz", key="X")
    np.savez(tmp_path / "y.npz", y=X[0])
    with pytest.raises(UnreadableError, match=r"no table 'X' and no other table. Write one"):
        open_data(tmp_path / "y.npz", key="X")
