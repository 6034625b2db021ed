"""Rules on features through the public door: kept by every estimator and storage, refused in a sentence."""

import functools
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from small_rules import KINDS, captured, most_captured, random_rules
from sparing import ColumnSelector, SparseEncoder, SparsePCARegressor, load_model, open_data, save_model, sparsity_path
from sparing.data import as_view
from sparing.results import PROVED
from sparing.rules import Rules

NAMES = load_wine().feature_names


@pytest.fixture(scope="module")
def wine():
    return load_wine(as_frame=True).data


def as_parameters(rules, rng):
    """Rules as a user might give them: names, indices or masks."""
    given = {}
    if len(rules.required):
        given["include"] = rules.required if rng.random() < 0.5 else [f"x{j}" for j in rules.required]
    if rules.allowed is not None:
        given["exclude"] = ~rules.allowed if rng.random() < 0.5 else np.flatnonzero(~rules.allowed).tolist()
    if rules.costs is not None:
        given |= {"costs": rules.costs, "max_cost": rules.max_cost}
    if rules.groups is not None:
        labels = [None if g < 0 else f"group {g}" for g in rules.groups]
        limits = {f"group {g}": int(m) for g, m in enumerate(rules.max_per_group) if f"group {g}" in labels}
        given |= {"groups": labels, "max_per_group": limits}
    return given


def test_a_budget_and_no_bottleneck():
    """More components than features that fit into the budget: directions that are nothing once ended the search."""
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 3)) @ rng.standard_normal((3, 13)) + 0.1 * rng.standard_normal((30, 13))
        rules = Rules(costs=rng.integers(1, 4, 13).astype(float), max_cost=9.0)
        model = SparseEncoder(None, n_nonzero=9, costs=rules.costs, max_cost=9.0, effort="quick", certify=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer features than components
            model.fit(X)
        A = as_view(X).gram()
        assert rules.permits(model.support_)
        assert captured(A, model.support_, 9) == pytest.approx(most_captured(A, rules, 9, 9), rel=1e-3)


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), KINDS], ids="+".join)
def test_the_best_features_under_rules_are_found_and_proved(kinds):
    proved = tried = 0
    for seed in range(14):
        rng = np.random.default_rng([seed, len(kinds), KINDS.index(kinds[0])])
        d, k = int(rng.integers(5, 11)), int(rng.integers(1, 3))
        X = rng.normal(size=(30, d)) @ rng.normal(size=(d, d))
        rules = random_rules(rng, d, kinds)
        size = min(int(rng.integers(2, 6)), rules.most_features(d))
        if size < max(len(rules.required), 1):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # fewer features than components
            model = SparseEncoder(k, n_nonzero=size, effort="quick", **as_parameters(rules, rng)).fit(X)
        A = as_view(X).gram()
        best, unit = most_captured(A, rules, size, k), as_view(X).square_unit
        assert rules.permits(model.support_)
        assert captured(A, model.support_, k) == pytest.approx(best, rel=1e-7)
        assert model.certificate_.bound <= (np.trace(A) - best) * unit * (1 + 1e-9)
        assert model.certificate_.recheck(X)
        tried += 1
        proved += model.certificate_.gap < 1e-6
    assert proved >= 0.8 * tried > 5


@pytest.mark.parametrize("kinds", [*((kind,) for kind in KINDS), ("required", "costs"), KINDS], ids="+".join)
def test_the_path_has_the_best_features_of_every_number_under_rules(kinds):
    steps = 0
    for seed in range(6):
        rng = np.random.default_rng([seed, len(kinds), KINDS.index(kinds[0])])
        d, k = int(rng.integers(5, 9)), int(rng.integers(1, 3))
        X = rng.normal(size=(30, d)) @ rng.normal(size=(d, d))
        rules = random_rules(rng, d, kinds)
        if rules.most_features(d) == 0:
            continue
        path = sparsity_path(X, k, effort="quick", **as_parameters(rules, rng))
        A = as_view(X).gram()
        pca = np.linalg.eigvalsh(A)[-k:].sum()
        for i, (size, support) in enumerate(zip(path.n_features, path.supports, strict=True)):
            best = most_captured(A, rules, size, k) / pca
            assert rules.permits(support)
            assert len(support) <= size
            assert path.variance_kept[i] == pytest.approx(captured(A, support, k) / pca, rel=1e-7)
            assert path.variance_kept[i] == pytest.approx(best, rel=1e-7)
            assert path.variance_kept_bound[i] >= best * (1 - 1e-9)
            steps += 1
        assert path.variance_kept[-1] == pytest.approx(most_captured(A, rules, d, k) / pca, rel=1e-7)
    assert steps > 10


