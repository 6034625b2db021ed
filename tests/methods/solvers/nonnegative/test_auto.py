"""The nonnegative solver for everyone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import datasets

from small_problems import covariance, nonnegative_optimum, solving
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg import top_spectrum
from sparing.methods.solvers import Auto, NonnegativeAuto
from sparing.methods.solvers.nonnegative import auto
from sparing.run import Run
from sparing.task import Task

solve = solving(NonnegativeAuto)

PITPROPS = (1, 1.954, 2.475331, 2.937479, 3.406155, 3.770960, 3.996190, 4.068607, 4.138647) + 4 * (4.144111,)
"""Nonnegative optima for 1 to 13 features, by brute force; the first nine are those of any sign."""


@pytest.mark.parametrize("r", range(1, 14))
def test_pit_props(r):
    assert solve(DenseGram(load_pitprops().correlation), r).variance == pytest.approx(PITPROPS[r - 1], abs=1e-6)


def test_brute_force_is_reached():
    """18 matrices of six kinds: all but one."""
    rng, missed = np.random.default_rng(5), 0
    for number in range(18):
        kind = ("dense", "integer", "tied", "rank_deficient", "noisy", "block")[number % 6]
        A, r = covariance(kind, rng, 8), int(rng.integers(1, 9))
        missed += solve(DenseGram(A), r).variance < nonnegative_optimum(A, r) * (1 - 1e-9)
    assert missed <= 1


def test_exchanges_and_shaking_pay():
    """The control: without them poorer local optima remain where noise is all there is."""
    rng, ahead = np.random.default_rng(6), 0
    for _ in range(6):
        view = DenseGram(np.corrcoef(rng.standard_normal((60, 100))))
        few, full = solve(view, 8, starts=1, finalists=1, max_swaps=0, perturbations=0), solve(view, 8)
        assert full.variance >= few.variance * (1 - 1e-9)
        ahead += full.variance > few.variance * (1 + 1e-9)
    assert ahead >= 2


@pytest.mark.parametrize(
    ("name", "r", "share"),
    [
        ("lrs", 20, 0.8869),
        ("cbcl_faces", 40, 0.2351),
        pytest.param("cbcl_faces", 180, 0.6825, marks=pytest.mark.long),
        pytest.param("leukemia_armstrong", 50, 0.2305, marks=pytest.mark.long),
    ],
)
def test_the_data_of_the_paper(name, r, share, shared):
    view = as_view(shared(f"{name}.npz").astype(float), Preprocessing())
    largest = top_spectrum(view, 1, np.random.default_rng(0)).values[0]
    assert solve(view, r).variance / largest >= share


def test_more_nonzeros_than_are_useful_are_not_used(shared):
    """Of 93 bands of the spectra 11 are in the best nonnegative component, however many are allowed."""
    view = as_view(shared("lrs.npz").astype(float), Preprocessing())
    few, many = solve(view, 11), solve(view, 93)
    np.testing.assert_array_equal(few.support, many.support)
    assert len(many.support) == 11


@pytest.mark.parametrize("load", [datasets.load_wine, datasets.load_breast_cancer, datasets.load_digits])
def test_never_below_what_is_found_without_signs_where_that_has_one_sign(load):
    view = DenseGram(as_view(load().data, Preprocessing(scale=True)).gram())
    compared = 0
    for r in (1, 2, 3, 5, 8):
        free = Auto().solve(Task.of_component(view, r), Run(np.random.default_rng(0)))
        if (free.loadings > 0).all():
            compared += 1
            assert solve(view, r).variance >= free.variance * (1 - 1e-9)
    assert compared >= 1


def test_small_groups_are_found_where_all_variances_tie(shared):
    """Correlations of 320 features: any seed finds the best three, 2.99968 as ``exact`` proves."""
    view = DenseGram(shared("bcp_covariances.npz", "normgait"))
    for seed in range(3):
        found = NonnegativeAuto().solve(Task.of_component(view, 3), Run(np.random.default_rng(seed)))
        assert found.variance == pytest.approx(2.99968, abs=1e-5)


def test_settings_leave_starts_out(monkeypatch):
    """What takes most of the time where another search follows: surrogates, a component of any sign, a large pool."""
    looked, view = [], DenseGram(np.corrcoef(np.random.default_rng(0).standard_normal((40, 30))))
    sphere, scores, free = auto.highest, auto.furthest_scores, Auto.solve
    monkeypatch.setattr(auto, "highest", lambda *args, **kw: looked.append("sphere") or sphere(*args, **kw))
    monkeypatch.setattr(auto, "furthest_scores", lambda C, r: looked.append(C.shape[1]) or scores(C, r))
    monkeypatch.setattr(Auto, "solve", lambda *args, **kw: looked.append("any sign") or free(*args, **kw))
    solve(view, 4)
    assert looked == [40, "any sign", "sphere", "sphere", "sphere"]
    looked.clear()
    found = solve(view, 4, surrogates=False, any_sign=False, pool=16)
    assert len(looked) == 1
    assert looked[0] <= 16
    assert found.loadings.min() > 0
