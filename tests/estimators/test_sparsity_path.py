"""Every number of features at once: right losses, valid bounds, short sentences."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparing import SparseEncoder, information_loss, open_data, sparsity_path
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops, make_spiked
from sparing.effort import QUICK
from sparing.estimators.path_search import path_search
from sparing.linalg import encoder_on, top_spectrum
from sparing.results import Selection
from sparing.run import Run

X = make_spiked(60, 25, n_nonzero=4, random_state=1).X


@functools.cache
def whole_path(improve):
    return sparsity_path(X, 2, improve=improve, effort="quick", random_state=0)


@pytest.mark.parametrize("improve", [True, False])
def test_losses_are_those_of_the_supports_shown(improve):
    path = whole_path(improve)
    view = as_view(X)
    spectrum = top_spectrum(view, 2, np.random.default_rng(0))
    assert list(path.n_features) == list(range(1, 26))
    for r, ratio, support in zip(path.n_features, path.loss_ratio, path.supports, strict=True):
        assert len(support) == r
        found = encoder_on(Selection(support, view.gram_columns(support)), 2, view.total)
        loss = information_loss(found.components, X) / view.square_unit
        np.testing.assert_allclose(ratio, spectrum.loss_ratio(loss), rtol=1e-7)
    if not improve:
        for shorter, longer in zip(path.supports, path.supports[1:], strict=False):
            assert set(shorter) < set(longer)
        assert np.all(np.diff(path.loss_ratio) <= 1e-9)
    assert path.loss_ratio[-1] == pytest.approx(1.0, abs=1e-9)


def test_swaps_only_help_and_bounds_hold():
    nested, better = whole_path(False), whole_path(True)
    assert np.all(better.loss_ratio <= nested.loss_ratio * (1 + 1e-9))
    assert np.all(better.bound <= better.loss_ratio * (1 + 1e-9))
    assert np.all(better.bound >= 1)
    assert better.bound[1] > 1.0  # more than PCA's loss is proved where features are few


def test_pitprops_bounds_are_the_optima():
    path = sparsity_path(load_pitprops().correlation, 2, center=False, random_state=0)
    wanted = [1.196949, 1.066813, 1.022584, 1.011763, 1.007023, 1.004128, 1.001760]
    np.testing.assert_allclose(path.bound[1:8], wanted, atol=2e-6)


def test_stops_at_a_loss_and_agrees_with_the_estimator():
    path = sparsity_path(X, 2, max_loss=1.05, random_state=0)
    assert path.loss_ratio[-1] <= 1.05 < path.loss_ratio[-2]
    assert path.smallest(1.05) == len(path)
    model = SparseEncoder(2, max_loss=1.05, random_state=0).fit(X)
    assert abs(len(model.support_) - len(path)) <= 1
    with pytest.raises(ValueError, match="No number of features up to"):
        path.smallest(1.0001)


def test_storages_frames_and_tables():
    frame = pd.DataFrame(X, columns=[f"<{j}>" for j in range(25)])
    plain = sparsity_path(X, 2, max_features=6, certify=False, random_state=0)
    for other in (frame, sparse.csr_array(X)):
        again = sparsity_path(other, 2, max_features=6, certify=False, random_state=0)
        np.testing.assert_allclose(again.loss_ratio, plain.loss_ratio, rtol=1e-7)
    path = sparsity_path(frame, 2, max_features=3, random_state=0)
    table = path.to_frame()
    assert list(table.index) == [1, 2, 3]
    assert table.loc[1, "features"].startswith("<")
    assert "&lt;" in path._repr_html_()
    assert "<b>" not in path._repr_html_()
    C = np.cov(X, rowvar=False)
    covariance = sparsity_path(C, 2, precomputed=True, max_features=6, certify=False, random_state=0)
    np.testing.assert_allclose(covariance.loss_ratio, plain.loss_ratio, rtol=1e-6)


def test_features_are_called_as_in_the_data(tmp_path):
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(25)])
    frame.to_csv(tmp_path / "genes.csv", index=False)
    with open_data(tmp_path / "genes.csv") as rows:
        from_file = sparsity_path(rows, max_features=3, certify=False, random_state=0)
    from_frame, unnamed = (
        sparsity_path(data, max_features=3, certify=False, random_state=0) for data in (frame, frame.to_numpy())
    )
    assert from_file.feature_names == from_frame.feature_names == list(frame.columns)
    assert list(from_file.to_frame()["features"]) == list(from_frame.to_frame()["features"])
    assert unnamed.feature_names == [f"x{j}" for j in range(25)]
    assert unnamed.to_frame().loc[1, "features"] == f"x{unnamed.supports[0][0]}"


def test_missing_values_count_as_means():
    holes, filled = X.copy(), X.copy()
    holes[3, 2] = holes[7, 5] = np.nan
    filled[[3, 7], [2, 5]] = np.nanmean(holes, axis=0)[[2, 5]]
    found, wanted = (
        sparsity_path(data, max_features=6, certify=False, random_state=0, missing="mean") for data in (holes, filled)
    )
    np.testing.assert_allclose(found.loss_ratio, wanted.loss_ratio, rtol=1e-9)
    for support, again in zip(wanted.supports, found.supports, strict=True):
        np.testing.assert_array_equal(again, support)


def test_progress_is_told_and_changes_nothing(request, capsys):
    silent = sparsity_path(X, max_features=6, random_state=0)
    assert capsys.readouterr().out == ""
    sparsity_path(X, max_features=6, random_state=0, verbose=True)
    said = capsys.readouterr().out
    kept = silent.variance_kept
    assert f"[sparing] 1 to 6 features keep {kept[0]:.1%} to {kept[5]:.1%} of PCA's variance" in said
    request.getfixturevalue("slow_reading")
    told = sparsity_path(X, max_features=6, random_state=0, verbose=True)
    assert "[sparing] pass 1: 100% of 60 rows" in capsys.readouterr().out
    np.testing.assert_array_equal(told.loss_ratio, silent.loss_ratio)


@pytest.mark.parametrize(
    ("bad", "parameters", "sentence"),
    [
        (X, {"n_components": 26}, "n_components=26"),
        (X, {"max_features": 0}, "max_features=0 must be at least 1"),
        (X, {"max_loss": 0.5}, "max_loss=0.5"),
        (X, {"improve": "no"}, "improve='no' must be True or False"),
        (X, {"missing": "drop"}, "missing='drop'"),
        (pd.DataFrame({"width": [1.0, 2, 4], "height": [3.0, np.nan, 1]}), {}, "row 1, feature 'height'"),
        (np.ones((4, 3)), {}, "no variance"),
        ([[1.0, 2.0], [2.0, 1.0]], {"precomputed": True, "n_components": 1}, "not positive semidefinite"),
    ],
)
def test_bad_input_gets_a_sentence(bad, parameters, sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        sparsity_path(bad, **parameters)


@pytest.mark.parametrize("improve", [True, False])
def test_small_losses_of_nearly_one_direction_keep_their_digits(improve):
    """As differences from the total they had none left, and two features seemed to lose no more than PCA."""
    rng = np.random.default_rng(54)
    X = rng.standard_normal((20, 1)) + 1e-4 * rng.standard_normal((20, 6))
    X -= X.mean(axis=0)
    pca = np.square(np.linalg.svd(X, compute_uv=False)[2:]).sum()
    path = sparsity_path(X, 2, improve=improve, random_state=0)
    for support, ratio in zip(path.supports, path.loss_ratio, strict=True):
        Q = np.linalg.qr(X[:, support])[0]
        U, values, V = np.linalg.svd(Q.T @ X, full_matrices=False)
        best = np.square(X - Q @ (U[:, :2] * values[:2]) @ V[:2]).sum() / pca
        assert best * (1 - 1e-6) <= ratio <= best * (1 + 1e-3)
    limited = sparsity_path(X, 2, improve=improve, max_loss=1.05, random_state=0)
    assert path.smallest(1.05) == len(limited.supports) == 6


def test_all_proofs_together_cost_a_few_certificates():
    """Noise, where no tree closes: each number of features had the nodes of a certificate of its own, a minute."""
    X = np.random.default_rng(0).standard_normal((60, 24))
    walk = path_search(X, 5, Preprocessing(), 24, Run(np.random.default_rng(0), effort=QUICK))
    nodes = QUICK.proof.tree_nodes(24)
    spent = sum(proof.witness[1] for proof in walk.proofs if proof is not None)
    assert nodes < spent <= QUICK.proof.path_work * nodes + 24
    assert np.all(walk.bound <= walk.loss_ratio)
    assert walk.bound[10] > 1.0, "the number in the middle had its share"