def test_a_certificate_about_other_rules_does_not_hold(wine):
    model = SparseEncoder(2, n_nonzero=5, scale=True, include=["ash"], effort="quick").fit(wine)
    certificate = model.certificate_
    other = replace(certificate.problem.rules, allowed=np.arange(13) != model.support_[0])
    damaged = replace(certificate, problem=replace(certificate.problem, rules=other))
    assert certificate.recheck(wine)
    assert "No choice of 5 features within the rules can keep more" in str(certificate)
    assert "rules" in str(damaged.recheck(wine))


@pytest.mark.parametrize("strategy", ["batch", "iterative", "joint"])
def test_every_strategy_keeps_every_rule(wine, strategy):
    costs, groups = np.arange(1.0, 14.0), ["a", "b"] * 6 + [None]
    rules = {"include": ["ash", "hue"], "exclude": ["proline"], "costs": costs, "max_cost": 40.0}
    limits = {"groups": groups, "max_per_group": 3}
    model = SparseEncoder(2, n_nonzero=4, scale=True, strategy=strategy, effort="quick", **rules, **limits).fit(wine)
    chosen = [NAMES[j] for j in model.support_]
    assert {"ash", "hue"} <= set(chosen)
    assert "proline" not in chosen
    assert costs[model.support_].sum() <= 40.0
    assert all(sum(groups[j] == label for j in model.support_) <= 3 for label in "ab")
    assert model.certificate_.recheck(wine)


def test_features_that_somebody_else_chose(wine):
    model = SparseEncoder(2, n_nonzero=3, scale=True, include=["ash", "hue", "alcohol"], effort="quick").fit(wine)
    assert model.support_.tolist() == [0, 2, 10]
    assert model.certificate_.gap < 1e-6  # there is no other choice
    assert model.certificate_.recheck(wine)


def test_the_fewest_features_under_rules(wine):
    free = SparseEncoder(2, min_variance=0.9, scale=True, effort="quick").fit(wine)
    bound = SparseEncoder(2, min_variance=0.9, scale=True, effort="quick", exclude=free.support_[:2]).fit(wine)
    panel = SparseEncoder(2, min_variance=0.9, scale=True, effort="quick", include=range(8)).fit(wine)
    assert not set(bound.support_) & set(free.support_[:2])
    assert len(bound.support_) >= len(free.support_)
    assert set(panel.support_) >= set(range(8))
    assert min(free.variance_kept_, bound.variance_kept_, panel.variance_kept_) >= 0.9
    apart = SparseEncoder(2, min_variance=0.9, scale=True, effort="quick", strategy="iterative", include=[2, 10])
    assert {2, 10} <= set(apart.fit(wine).support_)


def test_a_budget_stands_in_place_of_a_count(wine):
    costs = dict(zip(NAMES, np.arange(1, 14), strict=True))
    kept = []
    for budget in (3, 12, 40, 91):
        model = SparseEncoder(2, scale=True, costs=costs, max_cost=budget, effort="quick").fit(wine)
        assert sum(costs[NAMES[j]] for j in model.support_) <= budget
        kept.append(model.variance_kept_)
    assert kept == sorted(kept)
    assert kept[-1] == pytest.approx(1.0)


def test_an_excluded_feature_is_still_predicted(wine):
    model = SparseEncoder(2, n_nonzero=4, scale=True, exclude=["flavanoids"], effort="quick").fit(wine)
    assert model.feature_r2_[NAMES.index("flavanoids")] > 0.6
    assert model.decoder_[:, NAMES.index("flavanoids")].any()


