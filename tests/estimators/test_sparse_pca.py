"""SparsePCA: what it promises, and what it says when it cannot."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.decomposition import SparsePCA as Theirs

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA, explained_variance
from sparing.datasets import load_pitprops, make_spiked
from sparing.errors import SparingWarning
from sparing.methods.deflation import DEFLATIONS, GeneralizedDeflation, OrthogonalConstraint
from sparing.methods.encoders import ElasticNet
from sparing.methods.solvers import SOLVERS, Greedy, Rounding


def correlation():
    return load_pitprops().correlation


def fitted(*args, X=None, **kw):
    kw = {"precomputed": X is None, "effort": "quick", "random_state": 0, **kw}
    return SparsePCA(*args, **kw).fit(correlation() if X is None else X)


def test_variances_are_those_of_the_covariance(rng):
    X = rng.standard_normal((50, 9)) @ rng.standard_normal((9, 9))
    for scale in (False, True):
        model = SparsePCA(3, n_nonzero=4, scale=scale, effort="quick", random_state=0).fit(X)
        A = np.corrcoef(X, rowvar=False) if scale else np.cov(X, rowvar=False)
        H = model.components_
        np.testing.assert_allclose(model.variance_, np.diag(H @ A @ H.T), rtol=1e-9)
        np.testing.assert_allclose(model.certificate_.value, np.trace(np.linalg.solve(H @ H.T, H @ A @ H.T)), rtol=1e-9)
        np.testing.assert_allclose(
            model.certificate_.value / np.trace(A),
            explained_variance(H, X, scale=scale, definition="symmetric")[-1],
            rtol=1e-9,
        )
        np.testing.assert_allclose(model.transform(X).var(axis=0, ddof=1), model.variance_, rtol=1e-9)


def test_all_features_give_pca(rng):
    X = rng.standard_normal((50, 6)) @ rng.standard_normal((6, 6))
    model, pca = SparsePCA(3, n_nonzero=6, random_state=0, effort="quick").fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(model.certificate_.ratio, 1.0, rtol=1e-6)
    np.testing.assert_allclose(model.loss_ratio_, 1.0, rtol=1e-6)
    first = SparsePCA(1, n_nonzero=6, random_state=0, effort="quick").fit(X)
    np.testing.assert_allclose(np.abs(first.components_ @ pca.components_[0]), 1.0, rtol=1e-9)


@functools.cache
def best_of_all(k):
    return fitted(k, n_nonzero=4).certificate_.value


@pytest.mark.parametrize("solver", [*SOLVERS, "elastic_net", "varimax"])
@pytest.mark.parametrize("k", [1, 3])
def test_every_solver_by_name(solver, k):
    model = fitted(k, n_nonzero=4, solver=solver)
    assert model.components_.shape == (k, 13)
    assert np.count_nonzero(model.components_, axis=1).max() <= 4
    np.testing.assert_allclose(np.linalg.norm(model.components_, axis=1), 1)
    assert model.certificate_.recheck(correlation())
    best = best_of_all(k)
    assert model.certificate_.value <= best * (1 + 1e-9)


@pytest.mark.parametrize("deflation", DEFLATIONS)
def test_every_deflation_by_name(deflation):
    model = fitted(3, n_nonzero=4, deflation=deflation)
    assert model.components_.shape == (3, 13)
    assert model.certificate_.value <= best_of_all(3) * (1 + 1e-3)


def test_instances_with_their_settings():
    assert fitted(n_nonzero=4, solver=Rounding(repeats=3)).components_.any()
    assert fitted(n_nonzero=4, solver=Greedy(direction="backward")).components_.any()
    model = fitted(6, n_nonzero=5, solver=ElasticNet(l1=(0.06, 0.16, 0.1, 0.5, 0.5, 0.5)), refit=False)
    assert list(np.count_nonzero(model.components_, axis=1)) == [7, 4, 4, 1, 1, 1]
    adjusted = explained_variance(
        model.components_, correlation(), definition="adjusted", cumulative=False, precomputed=True
    )
    np.testing.assert_allclose(100 * adjusted, [28.0, 14.0, 13.3, 7.4, 6.8, 6.2], atol=0.06)
    one_by_one = fitted(3, n_nonzero=5, deflation=OrthogonalConstraint())
    np.testing.assert_allclose(one_by_one.components_ @ one_by_one.components_.T, np.eye(3), atol=1e-9)


def test_refit_never_lowers_the_variance():
    for solver in ("max_component", "rounding", "generalized_power_l1", "semidefinite"):
        kept, refitted = (fitted(n_nonzero=5, solver=solver, refit=refit).variance_[0] for refit in (False, True))
        assert refitted >= kept * (1 - 1e-9)


def test_min_variance_keeps_the_share_with_the_fewest_features():
    top = np.linalg.eigvalsh(correlation())[-1]
    model = fitted(min_variance=0.9)
    assert model.variance_[0] >= 0.9 * top
    assert len(model.support_) == 7
    assert fitted(n_nonzero=6).variance_[0] < 0.9 * top
    assert len(fitted(min_variance=1.0).support_) == 13
    assert len(fitted(min_variance=0.01).support_) == 1
    several = fitted(3, min_variance=0.8)
    assert len(several.components_) == 3


@pytest.mark.parametrize("kind", [SparsePCA, NonnegativeSparsePCA])
def test_ten_features_where_nothing_is_given(kind, rng):
    """All where there are fewer; as many as there are for each where no feature may be in two components."""
    X = rng.standard_normal((40, 24)) + rng.standard_normal((40, 1))
    config = {"effort": "quick", "certify": False, "random_state": 0}
    given = kind(2, n_nonzero=10, **config).fit(X)
    np.testing.assert_array_equal(kind(2, **config).fit(X).components_, given.components_)
    assert kind(effort="quick").fit(X[:, :6]).certificate_.problem.n_nonzero == 6
    assert np.count_nonzero(kind(3, deflation="disjoint", **config).fit(X).components_, axis=1).tolist() == [8, 8, 8]


def test_counts_for_each_and_in_all():
    sizes = sorted(np.count_nonzero(fitted(3, n_nonzero=[5, 2, 3]).components_, axis=1))
    assert sizes == [2, 3, 5]
    total = fitted(3, n_nonzero_total=9)
    assert np.count_nonzero(total.components_) <= 9
    assert "9 loadings in all" in str(total.certificate_)
    assert total.certificate_.value >= fitted(3, n_nonzero=3).certificate_.value * (1 - 1e-9)


@pytest.mark.parametrize("constraint", ["orthogonal", "uncorrelated"])
def test_constraints(constraint):
    model, A = fitted(3, n_nonzero=5, constraint=constraint), correlation()
    H = model.components_
    products = H @ H.T if constraint == "orthogonal" else H @ A @ H.T
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-8)
    assert model.certificate_.problem.orthogonal == (constraint == "orthogonal")


def test_a_constraint_that_leaves_fewer_says_so():
    with pytest.warns(UserWarning, match="degree of freedom") as caught:
        model = fitted(4, n_nonzero=2, constraint="uncorrelated")
    assert len(caught) == 1
    assert len(model.components_) < 4


def test_sparse_vectors_of_samples():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 20))
    X[:10, :4] += 3.0
    model = SparsePCA(2, n_nonzero=4, n_rows=10, random_state=0, effort="quick").fit(X)
    assert model.row_components_.shape == (2, 60)
    assert np.count_nonzero(model.row_components_, axis=1).max() <= 10
    assert set(np.flatnonzero(model.row_components_[0])) == set(range(10))
    assert not hasattr(SparsePCA(2, n_nonzero=4, random_state=0, effort="quick").fit(X), "row_components_")


def test_more_variance_than_scikit_learn_at_its_own_counts():
    X = load_breast_cancer().data
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    theirs = Theirs(3, alpha=3.0, random_state=0).fit(X).components_
    counts = np.count_nonzero(theirs, axis=1).tolist()
    ours = SparsePCA(3, n_nonzero=counts, effort="quick", certify=False, random_state=0).fit(X)
    share = [explained_variance(H, X, definition="symmetric")[-1] for H in (theirs, ours.components_)]
    assert share[1] >= share[0]


def test_sparse_input_is_never_densified(rng):
    X = sparse.random(100, 20_000, density=0.01, format="csr", random_state=np.random.default_rng(0))
    model = SparsePCA(2, n_nonzero=10, effort="quick", random_state=0).fit(X)
    assert np.count_nonzero(model.components_, axis=1).max() <= 10
    assert model.certificate_.recheck(X)


def test_a_planted_direction_is_found():
    data = make_spiked(random_state=0)
    model = SparsePCA(1, n_nonzero=int(np.count_nonzero(data.components[0])), random_state=0).fit(data.X)
    assert set(model.support_) == set(np.flatnonzero(data.components[0]))


BAD = [
    ({"n_nonzero": 3, "min_variance": 0.5}, "only one can be set"),
    ({"n_nonzero": 3, "n_nonzero_total": 5}, "only one can be set"),
    ({"min_variance": 0.0}, "above 0 and at most 1"),
    ({"min_variance": 1.5}, "above 0 and at most 1"),
    ({"min_variance": "much"}, "above 0 and at most 1"),
    ({"n_components": 3, "n_nonzero_total": 2}, "each component needs at least one feature"),
    ({"n_components": 2, "n_nonzero_total": 27}, "26 loadings in all"),
    ({"n_components": 3, "n_nonzero": [2, 2]}, "Pass one count for each component"),
    ({"n_nonzero": 14}, "outside"),
    ({"n_nonzero": 0}, "at least 1"),
    ({"n_components": 14, "n_nonzero": 2}, "cannot be more components than"),
    ({"solver": "best"}, "solver='best' is not known"),
    ({"deflation": "none"}, "deflation='none' is not known"),
    ({"constraint": "both"}, "constraint='both' is not known"),
    ({"constraint": "orthogonal", "deflation": "schur", "n_components": 2}, "a constraint determines"),
    (
        {"constraint": "orthogonal", "solver": "greedy", "n_components": 2},
        "search for all components together",
    ),
    ({"n_nonzero_total": 6, "deflation": "schur", "n_components": 2}, "search for all components together"),
    (
        {"solver": "elastic_net", "deflation": "schur", "n_components": 2},
        "search for all components together",
    ),
    ({"n_rows": 3, "deflation": "schur"}, "cannot be combined with deflation"),
    ({"n_rows": 3, "solver": "varimax"}, "cannot be combined with solver"),
    ({"refit": "yes"}, "must be True or False"),
    ({"time_limit": -1}, "positive number of seconds"),
]


@pytest.mark.parametrize(("settings", "sentence"), BAD, ids=[str(bad[0]) for bad in BAD])
def test_bad_parameters_get_a_sentence(settings, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        fitted(**{"n_components": 1, **settings})


def test_rows_are_needed_for_sparse_vectors_of_samples():
    with pytest.raises(ValueError, match="Fit on X itself"):
        fitted(1, n_nonzero=3, n_rows=3)
    with pytest.raises(ValueError, match="n_rows"):
        SparsePCA(1, n_nonzero=3, n_rows=500, random_state=0).fit(load_wine().data)
    counted = SparsePCA(2, n_nonzero=3, n_rows=[4, 9], effort="quick", certify=False).fit(load_wine().data)
    np.testing.assert_array_equal(np.count_nonzero(counted.row_components_, axis=1), [4, 9])
    with pytest.raises(ValueError, match="n_rows has 1 counts, but n_components=2"):
        SparsePCA(2, n_nonzero=3, n_rows=[4]).fit(load_wine().data)


def test_a_covariance_that_is_none():
    A = correlation()
    A[0, 1] = A[1, 0] = 5.0
    with pytest.raises(ValueError, match="positive semidefinite"):
        fitted(X=A, precomputed=True, n_nonzero=3)


def test_a_time_limit_still_gives_a_certificate():
    X = np.random.default_rng(0).standard_normal((100, 400))
    model = SparsePCA(3, n_nonzero=20, time_limit=1e-6, random_state=0).fit(X)
    assert len(model.components_) == 3
    assert model.certificate_.recheck(X)


def test_progress_is_shown_when_asked_for(capsys):
    fitted(2, n_nonzero=3, verbose=True)
    assert "[sparing]" in capsys.readouterr().out
    fitted(2, min_variance=0.5, verbose=True, deflation=GeneralizedDeflation())
    assert "feature(s) keep" in capsys.readouterr().out


def test_a_dominant_feature_is_not_taken_twice():
    """Unscaled wine: one feature has 99.8% of the variance, and a second copy of it must not pay."""
    model = SparsePCA(3, min_variance=0.9, effort="quick", random_state=0).fit(load_wine().data)
    assert len(model.components_) == 3
    assert len(model.support_) == 3
    assert model.certificate_.ratio > 0.9999


@pytest.mark.parametrize("solver", ["auto", "greedy", "truncated_power", "rounding"])
def test_the_share_asked_for_is_kept(solver, rng):
    X = rng.standard_normal((100, 60))
    top = np.linalg.eigvalsh(np.cov(X, rowvar=False))[-1]
    for share in (0.6, 0.97):
        model = SparsePCA(min_variance=share, solver=solver, effort="quick", random_state=0).fit(X)
        assert model.variance_[0] >= share * top * (1 - 1e-6)
        assert len(model.support_) < 60


def test_hundreds_of_features_per_component(rng):
    X = rng.standard_normal((60, 300))
    model = SparsePCA(2, min_variance=0.9, effort="quick", random_state=0).fit(X)
    assert np.count_nonzero(model.components_, axis=1).min() > 100
    assert model.certificate_.recheck(X)


@pytest.mark.filterwarnings("ignore:After max_iter")
def test_no_certificate_for_a_problem_that_the_components_break(rng):
    """Penalties decide the counts, not ``n_nonzero``: the claim is about as many features as were used."""
    X = rng.standard_normal((50, 8)) @ rng.standard_normal((8, 8))
    for k in (1, 2):
        model = SparsePCA(k, n_nonzero=1, solver=ElasticNet(l1=0.1), random_state=0).fit(X)
        most = np.count_nonzero(model.components_, axis=1).max()
        assert most > 1
        assert model.certificate_.problem.n_nonzero == most
        assert model.certificate_.recheck(X)


def test_one_feature_for_each_component_in_all(rng):
    model = SparsePCA(3, n_nonzero_total=3, random_state=0).fit(rng.standard_normal((30, 6)))
    assert list(np.count_nonzero(model.components_, axis=1)) == [1, 1, 1]


def test_constant_features_get_no_rounding_for_loadings(rng):
    X = np.column_stack([rng.standard_normal((40, 5)), np.full(40, 3.0)])
    model = SparsePCA(2, n_nonzero=6, random_state=0, effort="quick").fit(X)
    assert 5 not in model.support_


def test_the_fewest_features_of_many_are_sought_in_memory(rng):
    """Each number of features that is tried used to read X again and again."""
    loadings = rng.standard_normal((2, 900)) * 0.99 ** np.arange(900)
    X = rng.standard_normal((300, 2)) @ (5 * loadings) + 0.1 * rng.standard_normal((300, 900))
    model = SparsePCA(2, min_variance=0.9, effort="quick", certify=False, random_state=0).fit(X)
    assert model.explained_variance_ratio_.sum() >= 0.99
    assert np.count_nonzero(model.components_) <= 150
    assert model.n_passes_ <= 300


def test_so_many_features_that_no_matrix_of_them_fits(rng):
    """The fewest for a share of the variance may be thousands: then products with A are all there is."""
    X = rng.standard_normal((40, 30000)).astype(np.float32)
    X += 3 * rng.standard_normal((40, 1)) * rng.standard_normal((1, 30000))
    model = SparsePCA(1, min_variance=0.5, certify=False, random_state=0, effort="quick").fit(X)
    assert 2000 < np.count_nonzero(model.components_) < 6000


@pytest.mark.parametrize("kind", [SparsePCA, SparseEncoder, NonnegativeSparsePCA])
def test_a_correlation_matrix_taken_for_samples_gets_a_word(kind):
    correlation = load_pitprops().correlation
    with pytest.warns(SparingWarning, match="pass precomputed=True"):
        kind(1, n_nonzero=3, random_state=0).fit(correlation)
    kind(1, n_nonzero=3, precomputed=True, random_state=0).fit(correlation)  # warnings are errors here
    kind(1, n_nonzero=3, center=False, random_state=0).fit(correlation)  # its rows as data, as papers have it


def test_components_that_say_nearly_the_same_are_named():
    """Sizes of cells were measured in several ways: other features, nearly the same scores."""
    X = load_breast_cancer().data
    model = SparsePCA(2, n_nonzero=2, scale=True, effort="quick", random_state=0).fit(X)
    largest = np.abs(np.corrcoef(model.transform(X), rowvar=False)[0, 1])
    assert largest > 0.95
    wanted = (
        f"Scores of components 1 and 2 have correlation {np.floor(largest * 100) / 100:.2f}: they are nearly redundant."
    )
    assert wanted in model.certificate_.notes
    assert wanted in model.certificate_.details()
    assert not fitted(2, n_nonzero=4).certificate_.notes
