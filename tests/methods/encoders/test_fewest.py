"""The search for the fewest features."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sparing import SparsePCA
from sparing.methods.encoders import fewest_features
from sparing.results import Enough, Spectrum
from sparing.run import Budget

SPECTRUM = Spectrum(np.eye(3), np.ones(3), np.eye(3), 100.0, 10.0, 0.0, True)


def search(losses, max_loss, limit=None, budget=None):
    asked = []

    def encode(r):
        asked.append(r)
        return SimpleNamespace(loss=losses(r), support=np.arange(r))

    found = fewest_features(
        encode, Enough(max_loss=max_loss).loss(SPECTRUM), 3, limit or 1000, budget=budget or Budget()
    )
    return len(found.support), asked


@pytest.mark.parametrize("fewest", [1, 2, 3, 4, 7, 64, 65, 999])
def test_finds_the_threshold_in_few_trials(fewest):
    found, asked = search(lambda r: 10.0 + (r < fewest), 1.05)
    assert found == max(fewest, 3)  # fewer features than components would give fewer components
    assert len(asked) <= 2 * np.log2(max(fewest, 2)) + 3


def test_all_features_are_accepted_when_nothing_fits():
    assert search(lambda r: 20.0, 1.05, limit=40)[0] == 40


def test_a_time_limit_returns_what_there_is():
    expired = Budget(deadline=0.0)
    assert search(lambda r: 20.0, 1.05, limit=40, budget=expired)[0] == 3


@pytest.mark.parametrize(
    ("n", "size"),
    [pytest.param(400, 300, marks=pytest.mark.long), pytest.param(150, 300, marks=pytest.mark.long), (150, 100)],
)
def test_the_fewest_features_of_many_take_few_readings(rng, n, size):
    """Counts in the hundreds, each found by a dozen trials, without reading X anew for each of their steps."""
    loadings = np.zeros((2, 1500))
    loadings[0, :size], loadings[1, size : 2 * size] = 1.0, 0.8
    X = rng.standard_normal((n, 2)) @ (loadings * rng.uniform(0.2, 1, loadings.shape))
    X += 0.3 * rng.standard_normal(X.shape)
    model = SparsePCA(2, min_variance=0.9, effort="quick", random_state=0, certify=False).fit(X)
    counts = np.count_nonzero(model.components_, axis=1)
    assert model.n_passes_ <= 250  # a reading for each step of each trial would be a thousand and more
    A = np.cov(X.T) * (n - 1)
    assert model.variance_[0] * (n - 1) >= 0.9 * np.linalg.eigvalsh(A)[-1] * (1 - 1e-9)
    assert size / 2 < counts[0] < size
    v = np.abs(np.linalg.eigh(A)[1][:, -1])
    cut = np.argsort(-v)[: counts[0] - 1]  # the control: a feature less, by the size of loadings, is not enough
    assert np.linalg.eigvalsh(A[np.ix_(cut, cut)])[-1] < 0.9 * np.linalg.eigvalsh(A)[-1]
