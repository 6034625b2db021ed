"""scikit-learn's checks, which are necessary, and our own, which a careless estimator fails."""

from __future__ import annotations

import functools
import pickle
import tracemalloc
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import ClusterMixin, clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from laws import BY_DESIGN, assert_scikit_learn, mostly_long
from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
    information_loss,
)
from sparing.gram.cached import CACHED_ENTRIES
from sparing.methods.selectors.response import Response


def maker(kind, **settings):
    """Makes an estimator with these settings, and others; laws hold of every search, so a quick one is asked."""
    return lambda **others: kind(**{"random_state": 0, "effort": "quick", **settings, **others})


MAKE = {
    "batch": maker(SparseEncoder, n_components=2, n_nonzero=4),
    "max_loss": maker(SparseEncoder, n_components=2, max_loss=1.2),
    "dual_set": maker(SparseEncoder, n_components=2, n_nonzero=4, selector="dual_set"),
    "iterative": maker(SparseEncoder, n_components=2, n_nonzero=3, strategy="iterative"),
    "joint": maker(SparseEncoder, n_components=2, n_nonzero=3, strategy="joint"),
    "variance": maker(SparsePCA, n_components=2, n_nonzero=3),
    "min_variance": maker(SparsePCA, n_components=2, min_variance=0.8),
    "orthogonal": maker(SparsePCA, n_components=2, n_nonzero=3, constraint="orthogonal"),
    "greedy, schur": maker(SparsePCA, n_components=2, n_nonzero=3, solver="greedy", deflation="schur"),
    "nonnegative": maker(NonnegativeSparsePCA, n_components=2, n_nonzero=3),
    "nonnegative, disjoint": maker(
        NonnegativeSparsePCA, n_components=2, n_nonzero=3, solver="spannogram", deflation="disjoint"
    ),
}
estimators = pytest.mark.parametrize("make", MAKE.values(), ids=MAKE.keys())
KINDS = ("batch", "joint", "variance", "nonnegative")
kinds = pytest.mark.parametrize("make", [MAKE[name] for name in KINDS], ids=KINDS)
"""One of each kind, for what the skeleton of a fit decides, not its algorithm."""


def crossed(axis, values, smoke):
    """The plain encoder with each of the values by name, all others with one: views have the laws of storage."""
    cases = [(name, value) for name in MAKE for value in (values if name == "batch" else [smoke])]
    ids = [f"{value}-{name}" for name, value in cases]
    return pytest.mark.parametrize(("make", axis), [(MAKE[name], values[value]) for name, value in cases], ids=ids)


@parametrize_with_checks(
    [
        SparseEncoder(),
        SparseEncoder(n_components=1, n_nonzero=1, scale=True, effort="quick"),
        SparsePCA(),
        SparsePCA(n_components=1, min_variance=0.7, scale=True, effort="quick"),
        NonnegativeSparsePCA(),
        NonnegativeSparsePCA(n_components=2, n_nonzero=1, scale=True, solver="spannogram_net", effort="quick"),
        DoublySparseEncoder(),
        DoublySparseEncoder(1, n_nonzero=1, n_rows=1, scale=True, selector="dual_set"),
        ColumnSelector(),
        ColumnSelector(1, 1, scale=True, selector="dual_set"),
        SparsePCARegressor(effort="quick"),
        SparsePCARegressor(2, n_nonzero=2, selector=Response(by="targets"), scale=True),
        SparseKMeans(n_permutations=1, n_init=2, effort="quick"),
        SparseKMeans(n_features=1, n_init=2, scale=True, effort="quick"),
        SparseHierarchicalClustering(n_permutations=1),
        SparseHierarchicalClustering(n_features=1, scale=True, difference="absolute", linkage="average"),
    ]
)
def test_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tiny data have fewer features, components or clusters than asked for
        assert_scikit_learn(estimator, check, by_design=() if isinstance(estimator, ClusterMixin) else BY_DESIGN)


def shares_features(model) -> bool:
    """Scores are uncorrelated and ordered only where all components share their features."""
    return isinstance(model, SparseEncoder) and model.strategy == "batch"


def data(rng, n=80, d=12):
    return rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)) + 0.3 * rng.standard_normal((n, d)) + 5.0


