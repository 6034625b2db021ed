"""Features that components must and may not have: the best of one, and rules that every solver keeps."""

import functools
import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from laws import mostly_long
from sparing import NonnegativeSparsePCA, SparsePCA, load_model, open_data, save_model
from sparing.methods.deflation import DEFLATIONS
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, SOLVERS

RULES = {"include": [2, 7], "exclude": [0, 5]}
NAMES = load_wine().feature_names


def example(seed, d=9):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(30, d)) @ rng.normal(size=(d, d))


def most_variance(A, size, required, allowed, *, nonnegative):
    """The largest variance under rules by trying all supports; nonnegative ones have a positive leading direction."""
    best = 0.0
    for count in range(1, size + 1):
        for support in combinations(allowed, count):
            if len(set(support) | set(required)) > size:
                continue
            values, vectors = np.linalg.eigh(A[np.ix_(support, support)])
            v = vectors[:, -1] * np.sign(vectors[:, -1].sum() or 1.0)
            if not nonnegative or (v >= 0).all():
                best = max(best, float(values[-1]))
    return best


@pytest.mark.parametrize("kind", [SparsePCA, NonnegativeSparsePCA])
@pytest.mark.parametrize("given", ["include", "exclude", "both"])
@pytest.mark.parametrize("seeds", mostly_long([range(4), range(4, 12)], range(4)), ids=str)
def test_the_best_component_under_rules_is_found(kind, given, seeds):
    for seed in seeds:
        rng = np.random.default_rng([seed, len(given)])
        X = example(seed, d=int(rng.integers(6, 10)))
        d, size = X.shape[1], int(rng.integers(2, 5))
        chosen = rng.permutation(d)
        required = np.sort(chosen[: rng.integers(1, 3)]) if given != "exclude" else np.zeros(0, dtype=int)
        excluded = np.sort(chosen[3:5]) if given != "include" else np.zeros(0, dtype=int)
        rules = {"include": required, "exclude": [f"x{j}" for j in excluded]}
        model = kind(1, n_nonzero=size, effort="quick", **rules).fit(X)
        A, allowed = np.cov(X.T), np.setdiff1d(np.arange(d), excluded)
        best = most_variance(A, size, required, allowed, nonnegative=kind is NonnegativeSparsePCA)
        assert set(required) <= set(model.support_)
        assert not set(excluded) & set(model.support_)
        assert len(model.support_) <= size
        assert model.variance_[0] == pytest.approx(best, rel=1e-7)
        assert model.certificate_.bound >= best * (1 - 1e-9)
        assert model.certificate_.recheck(X)


