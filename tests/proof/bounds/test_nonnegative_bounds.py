"""Bounds for x >= 0, against brute force: nothing nonnegative passes them, and those made too small are caught."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from laws import checked
from small_problems import covariance, nonnegative_optimum, optimum
from sparing.data import as_view
from sparing.datasets import load_pitprops
from sparing.gram import DenseGram
from sparing.linalg.rows import sums
from sparing.proof.bounds import (
    BranchAndBound,
    DoublyNonnegativeDual,
    NonnegativeBranchAndBound,
    NonnegativeOptimality,
    RowSquares,
    RowSums,
    SemidefiniteDual,
)
from sparing.proof.relaxations.semidefinite import (
    into_nonnegative_ball,
    made_nonnegative,
    one_sided_value,
    relaxed_nonnegative,
)
from sparing.results import Encoder, Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "indefinite", "centred")
ALL = {
    "sums": RowSums(),
    "squares": RowSquares(),
    "search": BranchAndBound(max_nodes=1000),
    "dual": DoublyNonnegativeDual(max_iter=20),
    "raised": NonnegativeBranchAndBound(max_nodes=1000),
    "positive": NonnegativeBranchAndBound(max_nodes=1000, max_iter=0),
}
LATE = Budget(deadline=0.0)


def matrix(kind, rng, d):
    """Centred rows make most correlations negative."""
    if kind != "centred":
        return covariance(kind, rng, d)
    X = rng.standard_normal((d + 3, d))
    X -= 0.9 * X.mean(axis=1, keepdims=True)
    return X.T @ X


def degenerate():
    """Nothing, copies, one direction of both signs, all correlations negative, ties between signs."""
    u = np.array([1.0, -2.0, 3.0, 0.0, 1.0])
    X = np.random.default_rng(3).standard_normal((4, 3))
    X = X[:, [0, 0, 1, 2, 1]] * [1, 1, 1, 1, -1]
    negative = np.eye(5) * 1.25 - 0.25
    return [np.zeros((3, 3)), np.zeros((1, 1)), np.array([[2.0]]), np.outer(u, u), X.T @ X, negative, -negative]


def known(view):
    """The feature of most variance alone: an incumbent that needs no search."""
    best = np.array([int(np.argmax(view.gram_diagonal()))])
    return Encoder(best, np.ones((1, 1)), np.zeros((0, view.n_features)), np.zeros(0), np.nan)


def bound(algorithm, view, r, *, nonnegative=True, budget=None):
    problem = Problem(1, r, view.n_features, "variance", nonnegative=nonnegative)
    return algorithm.bound(Task(view, problem), known(view), Run(np.random.default_rng(0), budget or Budget()))


def is_psd(A):
    return bool(np.linalg.eigvalsh(A)[0] >= -1e-12 * max(np.abs(A).max(), 1e-300))


def view_of(A):
    return DenseGram(A, is_psd=is_psd(A), psd_slack=1e-12 * float(np.abs(A).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_no_nonnegative_direction_passes(kind):
    """All supports of 80 small matrices at every r; a bound for one feature less is passed, so the test can fail."""
    rng = np.random.default_rng(KINDS.index(kind))
    too_small = dict.fromkeys(ALL, 0)
    for _ in range(10):
        d = int(rng.integers(2, 8))
        A, before = matrix(kind, rng, d), {}
        for r in range(1, d + 1):
            best = nonnegative_optimum(A, r)
            found = {name: bound(algorithm, view_of(A), r).value for name, algorithm in ALL.items()}
            for name, value in found.items():
                assert value >= best - 1e-14 * np.abs(A).max(), (name, r)
                too_small[name] += before.get(name, np.inf) < best * (1 - 1e-9)
            before = found
    assert kind in ("tied", "rank_deficient") or min(too_small.values()) > 0


@pytest.mark.parametrize("number", range(len(degenerate())))
def test_degenerate_matrices(number):
    """The dual and the search on what it raises prove every one of them, at every r."""
    A = degenerate()[number]
    scale = max(float(np.abs(A).max()), 1e-12)
    for r in range(1, len(A) + 1):
        best = nonnegative_optimum(A, r)
        found = {name: bound(algorithm, view_of(A), r).value for name, algorithm in ALL.items()}
        assert min(found.values()) >= best - 1e-14 * scale
        assert min(found["raised"], bound(DoublyNonnegativeDual(), view_of(A), r).value) <= best + 1e-6 * scale


def test_never_above_what_holds_for_any_sign_and_often_below(rng):
    below = dict.fromkeys(("sums", "squares", "dual"), 0)
    for _ in range(20):
        A = matrix("centred", rng, 7)
        for r in (1, 2, 4, 7):
            pairs = {
                "sums": [bound(RowSums(), view_of(A), r, nonnegative=sign).value for sign in (True, False)],
                "squares": [bound(RowSquares(), view_of(A), r, nonnegative=sign).value for sign in (True, False)],
                "dual": [bound(kind(), view_of(A), r).value for kind in (DoublyNonnegativeDual, SemidefiniteDual)],
            }
            for name, (signed, free) in pairs.items():
                assert signed <= free * (1 + 2e-4), (name, r)
                below[name] += signed < 0.95 * free
    assert min(below.values()) >= 40


def test_rows_of_any_sign_are_as_before(rng):
    """A row of -3, 1 and 2 beside a diagonal of 4, for two features."""
    row = np.array([[4.0, -3.0, 1.0, 2.0]])
    assert sums(row, np.array([0]), 2) == 7.0
    assert sums(row, np.array([0]), 2, nonnegative=True) == 6.0
    assert sums(row, np.array([0]), 4, nonnegative=True) == 7.0
    assert sums(np.minimum(row, 0) + 4 * (row == 4), np.array([0]), 3, nonnegative=True) == 4.0


def test_they_are_no_bounds_for_any_sign():
    """Control: two features of correlation -1 have 2 together, nonnegatively only 1."""
    A = np.array([[1.0, -1.0], [-1.0, 1.0]])
    for name in ("sums", "squares", "dual", "raised", "positive"):
        assert 1.0 <= bound(ALL[name], DenseGram(A), 2).value < 1.5 < optimum(A, 2)
    np.testing.assert_allclose([nonnegative_optimum(A, 2), optimum(A, 2)], [1.0, 2.0])


def test_a_dual_with_too_low_a_price_is_no_bound(rng):
    """Control: priced for one feature less, or with all of Y lowered after the eigenvalue was taken."""
    passed = lowered = 0
    for _ in range(20):
        A, r = matrix("noisy", rng, 6), 3
        _, Y = relaxed_nonnegative(A, r, max_iter=100, tolerance=1e-7, budget=Budget())
        best = nonnegative_optimum(A, r)
        assert one_sided_value(A, Y, r) >= best
        passed += one_sided_value(A, Y, r - 1) < best
        lowered += one_sided_value(A, Y, r) - (r - 1) * 0.1 * float(Y.max()) < best
    assert min(passed, lowered) >= 1


def test_every_dual_is_one(rng):
    """Any Y proves something, and so does any N: negative entries of a witness count as zero."""
    for _ in range(30):
        A, r = matrix("centred", rng, 6), int(rng.integers(1, 7))
        Y = rng.standard_normal((6, 6)) * rng.choice([0.1, 3.0, 1e4])
        Y += Y.T
        best, view = nonnegative_optimum(A, r), DenseGram(A)
        task = Task(view, Problem(1, r, 6, "variance", nonnegative=True))
        assert ALL["dual"].check(task, Y) >= best
        found = bound(ALL["raised"], view, r)
        assert ALL["raised"].check(task, (Y, found.witness[1])) >= best
        forged = tuple((size, 0.5 * target, probing) for size, target, probing in found.witness[1])
        assert ALL["raised"].check(task, (found.witness[0], forged)) >= best


def test_the_dual_is_solved(rng):
    """M is feasible, and its value meets the dual's."""
    for _ in range(20):
        A, r = matrix("centred", rng, 7), int(rng.integers(1, 8))
        M, Y = relaxed_nonnegative(A, r, max_iter=2000, tolerance=1e-5, budget=Budget())
        assert min(M.min(), np.linalg.eigvalsh(M)[0] + 1e-12) >= 0
        np.testing.assert_allclose(np.trace(M), 1.0)
        assert M.sum() <= r * (1 + 1e-12)
        assert not np.diagonal(Y).any()
        assert float(np.vdot(A, M)) <= one_sided_value(A, Y, r) <= float(np.vdot(A, M)) * (1 + 2e-5)