@functools.cache
def learned(make, scale=False):
    """What each learns of the same data, once for all tests that only ask it."""
    return make(scale=scale).fit(data(np.random.default_rng(20150225)))


@estimators
def test_scores_read_only_their_own_features(make, rng):
    X, model = data(rng), learned(make)
    changed = X.copy()
    changed[:, ~model.get_support()] += rng.standard_normal((80, (~model.get_support()).sum())) * 100
    np.testing.assert_array_equal(model.transform(changed), model.transform(X))
    changed[:, model.support_[0]] += 1.0
    assert not np.allclose(model.transform(changed), model.transform(X))


@kinds
def test_transform_centres_scales_and_does_not_depend_on_the_batch(make, rng):
    X, model = data(rng), learned(make, scale=True)
    Z = model.transform(X)
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) / X.std(axis=0, ddof=1) @ model.components_.T, atol=1e-12)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(
        np.vstack([model.transform(X[:1]), model.transform(X[1:7]), model.transform(X[7:])]), Z, atol=1e-12
    )
    if shares_features(model):  # components with features of their own are correlated
        np.testing.assert_allclose(np.corrcoef(Z.T), np.eye(Z.shape[1]), atol=1e-8)


@estimators
@pytest.mark.parametrize("scale", [False, True])
def test_the_round_trip_loses_what_is_said_and_nobody_decodes_better(make, scale, rng):
    X, model = data(rng), learned(make, scale)
    Z, back = model.transform(X), model.inverse_transform(model.transform(X))
    s = X.std(axis=0, ddof=1) if scale else np.ones(X.shape[1])
    loss = (((X - back) / s) ** 2).sum()
    total = (((X - X.mean(axis=0)) / s) ** 2).sum()
    np.testing.assert_allclose(loss, model.loss_, rtol=1e-9)
    best = np.linalg.lstsq(Z, (X - X.mean(axis=0)) / s, rcond=None)[0]
    np.testing.assert_allclose(model.decoder_, best, atol=1e-9)
    np.testing.assert_allclose(model.score(X), 1 - loss / total, rtol=1e-9)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1 - loss / total, rtol=1e-9)
    np.testing.assert_allclose(information_loss(model.components_, X, scale=scale), loss, rtol=1e-9)
    assert not shares_features(model) or np.all(np.diff(model.explained_variance_ratio_) <= 1e-12)
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)


STORAGES = {
    "csr": sparse.csr_array,
    "csc matrix": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "read-only": lambda X: (X.flags.__setattr__("writeable", False), X)[1],
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "pandas": lambda X: pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame({f"f{j}": X[:, j] for j in range(X.shape[1])}),
    "big endian": lambda X: X.astype(">f8"),
}


@functools.cache
def plain_answer(make, shape):
    """Data with zeros of one shape and what is learned from them, once for all storages."""
    rng = np.random.default_rng(20150225)
    X = data(rng, *shape) * (rng.random(shape) < 0.7)
    return X, make(certify=False).fit(X)


@crossed("storage", STORAGES, "csr")
def test_same_answer_in_every_storage(make, storage):
    assert_same_in(storage, make, (80, 12))


MANY = [(name, storage) for name in ("batch", "iterative", "variance", "nonnegative") for storage in ("csr", "strided")]


@pytest.mark.parametrize(("name", "storage"), mostly_long(MANY, ("batch", "strided"), *MANY[::2]))
@pytest.mark.parametrize("shape", [(40, 500), (500, 300)], ids=str)
def test_same_answer_for_many_features(name, storage, shape):
    assert_same_in(STORAGES[storage], MAKE[name], shape)


def assert_same_in(storage, make, shape):
    X, plain = plain_answer(make, shape)
    other = make(certify=False).fit(storage(X.copy()))
    np.testing.assert_allclose(other.components_, plain.components_, atol=1e-7)
    np.testing.assert_allclose(other.decoder_, plain.decoder_, atol=1e-7 * np.abs(plain.decoder_).max())
    np.testing.assert_allclose(other.loss_ratio_, plain.loss_ratio_, rtol=1e-7)


