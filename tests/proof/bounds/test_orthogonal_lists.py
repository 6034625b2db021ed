"""Lists of supports of orthogonal components, against the best directions on all of them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

from small_problems import covariance
from sparing import SparsePCA
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg.span import encoder_of
from sparing.proof.bounds import OrthogonalLists
from sparing.proof.trees.support_lists import SupportLists, orthogonal_directions
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "noisy", "rank_deficient", "coupled", "indefinite")


def best_of_all(A, k, r):
    """The best directions that alternation finds on any list of supports, and their supports."""
    found = []
    for supports in combinations_with_replacement([np.array(S) for S in combinations(range(len(A)), r)], k):
        H = orthogonal_directions(A, supports)
        if H.any(axis=0).all():
            np.testing.assert_allclose(H.T @ H, np.eye(k), atol=1e-8)
            found.append((float(np.einsum("ij,ij->", H, A @ H)), H))
    return max(found, key=lambda pair: pair[0])


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_orthogonal_passes_it_and_it_is_often_reached(kind):
    """From the worst of starts: two features, one each."""
    closed = 0
    for d, k in ((5, 2), (4, 3)):
        A = covariance(kind, np.random.default_rng(d), d)
        best, H = best_of_all(A, k, 2)
        lists = SupportLists(A, 2, k)
        for start in (H, np.eye(d)[:, :k]):
            for rounds in (0, 20):
                found = lists.prove([np.zeros((d, d))], start, rounds=rounds, budget=Budget())
                slack = 1e-12 * np.abs(A).max()
                assert found.bound >= best - slack
                assert found.value <= found.bound + slack
                assert lists.check(found.pool, found.target) == pytest.approx(found.bound)
                for target in (-np.inf, 0.0, 0.9 * best):  # control: no target makes a pool prove more than it does
                    assert lists.check(found.pool, target) >= best - slack
        closed += found.bound <= best * (1 + 1e-6)
    assert closed > 0 or kind == "indefinite"


@pytest.mark.parametrize("solver", ["auto", "exact"])
def test_two_components_of_pitprops_are_proved_optimal(solver):
    C = load_pitprops().correlation
    model = SparsePCA(2, n_nonzero=5, constraint="orthogonal", solver=solver, precomputed=True).fit(C)
    certificate = model.certificate_
    assert certificate.gap < 1e-6
    assert certificate.witness.reached
    assert "proved optimal" in str(certificate)
    assert certificate.recheck(C)
    target, pool = certificate.witness.witness
    damaged = replace(certificate, witness=replace(certificate.witness, witness=(target, pool[:3])))
    assert not damaged.recheck(C)


def test_a_better_list_is_handed_over():
    """The search starts from single features."""
    A = covariance("noisy", np.random.default_rng(3), 6)
    best, _ = best_of_all(A, 2, 2)
    problem = Problem(2, 2, 6, "variance", shared_support=False, orthogonal=True)
    worst = encoder_of(DenseGram(A), np.eye(6)[:, :2], float(A.trace()))
    bound = OrthogonalLists(rounds=200).bound(Task(DenseGram(A), problem), worst, Run(np.random.default_rng(0)))
    H = orthogonal_directions(A, bound.supports)
    assert np.einsum("ij,ij->", H, A @ H) == pytest.approx(best, rel=1e-6)
