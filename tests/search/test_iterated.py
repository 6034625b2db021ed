"""The driver: scores that never promise too much, local optima, and the optima of small problems."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.effort import DEFAULT
from sparing.objectives.shared import SharedCapture
from sparing.rules import NO_RULES
from sparing.run import Budget, Run
from sparing.search.descent import Descent
from sparing.search.iterated import search_all


def problem(seed, n=30, d=10, k=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d)) + 0.5 * rng.standard_normal((n, d))
    return SharedCapture(X.T @ X, (X.T @ X) @ (X.T @ X), k), X


def exact(objective, supports):
    return objective.fitted(np.asarray(supports))[0]


def test_values_are_what_the_best_encoder_captures():
    objective, X = problem(0)
    Q = np.linalg.qr(X[:, [1, 4, 7]])[0]
    captured = np.square(np.linalg.svd(Q.T @ X, compute_uv=False)[:2]).sum()
    np.testing.assert_allclose(exact(objective, [[1, 4, 7]]), captured)


@settings(deadline=None, max_examples=25)
@given(seed=st.integers(0, 10**6), r=st.integers(2, 5), k=st.integers(1, 3))
def test_no_swap_gains_less_than_its_score(seed, r, k):
    objective, _ = problem(seed, k=k)
    supports = np.array([np.random.default_rng(seed).choice(10, r, replace=False)])
    value, state = objective.fitted(supports)
    gains = objective.swap_gains(supports, state)[0]
    assert np.isneginf(gains[:, supports[0]]).all()
    for slot, j in zip(*np.nonzero(np.isfinite(gains)), strict=True):
        swapped = supports.copy()
        swapped[0, slot] = j
        assert gains[slot, j] <= exact(objective, swapped)[0] - value[0] + 1e-9 * value[0]


def test_shortlists_score_as_all_candidates_do():
    objective, _ = problem(1)
    supports, candidates = np.array([[0, 3, 5], [2, 3, 8]]), np.array([[1, 5, 9], [0, 4, 6]])
    _, state = objective.fitted(supports)
    every, some = objective.swap_gains(supports, state), objective.swap_gains(supports, state, candidates)
    np.testing.assert_allclose(some, np.take_along_axis(every, candidates[:, None, :], axis=2))


@pytest.mark.parametrize("seed", range(5))
def test_descents_end_where_no_swap_gains(seed):
    objective, _ = problem(seed)
    starts = np.array([np.random.default_rng(s).choice(10, 4, replace=False) for s in range(6)])
    descent = Descent(objective, starts, shortlist=10, refined=24)
    descent.run(Budget())
    assert (descent.values >= exact(objective, starts) * (1 - 1e-12)).all()
    np.testing.assert_allclose(descent.values, exact(objective, descent.supports))
    for support, value in zip(descent.supports, descent.values, strict=True):
        others = np.setdiff1d(np.arange(10), support)
        swaps = [np.append(np.delete(support, i), j) for i in range(4) for j in others]
        assert exact(objective, swaps).max() <= value * (1 + 1e-9)


def test_supports_that_climb_together_end_where_each_ends_alone():
    objective, _ = problem(3)
    starts = np.array([np.random.default_rng(s).choice(10, 4, replace=False) for s in range(8)])
    together = Descent(objective, starts, shortlist=5, refined=6)
    together.run(Budget())
    for start, support, value in zip(starts, together.supports, together.values, strict=True):
        alone = Descent(objective, start[None], shortlist=5, refined=6)
        alone.run(Budget())
        assert sorted(alone.supports[0]) == sorted(support)
        assert alone.values[0] == pytest.approx(value)


def test_supports_that_meet_end_alike_and_known_optima_are_not_climbed_again():
    objective, _ = problem(5, d=14)
    starts = np.array([[j, (j + 1) % 14, (j + 5) % 14] for j in range(14)])
    optima, limits = set[bytes](), {"shortlist": 14, "refined": 8}
    first = Descent(objective, starts, **limits, optima=optima)
    first.run(Budget())
    ends = np.sort(first.supports, axis=1)
    assert first.arrived.all()
    assert 1 < len(optima) == len(np.unique(ends, axis=0)) < len(starts)
    np.testing.assert_allclose(first.values, exact(objective, first.supports), rtol=1e-12)
    for known, climbs in ((optima, False), (set(), True)):
        descent, looks = Descent(objective, ends, **limits, optima=known), []
        descent._look_closer = lambda who, look=descent._look_closer, looks=looks: (looks.append(len(who)), look(who))
        descent.run(Budget())
        np.testing.assert_array_equal(np.sort(descent.supports, axis=1), ends)
        assert descent.arrived.all()
        assert bool(looks) is climbs  # control: what is not known to be an optimum is looked at


class Small:
    """All features of a problem in memory, as the driver sees those of a view."""

    blocks = 1

    def __init__(self, objective):
        self.objective, self.usable = objective, np.ones(objective.size, dtype=bool)
        self.working_sets, self.n_features, self.rules = [], objective.size, NO_RULES

    def on(self, features):
        self.working_sets.append(features)
        block = np.ix_(features, features)
        return SharedCapture(self.objective.gram[block], self.objective.weight[block], self.objective.rank)

    def outside(self, supports, width, loadings=None):
        _, state = self.objective.fitted(supports)
        return self.objective.swap_gains(supports, state).max(axis=1)


@pytest.mark.parametrize("enumerated", [0, 10**4], ids=["searched", "all tried"])
@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_of_small_problems_is_found(seed, enumerated):
    objective, _ = problem(seed, d=12)
    best = exact(objective, list(combinations(range(12), 4))).max()
    rng = np.random.default_rng(seed)
    starts = np.array([rng.choice(12, 4, replace=False) for _ in range(4)])
    effort = replace(DEFAULT, unseen=0.0, enumerated=enumerated)
    supports = search_all(Small(objective), starts, Run(rng, effort=effort))
    values = exact(objective, supports)
    assert values[0] == pytest.approx(best)
    assert (np.diff(values) <= 1e-12 * best).all()


def test_features_outside_of_the_working_set_come_in():
    came_in = 0
    for seed in range(10):
        objective, X = problem(seed, d=60)
        poor = np.argsort(np.square(X).sum(axis=0))[:4][None]  # the features of least variance
        values = []
        for working_sets in (1, 4):
            effort = replace(DEFAULT, working_set=3, working_sets=working_sets)
            narrow = Small(objective)
            found = search_all(narrow, poor, Run(np.random.default_rng(0), effort=effort))
            values.append(exact(objective, found[:1])[0])
            assert all(len(features) < 60 for features in narrow.working_sets)
        assert values[1] >= values[0]
        came_in += bool(set(found[0]) - set(narrow.working_sets[0]))
    assert came_in >= 5


def test_no_time_is_no_error():
    objective, _ = problem(0)
    late = Run(np.random.default_rng(0), Budget(deadline=0.0), replace(DEFAULT, enumerated=0))
    np.testing.assert_array_equal(search_all(Small(objective), np.array([[0, 1, 2]]), late), [[0, 1, 2]])
