"""Few features and few data points: the middle is optimal, the decoder is what it says, choices help one another."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine

from sparing.data import Preprocessing, as_view
from sparing.effort import QUICK
from sparing.gram import DenseGram
from sparing.linalg import single_threaded_blas, top_spectrum
from sparing.methods.encoders import Batch
from sparing.methods.encoders.doubly_sparse import DoublySparse
from sparing.methods.selectors import DualSet, Greedy
from sparing.results import Selection
from sparing.run import Budget, Run
from sparing.task import Task


@pytest.fixture(autouse=True)
def one_thread():
    with single_threaded_blas():
        yield


def data(rng, n=50, d=12):
    return rng.standard_normal((n, 5)) @ rng.standard_normal((5, d)) + 0.3 * rng.standard_normal((n, d)) + 3.0


def encode(encoder, X, k, r, *, seed=0, budget=None, effort=QUICK, **preprocessing):
    view, rng = as_view(X, Preprocessing(**preprocessing)), np.random.default_rng(seed)
    spectrum = top_spectrum(view, k, rng)
    return encoder.encode(Task.of_components(view, spectrum, r), Run(rng, budget or Budget(), effort)), view, spectrum


class Fixed:
    """The columns given, whatever they are worth."""

    def __init__(self, *columns):
        self.chosen = np.array(columns)

    def select(self, task, run):
        return Selection(self.chosen, task.gram.gram_columns(self.chosen))


def test_the_middle_is_the_best_of_its_rank(rng):
    """||X - C Phi R||^2 for every rank-k Phi, against the closed form."""
    X, J, rows, k = rng.standard_normal((9, 7)), [1, 2, 5, 6], [0, 3, 4, 7, 8], 2
    found, view, _ = encode(DoublySparse(Fixed(*J), len(rows), Fixed(*rows), sweeps=0), X, k, len(J), center=False)
    Q_C, R_C = np.linalg.qr(X[:, J])
    Q_R, R_R = np.linalg.qr(X[rows].T)
    U, s, Vt = np.linalg.svd(Q_C.T @ X @ Q_R)
    phi = np.linalg.solve(R_C, U[:, :k] * s[:k]) @ np.linalg.solve(R_R, Vt[:k].T).T
    loss = ((X - X[:, J] @ phi @ X[rows]) ** 2).sum()
    np.testing.assert_allclose(found.loss * view.square_unit, loss)
    np.testing.assert_allclose(X @ found.components.T @ found.decoder, X[:, J] @ phi @ X[rows], atol=1e-10)
    for _ in range(50):
        left = np.linalg.svd(phi)[0][:, :k] + 0.05 * rng.standard_normal((len(J), k))
        other = left @ np.linalg.lstsq(X[:, J] @ left, X @ np.linalg.pinv(X[rows]), rcond=None)[0]
        assert ((X - X[:, J] @ other @ X[rows]) ** 2).sum() >= loss * (1 - 1e-12)


@pytest.mark.parametrize("scale", [False, True])
def test_the_decoder_combines_the_named_data_points_and_its_loss_is_told(scale, rng):
    X = data(rng)
    found, view, spectrum = encode(DoublySparse(Greedy(), 7), X, 3, 6, scale=scale)
    Z = (X - X.mean(axis=0)) / (X.std(axis=0, ddof=1) if scale else 1.0) / np.sqrt(view.square_unit)
    np.testing.assert_allclose(found.row_weights @ Z[found.rows], found.decoder, atol=1e-12)
    assert list(found.rows) == sorted(set(found.rows))
    assert len(found.rows) == 7
    assert list(found.support) == sorted(set(found.support))
    np.testing.assert_allclose(((Z - Z @ found.components.T @ found.decoder) ** 2).sum(), found.loss)
    np.testing.assert_allclose(spectrum.total - found.captured.sum(), found.loss)
    assert np.all(np.diff(found.captured) <= 0)
    np.testing.assert_allclose(np.linalg.norm(found.loadings, axis=1), 1)
    scores = Z @ found.components.T
    np.testing.assert_allclose(np.corrcoef(scores.T), np.eye(3), atol=1e-9)
    best = np.linalg.lstsq(scores, Z, rcond=None)[
        0
    ]  # nobody on these points decodes better: the projection of the best
    Q = np.linalg.qr(Z[found.rows].T)[0]
    np.testing.assert_allclose(found.decoder, best @ Q @ Q.T, atol=1e-9)


def test_more_data_points_approach_the_encoder_with_the_best_decoder(rng):
    X = data(rng)
    batch, _, _ = encode(Batch(Greedy()), X, 3, 6)
    losses = [encode(DoublySparse(Greedy(), n_rows), X, 3, 6)[0].loss for n_rows in (3, 6, 12)]
    assert losses[0] > losses[1] > losses[2]
    np.testing.assert_allclose(losses[2], batch.loss)  # 12 points span all of 12 features


def test_choosing_again_never_loses_more_and_sometimes_less(rng):
    gained = []
    for X in (data(rng), data(rng, 60, 20), load_wine().data):
        for size in (4, 7, 10):
            before, after = (
                encode(DoublySparse(Greedy(), size, sweeps=sweeps), X, 3, size, scale=True)[0] for sweeps in (0, 2)
            )
            assert after.loss <= before.loss
            gained.append(after.loss < 0.999 * before.loss)
    assert any(gained)


def test_the_safeguard_replaces_a_bad_choice_and_completes_a_short_one(rng):
    X = data(rng)
    bad, good = Fixed(0), DualSet()
    alone, _, spectrum = encode(DoublySparse(bad, 8, Greedy(), sweeps=0), X, 3, 8)
    kept, _, _ = encode(DoublySparse(bad, 8, Greedy(), safeguard=good, sweeps=0), X, 3, 8)
    dual, _, _ = encode(DoublySparse(good, 8, sweeps=0), X, 3, 8)
    assert len(alone.support) == 1
    assert len(alone.loadings) == 1
    np.testing.assert_allclose(kept.loss, dual.loss)
    assert spectrum.loss_ratio(kept.loss) < spectrum.loss_ratio(alone.loss)


@pytest.mark.parametrize("selector", [Greedy(), DualSet()], ids=["greedy", "dual set"])
@pytest.mark.parametrize("shape", [(50, 12), (40, 700), (1500, 30)], ids=str)
def test_same_answer_in_every_storage(selector, shape, tmp_path, rng):
    X = data(rng, *shape) * (rng.random(shape) < 0.7)
    stored = np.memmap(tmp_path / "X.bin", dtype=np.float64, mode="w+", shape=X.shape)
    stored[:] = X
    plain, _, _ = encode(DoublySparse(selector, 8), X, 2, 8)
    for storage in (sparse.csr_array(X), np.asfortranarray(X), stored):
        other, _, _ = encode(DoublySparse(selector, 8), storage, 2, 8)
        np.testing.assert_array_equal(other.rows, plain.rows)
        np.testing.assert_array_equal(other.support, plain.support)
        np.testing.assert_allclose(other.decoder, plain.decoder, atol=1e-7 * np.abs(plain.decoder).max())


def test_dependent_and_duplicated_rows_and_columns_are_taken_once(rng):
    z = rng.standard_normal((10, 4))
    X = np.vstack([z] * 4) @ np.hstack([np.eye(4)] * 3)
    found, _, spectrum = encode(DoublySparse(Greedy(), 9, safeguard=DualSet()), X, 4, 9, center=False)
    assert len(found.support) == len(found.rows) == 4
    assert found.loss <= 1e-9 * spectrum.total
    again, _, _ = encode(DoublySparse(Fixed(0, 4, 1, 8), 5, Fixed(0, 10, 3, 5, 20)), X, 2, 4, center=False)
    assert len(again.support) == 2
    assert len(again.rows) == 3


def test_progress_is_told_and_time_ends_the_sweeps(rng):
    X, said = data(rng, 60, 20), []
    slow, _, _ = encode(DoublySparse(Greedy(swaps=False), 6, sweeps=0), X, 3, 6)  # no time, no search
    budget = Budget(deadline=-1.0, progress=said.append)
    assert budget.expired
    stopped, _, _ = encode(DoublySparse(Greedy(), 6), X, 3, 6, budget=budget)
    assert len(said) == 1
    assert slow.loss * (1 + 1e-12) >= stopped.loss > encode(DoublySparse(Greedy(), 6), X, 3, 6)[0].loss
    assert "6 features, 6 samples: loss ratio" in said[0]


def test_a_covariance_has_no_data_points():
    with pytest.raises(ValueError, match="Choosing data points works on the rows of X"):
        encode(DoublySparse(Greedy(), 3), DenseGram(np.diag([3.0, 2.0, 1.0])), 1, 2)


def test_settings_are_frozen_and_the_place_is_named():
    assert DoublySparse.__dataclass_params__.frozen
    assert str(DoublySparse.reference) == "[magdonismail2015, Theorem 6, comment 5]"
    assert str(DoublySparse.reference) in DoublySparse.__doc__
    with pytest.raises(dataclasses.FrozenInstanceError):
        DoublySparse(Greedy(), 3).n_rows = 4
