"""What is kept of new samples: honest, in every storage, for every estimator, with scikit-learn's splitters."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit

from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparsePCA,
    SparsePCARegressor,
    cross_validated,
    open_data,
)
from sparing.errors import SparingWarning
from sparing.estimators.validation.folds import explained_by_pca, held_out_shares, standard_error

ESTIMATORS = {
    "encoder": SparseEncoder(2, n_nonzero=4, effort="quick"),
    "scaled, noisy": SparseEncoder(2, n_nonzero=4, scale=True, noise_variance=0.3, effort="quick"),
    "iterative": SparseEncoder(2, n_nonzero=2, strategy="iterative", effort="quick"),
    "selector": ColumnSelector(4, effort="quick", scale=True),
    "sparse PCA": SparsePCA(2, n_nonzero=3, effort="quick"),
    "nonnegative": NonnegativeSparsePCA(2, n_nonzero=3, effort="quick"),
    "doubly sparse": DoublySparseEncoder(2, n_nonzero=4, n_rows=8, effort="quick"),
}
ENCODER = ESTIMATORS["encoder"]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(1)
    return rng.normal(size=(36, 3)) @ rng.normal(size=(3, 12)) + rng.normal(size=(36, 12)) + 5.0


def by_hand(estimator, X, cv):
    """The same with transform, inverse_transform and scikit-learn's PCA."""
    for train, test in cv.split(X):
        model = estimator.__class__(**estimator.get_params()).fit(X[train])
        mean, scale = X[train].mean(axis=0), model.scale_
        new, rebuilt = (X[test] - mean) / scale, (model.inverse_transform(model.transform(X[test])) - mean) / scale
        k = len(model.transform(X[:1]).T)
        pca = PCA(k).fit((X[train] - mean) / scale)
        u = np.setdiff1d(np.arange(X.shape[1]), model.support_)
        for other in (rebuilt, pca.inverse_transform(pca.transform(new))):
            yield 1 - np.square(new - other)[:, u].sum() / np.square(new[:, u]).sum()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_shares_are_those_of_transform_and_inverse_transform(name, X):
    cv, estimator = KFold(3), ESTIMATORS[name]
    found = cross_validated(estimator, X, cv=cv)
    expected = np.array(list(by_hand(estimator, X, cv))).reshape(-1, 2)
    np.testing.assert_allclose(found.unread, expected[:, 0], atol=1e-9)
    np.testing.assert_allclose(found.pca, expected[:, 1], atol=1e-6)
    assert found.in_sample.mean() > found.unread.mean()
    assert found.kept == pytest.approx(found.unread.mean())
    assert not np.allclose(found.unread, found.everything)  # control: read features would flatter


def test_every_storage_and_number_of_jobs_gives_the_same(X, tmp_path):
    expected = cross_validated(ENCODER, X)
    np.save(tmp_path / "X.npy", X)
    stored = [sparse.csr_array(X), open_data(tmp_path / "X.npy"), da.from_array(X, chunks=(5, 12))]
    for table in stored:
        np.testing.assert_allclose(cross_validated(ENCODER, table, n_jobs=2).unread, expected.unread, atol=1e-8)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    found = cross_validated(SparseEncoder(2, n_nonzero=4, include=["g7"], exclude=["g0"], effort="quick"), frame)
    assert all(7 in support and 0 not in support for support in found.supports)


@pytest.mark.filterwarnings("ignore:Nothing transfers")
def test_groups_and_series_stay_together(X):
    groups = np.repeat(np.arange(9), 4)
    copies = np.repeat(X[::4], 4, axis=0)  # every sample four times: without groups folds would know the answers
    honest = cross_validated(ENCODER, copies, cv=GroupKFold(3), groups=groups)
    flattering = cross_validated(ENCODER, copies, cv=KFold(3, shuffle=True, random_state=0))
    assert honest.kept < flattering.kept - 0.05
    assert len(cross_validated(ENCODER, X, cv=TimeSeriesSplit(4)).unread) == 4


