"""Every estimator takes a file; older and odd ways to write AnnData's names are read, too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from laws import mostly_long
from sparing import NonnegativeSparsePCA, SparseKMeans, SparsePCA, SparsePCARegressor
from sparing.data.readers import open_data
from sparing.errors import SparingWarning

rng = np.random.default_rng(1)
X = rng.poisson(1.0, (60, 6)) + 4.0 * np.outer(np.arange(60) > 30, [1, 1, 0, 0, 0, 0])
Y = X[:, 0] + rng.standard_normal(60)


def store(folder, kind):
    if kind == "dense":
        np.save(folder / "X.npy", X)
        return folder / "X.npy"
    h5py = pytest.importorskip("h5py")
    S = sparse.csr_array(X).asformat(kind)
    with h5py.File(folder / "X.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["h5sparse_format"], group.attrs["h5sparse_shape"] = kind, S.shape  # AnnData before 0.7
        group["data"], group["indices"], group["indptr"] = S.data, S.indices, S.indptr
        names = np.array([(b"g%d" % j, 1.0) for j in range(6)], dtype=[("index", "S4"), ("mean", float)])
        file["var"] = names
    return folder / "X.h5ad"


LEARN = {
    SparsePCA(2, n_nonzero=3, effort="quick"): "components_",
    NonnegativeSparsePCA(2, n_nonzero=3, effort="quick", random_state=0): "components_",
    SparsePCARegressor(2, n_nonzero=3, effort="quick", random_state=0): "coef_",
    SparseKMeans(2, n_permutations=3, n_init=5, random_state=0, effort="quick"): "feature_weights_",
}
CASES = [(model, kind) for model in LEARN for kind in ("dense", "csr", "csc")]


@pytest.mark.parametrize(("estimator", "kind"), mostly_long(CASES, *CASES[:3], *CASES[3::3], *CASES[5::3]), ids=str)
def test_estimators_take_files(estimator, kind, tmp_path):
    attribute = LEARN[estimator]
    inside = X if kind == "dense" else sparse.csc_array(X)
    want = np.array(getattr(estimator.fit(inside, Y), attribute))
    rows = open_data(store(tmp_path, kind), block_bytes=500)
    np.testing.assert_allclose(getattr(estimator.fit(rows, Y), attribute), want, atol=1e-8)
    assert rows.feature_names == (None if kind == "dense" else [f"g{j}" for j in range(6)])


def test_a_covariance_from_a_file(tmp_path):
    C = np.cov(X, rowvar=False)
    np.save(tmp_path / "C.npy", C)
    model = SparsePCA(2, n_nonzero=3, precomputed=True, effort="quick")
    want = model.fit(C).components_
    np.testing.assert_array_equal(model.fit(open_data(tmp_path / "C.npy", block_bytes=100)).components_, want)


def test_names_in_categories_with_masks_or_of_another_length(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        file["X"], file["raw/X"], file["obsm/pca"] = X, X[:, :5], X
        file["var/gene/categories"], file["var/gene/codes"] = ["a", "b"], [1, 0, 0, 1, 1, 0]
        file["var"].attrs["_index"] = "gene"
        file["raw/var/_index/values"], file["raw/var/_index/mask"] = list("vwxyz"), [False] * 5
    with pytest.warns(SparingWarning, match="several features are named 'b', 'a'"):
        assert open_data(tmp_path / "X.h5ad").feature_names == ["b", "a", "a-1", "b-1", "b-2", "a-2"]
    assert open_data(tmp_path / "X.h5ad", key="raw/X").feature_names == list("vwxyz")
    assert open_data(tmp_path / "X.h5ad", key="obsm/pca").feature_names is None
    with h5py.File(tmp_path / "X.h5ad", "r+") as file:
        del file["X"]
        file["X"] = X[:, :4]
    assert open_data(tmp_path / "X.h5ad").feature_names is None
