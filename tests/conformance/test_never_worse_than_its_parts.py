"""Laws of the search: less effort, fewer features, a constraint, a deflation or a named selector never keep more."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine

from laws import mostly_long
from sparing import SparseEncoder, SparsePCA, sparsity_path
from sparing.data import Preprocessing, as_view
from sparing.effort import QUICK
from sparing.estimators.sparse_pca import FAST_SOLVER
from sparing.linalg import top_spectrum
from sparing.methods.deflation import OrthogonalConstraint, UncorrelatedConstraint
from sparing.methods.encoders import Sequential
from sparing.methods.encoders.joint_goals import JointVariances
from sparing.methods.encoders.joint_search import JointSearch
from sparing.methods.encoders.joint_starts import JointStarts
from sparing.methods.selectors import SELECTORS
from sparing.run import Run
from sparing.task import Task

TABLES = {"wine": load_wine().data, "cancer": load_breast_cancer().data, "digits": load_digits().data[::6]}
SLACK = 1 + 1e-6
EFFORTS = ("quick", "default", "thorough")
BY_TARGETS = {"response"}


def loss(X, k, r, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # fewer components than asked for, collinear features
        return SparseEncoder(k, n_nonzero=r, scale=True, certify=False, random_state=0, **settings).fit(X).loss_


def factors(seed, n=40, d=30):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + rng.standard_normal((n, d))


@settings(deadline=None, max_examples=4)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 4), r=st.integers(4, 9))
def test_more_effort_never_loses_more(seed, k, r):
    losses = [loss(factors(seed), k, r, effort=effort) for effort in EFFORTS]
    assert losses[2] <= losses[1] * SLACK
    assert losses[1] <= losses[0] * SLACK


@pytest.mark.parametrize("name", TABLES)
def test_more_effort_never_loses_more_on_real_data(name):
    losses = [loss(TABLES[name], 3, 8, effort=effort) for effort in EFFORTS]
    assert losses[2] <= losses[1] * SLACK
    assert losses[1] <= losses[0] * SLACK


@pytest.mark.parametrize("name", [*TABLES, "factors"])
def test_more_features_never_lose_more(name):
    X = TABLES.get(name, factors(0))
    losses = np.array([loss(X, 3, r) for r in (3, 4, 5, 8, 9, 12)])
    assert (np.diff(losses) <= 1e-6 * losses[:-1]).all()


@pytest.mark.parametrize("name", [*TABLES, "factors"])
def test_the_path_never_rises_and_the_encoder_loses_no_more_than_it(name):
    X = TABLES.get(name, factors(1))
    path = sparsity_path(X, 3, max_features=12, scale=True, certify=False, random_state=0)
    assert (np.diff(path.loss_ratio) <= 1e-9).all()
    assert path.loss_ratio[2] > path.loss_ratio[-1] * 1.001  # a control: losses differ along the path
    for r in (4, 8, 12):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = SparseEncoder(3, n_nonzero=r, scale=True, certify=False, random_state=0).fit(X)
        assert model.loss_ratio_ <= path.loss_ratio[r - 1] * SLACK


BESIDE_SELECTORS = (*TABLES.values(), factors(2), factors(3, 20, 60))


@functools.cache
def losses_of_the_default():
    return [loss(X, 3, 7) for X in BESIDE_SELECTORS]


@pytest.mark.parametrize("selector", sorted(set(SELECTORS) - BY_TARGETS - {"exact"}))
def test_the_default_loses_no_more_than_any_named_selector(selector):
    for X, found in zip(BESIDE_SELECTORS, losses_of_the_default(), strict=True):
        assert found <= loss(X, 3, 7, selector=selector) * SLACK


@pytest.mark.parametrize("seed", range(4))
def test_the_default_loses_no_more_than_the_exact_optimum(seed):
    X = factors(seed, 30, 14)
    assert loss(X, 2, 4) <= loss(X, 2, 4, selector="exact") * SLACK


@pytest.mark.parametrize("sizes", [range(48, 53), range(198, 203)])
def test_more_nonzeros_never_keep_less(sizes):
    rise_of_one_component(factors(0, 60, 300), sizes)


@pytest.mark.parametrize("sizes", mostly_long([range(49, 53), range(199, 203), range(260, 265)], range(49, 53)))
def test_more_nonzeros_never_keep_less_of_genes(sizes, shared):
    rise_of_one_component(shared("colon_alon.npz").astype(float), sizes)


def rise_of_one_component(X, sizes):
    models = [SparsePCA(1, n_nonzero=r, scale=True, effort="quick", certify=False, random_state=0) for r in sizes]
    kept = np.array([model.fit(X).variance_[0] for model in models])
    assert (np.diff(kept) >= -1e-9 * kept[:-1]).all()


CONSTRAINED = ({"constraint": "orthogonal"}, {"constraint": "uncorrelated"}, {"n_nonzero_total": True})


def components(X, k, r, **settings):
    """Directions (columns) of unit variances of the features, and the correlation matrix."""
    if settings.pop("n_nonzero_total", False):
        settings["n_nonzero_total"] = k * r
    else:
        settings["n_nonzero"] = r
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SparsePCA(k, scale=True, certify=False, random_state=0, **settings).fit(X)
    return model.components_.T, np.corrcoef(X, rowvar=False)


def sum_of_variances(H, A):
    return float(np.trace(H.T @ A @ H))


def of_the_span(H, A):
    return float(np.trace(np.linalg.lstsq(H.T @ H, H.T @ A @ H, rcond=None)[0]))


@pytest.mark.parametrize("way", CONSTRAINED, ids=["orthogonal", "uncorrelated", "total"])
@pytest.mark.parametrize("seed", mostly_long(range(3), 0))
def test_more_effort_never_keeps_less_under_a_constraint(way, seed):
    value = of_the_span if "n_nonzero_total" in way else sum_of_variances
    X = factors(seed, 30, 20)
    quick, default = (value(*components(X, 3, 5, effort=effort, **way)) for effort in EFFORTS[:2])
    assert default >= quick * (1 - 1e-9)


@pytest.mark.parametrize("name", ["wine", "cancer", "factors"])
@pytest.mark.parametrize("deflation", [OrthogonalConstraint, UncorrelatedConstraint])
def test_constrained_components_together_keep_no_less_than_one_after_the_other(name, deflation):
    X = TABLES.get(name, factors(5))
    constraint = "orthogonal" if deflation is OrthogonalConstraint else "uncorrelated"
    together, A = components(X, 3, 5, constraint=constraint, effort="quick")
    rng, view = np.random.default_rng(0), as_view(A, Preprocessing(precomputed=True))
    task = Task.of_components(view, top_spectrum(view, 3, rng), 5)
    in_turn = Sequential(FAST_SOLVER, deflation()).encode(task, Run(rng, effort=QUICK)).components.T
    assert sum_of_variances(together, A) >= sum_of_variances(in_turn, A) * (1 - 1e-6)


@pytest.mark.parametrize(
    ("name", "k", "r", "effort"),
    [
        ("wine", 3, 4, "default"),
        ("wine", 2, 4, "quick"),
        pytest.param("cancer", 3, 4, "quick", marks=pytest.mark.long),
        ("factors", 3, 4, "quick"),
        ("diabetes", 3, 3, "quick"),
    ],
)
def test_what_is_free_keeps_no_less_than_what_is_constrained(name, k, r, effort):
    X = {**TABLES, "diabetes": load_diabetes().data}.get(name, factors(6))
    free, A = components(X, k, r, effort=effort)
    for way in ({"constraint": "orthogonal"}, {"deflation": "disjoint"}, {"deflation": "generalized"}):
        assert of_the_span(free, A) >= of_the_span(components(X, k, r, effort=effort, **way)[0], A) * (1 - 1e-6)
    in_all = components(X, k, r, effort=effort, n_nonzero_total=True)[0]
    assert of_the_span(in_all, A) >= of_the_span(free, A) * (1 - 1e-6)


@settings(deadline=None, max_examples=6)
@given(
    seed=st.integers(0, 10**6), k=st.integers(2, 5), r=st.integers(2, 8), effort=st.sampled_from(["quick", "default"])
)
def test_what_is_free_keeps_no_less_than_what_is_orthogonal_at_any_effort(seed, k, r, effort):
    free, A = components(factors(seed), k, r, effort=effort)
    orthogonal, _ = components(factors(seed), k, r, effort=effort, constraint="orthogonal")
    assert of_the_span(free, A) >= of_the_span(orthogonal, A) * (1 - 1e-6)


def test_a_free_search_alone_may_end_below_orthogonal_components():
    """The case that asks for the start from orthogonal ones: without it the free search stops 0.1% lower."""
    X, k, r = factors(23, 40, 60), 6, 8
    orthogonal, A = components(X, k, r, constraint="orthogonal", effort="quick")
    free, _ = components(X, k, r, effort="quick")
    view, rng = as_view(A, Preprocessing(precomputed=True)), np.random.default_rng(0)
    goal, spectrum = JointVariances(view, [r] * k, 0.01), top_spectrum(view, k, rng)
    starts = JointStarts(goal, FAST_SOLVER, spectrum)
    alone = JointSearch(goal, starts, spectrum, Run(rng, effort=QUICK)).run()[-1].best
    assert of_the_span(alone, A) < of_the_span(orthogonal, A) * (1 - 1e-3)
    assert of_the_span(free, A) >= of_the_span(orthogonal, A) * (1 - 1e-6)


@pytest.mark.parametrize("constraint", ["orthogonal", "uncorrelated"])
def test_more_nonzeros_never_keep_less_under_a_constraint(constraint):
    found = [components(factors(7), 3, r, constraint=constraint, effort="quick") for r in (2, 3, 4, 7, 8)]
    kept = [sum_of_variances(H, A) for H, A in found]
    assert (np.diff(kept) >= -1e-6 * kept[-1]).all()
