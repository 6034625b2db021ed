"""Sparse features for PCA-like regression: the lemma behind dual set selection, corrected."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.selection.dual_set import dual_set_weights


@pytest.mark.parametrize("seed", range(60))
def test_lemma_5_corrected(seed):
    """At most r weights, lambda_min >= (1 - sqrt(k/r))^2, and the residual does not grow."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 5))
    d, r = int(rng.integers(k + 2, 30)), int(rng.integers(k + 1, 4 * k + 4))
    V = np.linalg.qr(rng.standard_normal((d, k)) * rng.random((d, 1)) ** 3)[0]
    a = rng.random(d) ** 4 * (rng.random(d) < 0.8)
    s = dual_set_weights(V, a, r)
    assert np.count_nonzero(s) <= r
    assert (s >= 0).all()
    assert np.linalg.eigvalsh((V.T * s) @ V)[0] >= (1 - np.sqrt(k / r)) ** 2 * (1 - 1e-9)
    assert s @ a <= a.sum() * (1 + 1e-9)


def test_lemma_5_control_uniform_weights_fail(rng):
    V = np.linalg.qr(rng.standard_normal((30, 3)) * rng.random((30, 1)) ** 6)[0]
    worst = np.zeros(30)
    worst[np.argsort((V**2).sum(axis=1))[:6]] = 30 / 6
    assert np.linalg.eigvalsh((V.T * worst) @ V)[0] < (1 - np.sqrt(3 / 6)) ** 2


def test_columns_are_not_repeated_while_new_ones_are_feasible(rng):
    """The printed rule returns one column again and again, for k = 1 always."""
    V = np.linalg.qr(rng.standard_normal((50, 1)))[0]
    assert np.count_nonzero(dual_set_weights(V, rng.random(50), 10)) >= 8
