"""What the page is given is what the library says: losses, bounds, sentences, loadings, scores."""

from __future__ import annotations

import base64
import itertools

import numpy as np
import pytest
from scipy import sparse

from sparing import SparseEncoder, information_loss, sparsity_path
from sparing.data import Preprocessing
from sparing.datasets import make_spiked
from sparing.estimators.path_search import path_search
from sparing.run import Run
from sparing.show.report import contents
from sparing.show.report.contents import (
    new_samples,
    opening_step,
    oriented,
    predicted_features,
    sampled,
    searchable,
    steps_of,
    suggestions,
    upright,
)
from sparing.show.wording import equation

X = 100 + 20 * make_spiked(300, 12, n_nonzero=4, random_state=3).X
NAMES = [f"f{j}" for j in range(12)]


def steps_for(X, n_components=2, samples=None, **preprocessing):
    rng = np.random.default_rng(0)
    walk = path_search(X, n_components, Preprocessing(**preprocessing), 8, Run(rng))
    encoders = walk.encoders()
    certificates = walk.certificates(Run(rng), encoders)
    samples = np.arange(X.shape[0]) if samples is None else samples
    predicted = predicted_features(walk.view.gram_diagonal(), walk.supports, 8)
    steps, pca, _, unit = steps_of(walk, encoders, certificates, NAMES, samples, predicted)
    assert len(pca["scores"]) == walk.spectrum.rank
    return certificates, steps, unit


def unpacked(step):
    return np.array([np.frombuffer(base64.b64decode(text), dtype="<f4") for text in step["scores"]]).T


def same_components(first, second):
    """The same rows up to order and signs: the page turns them towards PCA."""
    key = np.abs(first @ second.T)
    order = key.argmax(axis=1)
    assert sorted(order) == list(range(len(second)))
    signs = np.sign((first * second[order]).sum(axis=1))
    np.testing.assert_allclose(first, second[order] * signs[:, None], atol=2e-6)


@pytest.mark.parametrize("scale", [False, True])
def test_steps_agree_with_the_path_and_the_data(scale):
    certificates, steps, unit = steps_for(X, scale=scale)
    assert unit == 1
    path = sparsity_path(X, 2, max_features=8, scale=scale, random_state=0)
    Z = (X - X.mean(axis=0)) / (X.std(axis=0, ddof=1) if scale else 1.0)
    for step, certificate, kept, most, support in zip(
        steps, certificates, path.variance_kept, path.variance_kept_bound, path.supports, strict=True
    ):
        assert step["kept"] == pytest.approx(kept, rel=1e-6)
        assert step["most"] == pytest.approx(most, rel=1e-6)
        assert step["keptText"] in str(certificate)
        assert step["support"] == support.tolist()
        H = np.zeros((len(step["loadings"]), 12))
        H[:, support] = step["loadings"]
        lost = (1 - step["explained"]) * np.square(Z).sum()
        assert lost == pytest.approx(information_loss(H, X, scale=scale), rel=1e-4)
        np.testing.assert_allclose(unpacked(step), Z @ H.T, rtol=1e-4, atol=1e-4 * np.abs(Z).max())
        assert step["sentence"] == str(certificate).splitlines()
        same_components(H, certificate.components)
        assert step["equations"][0] == equation("component 1", H[0], NAMES)
        model = SparseEncoder(
            min(2, len(support)), n_nonzero=len(support), scale=scale, include=support, certify=False
        ).fit(X)
        r2 = np.frombuffer(base64.b64decode(step["r2"]), dtype="<u2") / 1000
        np.testing.assert_allclose(r2, model.feature_r2_, atol=1e-3)
        assert certificate.recheck(X)


def test_fewer_features_than_components_and_sparse_data_in_other_units():
    matrix = sparse.random_array((80, 12), density=0.3, random_state=np.random.default_rng(1))
    _, steps, unit = steps_for(matrix * 1e-100, 3, center=False)
    assert [len(step["loadings"]) for step in steps[:4]] == [1, 2, 3, 3]
    assert unit == 1e-100  # single precision ends at 1e-45
    H = np.zeros((3, 12))
    H[:, steps[4]["support"]] = steps[4]["loadings"]
    np.testing.assert_allclose(unpacked(steps[4]), matrix @ H.T, atol=1e-5)


def test_samples_of_many_rows():
    drawn = np.array([3, 40, 299])
    _, some, _ = steps_for(X, samples=drawn)
    _, every, _ = steps_for(X)
    np.testing.assert_array_equal(unpacked(some[4]), unpacked(every[4])[drawn])
    few = sampled(10**6, 40, 2, np.random.default_rng(0))
    assert len(few) == contents.MOST_SAMPLES
    assert np.all(np.diff(few) > 0)
    assert len(sampled(10**6, 40, 20, np.random.default_rng(0))) * 40 * 20 <= contents.MOST_SCORES
    np.testing.assert_array_equal(sampled(5, 40, 2, np.random.default_rng(0)), np.arange(5))


def test_where_pca_loses_nothing():
    rng = np.random.default_rng(0)
    _, steps, _ = steps_for(rng.standard_normal((30, 2)) @ rng.standard_normal((2, 12)))
    assert steps[0]["kept"] < 1
    assert steps[-1]["kept"] == steps[-1]["explained"] == 1
    assert steps[-1]["keptText"] == "100.0%"


