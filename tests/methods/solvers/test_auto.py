"""The default solver: optimal where the optimum is known, never below the others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from laws import mostly_long
from small_problems import optimum
from sparing import SparsePCA
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg.metric import NearIdentity
from sparing.methods.solvers import SOLVERS, Auto
from sparing.objectives.variance import RayleighObjective
from sparing.run import Run
from sparing.task import Task


def solve(A, r, seed=0, solver=None, **kw):
    view = A if not isinstance(A, np.ndarray) else as_view(A, Preprocessing(precomputed=True))
    found = (solver or Auto()).solve(Task.of_component(view, r, **kw), Run(np.random.default_rng(seed)))
    return found.variance * view.square_unit


@pytest.mark.parametrize("r", range(1, 14))
def test_pit_props_optimal_for_every_count(r):
    A = load_pitprops().correlation
    for seed in range(3):
        assert solve(A, r, seed) == pytest.approx(optimum(A, r), rel=1e-9)


def test_optimal_on_nearly_all_small_problems():
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((12, 10)) if seed % 2 else rng.integers(-2, 3, (12, 10)).astype(float)
        A = np.corrcoef(X, rowvar=False) if seed % 3 else np.cov(X, rowvar=False)
        r = 2 + seed % 4
        found, best = solve(A, r), optimum(A, r)
        assert found <= best * (1 + 1e-9)
        missed += found < best * (1 - 1e-9)
    assert missed <= 1


PROVED = {
    "normCommunities": {5: 4.860548, 10: 8.823616, 20: 14.326952},
    "normArrhythmia": {5: 4.233204, 10: 7.539385, 20: 11.466511},
}


@pytest.mark.parametrize("name", PROVED)
def test_proved_optima_of_public_covariances(name, shared):
    A = np.nan_to_num(shared("bcp_covariances.npz", name))
    for r, value in PROVED[name].items():
        for seed in range(2):
            assert solve(A, r, seed) == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("name", mostly_long(["normgait", "normvoice", "normgastro"], "normgastro"))
def test_never_below_the_others_on_public_covariances(name, shared):
    A = np.nan_to_num(shared("bcp_covariances.npz", name))
    for r in (3, 10):
        ours = solve(A, r)
        for other, solver in SOLVERS.items():
            if other not in ("auto", "semidefinite"):
                assert solve(A, r, solver=solver()) <= ours * (1 + 1e-9), other


def test_more_features_than_the_pool_holds(rng):
    """The best few are found among thousands, whatever their place."""
    X = rng.standard_normal((80, 3000))
    hidden = rng.choice(3000, 8, replace=False)
    X[:, hidden] += 2.0 * rng.standard_normal((80, 1))
    view = as_view(X)
    found = Auto().solve(Task.of_component(view, 8), Run(rng))
    np.testing.assert_array_equal(found.support, np.sort(hidden))
    _, swapped, _ = RayleighObjective(view).improved(found.support, 10)
    assert set(swapped) == set(found.support), "no single swap among all features improves it"


def test_with_a_metric_it_maximises_the_quotient(rng):
    A = np.cov(rng.standard_normal((30, 8)) @ rng.standard_normal((8, 8)), rowvar=False)
    Q = np.linalg.qr(rng.standard_normal((8, 2)))[0]
    metric = NearIdentity(Q, -np.ones(2), 1.05)
    objective = RayleighObjective(DenseGram(A), metric)
    best = max(objective.solve(np.array(S))[0] for S in combinations(range(8), 3))
    found = Auto().solve(Task.of_component(DenseGram(A), 3, metric=metric), Run(rng))
    assert found.variance == pytest.approx(best, rel=1e-9)


def test_nothing_to_find():
    found = Auto().solve(Task.of_component(DenseGram(np.zeros((4, 4))), 2), Run(np.random.default_rng(0)))
    assert found.variance == 0
    assert np.linalg.norm(found.loadings) == pytest.approx(1)


@pytest.mark.parametrize(
    ("shape", "r"),
    mostly_long(
        [((30, 80), 5), ((30, 80), 60), ((40, 600), 20), ((40, 600), 90), ((40, 600), 230)],
        ((30, 80), 5),
        ((40, 600), 90),
        ((40, 600), 230),
    ),
)
def test_no_other_solver_is_better(shape, r):
    """Whatever limits its own search has: few and many features, few and many nonzeros."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal(shape) + rng.standard_normal((shape[0], 1)) * (rng.random(shape[1]) < 0.2)
    config = {"n_nonzero": r, "certify": False, "random_state": 0}
    auto = SparsePCA(**config).fit(X).variance_[0]
    for solver in ("greedy", "truncated_power", "generalized_power_l0", "generalized_power_l1", "max_component"):
        assert auto >= SparsePCA(solver=solver, **config).fit(X).variance_[0] * (1 - 1e-6), solver


def test_more_features_never_keep_less():
    """Over the counts at which the search changes its ways."""
    X = load_digits().data
    variances = [
        SparsePCA(n_nonzero=r, certify=False, random_state=0, effort="quick").fit(X).variance_[0]
        for r in range(1, 62, 10)
    ]
    assert (np.diff(variances) >= -1e-9 * np.array(variances[1:])).all()
    X = np.random.default_rng(0).standard_normal((30, 400))
    counts = (49, 50, 51, 200, 201)
    variances = [
        SparsePCA(n_nonzero=r, certify=False, random_state=0, effort="quick").fit(X).variance_[0] for r in counts
    ]
    assert (np.diff(variances) >= 0).all()
