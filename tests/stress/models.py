"""Every estimator with parameters as users mix them, and what must hold of it once it is fitted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import sparing
from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseEncoderCV,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
)
from sparing.estimators.sparse_pca import BLOCK_SOLVERS
from sparing.methods.deflation import CONSTRAINTS, DEFLATIONS
from sparing.methods.selectors import SELECTORS
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, SOLVERS

few = st.integers(1, 4)
features = st.integers(1, 12)
flags = st.booleans()
seeds = st.integers(0, 2**16)
selectors = st.sampled_from(["auto", "auto", *SELECTORS])
deflations = st.sampled_from(["auto", "auto", *DEFLATIONS])


def made(kind: Any, /, **parameters: Any) -> st.SearchStrategy:
    return st.fixed_dictionaries(parameters).map(lambda chosen: kind(**chosen))


def counted(name: str, share: st.SearchStrategy) -> st.SearchStrategy:
    """A number of features, or a share of what there is, or what each component may have."""
    return st.one_of(
        st.builds(lambda r: {"n_nonzero": r}, features),
        st.builds(lambda s: {name: s}, share),
        st.just({}),
    )


def with_counts(kind: Any, counts: st.SearchStrategy, /, **parameters: Any) -> st.SearchStrategy:
    return st.tuples(counts, st.fixed_dictionaries(parameters)).map(lambda both: kind(**both[0], **both[1]))


efforts = st.sampled_from(["quick", "quick", "default"])
both = {"center": flags, "scale": flags, "effort": efforts, "random_state": seeds}
losses = st.floats(1.0, 3.0)
shares = st.floats(0.05, 1.0)

MODELS: dict[str, st.SearchStrategy] = {
    "SparseEncoder": with_counts(
        SparseEncoder,
        counted("max_loss", losses),
        n_components=few,
        strategy=st.sampled_from(["batch", "iterative", "joint"]),
        selector=selectors,
        certify=flags,
        passes=st.sampled_from(["auto", "auto", "any", "few"]),
        missing=st.sampled_from(["error", "mean"]),
        **both,
    ),
    "SparsePCA": with_counts(
        SparsePCA,
        counted("min_variance", shares),
        n_components=few,
        solver=st.sampled_from(["auto", "auto", *SOLVERS, *BLOCK_SOLVERS]),
        deflation=deflations,
        refit=flags,
        certify=flags,
        **both,
    ),
    "constrained SparsePCA": with_counts(
        SparsePCA,
        st.one_of(counted("min_variance", shares), st.builds(lambda r: {"n_nonzero_total": r}, features)),
        n_components=few,
        constraint=st.sampled_from([None, *CONSTRAINTS]),
        max_cosine=st.sampled_from([1.0, 1.0, 0.5, 0.1, 0.0]),
        n_rows=st.sampled_from([None, None, None, 1, 3]),
        **both,
    ),
    "NonnegativeSparsePCA": with_counts(
        NonnegativeSparsePCA,
        counted("min_variance", shares),
        n_components=st.integers(1, 3),
        solver=st.sampled_from(["auto", "auto", *NONNEGATIVE_SOLVERS]),
        deflation=deflations,
        rank=st.integers(1, 3),
        accuracy=st.sampled_from([0.3, 0.5]),
        **both,
    ),
    "DoublySparseEncoder": made(
        DoublySparseEncoder,
        n_components=few,
        n_nonzero=st.none() | features,
        n_rows=st.none() | features,
        selector=selectors,
        **both,
    ),
    "ColumnSelector": made(ColumnSelector, n_features_to_select=features, n_components=few, selector=selectors, **both),
    "SparseKMeans": made(
        SparseKMeans,
        n_clusters=few,
        weight_bound=st.just("auto"),
        n_features=st.none() | features,
        n_init=st.just(2),
        n_permutations=st.just(2),
        scale=flags,
        random_state=seeds,
    ),
    "SparseHierarchicalClustering": made(
        SparseHierarchicalClustering,
        n_clusters=few,
        n_features=st.none() | features,
        linkage=st.sampled_from(["complete", "single", "average", "ward"]),
        difference=st.sampled_from(["squared", "squared", "absolute"]),
        complementary=flags,
        n_permutations=st.just(2),
        scale=flags,
        random_state=seeds,
    ),
    "SparseEncoderCV": made(
        SparseEncoderCV,
        n_components=few,
        n_nonzero=features,
        cv=st.just(2),
        rule=st.sampled_from(["one_se", "best"]),
        **both,
    ),
    "SparsePCARegressor": made(
        SparsePCARegressor,
        n_components=few,
        n_nonzero=features,
        selector=st.sampled_from(["auto", "auto", "response", *SELECTORS]),
        fit_intercept=flags,
        **both,
    ),
}

PUBLIC = {name for name in sparing.__all__ if hasattr(getattr(sparing, name), "fit")}


def dense(X: Any) -> np.ndarray:
    """Any storage as an array of floats."""
    X = X.toarray() if hasattr(X, "toarray") else X.to_numpy() if hasattr(X, "to_numpy") else X
    return np.asarray(X, dtype=np.float64)


def assert_sound(model: Any, X: Any) -> None:
    """What holds of every fitted model, whatever it was fitted to."""
    support = model.support_
    assert support.dtype.kind == "i"
    assert np.all(np.diff(support) > 0)
    assert len(support) or getattr(model, "n_clusters", None) == 1  # one cluster is all that there is: no feature tells
    assert np.all((support >= 0) & (support < model.n_features_in_))
    np.testing.assert_array_equal(np.flatnonzero(model.get_support()), support)
    for name, value in vars(model).items():
        if name.endswith("_") and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert np.isfinite(value).all(), name
    for name in ("loss_", "criterion_", "inertia_"):
        assert 0 <= getattr(model, name, 0.0) < np.inf, name
    assert getattr(model, "loss_ratio_", 1.0) >= 1
    assert len(str(getattr(model, "certificate_", "A sentence."))) > 10


def assert_components_sound(model: Any, X: Any) -> None:
    """What holds of models with components."""
    H = model.components_
    assert H.shape == (model.n_components_, model.n_features_in_) if hasattr(model, "n_components_") else H.ndim == 2
    np.testing.assert_allclose(np.linalg.norm(H, axis=1), 1, atol=1e-9)
    np.testing.assert_array_equal(np.flatnonzero(H.any(axis=0)), model.support_)
    if hasattr(model, "explained_variance_ratio_"):
        assert model.explained_variance_ratio_.min() >= -1e-6
        assert model.explained_variance_ratio_.sum() <= 1 + 1e-6
    assert_counts_kept(model)
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and hasattr(certificate, "gap"):
        assert 0 <= certificate.gap <= 1
        again = certificate.recheck(X)
        assert again, f"{again} ({certificate.value!r}, {certificate.bound!r}, {certificate.total!r})"


def assert_counts_kept(model: Any) -> None:
    """No more features than were asked for, of those whose solvers count and do not penalise."""
    r, total = getattr(model, "n_nonzero", None), getattr(model, "n_nonzero_total", None)
    shared = not hasattr(model, "strategy") or model.strategy == "batch"
    if total is not None:
        assert np.count_nonzero(model.components_) <= total
    if r is None or getattr(model, "solver", None) == "elastic_net":
        return
    used = len(model.support_) if shared and not hasattr(model, "solver") else None
    assert (used or np.count_nonzero(model.components_, axis=1).max()) <= r


def assert_reads_only_its_own(model: Any, X: np.ndarray) -> None:
    """Scores are finite and depend on no other feature."""
    names = getattr(model, "feature_names_in_", None)

    def scores(rows: np.ndarray) -> np.ndarray:
        return model.transform(rows if names is None else pd.DataFrame(rows, columns=names))

    Z = scores(X)
    assert Z.shape == (len(X), len(model.components_))
    assert np.isfinite(Z).all()
    other = X.copy(order="K")  # another layout rounds otherwise
    other[:, ~model.get_support()] = X.max() if len(X) else 0.0
    np.testing.assert_array_equal(scores(other), Z)
    if hasattr(model, "inverse_transform"):
        back = model.inverse_transform(Z)
        assert back.shape == X.shape
        assert np.isfinite(back).all()
