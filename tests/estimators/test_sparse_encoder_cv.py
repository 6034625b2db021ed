"""Numbers of components and features and the noise, chosen together by paths."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GroupKFold

from sparing import (
    SparseEncoder,
    SparseEncoderCV,
    SparsePCARegressor,
    cross_validated,
    load_model,
    open_data,
    save_model,
    sparsity_path,
    stability,
)
from sparing.data import as_view
from sparing.errors import SparingWarning
from sparing.estimators.validation.folds import folds_of
from sparing.estimators.validation.grid import path_grid
from sparing.estimators.validation.noise import NoiseLevel
from sparing.plots import SparsityPathDisplay
from sparing.run import Budget, Run


def planted(n, seed=0, d=80, k=3, noise=1.5):
    rng = np.random.default_rng(seed)
    V = np.random.default_rng(99).normal(size=(k, d))
    return rng.normal(size=(n, k)) @ V + noise * rng.normal(size=(n, d))


QUICK = {"effort": "quick", "certify": False}


@pytest.fixture(scope="module")
def model():
    return SparseEncoderCV(n_nonzero=range(1, 16), effort="quick").fit(planted(40))


def test_the_choice_is_that_of_the_results_and_is_fitted_on_all_samples(model):
    results = model.cv_results_
    n = len(results["params"])
    scores = np.array([results[f"split{fold}_test_score"] for fold in range(5)])
    np.testing.assert_allclose(results["mean_test_score"], scores.mean(axis=0))
    np.testing.assert_allclose(results["std_test_score"], scores.std(axis=0))
    assert results["rank_test_score"][np.argmax(results["mean_test_score"])] == 1
    assert len(results["param_n_components"]) == n == 7 * sum(min(r, 15) for r in range(1, 16))
    chosen = results["params"][model.best_index_]
    assert chosen == {
        "n_components": model.n_components_,
        "n_nonzero": model.n_nonzero_,
        "noise_variance": model.noise_variance_,
    }
    assert results["mean_test_score"][model.best_index_] == pytest.approx(model.held_out_)
    single = SparseEncoder(effort="quick", **chosen).fit(planted(40))
    np.testing.assert_array_equal(single.components_, model.components_)
    assert model.certificate_.recheck(planted(40))
    assert model.score(planted(300, 1)) == pytest.approx(model.held_out_, abs=0.15)


def test_one_standard_error_takes_fewer_features_and_best_keeps_more(model):
    best = SparseEncoderCV(n_nonzero=range(1, 16), rule="best", **QUICK).fit(planted(40))
    assert best.cv_results_["rank_test_score"][best.best_index_] == 1
    assert model.n_nonzero_ < best.n_nonzero_
    error = best.cv_results_["std_test_score"][best.best_index_] * np.sqrt(5 / 4) / np.sqrt(5)
    assert model.held_out_ >= best.held_out_ - error
    fewer = model.cv_results_["param_n_nonzero"] < model.n_nonzero_
    assert model.cv_results_["mean_test_score"][fewer].max() < best.held_out_ - error  # control: no fewer would do


def test_one_standard_error_saves_features_and_not_components(model):
    results = model.cv_results_
    same = results["param_n_nonzero"] == model.n_nonzero_
    assert results["mean_test_score"][same].max() == pytest.approx(model.held_out_)
    one, best = (SparseEncoderCV(n_nonzero=8, rule=rule, **QUICK).fit(planted(40)) for rule in ("one_se", "best"))
    assert one.best_index_ == best.best_index_


def test_the_path_has_what_is_kept_of_new_samples(model):
    path = model.path_
    assert path.held_out[model.n_nonzero_ - 1] == pytest.approx(model.held_out_)
    assert path.held_out_se[model.n_nonzero_ - 1] == pytest.approx(model.held_out_se_)
    display = SparsityPathDisplay.from_path(path)
    np.testing.assert_array_equal(display.held_out_.get_ydata(), path.held_out / path.held_out_pca)
    alone = sparsity_path(planted(40), 2, max_features=6, cv=5, effort="quick", certify=False)
    assert alone.held_out.shape == alone.held_out_se.shape == (6,)
    assert sparsity_path(planted(40), 2, max_features=6, effort="quick", certify=False).held_out is None
    assert "held_out" in alone.to_frame()


def test_more_noise_and_components_beat_a_plain_fit_on_new_samples():
    train, new = planted(30, noise=3.0, d=200), planted(400, 1, noise=3.0, d=200)
    chosen = SparseEncoderCV(n_nonzero=10, rule="best", **QUICK).fit(train)
    plain = SparseEncoder(3, n_nonzero=10, **QUICK).fit(train)
    assert chosen.noise_variance_ > 0
    assert chosen.score(new) > plain.score(new)


def test_a_fold_of_the_grid_is_the_path_of_its_rows():
    X = planted(30)
    folds = folds_of(3, 30)
    view = as_view(X)
    found = path_grid(view, folds, [NoiseLevel(), NoiseLevel(0.3)], 2, 4, Run(np.random.default_rng(0)))
    assert found.unread.shape == (3, 2, 4, 2)
    train, test = folds[1]
    for level, noise in enumerate((None, 0.3 * X[train].var(axis=0).mean())):
        path = sparsity_path(X[train], 2, max_features=4, noise_variance=noise, improve=False, certify=False)
        J = path.supports[3]
        mean = X[train].mean(axis=0)
        Z, new = X[train] - mean, X[test] - mean
        ridge = np.zeros((4, 4)) if noise is None else len(train) * noise * np.eye(4)
        A = Z[:, J].T @ Z[:, J] + ridge
        C = Z[:, J].T @ Z
        C[:, J] += ridge
        root = np.linalg.cholesky(A)
        U = np.linalg.eigh(np.linalg.solve(root, C) @ np.linalg.solve(root, C).T)[1][:, -2:]
        rebuilt = new[:, J] @ np.linalg.solve(root.T, U) @ (U.T @ np.linalg.solve(root, C))
        u = np.setdiff1d(np.arange(80), J)
        share = 1 - np.square(new - rebuilt)[:, u].sum() / np.square(new[:, u]).sum()
        assert found.unread[1, level, 3, 1] == pytest.approx(share, abs=1e-8)


def test_folds_that_ended_in_time_decide(ticking):
    view, levels, folds = as_view(planted(30)), [NoiseLevel(), NoiseLevel(0.3)], folds_of(5, 30)
    every = path_grid(view, folds, levels, 2, 4, Run(np.random.default_rng(0)))
    ticking(1.0)
    with pytest.warns(SparingWarning, match="3 of 5 folds are used, each with 2 of 2 levels of noise"):
        some = path_grid(view, folds, levels, 2, 4, Run(np.random.default_rng(0), Budget(deadline=5.5)))
    np.testing.assert_array_equal(some.unread, every.unread[:3])  # the fourth ended between its two noises
    np.testing.assert_array_equal(some.pca, every.pca[:3])
    assert len(some.folds) == 3


def test_without_any_time_left_the_first_fold_decides():
    X = planted(30, d=20)
    with pytest.warns(SparingWarning, match="time_limit ended cross-validation: 1 of 5 folds"):
        model = SparseEncoderCV((1, 2), n_nonzero=(3, 5), effort="quick", time_limit=1e-9).fit(X)
    assert {key for key in model.cv_results_ if key.startswith("split")} == {"split0_test_score"}
    assert set(model.cv_results_["param_noise_variance"]) == {model.noise_variance_} == {0.0}
    assert np.isnan(model.held_out_se_)
    assert model.certificate_.recheck(X)
    assert model.get_params()["time_limit"] == 1e-9
    with pytest.raises(ValueError, match="time_limit=0 must be a positive number of seconds"):
        SparseEncoderCV(time_limit=0).fit(X)


def test_files_groups_rules_and_saved_models(tmp_path):
    X = planted(30, d=20)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(20)])
    estimator = SparseEncoderCV((1, 2), n_nonzero=(3, 5), include=["g3"], exclude=["g0"], cv=GroupKFold(3), **QUICK)
    model = clone(estimator).fit(frame, sample_groups=np.repeat(np.arange(10), 3))
    assert 3 in model.support_
    assert 0 not in model.support_
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    np.testing.assert_array_equal(again.path_.held_out, model.path_.held_out)
    assert again.cv_results_["params"] == model.cv_results_["params"]
    np.save(tmp_path / "X.npy", X)
    tables = (open_data(tmp_path / "X.npy"), X)
    by_file, in_memory = (SparseEncoderCV(2, n_nonzero=4, n_jobs=2, **QUICK).fit(table) for table in tables)
    assert by_file.held_out_ == pytest.approx(in_memory.held_out_)


def test_pure_noise_ends_in_nothing_transfers():
    noise = np.random.default_rng(0).normal(size=(40, 300))
    with pytest.warns(SparingWarning, match="Nothing transfers"):
        SparseEncoderCV(n_nonzero=(5, 10), noise_variance=None, **QUICK).fit(noise)
    with pytest.warns(SparingWarning, match="Nothing transfers"):
        sparsity_path(noise, 2, max_features=5, cv=4, effort="quick", certify=False)


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"rule": "two_se"}, "one_se"),
        ({"n_nonzero": (0, 3)}, "n_nonzero"),
        ({"n_nonzero": 90}, r"outside \[1, 80\]"),
        ({"n_components": (1, 2.5)}, "n_components"),
        ({"cv": 1}, "outside"),
        ({"noise_variance": -1}, "negative"),
        ({"center": 3}, "center"),
    ],
)
def test_bad_parameters_get_a_sentence(parameters, said):
    with pytest.raises((ValueError, TypeError), match=said):
        SparseEncoderCV(**{**QUICK, **parameters}).fit(planted(20))


def test_half_of_the_features_are_left_to_judge():
    """Where samples are many, held-out shares rise with every feature read: the last one would be judged alone."""
    wine = load_wine().data
    model = SparseEncoderCV(scale=True, **QUICK).fit(wine)
    assert model.n_nonzero_ <= 6
    assert len(model.path_.held_out) == 6
    longer = SparseEncoderCV(n_nonzero=range(1, 13), scale=True, **QUICK).fit(wine)
    assert longer.n_nonzero_ == 12  # the control: as many as are asked for


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda X: SparseEncoderCV(n_nonzero=[]).fit(X), "n_nonzero=.* is empty"),
        (lambda X: SparseEncoderCV(noise_variance=np.nan).fit(X), "is not finite; a number of at least 0 is needed"),
        (lambda X: SparseEncoder(2, n_nonzero=3, noise_variance=np.inf).fit(X), "is not finite"),
        (lambda X: SparseEncoderCV(cv=GroupKFold(3)).fit(X), "Pass groups"),
        (lambda X: cross_validated(SparsePCARegressor(2, n_nonzero=3), X), "pass them as y"),
        (lambda X: sparsity_path(np.cov(X.T), 2, cv=5, precomputed=True), "a covariance has none"),
        (lambda X: stability(SparseEncoder(2, n_nonzero=3), X, n_resamples=1), "Pass 2 or more"),
    ],
)
def test_what_cannot_be_held_out_gets_a_sentence(work, said, rng):
    with pytest.raises(ValueError, match=said):
        work(rng.standard_normal((20, 8)))
