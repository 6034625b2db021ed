"""SPCA: the numbers of its paper, exact counts, an objective that no turn raises."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_wine

from sparing import errors
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops, make_spiked
from sparing.linalg import single_threaded_blas, top_spectrum
from sparing.linalg.variance import adjusted, basis, symmetric_total
from sparing.methods.encoders import ElasticNet
from sparing.methods.encoders.elastic_net import alternate, refitted
from sparing.run import Budget, Run
from sparing.task import Task

PITPROPS = load_pitprops().correlation
PENALTIES = (0.06, 0.16, 0.1, 0.5, 0.5, 0.5)
INFINITE = float("inf")


@pytest.fixture(autouse=True)
def one_thread():
    with single_threaded_blas():
        yield


def encode(encoder, X, k, r=1, *, budget=None, **preprocessing):
    view, rng = as_view(X, Preprocessing(**preprocessing)), np.random.default_rng(0)
    spectrum = top_spectrum(view, k, rng)
    return encoder.encode(Task.of_components(view, spectrum, r), Run(rng, budget or Budget())), view


def published(**settings):
    return encode(ElasticNet(l1=PENALTIES, refit=False, **settings), PITPROPS, 6, precomputed=True)


def along(view, found):
    return np.einsum("kd,dk->k", found.components, view.gram_matmat(found.components.T))


# --- the paper's example ---------------------------------------------------------------------------------------------


def test_pit_props_as_published():
    """[zou2006, Table 3]: numbers of nonzero loadings and adjusted variance, to the printed digits."""
    found, view = published()
    assert list(np.count_nonzero(found.components, axis=1)) == [7, 4, 4, 1, 1, 1]
    shares = 100 * adjusted(view, found.components.T) / view.total
    np.testing.assert_array_equal(shares.round(1), [28.0, 14.0, 13.3, 7.4, 6.8, 6.2])
    assert (100 * shares.sum()).round() == 7576
    assert (100 * basis(view, found.components.T).sum() / view.total).round(1) == 80.2  # another definition


def test_pit_props_loadings_as_published():
    """Printed digits are those of their software's tolerance, 1e-3; fully settled loadings differ by up to 0.007."""
    first = {0: 0.477, 1: 0.476, 4: -0.177, 6: 0.250, 7: 0.344, 8: 0.416, 9: 0.400}
    second, third = {2: 0.785, 3: 0.620, 7: -0.021, 11: 0.013}, {4: 0.640, 5: 0.589, 6: 0.492, 12: -0.015}
    found, _ = published(tolerance=1e-3)
    for row, printed in zip(found.components, (first, second, third), strict=False):
        assert list(np.flatnonzero(row)) == list(printed)
        np.testing.assert_allclose(row[list(printed)], list(printed.values()), atol=0.001)


def test_counts_instead_of_penalties_find_nearly_the_same():
    found, view = encode(ElasticNet(refit=False), PITPROPS, 6, [7, 4, 4, 1, 1, 1], precomputed=True)
    assert list(np.count_nonzero(found.components, axis=1)) == [7, 4, 4, 1, 1, 1]
    np.testing.assert_allclose(adjusted(view, found.components.T).sum() / view.total, 0.7577, atol=5e-4)


def test_penalties_do_not_depend_on_units():
    plain = published()[0].components
    for factor in (1e-8, 1e9):
        found, _ = encode(ElasticNet(l1=PENALTIES, refit=False), factor * PITPROPS, 6, precomputed=True)
        np.testing.assert_allclose(found.components, plain, atol=1e-9)


# --- what is optimised -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [1e-6, 0.1, 10.0, INFINITE])
@pytest.mark.parametrize("l1", [0.0, 0.1, 1.0])
def test_no_turn_raises_the_objective(ridge, l1):
    view = as_view(load_wine().data, Preprocessing(scale=True))
    A, unit, basis_ = view.gram(), view.total / 13, top_spectrum(view, 3, np.random.default_rng(0)).basis
    quadratic = np.eye(13) if ridge == INFINITE else A + ridge * unit * np.eye(13)
    values, turns = [], alternate(view, basis_, ElasticNet(l1=l1, ridge=ridge)._regressions(view, [13] * 3))
    for _, (a, b) in zip(range(25), turns, strict=False):
        np.testing.assert_allclose(a.T @ a, np.eye(3), atol=1e-12)
        values.append(np.trace(b.T @ quadratic @ b - 2 * a.T @ A @ b) + l1 * unit * np.abs(b).sum())
    assert np.all(np.diff(values) <= 1e-12 * np.abs(values[0]))
    assert l1 == 0 or values[-1] < values[0]


