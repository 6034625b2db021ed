"""Nonnegative components: what they are, what is said of them, what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_wine

from small_problems import nonnegative_optimum
from sparing import NonnegativeSparsePCA, SparsePCA
from sparing.datasets import load_pitprops
from sparing.methods.deflation import DEFLATIONS
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, NonnegativeAuto, Spannogram, TruncatedPower

PITPROPS = load_pitprops().correlation


def fitted(X=PITPROPS, n_components=1, **settings):
    config = {"precomputed": X is PITPROPS, "effort": "quick", "random_state": 0, **settings}
    return NonnegativeSparsePCA(n_components, **config).fit(X)


@pytest.mark.parametrize("r", [1, 2, 3, 5, 8, 9, 10, 13])
def test_pit_props_are_proved_optimal(r):
    """The optima by brute force; beyond nine features signs cost something, and that is proved too."""
    certificate = fitted(n_nonzero=r).certificate_
    assert certificate.value == pytest.approx(nonnegative_optimum(PITPROPS, r), rel=1e-9)
    assert certificate.gap <= 1e-6
    assert certificate.recheck(PITPROPS)
    assert certificate.problem.nonnegative
    assert "nonnegative component" in str(certificate)
    free = SparsePCA(n_nonzero=r, precomputed=True, random_state=0, effort="quick").fit(PITPROPS)
    assert (free.certificate_.value > certificate.value * (1 + 1e-6)) == (r >= 10)


@pytest.mark.parametrize("solver", NONNEGATIVE_SOLVERS)
def test_every_solver_by_name(solver):
    model = fitted(n_nonzero=4, solver=solver)
    assert model.components_.min() >= 0
    assert np.count_nonzero(model.components_) <= 4
    assert model.variance_[0] == pytest.approx(2.937479, abs=1e-6)
    assert model.certificate_.bound >= 2.937479 * (1 - 1e-6)


def test_without_refit_a_solver_gives_its_own_answer():
    own, climbed = (fitted(n_nonzero=6, solver="spannogram", rank=1, refit=refit) for refit in (False, True))
    leading = np.linalg.eigh(PITPROPS)[1][:, -1]
    cut = np.sort(np.maximum(np.abs(leading) * (np.sign(leading) == np.sign(leading.sum())), 0.0))[-6:]
    np.testing.assert_allclose(np.sort(own.components_[own.components_ > 0]), cut / np.linalg.norm(cut), rtol=1e-6)
    assert own.variance_[0] < climbed.variance_[0]
    assert own.certificate_.recheck(PITPROPS)


def test_theorems_are_cited_for_the_solvers_that_they_are_about():
    (first,) = fitted(n_nonzero=5, solver="spannogram").certificate_.guarantees
    (second,) = fitted(n_nonzero=5, solver="spannogram_net", accuracy=0.2).certificate_.guarantees
    values = np.linalg.eigvalsh(PITPROPS)[::-1]
    factor = max(5 / 26, 1 / (1 + 2 * 13 / 5 * values[3] / values[0]))
    assert first.limit == pytest.approx(1 / factor)
    assert second.limit == pytest.approx(1 / factor / 0.8)
    assert first.strength == "always"
    assert second.strength == "probability 0.923076"
    assert first.holds
    assert second.holds
    assert "Theorem 1" in fitted(n_nonzero=5, solver="spannogram").certificate_.details()
    assert fitted(n_nonzero=5).certificate_.guarantees == ()
    assert fitted(n_nonzero=5, solver="spannogram", time_limit=1e-9).certificate_.guarantees == ()


@pytest.mark.parametrize("deflation", ["auto", *DEFLATIONS])
def test_several_components_for_every_deflation(deflation):
    model = fitted(n_components=2, n_nonzero=4, deflation=deflation)
    assert model.components_.shape == (2, 13)
    assert model.components_.min() >= 0
    assert np.count_nonzero(model.components_, axis=1).max() <= 4
    cosines = model.components_ @ model.components_.T - np.eye(2)
    said = model.certificate_.details()
    if deflation == "disjoint":
        assert np.abs(cosines).max() < 1e-12
        assert "they are orthogonal" in said
        assert model.certificate_.problem.disjoint
    else:
        assert f"{cosines.max():.3f}" in said or "they are orthogonal" in said
    assert model.certificate_.recheck(PITPROPS)
    assert len(model.certificate_.parts) == 2
    assert all(part.problem.nonnegative for part in model.certificate_.parts)


def test_together_components_have_no_less_than_one_after_the_other():
    X = load_wine().data
    together = fitted(X, 3, n_nonzero=5, scale=True)
    assert together.components_.min() >= 0
    for deflation in ("generalized", "disjoint", "schur"):
        alone = fitted(X, 3, n_nonzero=5, scale=True, deflation=deflation)
        assert together.certificate_.value >= alone.certificate_.value * (1 - 1e-6), deflation


def test_the_fewest_features_for_a_share_of_the_nonnegative_variance():
    """Of PCA's own variance a nonnegative component may never have so much."""
    dense = fitted(n_nonzero=13).variance_[0]
    model = fitted(min_variance=0.9)
    count = np.count_nonzero(model.components_)
    assert model.variance_[0] >= 0.9 * dense
    assert fitted(n_nonzero=count - 1).variance_[0] < 0.9 * dense
    X = load_digits().data
    assert fitted(X, 2).components_.shape == (2, 64)


def test_counts_of_their_own():
    model = fitted(n_components=2, n_nonzero=[5, 2])
    assert sorted(np.count_nonzero(model.components_, axis=1), reverse=True) == [5, 2]