def test_projections(rng):
    """The nearest nonnegative matrix of small sum: no feasible one is on the side of W. Raising keeps semidefinite."""
    bare = 0
    for _ in range(20):
        W = rng.standard_normal((5, 5))
        Z = into_nonnegative_ball(W, 3.0)
        assert Z.min() >= 0
        assert Z.sum() <= 3.0 + 1e-12
        for corner in (np.zeros((5, 5)), *(3.0 * np.eye(25)[i].reshape(5, 5) for i in range(25))):
            assert np.vdot(W - Z, corner - Z) <= 1e-9
        low = W[:, :2] @ W[:, :2].T
        bare += np.linalg.eigvalsh(np.maximum(low, 0.0))[0] < -1e-3  # without its negative entries alone it is not
        M = made_nonnegative(low / np.trace(low))
        assert min(M.min(), np.linalg.eigvalsh(M)[0] + 1e-12) >= 0
        np.testing.assert_allclose(np.trace(M), 1.0)
    assert bare >= 5


def test_small_gaussian_optima_are_proved(rng):
    """Where most correlations are negative: at least 19 of 20 by the search on raised entries, few by the others."""
    proved = dict.fromkeys(("search", "dual", "raised", "positive"), 0)
    for _ in range(20):
        A, r = matrix("centred", rng, 9), int(rng.integers(2, 7))
        best = nonnegative_optimum(A, r)
        for name in proved:
            proved[name] += bound(ALL[name], DenseGram(A), r).value <= best * (1 + 1e-6)
    assert proved["raised"] >= 19
    assert max(proved["search"], proved["positive"]) <= 12


