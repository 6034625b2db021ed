"""The bundled data are the published ones; made data have the truth they claim."""

from __future__ import annotations

import numpy as np
import pytest

from sparing.datasets import load_pitprops, make_spiked


def test_pitprops_are_the_published_correlations(shared):
    bunch = load_pitprops()
    np.testing.assert_array_equal(bunch.correlation, shared("pitprops.npz", "C"))
    assert bunch.feature_names == list(shared("pitprops.npz", "feature_names"))


def test_pitprops_eigenvalues():
    bunch = load_pitprops()
    values = np.linalg.eigvalsh(bunch.correlation)[::-1]
    np.testing.assert_allclose(values[:6], [4.2186, 2.3781, 1.8782, 1.1094, 0.9100, 0.8154], atol=6e-5)
    assert len(bunch.feature_names) == 13
    assert bunch.n_samples == 180
    assert "Jeffers" in bunch.DESCR


def test_spiked_data_have_their_spikes():
    bunch = make_spiked(20000, 30, n_components=2, n_nonzero=4, spike=9.0, random_state=1)
    H = bunch.components
    np.testing.assert_allclose(H @ H.T, np.eye(2), atol=1e-12)
    assert np.all((H != 0).sum(axis=1) == 4)
    np.testing.assert_allclose(np.var(bunch.X @ H.T, axis=0), [10.0, 8.2], rtol=0.05)
    np.testing.assert_array_equal(bunch.X, make_spiked(20000, 30, n_nonzero=4, spike=9.0, random_state=1).X)
    with pytest.raises(ValueError, match="n_nonzero=9"):
        make_spiked(10, 10, n_components=2, n_nonzero=9)