@kinds
def test_memory_mapped_data_give_the_same_answer_and_are_not_copied(make, tmp_path, rng):
    X = data(rng, 1500, 40)
    stored = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    plain, mapped = make().fit(X), make().fit(stored)
    np.testing.assert_allclose(mapped.components_, plain.components_, atol=1e-7)
    np.testing.assert_allclose(mapped.transform(stored), plain.transform(X), atol=1e-9)


@kinds
def test_float32_in_float32_out_and_the_same_features(make, rng):
    X = data(rng)
    wide, narrow = learned(make), make().fit(X.astype(np.float32))
    assert narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert narrow.inverse_transform(narrow.transform(X.astype(np.float32))).dtype == np.float32
    assert narrow.transform(X).dtype == np.float64
    np.testing.assert_array_equal(narrow.support_, wide.support_)
    np.testing.assert_allclose(narrow.loss_ratio_, wide.loss_ratio_, rtol=1e-4)


SIZES = {str(size): size for size in (2.0**-490, 1e-150, 1e-30, 1e30, 1e150, 2.0**490)}


@crossed("size", SIZES, "1e-150")
def test_nothing_depends_on_the_unit_of_the_data(make, size, rng):
    X = data(rng)
    plain, scaled = learned(make), make().fit(X / 10 * size)
    digits = 1e-9 if shares_features(plain) else 1e-5  # the others end an alternation
    np.testing.assert_allclose(scaled.components_, plain.components_, atol=digits)
    np.testing.assert_allclose(scaled.loss_ratio_, plain.loss_ratio_, rtol=1e-9)
    np.testing.assert_allclose(scaled.score(X / 10 * size), plain.score(X), rtol=1e-9)
    np.testing.assert_allclose(scaled.certificate_.gap, plain.certificate_.gap, rtol=1e-6, atol=1e-9)
    assert scaled.certificate_.recheck(X / 10 * size)
    back = scaled.inverse_transform(scaled.transform(X / 10 * size)) / size * 10
    np.testing.assert_allclose(back, plain.inverse_transform(plain.transform(X)), rtol=1e-6)


@kinds
def test_permuted_features_are_the_same_features(make, rng):
    X, order = data(rng), rng.permutation(12)
    plain, permuted = learned(make), make().fit(X[:, order])
    assert sorted(order[permuted.support_]) == list(plain.support_)
    np.testing.assert_allclose(permuted.loss_ratio_, plain.loss_ratio_, rtol=1e-9)


@kinds
def test_duplicated_constant_and_zero_columns_change_nothing(make, rng):
    X = data(rng)
    padded = np.column_stack([X, X[:, :3], np.full(80, 7.0), np.zeros(80)])
    plain, more = learned(make), make().fit(padded)
    np.testing.assert_allclose(information_loss(more.components_, padded), more.loss_, rtol=1e-9)
    assert more.loss_ratio_ <= 1.2 or plain.loss_ratio_ > 1.1
    assert not {15, 16} & set(more.support_)
    assert (more.components_ != 0).any(axis=1).all()


@estimators
def test_rank_deficient_data_give_fewer_components_with_one_warning(make, rng):
    X = rng.standard_normal((30, 1)) @ rng.standard_normal((1, 8))
    with pytest.warns(UserWarning, match="X has rank 1: 1 component") as caught:
        model = make().fit(X)
    assert len(caught) == 1
    assert model.components_.shape == (1, 8)
    assert model.loss_ratio_ == 1.0
    if isinstance(model, SparseEncoder):  # variance is another matter: few features have less of it
        assert model.certificate_.variance_kept == model.variance_kept_
        assert model.certificate_.gap == 0
    assert model.transform(X).shape == (30, 1)
    assert list(model.get_feature_names_out()) == [f"{type(model).__name__.lower()}0"]


@pytest.mark.parametrize("r", [2, 3, 11, 12])
def test_counts_at_their_limits(r, rng):
    X = data(rng)
    model = SparseEncoder(2, n_nonzero=r, random_state=0).fit(X)
    assert len(model.support_) == r
    assert np.count_nonzero(model.components_.any(axis=0)) == r
    one = SparseEncoder(1, n_nonzero=1, random_state=0).fit(X)
    assert np.count_nonzero(one.components_) == 1
    every = SparseEncoder(12, n_nonzero=12, random_state=0).fit(X)
    assert every.loss_ratio_ == 1.0