def test_components_keep_order_and_signs_along_the_path():
    """Scores of neighbouring numbers of features point the same way; as fitted they need not."""
    _, steps, _ = steps_for(X)
    full = [unpacked(step) for step in steps[1:]]
    for first, second in itertools.pairwise(full):
        alike = np.corrcoef(first.T, second.T)[:2, 2:]
        assert (np.diagonal(alike) > 0).all()
        assert (np.abs(alike).argmax(axis=1) == [0, 1]).all()
    loadings, pulls = np.eye(2), np.array([[0.1, -2.0], [1.0, 0.0]])
    np.testing.assert_array_equal(oriented(loadings, pulls), [[0.0, 1.0], [-1.0, 0.0]])


def test_most_of_the_largest_loadings_are_positive():
    _, steps, _ = steps_for(X)
    for i in range(2):
        rows = [step["loadings"][i] for step in steps if i < len(step["loadings"])]
        assert 2 * sum(max(row, key=abs) > 0 for row in rows) >= len(rows)
    one, two = np.array([[0.6, -0.8]]), np.array([[-0.8, 0.6], [-1.0, 0.0]])
    np.testing.assert_array_equal(upright([one, two, two], 3), [-1.0, -1.0, 1.0])
    np.testing.assert_array_equal(upright([-one, -two], 2), [1.0, 1.0])


def test_suggestions_have_reasons():
    steps = [
        {"features": r, "kept": kept, "loadings": [[1.0]], "held": held, "heldSe": 0.05, "heldText": "x"}
        for r, kept, held in zip(range(1, 6), (0.5, 0.8, 0.91, 0.96, 0.99), (0.3, 0.57, 0.6, 0.55, 0.5), strict=True)
    ]
    assert [(one["features"], one["reason"]) for one in suggestions(steps)] == [
        (3, "fewest that keep 90%"),
        (4, "fewest that keep 95%"),
        (2, "one-standard-error rule"),
    ]
    for step in steps:
        step["heldText"] = ""
    assert len(suggestions(steps)) == 2  # nothing transfers


def test_shares_of_new_samples_are_relative_to_pca():
    assert new_samples(0.45, 0.09, 0.9) == {"held": 0.5, "heldSe": 0.1, "heldText": "50.0% ± 10.0%"}
    assert new_samples(0.1, 0.09, 0.9)["heldText"] == ""  # less than two standard errors above zero


def test_predictions_of_many_features_are_those_that_vary_most():
    squares = np.arange(1e6)
    shown = predicted_features(squares, [np.array([3, 5])], 40)
    assert len(shown) == contents.MOST_PREDICTIONS // 40 + 2
    assert set(shown[:2]) == {3, 5}
    assert shown[-1] == 999_999


def test_the_page_opens_where_most_is_kept():
    _, steps, _ = steps_for(X)
    first = opening_step(steps)
    assert steps[first - 1]["kept"] >= 0.9
    full = len(steps[-1]["loadings"])
    assert all(step["kept"] < 0.9 or len(step["loadings"]) < full for step in steps[: first - 1])
    one = {"loadings": [[1.0]]}
    assert opening_step([{"features": 1, "kept": 0.1, **one}, {"features": 2, "kept": 0.2, **one}]) == 2


def test_the_page_opens_with_all_components():
    one, two = {"loadings": [[1.0]]}, {"loadings": [[1.0, 0.0], [0.0, 1.0]]}
    assert opening_step([{"features": 1, "kept": 0.91, **one}, {"features": 2, "kept": 0.95, **two}]) == 2


def test_too_many_names_leave_those_in_use():
    _, steps, _ = steps_for(X)
    for step in steps:
        step["substitutes"] = [[]] * len(step["substitutes"])
    steps[0]["substitutes"] = [[(11, 0.1)]]
    used = {j for step in steps for j in step["support"]}
    used |= {j for step in steps for place in step["substitutes"] for j, _ in place}
    assert len(used) < 12
    for length, kept in ((1, 12), (contents.NAMES_LENGTH // 12, 12), (contents.NAMES_LENGTH // 12 + 1, len(used))):
        names = searchable([name.ljust(length, "x") for name in NAMES], steps, np.array([], dtype=int))
        assert len(names) == kept
        assert set(names) >= used


def test_substitutes_keep_what_the_page_says():
    _, steps, _ = steps_for(X)
    step = steps[3]
    for place, others in enumerate(step["substitutes"]):
        assert len(others) == contents.N_SUBSTITUTES
        shares = [share for _, share in others]
        assert shares == sorted(shares, reverse=True)
        j, share = others[0]
        panel = [*np.delete(step["support"], place), j]
        model = SparseEncoder(2, n_nonzero=4, include=panel, certify=False).fit(X)
        assert share == pytest.approx(model.variance_kept_, abs=1e-5)
    everything = max(
        SparseEncoder(2, n_nonzero=4, include=[*step["support"][1:], j], certify=False).fit(X).variance_kept_
        for j in range(12)
        if j not in step["support"]
    )
    assert step["substitutes"][0][0][1] == pytest.approx(everything, abs=1e-5)  # none of the others is better
