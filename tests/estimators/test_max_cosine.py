"""A limit on the cosines of components: kept, never below orthogonal components, proved, saved, refused in words."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from laws import mostly_long
from small_problems import covariance
from sparing import SparsePCA, load_model, save_model
from sparing.datasets import load_pitprops
from sparing.methods.encoders.limited_cosine import shrunk
from sparing.objectives.loadings import best_loadings

PITPROPS = load_pitprops().correlation


def fitted(A, k, r, effort="quick", **settings):
    return SparsePCA(k, n_nonzero=r, precomputed=True, effort=effort, **settings).fit(A)


def largest_cosine(model):
    H = model.components_ / np.linalg.norm(model.components_, axis=1, keepdims=True)
    return float(np.abs(np.triu(H @ H.T, 1)).max())


KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "coupled")
LIMITS = ((2, 0.05), (2, 0.3), (3, 0.3))
CASES = [(kind, *each) for kind in KINDS for each in LIMITS if (kind, each[0]) != ("rank_deficient", 3)]
FIRST = [(kind, *LIMITS[number % 3]) for number, kind in enumerate(KINDS[::-1])]


@pytest.mark.parametrize(("kind", "k", "cosine"), mostly_long(CASES, *FIRST))
def test_it_is_kept_and_never_below_orthogonal_components(kind, k, cosine):
    A = covariance(kind, np.random.default_rng(4), 7)
    model, orthogonal = fitted(A, k, 3, max_cosine=cosine), fitted(A, k, 3, constraint="orthogonal")
    assert largest_cosine(model) <= cosine
    assert np.count_nonzero(model.components_, axis=1).max() <= 3
    assert model.certificate_.value >= orthogonal.certificate_.value * (1 - 1e-9)
    assert model.certificate_.recheck(A)


def test_numbers_of_pitprops():
    """A looser limit never has less here; some components are as far from orthogonal as they may be."""
    models = [fitted(PITPROPS, 3, 5, max_cosine=c) for c in (0.05, 0.1, 0.3, 0.6)]
    values = [model.certificate_.value for model in models]
    assert values == sorted(values)
    assert fitted(PITPROPS, 3, 5, "default", max_cosine=0.1).certificate_.value >= max(values[1], 7.79)
    assert largest_cosine(models[1]) == pytest.approx(0.1, abs=1e-6)
    assert [model.certificate_.problem.max_cosine for model in models] == [0.05, 0.1, 0.3, 0.6]


def test_the_ends_are_what_they_were():
    """1 is the free answer, and 0 the orthogonal one, to the last bit."""
    for one, other in (({"max_cosine": 1}, {}), ({"max_cosine": 0}, {"constraint": "orthogonal"})):
        first, second = fitted(PITPROPS, 2, 5, **one), fitted(PITPROPS, 2, 5, **other)
        np.testing.assert_array_equal(first.components_, second.components_)
        assert first.certificate_.problem == second.certificate_.problem
        assert str(first.certificate_) == str(second.certificate_)
    exact = fitted(PITPROPS, 2, 5, max_cosine=0.0, solver="exact")
    assert exact.certificate_.gap <= 1e-6
    single = fitted(PITPROPS, 1, 5, max_cosine=0.3, include=[2])
    assert single.certificate_.problem.max_cosine == 1


def test_the_certificate_is_about_the_limit(tmp_path):
    X = load_wine().data
    model = SparsePCA(2, n_nonzero=5, scale=True, max_cosine=0.3).fit(X)
    certificate = model.certificate_
    assert "2 components with 5 features each and cosines of at most 0.3 can keep more than" in str(certificate)
    assert certificate.witness.name == "limited_cosine"
    assert certificate.gap <= 0.075
    assert certificate.recheck(X)
    save_model(model, tmp_path / "wine.model")
    again = load_model(tmp_path / "wine.model")
    assert again.max_cosine == 0.3
    assert again.certificate_.problem == certificate.problem
    assert again.certificate_.recheck(X)
    free = replace(certificate, problem=replace(certificate.problem, max_cosine=1.0))
    assert not free.recheck(X), "what holds under the limit is not proved without it"


def test_loadings_that_break_the_limit_are_noticed():
    """Control: those of free components do; so does a limit that is no number."""
    model = fitted(PITPROPS, 2, 5, "default")
    certificate, largest = model.certificate_, largest_cosine(model)
    assert largest > 0.4
    for cosine, words in ((0.3, f"a cosine of {largest:.4g}"), (math.nan, "a cosine of"), (-1.0, "a cosine of")):
        said = replace(certificate, problem=replace(certificate.problem, max_cosine=cosine)).recheck(PITPROPS)
        assert not said
        assert words in str(said)


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan, "no", None, True, [0.3]])
def test_other_values_get_a_sentence(value):
    with pytest.raises(ValueError, match=r"max_cosine=.* must be a number from 0 to 1: .* Pass one such as 0\.3\."):
        fitted(PITPROPS, 2, 5, max_cosine=value)


@pytest.mark.parametrize(
    ("cosine", "wish"),
    [
        (0.3, {"include": [1]}),
        (0.3, {"min_variance": 0.9, "n_nonzero": None}),
        (0.3, {"solver": "exact"}),
        (0.3, {"constraint": "uncorrelated"}),
        (0.0, {"constraint": "uncorrelated"}),
        (0.3, {"deflation": "disjoint"}),
        (0.0, {"solver": "max_component"}),
    ],
)
def test_wishes_that_cannot_be_met_with_it_get_a_sentence(cosine, wish):
    parameter = next(iter(wish))
    settings = {"n_nonzero": 5, "max_cosine": cosine, **wish}
    with pytest.raises(ValueError, match=f"max_cosine={cosine} and {parameter}=.* Leave {parameter} at its default"):
        SparsePCA(2, precomputed=True, **settings).fit(PITPROPS)


def test_features_in_all_counts_of_each_excluded_ones_and_time(ticking):
    """What else goes with a limit."""
    ticking(1e-3)
    for settings in (
        {"n_nonzero_total": 8},
        {"n_nonzero": (3, 5)},
        {"n_nonzero": 4, "exclude": [0, 9]},
        {"n_nonzero": 4, "time_limit": 0.01},
    ):
        model = SparsePCA(2, precomputed=True, effort="quick", max_cosine=0.2, **settings).fit(PITPROPS)
        assert largest_cosine(model) <= 0.2
        assert model.certificate_.recheck(PITPROPS)
        assert not {0, 9} & set(model.support_.tolist()) or "exclude" not in settings


def test_loadings_are_shrunk_to_the_limit_and_no_further(rng):
    for _ in range(50):
        H = rng.standard_normal((6, 3)) * (rng.random((6, 3)) < 0.7)
        limit = float(rng.uniform(0.05, 0.9))
        out = shrunk(H, limit)
        if out is None:
            continue
        before = H / np.linalg.norm(H, axis=0)
        assert np.abs(np.triu(out.T @ out, 1)).max() <= limit
        assert not out[H == 0].any()
        if np.abs(np.triu(before.T @ before, 1)).max() <= limit - 1e-9:
            np.testing.assert_allclose(out, before)
    same = np.array([[1.0, 1.0], [0.0, 0.0]])
    assert shrunk(same, 0.5) is None, "one feature has no other direction"


def test_charged_loadings_follow_their_slope(rng):
    """Within the limit a charge changes nothing; beyond it cosines come down with it."""
    A = covariance("dense", rng, 6)
    H = rng.standard_normal((6, 2))
    free = best_loadings(A, H, 0.01, 200)
    np.testing.assert_array_equal(best_loadings(A, H, 0.01, 200, max_cosine=1.0, charge=10.0), free)
    near = np.column_stack([H[:, 0], H[:, 0] + 0.3 * H[:, 1]])
    near[3:] = 0.0

    def cosine(charge):
        return abs(float(np.vdot(*best_loadings(A, near, 0.5, 300, max_cosine=0.1, charge=charge).T)))

    assert cosine(1e3) <= max(0.12, cosine(0.0))