@kinds
def test_frames_names_pipelines_clones_and_pickles(make, rng):
    frame = pd.DataFrame(data(rng), columns=[f'gene "{j}" <b>' for j in range(12)])
    model = make().set_output(transform="pandas")
    scores = model.fit_transform(frame)
    assert list(scores.columns) == list(model.get_feature_names_out())
    assert list(model.feature_names_in_) == list(frame.columns)
    with pytest.raises(ValueError, match="X lacks 'gene"):
        model.transform(frame.rename(columns={frame.columns[model.support_[0]]: "other"}))
    as_polars = make().set_output(transform="polars")
    assert isinstance(as_polars.fit_transform(pl.DataFrame(data(rng))), pl.DataFrame)
    again = pickle.loads(pickle.dumps(model))
    pd.testing.assert_frame_equal(again.transform(frame), scores)
    assert str(again.certificate_) == str(model.certificate_)
    assert again.certificate_.recheck(frame)
    assert clone(model).get_params() == model.get_params()
    piped = make_pipeline(StandardScaler(), make()).fit(frame)
    assert piped.transform(frame).shape == (80, len(piped[-1].components_))


@kinds
def test_a_seed_gives_one_answer_also_in_threads(make, rng):
    """Two at once here, every kind of estimator in eight: tests/stress/test_threads.py."""
    X = data(rng, 50, 80)
    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(lambda _: make().fit(X).components_, range(2))
    np.testing.assert_array_equal(one, other)


@kinds
def test_certifying_never_changes_the_components(make, rng):
    X = data(rng, 40, 150)
    with_proof, without = make().fit(X), make(certify=False).fit(X)
    np.testing.assert_array_equal(with_proof.components_, without.components_)
    assert not hasattr(without, "certificate_")
    np.testing.assert_allclose(with_proof.loss_, without.loss_, rtol=1e-9)


@settings(deadline=None, max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(2, 15),
    d=st.integers(1, 8),
    k=st.integers(1, 3),
    r=st.integers(1, 8),
    integers=st.booleans(),
    scale=st.booleans(),
)
def test_invariants_on_small_and_tied_data(seed, n, d, k, r, integers, scale):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (n, d)).astype(float) if integers else rng.standard_normal((n, d))
    k, r = min(k, d), min(r, d)
    if np.ptp(X, axis=0).max() == 0:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparseEncoder(k, n_nonzero=r, scale=scale, random_state=0).fit(X)
    certificate = model.certificate_
    assert 1 <= len(model.components_) <= min(k, r)
    assert len(model.support_) <= r
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert model.loss_ratio_ >= 1
    assert 0 <= certificate.bound <= certificate.value <= certificate.total * (1 + 1e-12)
    assert 0 <= certificate.gap <= 1
    assert all(guarantee.holds for guarantee in certificate.guarantees)
    assert certificate.recheck(X)
    np.testing.assert_allclose(model.explained_variance_ratio_.sum(), 1 - model.loss_ / certificate.total, atol=1e-9)


@pytest.mark.parametrize(
    ("effort", "kept"), [("quick", 0), pytest.param("default", 2 * CACHED_ENTRIES, marks=pytest.mark.long)]
)
def test_a_fit_on_sparse_data_never_holds_them_dense_nor_anything_d_by_d(effort, kept):
    """At most 2.5 times the data's own storage, X included, (n + d)(k + r) floats, and Gram columns of a search."""
    n, d, k, r = 6000, 9000, 5, 30
    X = sparse.random(n, d, density=0.02, format="csr", random_state=np.random.default_rng(0))
    stored = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    model = SparseEncoder(k, n_nonzero=r, effort=effort, random_state=0)
    model.fit(X[:100])  # imports and caches
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # noise has a flat spectrum
        model.fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert stored + peak <= 2.5 * stored + 8 * (n + d) * (k + r) + 8 * kept
    assert peak < 8 * n * d / (2 if kept else 10)


