"""Pivots in Gram coordinates are LAPACK's pivots."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.datasets import load_digits

from sparing.data import Preprocessing, as_view
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.selectors import PivotedQR
from sparing.methods.selectors.pivoted_qr import pivots
from sparing.run import Run
from sparing.task import Task

UNCENTRED = Preprocessing(center=False)


@pytest.mark.parametrize("seed", range(5))
def test_pivots_are_those_of_lapack(seed):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((40, 6)) * rng.random((40, 1)) ** 2)[0]
    np.testing.assert_array_equal(pivots(V), linalg.qr(V.T, pivoting=True, mode="r")[1][:6])


def test_the_components_come_first_then_what_they_leave(rng):
    X = rng.standard_normal((50, 12)) @ rng.standard_normal((12, 12))
    view = as_view(X, UNCENTRED)
    spectrum = top_spectrum(view, 3, rng)
    chosen = PivotedQR().select(Task.of_columns(view, 7, spectrum), Run(rng)).columns
    np.testing.assert_array_equal(chosen[:3], pivots(spectrum.basis))
    Q = np.linalg.qr(X[:, chosen[:3]])[0]
    rest = linalg.qr(X - Q @ (Q.T @ X), pivoting=True, mode="r")[1]
    np.testing.assert_array_equal(chosen[3:], rest[:4])
    np.testing.assert_array_equal(PivotedQR().select(Task.of_columns(view, 2, spectrum), Run(rng)).columns, chosen[:2])


def test_without_components_it_is_pivoted_qr_of_the_data(rng):
    X = rng.standard_normal((50, 12)) @ rng.standard_normal((12, 12))
    view = as_view(X, UNCENTRED)
    chosen = (
        PivotedQR(components_first=False).select(Task.of_columns(view, 9, top_spectrum(view, 3, rng)), Run(rng)).columns
    )
    np.testing.assert_array_equal(chosen, linalg.qr(X, pivoting=True, mode="r")[1][:9])


def test_losses_that_were_measured_elsewhere(rng):
    """3.7% over PCA's loss on the digits for pivoted QR of the data."""
    view = as_view(load_digits().data)
    spectrum = top_spectrum(view, 5, rng)
    for selector, wanted in ((PivotedQR(components_first=False), 3.7), (PivotedQR(), 4.5)):
        found = selector.select(Task.of_columns(view, 20, spectrum), Run(rng))
        loss = encoder_on(found, 5, spectrum.total).loss
        assert 100 * (spectrum.loss_ratio(loss) - 1) == pytest.approx(wanted, abs=0.06)


def test_its_promise_holds_for_the_first_columns(rng):
    """||X - X_{C,k}||^2 <= ||X - X_k||^2 / sigma_min(W)^2 for the rows W of V_k that were chosen."""
    for r in (3, 5) * 10:
        view = as_view(rng.standard_normal((30, 15)) @ rng.standard_normal((15, 15)), UNCENTRED)
        spectrum = top_spectrum(view, 3, rng)
        found = PivotedQR().select(Task.of_columns(view, r, spectrum), Run(rng))
        smallest = np.linalg.svd(spectrum.basis[found.columns], compute_uv=False)[-1]
        assert encoder_on(found, 3, spectrum.total).loss <= spectrum.tail / smallest**2
