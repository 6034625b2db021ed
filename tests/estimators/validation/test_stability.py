"""Selection frequency, substitutes, numbers of components, and a score that does not read what it predicts."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparing import SparseEncoder, SparsePCARegressor, alternatives, component_count, cross_validated, stability
from sparing.scoring import unread_variance

mpl.use("Agg")
from sparing.plots import AlternativesDisplay, ComponentCountDisplay, StabilityDisplay

COPIES = {0, 10, 11}
ENCODER = SparseEncoder(3, n_nonzero=3, effort="quick", certify=False)


def with_copies(seed=0, n=100):
    """Three factors, each read by a feature of its own, the first by three copies; others follow them with noise."""
    rng = np.random.default_rng(seed)
    X, Z = 0.5 * rng.normal(size=(n, 24)), rng.normal(size=(n, 3)) * [4.0, 3.5, 3.0]
    X[:, 1:3] = Z[:, 1:]
    for j in COPIES:
        X[:, j] = Z[:, 0] + 0.3 * rng.normal(size=n)
    X[:, 12:] += 0.8 * Z[:, np.arange(12) % 3] + 0.6 * rng.normal(size=(n, 12))
    return pd.DataFrame(X, columns=[f"g{j}" for j in range(24)])


@pytest.fixture(scope="module")
def found():
    return stability(ENCODER, with_copies(), n_resamples=20)


def test_copies_are_one_group_and_planted_features_are_chosen_again(found):
    assert [set(group) for group in found.groups if COPIES & set(group)] == [COPIES]
    assert (found.frequency[[1, 2]] > 0.9).all()
    assert found.frequency[list(COPIES)].max() < 0.9  # control: each copy alone is no reliable choice
    group = next(g for g, members in enumerate(found.groups) if set(members) == COPIES)
    assert found.group_frequency[group] > 0.9
    assert {1, 2, int(found.groups[group][0])} == set(found.reliable)
    assert found.groups[group][0] == max(COPIES, key=lambda j: found.frequency[j])
    assert "in its place" in str(found)
    assert found.kept > 0.5


def test_halves_come_in_complementary_pairs_and_the_same_seed_gives_the_same(found):
    again = stability(ENCODER, with_copies(), n_resamples=20, n_jobs=2)
    np.testing.assert_array_equal(again.frequency, found.frequency)
    assert found.frequency.sum() == pytest.approx(3)
    assert 0 < found.overlap < 1


def test_no_feature_of_pure_noise_is_chosen_reliably():
    noise = np.random.default_rng(0).normal(size=(40, 100))
    found = stability(SparseEncoder(2, n_nonzero=4, effort="quick"), noise, n_resamples=6)
    assert len(found.reliable) == 0
    assert "No feature is chosen reliably" in str(found)


def test_substitutes_are_verified_and_copies_come_first():
    X = with_copies()
    model = SparseEncoder(3, n_nonzero=3, effort="quick", exclude=["g13"]).fit(X)
    table = alternatives(model, X, n_alternatives=2)
    place = int(np.flatnonzero(np.isin(table.support, list(COPIES)))[0])
    assert set(table.substitutes[place]) == COPIES - {int(table.support[place])}
    assert 13 not in table.substitutes
    for row, feature in enumerate(table.support):
        chosen = np.sort(np.append(model.support_[model.support_ != feature], table.substitutes[row, 0]))
        others = np.setdiff1d(np.arange(24), chosen)
        fixed = SparseEncoder(3, n_nonzero=3, exclude=others, effort="quick", certify=False).fit(X.to_numpy())
        assert table.variance_kept[row, 0] == pytest.approx(fixed.variance_kept_, abs=1e-9)
    assert (table.variance_kept[:, 0] <= table.kept + 1e-9).all()
    assert table.kept == pytest.approx(model.variance_kept_)
    assert (table.without < table.variance_kept[:, 0]).all()
    with pytest.raises(TypeError, match="was given a KMeans"):
        alternatives(KMeans(), X)


def test_planted_numbers_of_components_are_found_and_noise_has_none():
    rng = np.random.default_rng(1)
    V = np.linalg.qr(rng.normal(size=(150, 3)))[0].T
    X = (rng.normal(size=(60, 3)) * [14.0, 12.0, 10.0]) @ V + rng.normal(size=(60, 150))
    counts = component_count(X, max_components=8)
    assert (counts.held_out, counts.parallel) == (3, 3)
    assert "parallel analysis: 3" in str(counts)
    nothing = component_count(rng.normal(size=(60, 150)), max_components=8)  # control
    assert (nothing.held_out, nothing.parallel) == (0, 0)
    assert counts.held_out_scores.shape == counts.eigenvalues.shape == counts.permuted.shape == (8,)
    display = ComponentCountDisplay.from_counts(counts)
    assert len(display.axes_) == 3
    display.figure_.canvas.draw()


def test_displays_draw_what_was_found_and_refuse_the_rest(found):
    model = ENCODER.fit(with_copies())
    shown = StabilityDisplay.from_stability(found)
    assert len(shown.bars_) == min(int((found.frequency > 0).sum()), 20)
    table = AlternativesDisplay.from_alternatives(alternatives(model, with_copies()))
    assert len(table.ax_.get_yticks()) == 3
    for draw in (
        StabilityDisplay.from_stability,
        AlternativesDisplay.from_alternatives,
        ComponentCountDisplay.from_counts,
    ):
        with pytest.raises(TypeError, match="which"):
            draw(model)


def test_a_search_on_score_takes_the_largest_numbers_and_unread_features_tell_nothing_of_noise():
    noise = np.random.default_rng(0).normal(size=(40, 60))
    encoder = SparseEncoder(n_components=None, noise_variance=3.0, effort="quick", certify=False)
    grid = {"n_nonzero": [2, 4, 8, 16]}
    flattered = GridSearchCV(encoder, grid).fit(noise)
    honest = GridSearchCV(encoder, grid, scoring=unread_variance).fit(noise)
    assert flattered.best_params_ == {"n_nonzero": 16}
    assert honest.best_score_ < 0.02 < 0.1 < flattered.best_score_  # in noise there is nothing to keep


def test_the_score_is_that_of_cross_validated_and_takes_pipelines():
    X = with_copies().to_numpy()
    train, test = np.arange(60), np.arange(60, 100)
    fitted = SparseEncoder(3, n_nonzero=3, effort="quick", certify=False).fit(X[train])
    held_out = cross_validated(ENCODER, X, cv=[(train, test)])
    assert unread_variance(fitted, X[test]) == pytest.approx(held_out.unread[0])
    pipeline = make_pipeline(StandardScaler(), SparseEncoder(3, n_nonzero=3, effort="quick")).fit(X[train])
    assert 0 < unread_variance(pipeline, X[test]) < 1
    with pytest.raises(TypeError, match="Use the score method of a regressor"):
        unread_variance(SparsePCARegressor(2, n_nonzero=3).fit(X, X[:, 0]), X)