def test_an_included_feature_that_is_constant_is_in_the_panel(wine):
    X = wine.assign(marker=1.0)
    model = SparseEncoder(2, n_nonzero=4, scale=True, include=["marker"], effort="quick").fit(X)
    assert len(model.support_) == 4
    assert 13 in model.support_
    assert not model.components_[:, 13].any()
    with pytest.raises(ValueError, match="All features that may be read are constant"):
        SparseEncoder(2, n_nonzero=1, include=["marker"], exclude=NAMES).fit(X)
    with pytest.raises(ValueError, match="as many as n_nonzero allows, and all of them are constant"):
        SparseEncoder(2, n_nonzero=1, include=["marker"]).fit(X)
    path = sparsity_path(X, 2, scale=True, include=["marker"], effort="quick")
    assert path.n_features.tolist() == list(range(2, 15))  # the marker alone says nothing


def test_selector_and_regressor_keep_rules(wine):
    y = load_wine().target
    rules = {"include": ["ash"], "exclude": ["proline", "alcohol"], "costs": np.ones(13), "max_cost": 5}
    for model in (ColumnSelector(6, scale=True, **rules), SparsePCARegressor(3, n_nonzero=6, scale=True, **rules)):
        model.set_params(effort="quick").fit(wine, y)
        chosen = [NAMES[j] for j in model.support_]
        assert "ash" in chosen
        assert not {"proline", "alcohol"} & set(chosen)
        assert len(chosen) == 5


@functools.cache
def learned_under_rules():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.3, size=(1500, 1100)) * rng.random(1100)
    rules = {"include": [3, 1000], "exclude": list(range(10, 400)), "groups": np.arange(1100) % 7, "max_per_group": 2}
    return X, rules, SparseEncoder(3, n_nonzero=8, effort="quick", certify=False, **rules).fit(X)


@pytest.mark.parametrize("storage", ["fortran", "sparse", "file", "dask", "few passes"])
def test_rules_hold_in_every_storage(storage, tmp_path):
    X, rules, expected = learned_under_rules()
    data, passes = np.asfortranarray(X), "auto"
    if storage == "sparse":
        data = sparse.csr_array(X)
    elif storage == "file":
        np.save(tmp_path / "X.npy", X)
        data = open_data(tmp_path / "X.npy")
    elif storage == "dask":
        data = pytest.importorskip("dask.array").from_array(X, chunks=(500, 1100))
        passes = "any"  # by default Dask reads in few passes, which may choose other features
    elif storage == "few passes":
        data, passes = sparse.csr_array(X), "few"
    model = SparseEncoder(3, n_nonzero=8, effort="quick", certify=False, passes=passes, **rules).fit(data)
    support = model.support_
    assert len(support) == 8
    assert {3, 1000} <= set(support)
    assert not ((support >= 10) & (support < 400)).any()
    assert np.bincount(support % 7).max() <= 2
    if storage != "few passes":
        np.testing.assert_array_equal(support, expected.support_)