def test_pit_props():
    """The best direction is nonnegative by itself up to nine features; more than ten are of no use."""
    A = load_pitprops().correlation
    for r in range(1, 14):
        best = nonnegative_optimum(A, r)
        assert best == pytest.approx(optimum(A, r) if r <= 9 else 4.144111, abs=1e-6)
        assert best <= bound(ALL["raised"], DenseGram(A), r).value <= best * (1 + 1e-6)
        value = bound(DoublyNonnegativeDual(), DenseGram(A), r).value
        assert best <= value <= best * (1.03 if r <= 9 else 1 + 1e-6)


def test_a_search_for_any_sign_is_not_said_to_be_reached(rng):
    A = matrix("centred", rng, 6)
    free, signed = (bound(BranchAndBound(), DenseGram(A), 3, nonnegative=sign) for sign in (False, True))
    assert (free.reached, signed.reached) == (True, False)
    assert signed.value == free.value


def test_checked_again_from_data_and_witness_in_every_storage(rng):
    X = rng.standard_normal((30, 9)) * (rng.random((30, 9)) < 0.6) + 5.0
    problem = Problem(1, 3, 9, "variance", nonnegative=True)
    for algorithm in ALL.values():
        values = []
        for view in (as_view(X), as_view(sparse.csr_array(X)), as_view(X * 2.0**20)):
            again = pickle.loads(pickle.dumps(bound(algorithm, view, 3)))
            np.testing.assert_allclose(checked(again, view, problem), again.value, rtol=1e-9)
            assert again.value >= nonnegative_optimum(view.gram(), 3)
            values.append(again.value * view.square_unit)
        np.testing.assert_allclose(values[1:], [values[0], values[0] * 2.0**40], rtol=1e-6)


def test_an_expired_budget_gives_weaker_bounds_not_wrong_ones(rng):
    for _ in range(10):
        A = matrix("centred", rng, 8)
        for name, algorithm in ALL.items():
            assert bound(algorithm, DenseGram(A), 3, budget=LATE).value >= nonnegative_optimum(A, 3), name


def test_what_they_do_not_bound(rng):
    small, large, larger = DenseGram(np.eye(4)), DenseGram(np.eye(501)), DenseGram(np.eye(1001))
    several = replace(Problem(2, 2, 4, "variance", nonnegative=True), shared_support=False)
    for algorithm in (DoublyNonnegativeDual(), NonnegativeBranchAndBound()):
        assert algorithm.bound(Task(small, several), known(small), Run(rng)) is None
        assert bound(algorithm, small, 2, nonnegative=False) is None
        assert bound(algorithm, larger, 2) is None
    assert bound(DoublyNonnegativeDual(), large, 2) is None
    assert bound(NonnegativeBranchAndBound(max_nodes=10), large, 2, budget=LATE).witness[0] is None


@pytest.mark.parametrize("method", [DoublyNonnegativeDual(), NonnegativeBranchAndBound(), NonnegativeOptimality()])
def test_their_proofs_say_nothing_of_loadings_of_any_sign(method):
    A = np.array([[1.0, -0.9, -0.9], [-0.9, 1.0, 0.8], [-0.9, 0.8, 1.0]])
    found, signed = bound(method, DenseGram(A), 3), Task(DenseGram(A), Problem(1, 3, 3, "variance"))
    assert nonnegative_optimum(A, 3) <= found.value < optimum(A, 3)  # what it would claim is false
    assert method.check(signed, found.witness) == math.inf
    assert method.check(replace(signed, problem=replace(signed.problem, nonnegative=True)), found.witness) < math.inf


def test_real_data(shared):
    """Spectra: more than eleven wavelengths are of no use, proved. Faces: forty pixels, proved; the dual comes near."""
    view = as_view(shared("lrs.npz").astype(float))
    top = np.linalg.eigvalsh(view.gram())[-1]
    assert bound(DoublyNonnegativeDual(), view, 20).value / top == pytest.approx(0.886934, abs=1e-6)
    view = as_view(shared("cbcl_faces.npz").astype(float))
    top = np.linalg.eigvalsh(view.gram())[-1]
    assert bound(NonnegativeBranchAndBound(max_nodes=1000, max_iter=0), view, 40).value / top == pytest.approx(
        0.235138, abs=1e-6
    )
    for r, most in ((40, 0.2445), (180, 0.7106)):
        assert bound(DoublyNonnegativeDual(max_iter=20), view, r).value / top <= most