def test_wide_and_tall_dense_and_sparse_give_one_answer(rng):
    for shape in ((30, 700), (500, 40)):
        X = np.abs(rng.standard_normal(shape)) * (rng.random(shape) < 0.3)
        X[:, :6] += 2 * np.abs(rng.standard_normal((shape[0], 1)))
        dense, thin = fitted(X, n_nonzero=6), fitted(sparse.csr_array(X), n_nonzero=6)
        np.testing.assert_array_equal(dense.support_, thin.support_)
        np.testing.assert_allclose(dense.components_, thin.components_, atol=1e-6)
        assert dense.certificate_.recheck(sparse.csc_array(X))
        assert set(dense.support_) == set(range(6))


def test_a_time_limit_leaves_a_valid_bound(rng):
    X = rng.standard_normal((60, 40))
    model = fitted(X, n_nonzero=5, time_limit=1e-9)
    assert model.components_.min() >= 0
    assert model.certificate_.bound >= model.certificate_.value
    assert model.certificate_.recheck(X)


def test_certificates_pickle_and_tell_other_data():
    certificate = pickle.loads(pickle.dumps(fitted(n_nonzero=10).certificate_))
    assert certificate.recheck(PITPROPS)
    other = PITPROPS.copy()
    other[0, 1] = other[1, 0] = 0.2
    assert not certificate.recheck(other)


def test_scores_of_parts_add_up(rng):
    """Digits: disjoint parts of pictures; the round trip keeps what the loss says."""
    X = load_digits().data
    model = fitted(X, 4, n_nonzero=10, deflation="disjoint", certify=False)
    rebuilt = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(np.square(X - rebuilt).sum(), model.loss_, rtol=1e-9)
    assert np.all(np.diff(model.variance_) <= 1e-9 * model.variance_[0])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"solver": "greedy"}, "solver"),
        ({"solver": TruncatedPower()}, "negative loadings"),
        ({"rank": 0}, "rank"),
        ({"rank": 2.5}, "rank"),
        ({"accuracy": 0}, "accuracy"),
        ({"accuracy": "small"}, "accuracy"),
        ({"n_nonzero": 0}, "n_nonzero"),
        ({"n_nonzero": 14}, "n_nonzero"),
        ({"n_nonzero": None, "min_variance": 1.5}, "min_variance"),
        ({"min_variance": 0.9}, "min_variance"),
        ({"deflation": "exact"}, "deflation"),
        ({"refit": "no"}, "refit"),
    ],
)
def test_bad_parameters_get_a_sentence(settings, words):
    with pytest.raises((ValueError, TypeError), match=words):
        fitted(**{"n_nonzero": 12, **settings})


def test_instances_keep_their_own_settings():
    assert fitted(n_nonzero=3, solver=Spannogram(rank=1)).components_.min() >= 0
    assert fitted(n_components=2, n_nonzero=3, solver=NonnegativeAuto(starts=2)).components_.shape == (2, 13)


NUMBERS = [
    ("lrs", 20, 0.8869, 0.995),
    ("cbcl_faces", 40, 0.2351, 0.96),
    pytest.param("cbcl_faces", 180, 0.6825, 0.99, marks=pytest.mark.long),
    pytest.param("leukemia_armstrong", 50, 0.2305, 0.85, marks=pytest.mark.long),
]


@pytest.mark.parametrize(("name", "r", "share", "ratio"), NUMBERS)
def test_the_data_of_the_paper(name, r, share, ratio, shared):
    """The paper proves .86, -, .58 and .446 of the optimum."""
    certificate = fitted(shared(f"{name}.npz").astype(float), n_nonzero=r).certificate_
    assert certificate.value / certificate.pca_value >= share
    assert certificate.value / certificate.bound >= ratio


def test_orthogonal_components_are_found_together():
    """Features are shared out, not taken in turn: more in all, where the greedy first one takes too much."""
    X = load_digits().data
    in_turn = fitted(X, 4, n_nonzero=8, deflation="disjoint")
    together = fitted(X, 4, n_nonzero=8, constraint="orthogonal")
    assert together.components_.min() >= 0
    np.testing.assert_array_equal(together.components_ @ together.components_.T > 0, np.eye(4, dtype=bool))
    assert np.count_nonzero(together.components_, axis=1).max() <= 8
    assert np.all(np.diff(together.variance_) <= 1e-9 * together.variance_[0])
    assert together.certificate_.problem.disjoint
    assert together.certificate_.recheck(X)
    assert together.certificate_.value > in_turn.certificate_.value * (1 + 1e-4)
    with pytest.raises(ValueError, match="constraint"):
        fitted(n_nonzero=4, constraint="uncorrelated")
    with pytest.raises(ValueError, match="constraint"):
        fitted(n_nonzero=4, constraint="orthogonal", deflation="disjoint")
    assert fitted(n_components=2, constraint="orthogonal", min_variance=0.8).components_.min() >= 0


def test_several_components_start_from_less_than_a_single_one():
    """They are improved together; a component alone has its full search."""
    several, alone = (
        NonnegativeSparsePCA(3, n_nonzero=4)._algorithm(),
        NonnegativeSparsePCA(1, n_nonzero=4)._algorithm(),
    )
    assert (several.solver.surrogates, several.solver.any_sign, several.solver.pool) == (False, False, 128)
    assert alone.solver == NonnegativeAuto()
    given = NonnegativeAuto(starts=2)
    assert NonnegativeSparsePCA(3, n_nonzero=4, solver=given)._algorithm().solver == given
