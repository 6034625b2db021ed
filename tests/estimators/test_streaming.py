"""``partial_fit``: rows that are seen once, in batches of any kind and size."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from counted_rows import CountedRows, factors
from sparing import SparseEncoder, information_loss

MODEL = SparseEncoder(2, n_nonzero=6, random_state=0, effort="quick")


def streamed(X, edges, model=MODEL, weights=None):
    model = clone(model)
    edges = np.unique([0, *edges, X.shape[0]])
    for start, stop in pairwise(edges):
        some = None if weights is None else weights[start:stop]
        model.partial_fit(X[start:stop], sample_weight=some)
    return model


def same(found, wanted, rtol=1e-7):
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_allclose(found.components_, wanted.components_, atol=1e-6)
    np.testing.assert_allclose(found.decoder_, wanted.decoder_, atol=1e-6 * np.abs(wanted.decoder_).max())
    np.testing.assert_allclose(found.mean_, wanted.mean_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.scale_, wanted.scale_, rtol=1e-9)
    assert found.loss_ == pytest.approx(wanted.loss_, rel=rtol)


@pytest.fixture
def X(rng):
    return factors(rng, 120, 20, 4) + 3.0


EDGES = {"one": [], "halves": [60], "one row each": [*range(2, 9), *range(112, 120)], "uneven": [2, 3, 4, 70, 71]}


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES.keys())
@pytest.mark.parametrize("scale", [True, False])
def test_few_rows_give_the_answer_of_fit_however_they_are_cut(edges, scale, X):
    model = clone(MODEL).set_params(scale=scale, certify=False)
    found, wanted = streamed(X, edges, model), clone(model).fit(X)
    same(found, wanted)
    assert (found.n_samples_seen_, found.n_passes_) == (120, 1)
    np.testing.assert_allclose(found.transform(X), wanted.transform(X), atol=1e-6)


def test_the_order_of_batches_does_not_matter(X, rng):
    same(streamed(X, [50, 80]), streamed(X[::-1], [30, 100]))


@pytest.mark.parametrize("center", [True, False])
def test_sparse_batches(center, X):
    model = clone(MODEL).set_params(center=center)
    X = np.where(X > 3, X, 0.0)
    found = streamed(sparse.csr_array(X), [33, 34, 90], model)
    same(found, streamed(X, [60], model))
    assert found.certificate_.recheck(X)
    same(streamed(X, [60], model), clone(model).set_params(certify=False).fit(X))  # a proof may hand over a better one


def test_single_precision_and_whole_numbers(X):
    same(streamed(np.round(8 * X).astype(np.int16), [60]), streamed(np.round(8 * X).astype(np.float32), [61]))


def test_rows_of_any_source(X):
    rows = CountedRows(X, 17)
    found = clone(MODEL).partial_fit(rows)
    same(found, streamed(X, []))
    assert rows.readings == 1 + rows.first_block


def test_weights_count_as_copies(X, rng):
    weights = rng.integers(0, 3, len(X))
    found = streamed(X, [40, 80], weights=weights)
    same(found, streamed(np.repeat(X, weights, axis=0), [60]))
    assert found.certificate_.recheck(X, weights)
    mixed = clone(MODEL).partial_fit(X[:60]).partial_fit(X[60:], sample_weight=weights[60:])
    same(mixed, clone(MODEL).fit(X, sample_weight=np.concatenate([np.ones(60), weights[60:]])))
    with pytest.raises(ValueError, match="all of them are zero"):
        mixed.partial_fit(X[:5], sample_weight=np.zeros(5))
    with pytest.raises(ValueError, match="shape"):
        mixed.partial_fit(X[:5], sample_weight=np.ones(4))


def test_names_must_stay_the_same(X):
    names = [f"gene{i}" for i in range(20)]
    frame = pd.DataFrame(X, columns=names)
    model = clone(MODEL).partial_fit(frame[:60])
    np.testing.assert_array_equal(model.feature_names_in_, names)
    same(model.partial_fit(frame[60:]), streamed(X, [60]))
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[names[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame[names[:-1]])
    with pytest.raises(ValueError, match="20"):
        streamed(X, [60]).partial_fit(X[:, :19])
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("rows", [10, 900])
def test_what_is_not_finite_is_named_and_leaves_the_model_as_it_was(rows, rng):
    X = pd.DataFrame(factors(rng, 1000, 20, 4), columns=[f"gene{i}" for i in range(20)])
    model = clone(MODEL).partial_fit(X[:50]).partial_fit(X[50:100])
    before = pickle.dumps(model)
    bad = X[100 : 100 + rows].copy()
    bad.iloc[7, 5] = np.nan
    with pytest.raises(ValueError, match="gene5"):
        model.partial_fit(bad)
    assert pickle.dumps(model) == before
    same(model.partial_fit(X[100:]), streamed(X.to_numpy(), [100]), rtol=1e-3)


def test_clones_begin_anew_and_copies_go_on(X):
    model = clone(MODEL).partial_fit(X[:50])
    copied, anew = pickle.loads(pickle.dumps(model)), clone(model)
    same(copied.partial_fit(X[50:]), streamed(X, [50]))
    assert model.n_samples_seen_ == 50
    same(anew.partial_fit(X[50:]), streamed(X[50:], []))


def test_fit_forgets_the_stream_and_the_stream_what_fit_learned(X, rng):
    model = clone(MODEL).partial_fit(X[:50]).fit(X[50:])
    same(model, clone(MODEL).fit(X[50:]))
    assert not hasattr(model, "n_samples_seen_")
    same(model.partial_fit(X[:50]), streamed(X[:50], []))
    gappy = np.where(rng.random(X.shape) < 0.05, np.nan, X)
    model = clone(MODEL).set_params(missing="mean").fit(gappy).set_params(missing="error").partial_fit(X)
    with pytest.raises(ValueError, match="NaN"):
        model.transform(gappy)
    other = clone(MODEL).fit(X).partial_fit(X[:, :10])
    assert other.n_features_in_ == 10


@pytest.mark.parametrize(
    "asked",
    [{"missing": "mean"}, {"precomputed": True}, {"checkpoint": "somewhere"}],
    ids=lambda asked: next(iter(asked)),
)
def test_what_needs_rows_twice_gets_a_sentence(asked, X):
    with pytest.raises(ValueError, match=f"partial_fit reads each row once, but {next(iter(asked))}="):
        clone(MODEL).set_params(**asked).partial_fit(X)


def test_bad_parameters_and_tables_get_their_usual_sentences(X):
    with pytest.raises(ValueError, match="n_components=30"):
        clone(MODEL).set_params(n_components=30).partial_fit(X)
    with pytest.raises(ValueError, match="strategy"):
        clone(MODEL).set_params(strategy="all").partial_fit(X)
    with pytest.raises(ValueError, match=r"starts with 50 row\(s\) that have no variance"):
        clone(MODEL).partial_fit(np.ones((50, 20)))
    with pytest.raises(ValueError, match="Start with at least 2 different rows; later batches may be as small as a"):
        clone(MODEL).partial_fit(X[:1])
    with pytest.raises(ValueError, match="every value is zero"):
        clone(MODEL).set_params(center=False).partial_fit(np.zeros((1, 20)))
    with pytest.raises(ValueError, match="two dimensions"):
        clone(MODEL).partial_fit(X[0])


def test_max_loss(X):
    found = streamed(X, [60], SparseEncoder(2, max_loss=1.05, random_state=0))
    wanted = SparseEncoder(2, max_loss=1.05, random_state=0).fit(X)
    assert found.loss_ratio_ <= 1.05
    assert len(found.support_) == len(wanted.support_)


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
def test_other_strategies(strategy, X):
    model = SparseEncoder(2, n_nonzero=4, strategy=strategy, random_state=0)
    found, wanted = streamed(X, [60], model), clone(model).fit(X)
    assert found.loss_ == pytest.approx(wanted.loss_, rel=0.01)
    assert (np.count_nonzero(found.components_, axis=1) <= 4).all()
    assert found.certificate_.recheck(X)
    assert "4 features each" in str(found.certificate_)


@pytest.mark.parametrize("size", [1e-120, 1e120])
def test_units_do_not_matter(size, X):
    plain, other = streamed(X, [60]), streamed(X * size, [60])
    np.testing.assert_array_equal(plain.support_, other.support_)
    assert other.loss_ / size / size == pytest.approx(plain.loss_)
    assert other.certificate_.recheck(X * size)


def test_a_stream_of_changing_sizes(rng):
    """From far below what the first rows promise to far above."""
    X = factors(rng, 600, 20, 4) * np.exp(np.linspace(-60, 60, 600))[:, None]
    found = streamed(X, [200, 400])
    assert found.certificate_.recheck(X)
    assert found.loss_ == pytest.approx(information_loss(found.components_, X), rel=1e-6)


def test_memory_does_not_grow(rng):
    X, model, sizes = factors(rng, 500, 20, 4), clone(MODEL), []
    for _ in range(5):
        model.partial_fit(X)
        sizes.append(len(pickle.dumps(model)))
    assert max(sizes) <= sizes[0] + 200
    assert model.n_samples_seen_ == 2500


def test_what_is_lost_is_not_hidden(rng):
    """More features than directions: the loss is an estimate, and the certificate says what is proved."""
    X = factors(rng, 700, 300, 8, noise=2.0)
    model = streamed(X, [350])
    loss = information_loss(model.components_, X)
    assert model.certificate_.bound < loss < model.certificate_.value
    assert model.loss_ == pytest.approx(loss, rel=0.02)
    assert model.certificate_.recheck(X)
    assert "by an estimate from one pass" in str(model.certificate_)


def _within_eight_percent(X, k, r):
    model = SparseEncoder(k, n_nonzero=r, effort="quick", random_state=0)
    found, wanted = streamed(X, range(500, len(X), 500), model), clone(model).fit(X)
    least = wanted.certificate_.pca_value
    assert information_loss(found.components_, X) - least <= 1.08 * (wanted.loss_ - least)


def test_within_eight_percent_on_faces(shared):
    _within_eight_percent(shared("cbcl_faces.npz").astype(float), 5, 30)


@pytest.mark.long
def test_within_eight_percent_on_genotypes(shared):
    X = shared("genotypes/joint_hm3_1kg.npz")[:, ::3]
    _within_eight_percent(np.where(X < 0, 1, X).astype(np.float32), 5, 30)
