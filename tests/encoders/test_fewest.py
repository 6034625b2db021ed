"""The search for the fewest features."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sparing.budget import Budget
from sparing.encoders import fewest_features
from sparing.results import Spectrum

SPECTRUM = Spectrum(np.eye(3), np.ones(3), np.eye(3), 100.0, 10.0, 0.0, True)


def search(losses, max_loss, limit=None, budget=None):
    asked = []

    def encode(r):
        asked.append(r)
        return SimpleNamespace(loss=losses(r), support=np.arange(r))

    found = fewest_features(encode, SPECTRUM, max_loss, limit or 1000, budget=budget or Budget())
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
