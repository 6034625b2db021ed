"""Certificates that were altered: a recheck refuses what is not proved, however it is dressed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from laws import checked
from small_problems import GAMED, nonnegative_optimum, optimum
from sparing import NonnegativeSparsePCA, SparsePCA
from sparing.certificates.certificate import UNFIT
from sparing.gram import DenseGram
from sparing.methods.solvers import NonnegativeExact
from sparing.proof.bounds import (
    BOUNDS,
    DirectOptimality,
    DoublyNonnegativeDual,
    EachAlone,
    LargestDiagonals,
    NonnegativeOptimality,
    SemidefiniteDual,
)
from sparing.results import Bound, Problem
from sparing.run import Run
from sparing.task import Task


@pytest.fixture
def A():
    B = np.random.default_rng(0).standard_normal((6, 12))
    return B @ B.T


@pytest.fixture
def genuine(A):
    certificate = NonnegativeSparsePCA(n_nonzero=3, precomputed=True, random_state=0).fit(A).certificate_
    assert certificate.recheck(A)
    return certificate


def test_a_proof_for_nonnegative_loadings_is_none_for_others(A, genuine):
    assert optimum(A, 3) > nonnegative_optimum(A, 3) * 1.01
    assert not replace(genuine, problem=replace(genuine.problem, nonnegative=False)).recheck(A)
    model = SparsePCA(n_nonzero=3, precomputed=True, solver=NonnegativeExact(), random_state=0, effort="quick").fit(A)
    assert model.certificate_.bound >= optimum(A, 3)
    several = SparsePCA(
        2, n_nonzero=3, precomputed=True, solver=NonnegativeExact(), random_state=0, effort="quick"
    ).fit(A)
    assert all(part.bound >= optimum(A, part.problem.n_nonzero) for part in several.certificate_.parts)


def test_a_proof_for_one_component_is_none_for_two(A, genuine):
    pca = float(np.linalg.eigvalsh(A)[-2:].sum())
    problem = replace(genuine.problem, n_components=2, shared_support=False)
    assert not replace(genuine, problem=problem, pca_value=pca).recheck(A)


def test_another_objective_is_refused(A, genuine):
    low = int(np.argmin(A.diagonal()))
    turned = replace(
        genuine,
        support=np.array([low]),
        loadings=np.ones((1, 1)),
        value=A[low, low],
        witness=replace(genuine.witness, value=A[low, low]),
        problem=replace(genuine.problem, objective="loss"),
    )
    assert not turned.recheck(A)


def test_pcas_variance_may_not_be_overstated(A, genuine):
    assert not replace(genuine, pca_value=10 * genuine.pca_value).recheck(A)
    assert not replace(genuine, pca_value=0.9 * genuine.pca_value).recheck(A)


def test_k_times_one_needs_orthogonal_components():
    view, one = DenseGram(GAMED), Problem(1, 3, 5, "variance")
    single = LargestDiagonals().bound(Task(view, one), None, Run(np.random.default_rng(0)))
    problem = Problem(2, 3, 5, "variance", shared_support=False, orthogonal=True)
    found = EachAlone(single).bound(Task(view, problem), None, Run(np.random.default_rng(0)))
    assert np.isfinite(checked(found, view, problem))
    assert checked(found, view, replace(problem, orthogonal=False)) == np.inf


@pytest.mark.parametrize("name", BOUNDS)
def test_each_alone_takes_no_proof_of_several_for_one_of_one(name):
    """Named inside of it, a bound has to be about one component: not about several, not about losses, not itself."""
    view, problem = DenseGram(GAMED), Problem(2, 3, 5, "variance", shared_support=False, orthogonal=True)
    one = Problem(1, 3, 5, "variance")
    for witness in (None, 0.0, np.zeros((5, 5)), ("part", np.zeros((5, 5))), (name, None), ("row_sums", None)):
        bound = Bound(0.0, "each_alone", "k times", "always", (name, witness))
        try:
            value = checked(bound, view, problem)
        except UNFIT:
            continue
        assert value >= 2 * optimum(GAMED, 3) * (1 - 1e-12)
        assert value == np.inf or BOUNDS[name]().check(Task(view, one), witness) == value / 2
    assert checked(replace(bound, witness=("row_sums", None)), view, problem) < np.inf
    with pytest.raises(LookupError):
        checked(replace(bound, witness=("none_such", None)), view, problem)


def test_witnesses_of_another_shape_or_not_finite_prove_nothing():
    task = Task(DenseGram(np.diag([1.0, 0.5, 2.0])), Problem(1, 1, 3, "variance", nonnegative=True))
    row = np.array([[0.0, 0.0, 50.0]])
    assert DoublyNonnegativeDual().check(task, row) == np.inf
    assert SemidefiniteDual().check(task, row) == np.inf
    assert DoublyNonnegativeDual().check(task, np.full((3, 3), np.nan)) == np.inf
    four = Task(DenseGram(np.ones((4, 4))), Problem(1, 3, 4, "variance", nonnegative=True))
    narrow = (0.1, np.eye(2), np.ones(2), np.ones((2, 1)), 0.0)
    assert DirectOptimality().check(four, narrow) == np.inf


def test_a_wedge_without_a_number_proves_nothing(A):
    task, method = Task(DenseGram(A), Problem(1, 3, 6, "variance", nonnegative=True)), NonnegativeOptimality()
    cover = method.bound(task, None, Run(np.random.default_rng(0))).witness
    for at in range(len(cover.proofs)):
        proofs = list(cover.proofs)
        proofs[at] = proofs[at]._replace(rho=np.nan)
        assert method.check(task, cover._replace(proofs=tuple(proofs))) == np.inf
    assert method.check(task, cover._replace(proofs=(), rays=cover.rays[:0])) == np.inf


def test_sorted_rows_far_from_zero_do_not_lower_a_bound(rng):
    """Sparse storage subtracts means from sums over all rows, whose errors may all have one sign."""
    n = 20_000
    z = np.repeat([0.0, 0.7], n // 2)
    X = np.column_stack([z, z + 0.1 * rng.standard_normal(n), 0.1 * rng.standard_normal(n)]) + 1.1e6
    certificate = NonnegativeSparsePCA(n_nonzero=2, random_state=0).fit(sparse.csr_array(X)).certificate_
    exact = float(np.var((X - X[0]) @ certificate.components[0], ddof=1))
    assert certificate.bound >= exact


def test_a_bound_below_the_value_is_an_error_not_a_proof(A):
    model = NonnegativeSparsePCA(n_nonzero=3, precomputed=True, random_state=0).fit(A)
    for name in (*BOUNDS, "a_wrong_bound"):
        low = Bound(0.1, name, "a wrong bound", "always")
        assert not replace(model.certificate_, witness=low).recheck(A)
