"""The default selector, where features are few: no single swap lowers the loss, and many optima are reached."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from sparing import SparseEncoder, sparsity_path
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods.selectors import Greedy
from sparing.results import Selection
from sparing.run import Run
from sparing.task import Task

VIEWS = {
    "cancer": as_view(load_breast_cancer().data, Preprocessing(scale=True)),
    "pitprops": as_view(load_pitprops().correlation, Preprocessing(center=False)),
}


def loss_on(view, columns, spectrum):
    J = np.asarray(columns)
    return encoder_on(Selection(J, view.gram_columns(J)), spectrum.rank, spectrum.total).loss


@pytest.mark.parametrize(
    ("name", "k", "r", "ratio"),
    [
        ("cancer", 3, 3, 1.24938),
        ("cancer", 4, 4, 1.33584),
        ("cancer", 3, 5, 1.120935),
        ("cancer", 2, 8, 1.01774),
        ("pitprops", 3, 3, 1.22714),
        ("pitprops", 3, 7, 1.020446),
    ],
)
def test_no_single_swap_lowers_the_loss_where_features_are_few(name, k, r, ratio):
    view, rng = VIEWS[name], np.random.default_rng(0)
    spectrum = top_spectrum(view, k, rng)
    chosen = Greedy().select(Task.of_columns(view, r, spectrum), Run(rng)).columns
    loss, others = loss_on(view, chosen, spectrum), np.setdiff1d(np.arange(view.n_features), chosen)
    assert spectrum.loss_ratio(loss) <= ratio
    swaps = [[*np.delete(chosen, slot), j] for slot in range(r) for j in others]
    assert min(loss_on(view, J, spectrum) for J in swaps) >= loss * (1 - 1e-8)


def test_the_encoder_is_as_good_as_the_path():
    X = load_breast_cancer().data
    for k in (2, 4):
        for r in (k, 5, 8):
            path = sparsity_path(X, k, scale=True, max_features=r, certify=False, random_state=0)
            model = SparseEncoder(k, n_nonzero=r, scale=True, certify=False, random_state=0).fit(X)
            assert model.loss_ratio_ <= path.loss_ratio[-1] * (1 + 1e-9), (k, r)


@pytest.mark.parametrize("n_columns", [3, 12])
def test_copies_and_constant_features_do_no_harm(rng, n_columns):
    X = rng.standard_normal((40, 15)) @ rng.standard_normal((15, 15))
    X = np.column_stack([X, X[:, :4], np.zeros((40, 2)), X[:, 4] + X[:, 5]])
    view = as_view(X, Preprocessing(center=False))
    spectrum = top_spectrum(view, 3, rng)
    chosen = Greedy().select(Task.of_columns(view, n_columns, spectrum), Run(rng)).columns
    assert len(set(chosen)) == n_columns
    assert np.linalg.matrix_rank(X[:, chosen]) == n_columns
