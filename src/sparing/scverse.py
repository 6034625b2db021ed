"""Gene panels in AnnData, for users of scanpy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sparing import errors
from sparing.data.containers import anndata_table, is_anndata
from sparing.estimators.sparse_encoder import SparseEncoder

__all__ = ["select_genes"]


def select_genes(
    adata: Any,
    n_genes: int = 50,
    *,
    n_components: int | None = 10,
    include: Any = None,
    exclude: Any = None,
    layer: str | None = None,
    key_added: str = "sparing",
    **parameters: Any,
) -> SparseEncoder:
    """Choose the genes that keep what PCA keeps of all genes, and write them into an AnnData object.

    Parameters
    ----------
    adata : AnnData
        Cells by genes, usually normalised and logarithms (``sc.pp.normalize_total``, ``sc.pp.log1p``). Pass all genes:
        preselecting highly variable ones is not necessary.
    n_genes : int, default=50
        Size of the panel.
    n_components : int or None, default=10
        Number of principal components that the panel should keep. None: one per chosen gene, to predict all others.
    include, exclude : str, names, indices or a mask, optional
        Genes that must be in the panel (such as markers), and genes that must not (such as ribosomal or mitochondrial).
        A single string is a boolean column of ``adata.var``; otherwise as in :class:`SparseEncoder`. An excluded gene
        is still predicted, and still counts in the share that is kept.
    layer : str, optional
        A layer instead of ``adata.X``, or ``"raw"`` for ``adata.raw.X`` if it has the same genes.
    key_added : str, default="sparing"
        Name of the results.
    **parameters
        Of :class:`SparseEncoder`, such as ``costs``, ``max_cost``, ``effort`` and ``time_limit``.

    Returns
    -------
    SparseEncoder
        The fitted model. ``model.transform(new)`` takes AnnData that have the panel and no other gene.

    Notes
    -----
    The results are ``adata.var["sparing"]`` (which genes are in the panel), ``adata.var["sparing_r2"]`` (how well each
    gene is predicted from them), ``adata.varm["sparing_components"]`` (loadings, one column for each component),
    ``adata.obsm["X_sparing"]`` (scores of the cells, for ``sc.pp.neighbors(adata, use_rep="X_sparing")``) and
    ``adata.uns["sparing"]`` (parameters, ``variance_kept``, ``certificate`` in words); all of it can be saved with
    ``adata.write_h5ad``.

    Examples
    --------
    >>> import scanpy as sc, sparing.scverse  # doctest: +SKIP
    >>> adata.var["mt"] = adata.var_names.str.startswith("MT-")  # doctest: +SKIP
    >>> sparing.scverse.select_genes(adata, 50, include=["CD3D", "CD79A"], exclude="mt")  # doctest: +SKIP
    >>> sc.pl.dotplot(adata, adata.var_names[adata.var["sparing"]], groupby="cell_type")  # doctest: +SKIP
    """
    if not is_anndata(adata):
        raise TypeError(
            f"select_genes was given a {type(adata).__name__}; an AnnData object is needed. Read a file with "
            "anndata.read_h5ad, or fit sparing.SparseEncoder to other tables."
        )
    if not isinstance(key_added, str) or not key_added:
        raise TypeError(f"key_added={key_added!r} must be a string: results are stored under it.")
    key = None if layer is None else "raw/X" if layer == "raw" else f"layers/{layer}"
    table, names = anndata_table(adata, key)
    assert names is not None
    if len(names) != adata.n_vars:
        raise ValueError(
            f"layer={layer!r} has {len(names)} genes, and adata has {adata.n_vars}: results could not be written to "
            "its genes. Pass adata.raw.to_adata()."
        )
    rules = {"include": _genes(adata, "include", include), "exclude": _genes(adata, "exclude", exclude)}
    model = SparseEncoder(n_components, n_nonzero=n_genes, **rules, **parameters).fit(table)
    _write(adata, model, table, key_added, {"layer": layer or "X", **_plain(parameters)})
    model.feature_names_in_ = np.array(names, dtype=object)
    return model


def _genes(adata: Any, name: str, asked: Any) -> Any:
    """A mask or indices, from the name of a column of ``var``, names of genes, indices or a mask."""
    if isinstance(asked, str):
        if asked not in adata.var:
            there = f"; it has {errors.listed(map(str, adata.var.columns))}" if len(adata.var.columns) else ""
            raise ValueError(
                f"{name}={asked!r} is not a column of adata.var{there}. Pass a boolean column, or a list of genes: "
                f"[{asked!r}]."
            )
        column = np.asarray(adata.var[asked])
        if column.dtype != bool:
            raise ValueError(
                f"{name}={asked!r} is a column of adata.var of type {column.dtype}; True or False is needed for every "
                "gene."
            )
        return column
    if asked is None or not len(asked) or not isinstance(next(iter(asked)), str):
        return asked
    places: dict[str, list[int]] = {}
    for j, gene in enumerate(map(str, adata.var_names)):
        places.setdefault(gene, []).append(j)
    unknown = [gene for gene in asked if gene not in places]
    if unknown:
        raise ValueError(
            f"{name} has {errors.listed(unknown)}, which are not in adata.var_names. Check the spelling, and whether "
            f"genes are named by symbol or by id."
        )
    return np.array([j for gene in dict.fromkeys(asked) for j in places[gene]], dtype=np.intp)


def _write(adata: Any, model: SparseEncoder, table: Any, key: str, parameters: Mapping[str, Any]) -> None:
    """Write the results where scanpy's plots and ``write_h5ad`` expect them."""
    adata.var[key] = model.get_support()
    adata.var[f"{key}_r2"] = model.feature_r2_
    adata.varm[f"{key}_components"] = model.components_.T
    adata.obsm[f"X_{key}"] = model.transform(table)
    adata.uns[key] = {
        "params": {"n_genes": len(model.support_), "n_components": len(model.components_), **parameters},
        "variance_kept": model.variance_kept_,
        **({"certificate": str(model.certificate_)} if hasattr(model, "certificate_") else {}),
    }


def _plain(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a file can store."""
    return {name: value for name, value in parameters.items() if isinstance(value, (bool, int, float, str))}
