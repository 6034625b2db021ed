"""Panels of genes in real AnnData objects, and what scanpy makes of them; `make test-scverse` has both."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing import SparseEncoder, load_model, open_data, save_model
from sparing.data.readers.text_columns import read_column
from sparing.scverse import select_genes

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")


@pytest.fixture
def adata(rng):
    kind = np.arange(60) % 3
    rates = np.full((3, 40), 0.5)
    for k in range(3):
        rates[k, 5 * k : 5 * k + 5] = 6.0
    counts = rng.poisson(rates[kind]).astype(np.float32)
    genes = [f"gene{j}" for j in range(36)] + [f"MT-{j}" for j in range(4)]
    obs = pd.DataFrame(
        {"kind": pd.Categorical(np.array(["B", "T", "NK"])[kind]), "batch": kind % 2},
        index=[f"c{i}" for i in range(60)],
    )
    obs.loc["c4", "kind"] = None
    made = anndata.AnnData(sparse.csr_matrix(np.log1p(counts)), obs=obs, var=pd.DataFrame(index=genes))
    made.layers["counts"] = sparse.csr_matrix(counts)
    made.var["mt"] = made.var_names.str.startswith("MT-")
    return made


def test_results_are_those_of_the_encoder_and_can_be_saved(adata, tmp_path):
    model = select_genes(adata, 6, n_components=2, effort="quick")
    alone = SparseEncoder(2, n_nonzero=6, effort="quick").fit(adata)
    np.testing.assert_array_equal(model.support_, alone.support_)
    np.testing.assert_array_equal(np.flatnonzero(adata.var["sparing"]), alone.support_)
    np.testing.assert_allclose(adata.varm["sparing_components"], alone.components_.T)
    np.testing.assert_allclose(adata.obsm["X_sparing"], alone.transform(adata), atol=1e-6)
    np.testing.assert_allclose(adata.var["sparing_r2"], alone.feature_r2_)
    assert adata.uns["sparing"]["variance_kept"] == alone.variance_kept_
    assert "No choice of 6 features" in adata.uns["sparing"]["certificate"]
    adata.write_h5ad(tmp_path / "panel.h5ad")
    again = anndata.read_h5ad(tmp_path / "panel.h5ad")
    assert again.uns["sparing"]["params"]["n_genes"] == 6
    assert list(again.var_names[again.var["sparing"]]) == list(model.feature_names_in_[model.support_])


def test_a_model_needs_only_its_panel(adata, tmp_path):
    model = select_genes(adata, 6, n_components=2, effort="quick")
    panel = adata[:, adata.var["sparing"]]
    shuffled = panel[:, ::-1].copy()
    np.testing.assert_allclose(model.transform(shuffled), adata.obsm["X_sparing"], atol=1e-6)
    save_model(model, tmp_path / "panel.sparing")
    again = load_model(tmp_path / "panel.sparing")
    np.testing.assert_allclose(again.transform(shuffled), adata.obsm["X_sparing"], atol=1e-6)


def test_markers_in_and_unwanted_genes_out(adata):
    free = select_genes(adata, 6, n_components=2, effort="quick", key_added="free")
    assert adata.var["free"].sum() == 6
    model = select_genes(adata, 6, n_components=2, include=["gene30"], exclude="free", effort="quick")
    assert not set(free.support_) & set(model.support_)
    assert "gene30" in adata.var_names[model.support_]
    assert len(model.support_) == 6


def test_layers_and_raw_by_name(adata):
    counts = select_genes(adata, 5, layer="counts", n_components=2, effort="quick")
    direct = SparseEncoder(2, n_nonzero=5, effort="quick").fit(adata.layers["counts"])
    np.testing.assert_array_equal(counts.support_, direct.support_)
    adata.raw = adata.copy()
    adata.X = adata.X * 0
    raw = select_genes(adata, 5, layer="raw", n_components=2, effort="quick")
    assert raw.variance_kept_ > 0.5
    narrow = adata[:, :20].copy()
    with pytest.raises(ValueError, match=r"layer='raw' has 40 genes, and adata has 20"):
        select_genes(narrow, 5, layer="raw")


def test_names_that_repeat_are_all_meant(adata):
    names = list(adata.var_names)
    names[1] = names[0]
    adata.var_names = names
    model = select_genes(adata, 5, include=[names[0]], n_components=2, effort="quick")
    assert {0, 1} <= set(model.support_)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"include": ["gene0", "nope"]}, "include has 'nope', which are not in adata.var_names"),
        ({"exclude": "ribo"}, r"exclude='ribo' is not a column of adata.var; it has 'mt'"),
        ({"layer": "none"}, "without a table 'layers/none'"),
        ({"n_genes": 0}, "n_nonzero"),
    ],
)
def test_mistakes_get_a_sentence_and_change_nothing(adata, asked, message):
    with pytest.raises(ValueError, match=message):
        select_genes(adata, **asked)
    assert "sparing" not in adata.var


def test_columns_of_obs_are_labels(adata, tmp_path):
    adata.write_h5ad(tmp_path / "cells.h5ad")
    adata.write_zarr(tmp_path / "cells.zarr")
    for name in ("cells.h5ad", "cells.zarr"):
        kinds = read_column(tmp_path / name, "kind")
        assert kinds[:5] == ["B", "T", "NK", "B", ""]
        assert read_column(tmp_path / name, "batch")[:3] == ["0", "1", "0"]
        with pytest.raises(ValueError, match=r"no column 'nope'.*'kind'"):
            read_column(tmp_path / name, "nope")
    assert open_data(tmp_path / "cells.h5ad").shape == (60, 40)


def test_scanpy_plots_and_neighbours(adata):
    sc = pytest.importorskip("scanpy")
    select_genes(adata, 6, n_components=2, effort="quick")
    sc.pp.neighbors(adata, use_rep="X_sparing", n_neighbors=5)
    assert adata.obsp["connectivities"].shape == (60, 60)
    kept = adata[adata.obs["kind"].notna()].copy()
    sc.pl.dotplot(kept, list(kept.var_names[kept.var["sparing"]]), groupby="kind", show=False)
    sc.pl.embedding(adata, basis="X_sparing", color="kind", show=False)