def test_an_infinite_ridge_is_soft_thresholding():
    view = as_view(load_wine().data, Preprocessing(scale=True))
    A, unit, V = view.gram(), view.total / 13, top_spectrum(view, 2, np.random.default_rng(0)).basis
    turns = alternate(view, V, ElasticNet(l1=2.0, ridge=INFINITE)._regressions(view, [13, 13]))
    for _, (a, b) in zip(range(3), turns, strict=False):
        np.testing.assert_allclose(b, np.sign(A @ a) * np.maximum(np.abs(A @ a) - unit, 0), atol=1e-12)
    large, limit = (
        encode(ElasticNet(ridge=ridge, refit=False), load_wine().data, 2, 4, scale=True)[0].components
        for ridge in (1e7, INFINITE)
    )
    np.testing.assert_allclose(large, limit, atol=1e-3)


@pytest.mark.parametrize("ridge", [1e-6, INFINITE])
def test_without_a_penalty_it_is_pca(ridge):
    view = as_view(load_wine().data, Preprocessing(scale=True))
    V = top_spectrum(view, 3, np.random.default_rng(0)).basis
    for encoder in (ElasticNet(l1=0.0, ridge=ridge), ElasticNet(ridge=ridge)):
        found, _ = encode(encoder, load_wine().data, 3, 13, scale=True)
        np.testing.assert_allclose(np.abs(found.components), np.abs(V.T), atol=1e-3)


# --- counts and refits -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ridge", [None, 1.0, INFINITE])
@pytest.mark.parametrize("refit", [False, True])
def test_counts_are_exact(ridge, refit):
    X = load_breast_cancer().data
    for r in (1, 4, [2, 7, 5]):
        found, _ = encode(ElasticNet(ridge=ridge, refit=refit, max_iter=20), X, 3, r, scale=True)
        assert list(np.count_nonzero(found.components, axis=1)) == ([r] * 3 if isinstance(r, int) else r)
        np.testing.assert_allclose(np.linalg.norm(found.loadings, axis=1), 1)


@pytest.mark.parametrize("ridge", [None, INFINITE])
def test_a_refit_lowers_neither_the_variance_of_a_component_nor_of_all(ridge):
    for X, r in ((load_wine().data, 5), (load_breast_cancer().data, 10), (load_breast_cancer().data, 30)):
        plain, view = encode(ElasticNet(ridge=ridge, refit=False, max_iter=20), X, 3, r, scale=True)
        better, _ = encode(ElasticNet(ridge=ridge, max_iter=20), X, 3, r, scale=True)
        np.testing.assert_array_equal(better.components != 0, plain.components != 0)
        assert np.all(along(view, better) >= along(view, plain) * (1 - 1e-9))
        assert symmetric_total(view, better.components.T) >= symmetric_total(view, plain.components.T) * (1 - 1e-9)


def test_a_refit_of_one_component_is_the_leading_eigenvector_of_its_features():
    found, view = encode(ElasticNet(), PITPROPS, 1, 6, precomputed=True)
    S = found.support
    np.testing.assert_allclose(along(view, found)[0], np.linalg.eigvalsh(PITPROPS[np.ix_(S, S)])[-1])


def test_a_refit_never_makes_two_components_one(rng):
    view = as_view(load_wine().data, Preprocessing(scale=True))
    H = top_spectrum(view, 2, rng).basis  # the same support: the leading eigenvector would be both
    np.testing.assert_allclose(np.abs(refitted(view, H)), np.abs(H), atol=1e-9)


def test_recovers_a_planted_truth():
    truth = make_spiked(300, 60, n_components=2, n_nonzero=6, spike=20.0, random_state=1)
    for ridge in (None, INFINITE):
        found, _ = encode(ElasticNet(ridge=ridge), truth.X, 2, 6)
        np.testing.assert_array_equal(found.components != 0, truth.components != 0)


