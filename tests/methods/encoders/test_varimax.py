"""Rotated and cut principal components: what the baseline is and is not."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine

from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops, make_spiked
from sparing.linalg import top_spectrum
from sparing.linalg.rotation import varimax
from sparing.linalg.variance import symmetric_total
from sparing.methods.encoders import Varimax
from sparing.run import Run
from sparing.task import Task


def encode(encoder, X, k, r, **preprocessing):
    view, rng = as_view(X, Preprocessing(**preprocessing)), np.random.default_rng(0)
    spectrum = top_spectrum(view, k, rng)
    return encoder.encode(Task.of_components(view, spectrum, r), Run(rng)), view, spectrum


def along(view, found):
    return np.einsum("kd,dk->k", found.components, view.gram_matmat(found.components.T))


def test_without_a_cut_it_spans_what_pca_spans():
    found, view, spectrum = encode(Varimax(refit=False), load_wine().data, 3, 13, scale=True)
    np.testing.assert_allclose(found.components @ found.components.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(symmetric_total(view, found.components.T), spectrum.values.sum())
    np.testing.assert_allclose(found.loss, spectrum.tail, rtol=1e-9)


def test_the_largest_rotated_loadings_stay():
    found, _, spectrum = encode(Varimax(refit=False), load_pitprops().correlation, 3, 4, precomputed=True)
    rotated = varimax(spectrum.basis)
    for row in found.components:
        match = rotated[:, np.argmax(np.abs(rotated.T @ row))]
        S = np.flatnonzero(row)
        assert set(S) == set(np.argsort(-np.abs(match))[:4])
        np.testing.assert_allclose(np.abs(row[S]), np.abs(match[S]) / np.linalg.norm(match[S]))


@pytest.mark.parametrize("refit", [False, True])
def test_counts_order_and_norms(refit):
    for r in (1, 5, [3, 6, 2]):
        found, view, _ = encode(Varimax(refit=refit), load_breast_cancer().data, 3, r, scale=True)
        assert sorted(np.count_nonzero(found.components, axis=1)) == ([r] * 3 if isinstance(r, int) else sorted(r))
        assert np.all(np.diff(along(view, found)) <= 1e-12)
        np.testing.assert_allclose(np.linalg.norm(found.loadings, axis=1), 1)


def test_a_refit_lowers_no_variance():
    for X, r in ((load_wine().data, 5), (load_breast_cancer().data, 10)):
        (plain, view, _), (better, _, _) = (encode(Varimax(refit), X, 3, r, scale=True) for refit in (False, True))
        assert np.all(along(view, better) >= along(view, plain) * (1 - 1e-9))
        assert symmetric_total(view, better.components.T) >= symmetric_total(view, plain.components.T) * (1 - 1e-9)


def test_rotation_undoes_what_pca_mixes():
    """Two components of equal variance: PCA returns mixtures of them, the rotation finds them."""
    rng, H = np.random.default_rng(2), np.zeros((2, 30))
    H[0, :5] = H[1, 5:10] = 1.0
    X = rng.standard_normal((400, 2)) @ H * 3 + 0.1 * rng.standard_normal((400, 30))
    found, _, spectrum = encode(Varimax(), X, 2, 5)
    assert {tuple(np.flatnonzero(row)) for row in found.components} == {(0, 1, 2, 3, 4), (5, 6, 7, 8, 9)}
    assert np.abs(spectrum.basis[:10]).min() > 0.01  # control: both blocks are in every principal component


def test_dense_sparse_and_covariance_agree():
    X = make_spiked(80, 20, random_state=3).X
    plain, _, _ = encode(Varimax(), X, 2, 5)
    for other, preprocessing in ((sparse.csr_array(X), {}), (np.cov(X, rowvar=False), {"precomputed": True})):
        np.testing.assert_allclose(
            encode(Varimax(), other, 2, 5, **preprocessing)[0].components, plain.components, atol=1e-6
        )


def test_its_reference_is_in_the_bibliography():
    known = (Path(__file__).parents[3] / "docs" / "references.bib").read_text()
    assert str(Varimax.reference) in Varimax.__doc__
    for key in re.findall(r"\[([a-z]+\d{4})[,\]]", Varimax.__doc__):
        assert f"{{{key}," in known