@crossed("storage", {"dense": np.asarray, "csr": sparse.csr_array}, "csr")
def test_whole_weights_count_as_copies(make, storage, rng):
    X = data(rng, 40, 10)
    weights = rng.integers(0, 4, 40)
    weighted, copied = make().fit(storage(X), sample_weight=weights), make().fit(storage(np.repeat(X, weights, axis=0)))
    np.testing.assert_array_equal(weighted.support_, copied.support_)
    np.testing.assert_allclose(weighted.components_, copied.components_, atol=1e-6)
    np.testing.assert_allclose(weighted.mean_, copied.mean_)
    np.testing.assert_allclose(weighted.loss_, copied.loss_, rtol=1e-6)
    for name in ("value", "bound", "pca_value"):
        ours, theirs = getattr(weighted.certificate_, name), getattr(copied.certificate_, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, err_msg=name)
    if hasattr(weighted, "variance_"):
        np.testing.assert_allclose(weighted.variance_, copied.variance_, rtol=1e-6)
    assert weighted.certificate_.recheck(X, sample_weight=weights)
    assert not weighted.certificate_.recheck(X)


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.ones(7), "7"),
        (np.ones((80, 1)), "shape"),
        (-np.ones(80), "negative"),
        (np.full(80, np.nan), "missing"),
        (np.zeros(80), "zero"),
        (["much"] * 80, "numbers"),
    ],
)
def test_bad_weights_get_a_sentence(weights, words, rng):
    for model in (SparseEncoder(2, n_nonzero=3), SparsePCA(n_nonzero=3)):
        with pytest.raises(ValueError, match=words):
            model.fit(data(rng), sample_weight=weights)
    with pytest.raises(ValueError, match="precomputed"):
        SparsePCA(n_nonzero=3, precomputed=True).fit(np.eye(4), sample_weight=np.ones(4))


@functools.cache
def answer_with_means(make, weighted):
    """Data with holes, weights, the means of what is there, data with means in the holes, and what these teach."""
    rng = np.random.default_rng(20150225)
    X = data(rng, 60, 10)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.integers(1, 4, 60) if weighted else None
    means = np.ma.average(np.ma.masked_invalid(X), axis=0, weights=weights).filled(0.0)
    whole = np.where(np.isnan(X), means, X)
    return X, weights, means, whole, make().fit(whole, sample_weight=weights)


STORED = {"dense": np.asarray, "csr": sparse.csr_array, "float32": lambda X: X.astype(np.float32)}
HOLES = {f"{name}, {weighted=}": (STORED[name], weighted) for name in STORED for weighted in (False, True)}


@crossed("holes", HOLES, "csr, weighted=True")
def test_missing_values_are_means_where_that_is_asked_for(make, holes):
    storage, weighted = holes
    X, weights, means, whole, wanted = answer_with_means(make, weighted)
    with pytest.raises(ValueError, match="missing"):
        make().fit(storage(X))
    found = make(missing="mean").fit(storage(X), sample_weight=weights)
    loose = 1e-3 if found.transform(storage(X)).dtype == np.float32 else 1e-6
    np.testing.assert_allclose(found.imputation_, means, rtol=loose)
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_allclose(found.components_, wanted.components_, atol=loose)
    np.testing.assert_allclose(found.transform(storage(X)), wanted.transform(whole), atol=10 * loose)
    np.testing.assert_allclose(found.certificate_.value, wanted.certificate_.value, rtol=loose)
    assert found.certificate_.recheck(storage(X), sample_weight=weights)
    assert np.isfinite(found.transform(storage(X[:3]))).all()
    if storage is np.asarray and not weighted:
        assert not hasattr(found.set_params(missing="error").fit(whole), "imputation_")


def test_missing_is_a_mistake_or_a_mean(rng):
    for model in (SparseEncoder(2, n_nonzero=3, missing="drop"), SparsePCA(n_nonzero=3, missing=None)):
        with pytest.raises(ValueError, match="missing"):
            model.fit(data(rng))
    X = data(rng)
    X[:, 3] = np.nan  # a feature without any value is of no use
    X[0, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        SparsePCA(n_nonzero=3, missing="mean").fit(X)
    X[0, 1] = np.nan
    model = SparsePCA(n_nonzero=3, missing="mean").fit(X)
    assert 3 not in model.support_