# --- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "encoder", [ElasticNet(max_iter=30), ElasticNet(ridge=INFINITE), ElasticNet(l1=0.3, refit=False)]
)
def test_dense_sparse_and_covariance_agree(encoder):
    X = load_wine().data
    plain, _ = encode(encoder, X, 3, 5, scale=True)
    for other, preprocessing in ((sparse.csr_array(X), {}), (np.cov(X, rowvar=False), {"precomputed": True})):
        found, _ = encode(encoder, other, 3, 5, scale=True, **preprocessing)
        np.testing.assert_allclose(found.components, plain.components, atol=1e-6)
        np.testing.assert_allclose(found.captured.sum(), plain.captured.sum() * found.loss / plain.loss, rtol=1e-6)


def test_many_features_need_no_large_matrix(rng):
    X = rng.standard_normal((20, 2500))
    X[:, :5] += 4 * rng.standard_normal((20, 1))
    found, _ = encode(ElasticNet(), X, 1, 5)
    assert list(found.support) == [0, 1, 2, 3, 4]
    with pytest.raises(
        ValueError, match=r"ridge=0.1 needs an n_features x n_features .* 2000 features; X has 2500. Use ridge=fl"
    ):
        encode(ElasticNet(ridge=0.1), X, 1, 5)


def test_gene_data(shared):
    X = shared("colon_alon.npz")
    for encoder in (ElasticNet(max_iter=5), ElasticNet(ridge=INFINITE)):
        found, _ = encode(encoder, X, 3, 10)
        assert list(np.count_nonzero(found.components, axis=1)) == [10, 10, 10]


def test_features_that_are_equal_or_constant(rng):
    X = rng.standard_normal((30, 4))
    X = np.column_stack([X, X, np.ones(30)])
    for ridge in (None, INFINITE):
        for r in (1, 2, 5, 9):
            found, _ = encode(ElasticNet(ridge=ridge), X, 2, r)
            assert np.count_nonzero(found.components, axis=1).max() <= min(r, 8)
            assert np.isfinite(found.loss)
            assert 8 not in found.support


# --- mistakes --------------------------------------------------------------------------------------------------------


def test_components_without_features_are_left_out_and_at_least_one_must_stay():
    found, _ = encode(ElasticNet(l1=(0.1, 50.0, 0.1)), load_wine().data, 3, scale=True)
    assert len(found.loadings) == 2
    with pytest.raises(ValueError, match=r"l1=50.0 leaves no feature in any component. Pass a smaller penalty"):
        encode(ElasticNet(l1=50.0), load_wine().data, 2, scale=True)


def test_penalties_are_checked():
    with pytest.raises(ValueError, match="l1 has 2 penalties, but n_components=3"):
        encode(ElasticNet(l1=(0.1, 0.1)), load_wine().data, 3, scale=True)
    for settings in ({"ridge": 0.0}, {"ridge": -1.0}, {"l1": -1.0}, {"l1": (0.1, float("nan"))}):
        with pytest.raises(ValueError, match=r"must be a positive number|must be a number of at least 0"):
            ElasticNet(**settings)
    with pytest.raises(ValueError, match="max_iter=0 must be at least 1"):
        ElasticNet(max_iter=0)


def test_stopping_early_is_said_where_an_objective_is_optimised():
    with pytest.warns(errors.SparingWarning, match="After max_iter=2 iterations the loadings still changed"):
        encode(ElasticNet(l1=0.3, max_iter=2), load_wine().data, 2, scale=True)
    said = []
    encode(ElasticNet(), load_wine().data, 2, 4, scale=True, budget=Budget(deadline=0.0, progress=said.append))
    assert "elastic net: 1 iterations" in said[0]


def test_its_reference_is_in_the_bibliography():
    known = (Path(__file__).parents[3] / "docs" / "references.bib").read_text()
    assert str(ElasticNet.reference) in ElasticNet.__doc__
    for key in re.findall(r"\[([a-z]+\d{4})[,\]]", ElasticNet.__doc__):
        assert f"{{{key}," in known