def test_a_regressor_is_judged_by_its_targets(X):
    y = X[:, :3].sum(axis=1) + np.random.default_rng(0).normal(size=36)
    cv = KFold(3)
    found = cross_validated(SparsePCARegressor(3, n_nonzero=4), X, y, cv=cv)
    for fold, (train, test) in enumerate(cv.split(X)):
        model = SparsePCARegressor(3, n_nonzero=4).fit(X[train], y[train])
        about = np.square(y[test] - y[train].mean()).sum()
        assert found.unread[fold] == pytest.approx(1 - np.square(y[test] - model.predict(X[test])).sum() / about)
        pca = PCA(3).fit(X[train])
        regression = LinearRegression().fit(pca.transform(X[train]), y[train])
        by_pca = regression.predict(pca.transform(X[test]))
        assert found.pca[fold] == pytest.approx(1 - np.square(y[test] - by_pca).sum() / about, abs=1e-6)
    assert "targets" in str(found)


def test_noise_transfers_nothing_and_structure_does(X):
    noise = np.random.default_rng(0).normal(size=(30, 60))
    with pytest.warns(SparingWarning, match="Nothing transfers"):
        found = cross_validated(SparseEncoder(2, n_nonzero=6, effort="quick"), noise)
    assert not found.transfers
    assert "Nothing transfers" in str(found)
    assert cross_validated(ENCODER, X).transfers  # control


def test_one_pass_over_a_path_gives_what_every_fit_gives(X):
    """Every k and r of a nested path from one product with the new rows, against the encoders themselves."""
    from sparing.data import as_view
    from sparing.linalg import encoder_on
    from sparing.results import Selection

    train, test = np.arange(24), np.arange(24, 36)
    order = np.array([3, 0, 7, 11, 5])
    for view in (as_view(X), as_view(X * 1e3)):
        old, new = view.split(train, test)
        noisy = old.noisy(0.7 * old.square_unit)
        basis = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 2)))[0]  # fewer than the components asked for
        shares = held_out_shares(noisy, new, order, 3, explained_by_pca(basis, new, 3))
        data = new.matmat(np.eye(12))
        for r in range(1, 6):
            for k in range(1, min(r, 3) + 1):
                J = np.sort(order[:r])
                found = encoder_on(Selection(J, noisy.gram_columns(J)), k, noisy.total)
                left = data - data[:, J] @ found.loadings.T @ found.decoder
                u = np.setdiff1d(np.arange(12), J)
                honest = 1 - np.square(left[:, u]).sum() / np.square(data[:, u]).sum()
                assert shares.unread[r - 1, k - 1] == pytest.approx(honest, abs=1e-9)
                left_by_pca = data - data @ basis[:, :k] @ basis[:, :k].T
                by_pca = 1 - np.square(left_by_pca[:, u]).sum() / np.square(data[:, u]).sum()
                assert shares.by_pca[r - 1, k - 1] == pytest.approx(by_pca, abs=1e-9)
                assert shares.everything[r - 1, k - 1] == pytest.approx(
                    1 - np.square(left).sum() / np.square(data).sum()
                )
    assert shares.unread[4, 0] != pytest.approx(shares.unread[4, 2])  # control: k matters


def test_the_standard_error_is_corrected_for_common_training_samples():
    values = np.array([0.1, 0.3, 0.2, 0.5, 0.4])
    folds = [(np.arange(8), np.arange(2))] * 5
    plain = values.std(ddof=1) / np.sqrt(5)
    assert standard_error(values) == pytest.approx(plain)
    assert standard_error(values, folds) == pytest.approx(values.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"cv": 1}, r"outside \[2, 36\]"),
        ({"cv": "many"}, "number of folds"),
        ({"cv": [(np.arange(3), np.arange(0))]}, "a training or test set empty"),
    ],
)
def test_folds_that_cannot_be_get_a_sentence(arguments, said, X):
    with pytest.raises(ValueError, match=said):
        cross_validated(ENCODER, X, **arguments)


def test_what_cannot_be_cross_validated_gets_a_sentence(X):
    with pytest.raises(TypeError, match="was given a PCA"):
        cross_validated(PCA(2), X)
    with pytest.raises(ValueError, match="covariance has none"):
        cross_validated(SparseEncoder(2, n_nonzero=3, precomputed=True), np.cov(X.T))