def test_rules_are_saved_with_the_model(wine, tmp_path):
    costs = dict.fromkeys(NAMES, 1.0)
    model = SparseEncoder(2, scale=True, costs=costs, max_cost=4, include=["ash"], effort="quick").fit(wine)
    save_model(model, tmp_path / "model.sparing")
    again = load_model(tmp_path / "model.sparing")
    assert again.get_params() == model.get_params()
    assert again.certificate_.recheck(wine)
    assert again.certificate_.problem.rules == model.certificate_.problem.rules


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"n_nonzero": 1, "include": ["ash", "hue"]}, "include names 2 features .*n_nonzero allows 1"),
        ({"include": ["Ash"]}, "include names 'Ash', which X does not have"),
        ({"include": ["ash"], "exclude": ["ash"]}, "include and exclude both name 'ash'"),
        ({"include": [13]}, "index 13, but X has 13 features"),
        ({"include": [True, False]}, "a mask of 2 values, but X has 13 features"),
        ({"include": [0.5]}, "holds 0.5, which is neither"),
        ({"n_nonzero": 6, "exclude": NAMES[:9]}, "n_nonzero=6, but exclude leaves 4 of 13"),
        ({"exclude": NAMES}, "leave no feature to read"),
        ({"costs": np.ones(13)}, "costs was given without max_cost"),
        ({"max_cost": 3}, "max_cost was given without costs"),
        ({"costs": np.ones(12), "max_cost": 3}, "shape .12,., but X has 13"),
        ({"costs": -np.ones(13), "max_cost": 3}, "costs has -1 for 'alcohol'"),
        ({"costs": {"ash": 1.0}, "max_cost": 3}, "costs has no value for 'alcohol'"),
        ({"costs": ["dear"] * 13, "max_cost": 3}, "costs must be numbers"),
        ({"costs": np.ones(13), "max_cost": -1}, "max_cost=-1 must be"),
        ({"costs": np.ones(13), "max_cost": 0.5}, "pays for no feature: the cheapest .* 'alcohol' with cost 1"),
        ({"costs": np.ones(13), "max_cost": 1, "include": ["ash", "hue"]}, "cost 2 together, above max_cost=1"),
        ({"costs": np.ones(13), "max_cost": 3, "min_variance": 0.9}, "min_variance was given"),
        ({"costs": np.ones(13), "max_cost": 3, "strategy": "joint"}, "strategy='joint' was passed"),
        ({"groups": ["a"] * 13}, "groups was given without max_per_group"),
        ({"groups": ["a"] * 5, "max_per_group": 1}, "groups has 5 labels, but X has 13"),
        ({"groups": ["a"] * 13, "max_per_group": {"b": 1}}, "a limit for 'b', but groups has only 'a'"),
        ({"groups": ["a"] * 13, "max_per_group": 0}, "max_per_group=0"),
        ({"groups": ["a"] * 13, "max_per_group": 1, "include": ["ash", "hue"]}, "2 features of group 'a'"),
        ({"groups": ["a"] * 13, "max_per_group": 1, "n_nonzero": 3}, "max_per_group leave 1 of 13"),
    ],
)
def test_rules_that_cannot_be_kept_get_a_sentence(wine, rules, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        SparseEncoder(2, **rules).fit(wine)


def test_the_sentence_comes_before_the_data_are_read():
    X = np.full((10, 4), np.nan)  # reading it would complain of NaN first
    with pytest.raises(ValueError, match="include names 3 features"):
        SparseEncoder(2, n_nonzero=2, include=[0, 1, 2]).fit(pd.DataFrame(X, columns=list("abcd")))


def test_features_that_somebody_else_chose_get_the_best_encoder_and_a_certificate_of_them():
    X, given = load_wine().data, [0, 1, 3, 4]
    model = SparseEncoder(2, include=given, n_nonzero=4, scale=True).fit(X)
    np.testing.assert_array_equal(model.support_, given)
    Z = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    Q = np.linalg.qr(Z[:, given])[0]
    best = (Z**2).sum() - (np.linalg.svd(Q.T @ Z, compute_uv=False)[:2] ** 2).sum()
    assert model.loss_ == pytest.approx(best)  # [magdonismail2015, Theorem 5]
    assert model.certificate_.gap <= PROVED
    assert "No encoder on these features can keep more." in str(model.certificate_)
    assert model.certificate_.recheck(X)
    free = SparseEncoder(2, include=given[:3], n_nonzero=4, scale=True).fit(X)  # control: one was chosen
    assert free.loss_ < model.loss_
    assert "No choice of 4 features within the rules" in str(free.certificate_)
    wide = np.random.default_rng(0).standard_normal((20, 300))  # more features than any tree takes
    assert SparseEncoder(2, include=range(5), n_nonzero=5).fit(wide).certificate_.gap <= PROVED


def test_a_budget_for_fewer_features_is_no_shortcoming_without_a_bottleneck(wine):
    """As many components as features: where a budget pays for fewer of them, nothing is missing."""
    costs = np.full(13, 2.0)
    model = SparseEncoder(None, n_nonzero=6, costs=costs, max_cost=7, scale=True, effort="quick").fit(wine)
    assert len(model.support_) == model.n_components_ == 3