def kept(model, X):
    model.set_params(effort="quick", **RULES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer components than asked for
        model.fit(X)
    assert {2, 7} <= set(model.support_)
    assert not {0, 5} & set(model.support_)
    assert model.certificate_.recheck(X)
    return model


@pytest.mark.parametrize("solver", [*SOLVERS, "elastic_net", "varimax"])
def test_every_solver_keeps_rules(solver):
    model = kept(SparsePCA(2, n_nonzero=3, solver=solver), example(1))
    assert (np.count_nonzero(model.components_, axis=1) <= 3).all()


@pytest.mark.parametrize("solver", mostly_long(NONNEGATIVE_SOLVERS, "auto", "spannogram", "exact"))
def test_every_nonnegative_solver_keeps_rules(solver):
    model = kept(NonnegativeSparsePCA(2, n_nonzero=3, solver=solver), example(1))
    assert (model.components_ >= 0).all()
    assert model.certificate_.guarantees == ()  # the theorems are about searches of all features


@pytest.mark.parametrize("deflation", DEFLATIONS)
def test_every_deflation_keeps_rules(deflation):
    assert_deflation_keeps_rules(SparsePCA, deflation)


@pytest.mark.parametrize("deflation", mostly_long(DEFLATIONS, "disjoint", "generalized"))
def test_every_deflation_keeps_rules_on_nonnegative_components(deflation):
    assert_deflation_keeps_rules(NonnegativeSparsePCA, deflation)


def assert_deflation_keeps_rules(kind, deflation):
    model = kept(kind(2, n_nonzero=3, deflation=deflation), example(2))
    if deflation == "disjoint":
        assert (np.count_nonzero(model.components_, axis=0) <= 1).all()


def test_constraints_and_other_counts_keep_rules():
    X = example(3)
    for model in (SparsePCA(3, n_nonzero=4), SparsePCA(3, n_nonzero_total=9)):
        H = kept(model.set_params(constraint="orthogonal"), X).components_
        np.testing.assert_allclose(H @ H.T, np.eye(len(H)), atol=1e-6)
        H = kept(model.set_params(constraint="uncorrelated"), X).components_
        products = H @ np.cov(X.T) @ H.T
        np.testing.assert_allclose(products, np.diag(np.diagonal(products)), atol=1e-6 * products.max())
    H = kept(NonnegativeSparsePCA(2, n_nonzero=3, constraint="orthogonal"), X).components_
    assert (np.count_nonzero(H, axis=0) <= 1).all()
    assert np.count_nonzero(kept(SparsePCA(2, n_nonzero_total=6), X).components_) <= 6
    assert sorted(np.count_nonzero(kept(SparsePCA(2, n_nonzero=[2, 4]), X).components_, axis=1)) == [2, 4]
    assert kept(SparsePCA(2, n_nonzero=3, n_rows=5), X).row_components_.shape == (2, 30)


@pytest.mark.parametrize("kind", [SparsePCA, NonnegativeSparsePCA])
def test_a_share_of_the_variance_is_kept_with_required_features(kind):
    X = example(4)
    model = kept(kind(1, min_variance=0.8), X)
    among = np.delete(X, [0, 5], axis=1)
    dense = np.linalg.eigvalsh(np.cov(among.T))[-1]
    if kind is NonnegativeSparsePCA:
        dense = NonnegativeSparsePCA(1, n_nonzero=7).fit(among).variance_[0]
    assert model.variance_[0] >= 0.8 * dense * (1 - 1e-6)


def test_an_excluded_feature_counts_for_pca_and_is_predicted():
    wine = load_wine().data
    free = SparsePCA(2, n_nonzero=4, scale=True, effort="quick").fit(wine)
    model = SparsePCA(2, n_nonzero=4, scale=True, effort="quick", exclude=[6]).fit(wine)
    inside = SparsePCA(2, n_nonzero=4, scale=True, effort="quick").fit(np.delete(wine, 6, axis=1))
    np.testing.assert_allclose(model.variance_, inside.variance_)
    assert model.variance_kept_ < free.variance_kept_
    assert model.variance_kept_ < inside.variance_kept_
    assert model.feature_r2_[6] > 0.5
    assert model.certificate_.pca_variance == pytest.approx(free.certificate_.pca_variance)
    assert "within the rules" in str(model.certificate_)


@functools.cache
def learned_under_rules():
    X = np.random.default_rng(0).poisson(0.5, size=(60, 20)) * np.linspace(1.0, 2.0, 20)
    rules = {"include": [3, 15], "exclude": range(17, 20)}
    return X, rules, SparsePCA(2, n_nonzero=4, effort="quick", **rules).fit(X)


@pytest.mark.parametrize("storage", ["list", "sparse", "file", "dask"])
def test_rules_hold_in_every_storage(storage, tmp_path):
    X, rules, expected = learned_under_rules()
    data = X.tolist()
    if storage == "sparse":
        data = sparse.csr_array(X)
    elif storage == "file":
        np.save(tmp_path / "X.npy", X)
        data = open_data(tmp_path / "X.npy")
    elif storage == "dask":
        data = pytest.importorskip("dask.array").from_array(X, chunks=(20, 20))
    model = SparsePCA(2, n_nonzero=4, effort="quick", **rules).fit(data)
    np.testing.assert_array_equal(model.support_, expected.support_)
    assert {3, 15} <= set(model.support_)
    assert model.certificate_.recheck(data)
    save_model(model, tmp_path / "model.sparing")
    again = load_model(tmp_path / "model.sparing")
    assert again.certificate_.recheck(X)
    assert again.exclude == [17, 18, 19]


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"include": ["nope"]}, "include names 'nope', which X does not have"),
        ({"include": [0], "exclude": [0]}, "include and exclude both name 'x0'"),
        ({"include": range(5)}, "n_nonzero allows 4 in all"),
        ({"include": range(5), "n_nonzero": None, "n_nonzero_total": 4}, "n_nonzero_total allows 4 in all"),
        ({"exclude": range(8)}, "n_nonzero=2, but exclude leaves 1 of 9 features"),
        ({"exclude": range(8), "n_nonzero": None, "n_nonzero_total": 4}, "1 without those of exclude"),
        ({"exclude": range(9)}, "leave no feature to read"),
    ],
)
def test_rules_that_cannot_be_kept_get_a_sentence(parameters, said):
    with pytest.raises(ValueError, match=said):
        SparsePCA(2, **{"n_nonzero": 2, **parameters}).fit(example(0))


def test_places_of_required_features_are_counted_again():
    X = example(5)
    certificate = SparsePCA(1, n_nonzero=3, include=[0], effort="quick").fit(X).certificate_
    free = SparsePCA(1, n_nonzero=3, exclude=[0], effort="quick").fit(X).certificate_
    assert certificate.recheck(X)
    support, loadings = np.append(0, free.support), np.append(0.0, free.loadings[0])[None]

    forged = replace(free, problem=certificate.problem, support=support, loadings=loadings)
    assert "required features have no loading" in str(forged.recheck(X))
