"""Certificates along a path: true for the very encoder shown, from the proofs that the path has made."""

from __future__ import annotations

import numpy as np
import pytest

from sparing import sparsity_path
from sparing.data import Preprocessing
from sparing.datasets import make_spiked
from sparing.effort import QUICK
from sparing.estimators.path_search import path_search
from sparing.proof.bounds import LossTree
from sparing.run import Budget, Run


def certified(X, n_components=2, longest=10, **options):
    rng = np.random.default_rng(0)
    run = Run(rng, effort=QUICK)
    walk = path_search(X, n_components, Preprocessing(), longest, run, **options)
    return walk, walk.certificates(run)


@pytest.mark.parametrize("shape", [(60, 15), (50, 120)], ids=["with proofs", "PCA's loss alone"])
def test_each_certificate_holds_and_says_what_the_path_says(shape):
    X = make_spiked(*shape, n_nonzero=4, random_state=2).X
    _, certificates = certified(X)
    path = sparsity_path(X, 2, max_features=10, effort="quick", random_state=0)
    for r, (certificate, kept, most, support) in enumerate(
        zip(certificates, path.variance_kept, path.variance_kept_bound, path.supports, strict=True), start=1
    ):
        assert certificate.problem.n_nonzero == r
        assert certificate.variance_kept == pytest.approx(kept, rel=1e-6)
        assert certificate.variance_kept_bound == pytest.approx(most, rel=1e-6)
        np.testing.assert_array_equal(certificate.support, support)
        assert certificate.recheck(X)


def test_proofs_are_not_made_again(monkeypatch):
    X = make_spiked(60, 15, n_nonzero=4, random_state=2).X
    rng = np.random.default_rng(0)
    walk = path_search(X, 2, Preprocessing(), 6, Run(rng))
    assert any(proof is not None for proof in walk.proofs)

    def again(*_, **__):
        raise AssertionError("searched again")

    monkeypatch.setattr(LossTree, "bound", again)
    assert {certificate.witness.method for certificate in walk.certificates(Run(rng))} == {"branch and bound"}


def test_all_certificates_take_one_reading():
    X = np.random.default_rng(0).standard_normal((400, 1200))  # too many features for proofs
    rng = np.random.default_rng(0)
    walk = path_search(X, 2, Preprocessing(), 10, Run(rng))
    before = walk.view.passes
    assert len(walk.certificates(Run(rng))) == 10
    assert walk.view.passes == before + 1


def test_time_is_shared_by_all_numbers_of_features(monkeypatch):
    deadlines = []
    monkeypatch.setattr(LossTree, "bound", lambda tree, task, found, run: deadlines.append(run.budget.deadline))
    budget = Budget.of(1000.0)
    path_search(make_spiked(40, 12, random_state=4).X, 2, Preprocessing(), 10, Run(np.random.default_rng(0), budget))
    assert len(deadlines) == 10
    assert deadlines[0] < budget.deadline - 800  # the first may not use all of it
    assert deadlines[-1] == pytest.approx(budget.deadline)


def test_fewer_features_than_components_are_compared_with_all_the_components_asked_for():
    _, certificates = certified(make_spiked(60, 15, n_nonzero=4, random_state=2).X, n_components=3, longest=3)
    assert str(certificates[0]).startswith("1 component on 1 of 15 features keeps ")
    assert "of the variance that PCA's 3 keep" in str(certificates[0])
    assert "times what PCA with 1 component loses" in certificates[0].details()
    assert "times what PCA loses" in certificates[2].details()


@pytest.mark.parametrize(("noise", "off"), [(1e-3, 1.5), (3e-3, 1.03)])
def test_bounds_are_shares_of_the_most_that_pca_may_lose(noise, off):
    """Far from zero PCA's loss is known to some digits only: a bound is divided by the largest it may be."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 2)) @ rng.standard_normal((2, 6)) + noise * rng.standard_normal((3000, 6)) + 3e4
    P = X - X.mean(axis=0)
    P -= P.mean(axis=0)
    tail = np.square(np.linalg.svd(P, compute_uv=False)[2:]).sum()
    truth = min(np.square(P - np.outer(x, x @ P) / (x @ x)).sum() for x in P.T) / tail
    walk, certificates = certified(X, longest=1)
    assert 0.5 * truth < walk.bound[0] <= truth
    assert walk.proofs[0].value / walk.spectrum.least_loss > off * truth  # the control
    assert 1.0 <= certificates[0].bound_ratio <= truth
