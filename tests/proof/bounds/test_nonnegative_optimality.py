"""The bound in wedges of the space of samples, for x >= 0, against brute force: nothing passes it."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from laws import checked
from small_problems import covariance
from sparing.data import Preprocessing, as_view
from sparing.gram import DenseGram
from sparing.proof.bounds import nonnegative_optimality as module
from sparing.proof.bounds.direct_optimality import DirectOptimality
from sparing.proof.bounds.nonnegative_optimality import Cover, NonnegativeOptimality, Proof
from sparing.proof.sphere import cones as wedges
from sparing.results import Problem
from sparing.run import Budget, Run
from sparing.task import Task

KINDS = ("dense", "integer", "tied", "rank_deficient", "block", "noisy", "wide", "indefinite", "negative", "repeated")


def nonnegative_optimum(A, r):
    """The best x >= 0 is the leading eigenvector on its own support, which has one sign therefore."""
    best = -np.inf
    for size in range(1, r + 1):
        S = np.array(list(combinations(range(len(A)), size)))
        values, vectors = np.linalg.eigh(A[S[:, :, None], S[:, None, :]])
        leading = vectors[:, :, -1]
        one_signed = (leading > -1e-9).all(axis=1) | (leading < 1e-9).all(axis=1)
        best = max(best, float(values[one_signed, -1].max(initial=-np.inf)))
    return best


def drawn(kind, rng, d):
    """One matrix; beside the usual kinds all correlations negative, and features repeated, mirrored or zero."""
    if kind == "negative":
        return d * np.eye(d) - rng.uniform(0.5, 1.0) * np.ones((d, d))
    if kind == "repeated":
        X = rng.standard_normal((3, d))
        X[:, d // 2 :] = X[:, : d - d // 2] * rng.choice([-1.0, 0.0, 1.0], d - d // 2)
        return X.T @ X
    return covariance(kind, rng, d)


def found(A, r, budget=None, **options):
    view = DenseGram(A) if isinstance(A, np.ndarray) else A
    problem = Problem(1, r, view.n_features, "variance", nonnegative=True)
    return NonnegativeOptimality(**options).bound(Task(view, problem), None, Run(None, budget or Budget()))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_passes_the_bound(kind):
    """4 matrices of each kind at a random r; most bounds are near."""
    rng, near = np.random.default_rng(KINDS.index(kind)), []
    for _ in range(4):
        d = int(rng.integers(2, 8))
        A, r = drawn(kind, rng, d), int(rng.integers(1, d + 1))
        best = nonnegative_optimum(A, r)
        value = found(A, r, max_iter=6, max_cells=12).value
        assert value >= best
        near.append(value <= best * 1.1 + 1e-9)
    assert kind in ("indefinite", "negative") or np.mean(near) > 0.5


@pytest.mark.parametrize("kind", KINDS)
def test_all_witnesses_prove_something(kind):
    """Random planes, rays, rho, X, u, C and s; neither planes nor bases are orthogonal."""
    rng = np.random.default_rng(100 + KINDS.index(kind))
    for _ in range(40):
        d = int(rng.integers(2, 8))
        A, r = drawn(kind, rng, d), int(rng.integers(1, d + 1))
        view, problem, best = DenseGram(A), Problem(1, r, d, "variance", nonnegative=True), nonnegative_optimum(A, r)
        C, shift, _ = module._factored(view)
        n, most = len(C), float(np.square(C).sum(axis=0).max())
        for changed in (0.0, 0.3):
            angles = np.sort(rng.uniform(0, 2 * np.pi, 3)) + np.arange(3) * 1e-3
            angles = np.sort(np.append(angles, np.arange(3) * 2.1))
            rays = rng.uniform(0.2, 3.0, (6, 1)) * np.column_stack([np.cos(angles), np.sin(angles)])
            proofs = tuple(
                Proof(
                    rng.choice([0.0, 1e-3, rng.random(), 1.5]) * most,
                    np.linalg.qr(rng.standard_normal((n, n)))[0] + changed * rng.standard_normal((n, n)),
                    10.0 ** rng.uniform(-12, 1, n),
                    rng.choice([0.0, 1e-2, 1.0]) * most,
                )
                for _ in rays
            )
            plane = rng.standard_normal((n, 2))
            witness = Cover(plane, rays, proofs, C + changed * rng.standard_normal(C.shape), shift + changed)
            assert NonnegativeOptimality().check(Task(view, problem), witness) >= best


def test_features_are_never_understated(rng):
    """a_i'z <= p_i'z for every z of the wedge."""
    for _ in range(200):
        n, angle = int(rng.integers(2, 6)), rng.uniform(0, 2 * np.pi)
        rotation = angle + rng.uniform(0.01, 3.0)
        wedge = np.array([[np.cos(angle), np.sin(angle)], [np.cos(rotation), np.sin(rotation)]])
        a, plane = rng.standard_normal((n, 20)), rng.standard_normal((n, 2))
        P, _ = wedges.shortened(a, plane, wedge, rng.standard_normal(n), rng.choice([0.5, np.inf]))
        Z = rng.standard_normal((500, n))
        inside = ((Z @ plane @ wedges.normals(wedge)) >= 0).all(axis=1)
        assert (Z[inside] @ (P - a) >= -1e-9).all()


def test_a_circle_that_does_not_close_proves_nothing(rng):
    """A wedge left out, or rays that turn back."""
    A = covariance("dense", rng, 6)
    bound, method = found(A, 3, max_iter=2), NonnegativeOptimality()
    task = Task(DenseGram(A), Problem(1, 3, 6, "variance", nonnegative=True))
    plane, rays, proofs, C, shift = bound.witness
    assert method.check(task, Cover(plane, rays[:3], proofs[:3], C, shift)) == np.inf
    assert method.check(task, Cover(plane, rays, proofs[:-1], C, shift)) == np.inf
    assert method.check(task, Cover(plane, rays[::-1], proofs, C, shift)) == np.inf
    assert np.isfinite(method.check(task, bound.witness))


def passed(rng):
    """How often the bound is passed by what is possible, on matrices that a wrong one does not survive."""
    count = 0
    for _ in range(9):
        A = covariance("noisy", rng, 6)
        count += found(A, 3, max_iter=8, max_cells=8).value < nonnegative_optimum(A, 3) * (1 - 1e-9)
    return count


def test_broken_inequalities_are_caught(rng, monkeypatch):
    """Controls: features too short, or without what they have in the plane, and nine tenths of what is right."""
    assert passed(rng) == 0
    at, shortened = module._at, module.shortened
    for name, wrong in (
        ("shortened", lambda a, *given: (0.9 * shortened(a, *given)[0], np.zeros(a.shape[1]))),
        ("shortened", lambda a, plane, *given: (a - plane @ (plane.T @ a), np.zeros(a.shape[1]))),
        ("_at", lambda *given: (0.9 * at(*given)[0], *at(*given)[1:])),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(module, name, wrong)
            assert passed(rng) > 2, name


def test_wedges_have_to_cover_everything(rng, monkeypatch):
    """Control: with wedges of half the circle only, the bound is passed."""
    monkeypatch.setattr(module, "_at", _only_upwards(module._at))
    assert passed(rng) > 2


def _only_upwards(at):
    """Wedges of one half of the plane have no bound at all."""

    def wrong(C, lengths, plane, wedge, proof, r):
        value, M, used = at(C, lengths, plane, wedge, proof, r)
        return (value if wedge[:, 1].sum() > 0 else 0.0), M, used

    return wrong


def test_signs_count(rng):
    """Two blocks that oppose each other: without signs they add up, with signs only one counts."""
    z = rng.standard_normal(12)
    X = np.outer(z, np.r_[np.ones(20), -np.ones(20)]) + 0.3 * rng.standard_normal((12, 40))
    view = as_view(X, Preprocessing(center=False))
    plain = DirectOptimality(max_iter=200).bound(Task(view, Problem(1, 40, 40, "variance")), None, Run(None)).value
    signed = found(view, 40).value
    halves = [np.linalg.eigvalsh(block.T @ block)[-1] for block in (X[:, :20], X[:, 20:])]
    assert max(halves) * 0.9 <= signed <= 1.15 * max(halves)
    assert plain > 1.7 * max(halves)


@pytest.mark.parametrize("center", [False, True])
def test_wide_data_against_brute_force(center, rng):
    """By rows, dense and sparse; computed again from data and witness it is the same."""
    for n in (2, 5):
        X = np.where(rng.random((n, 9)) < 0.7, rng.standard_normal((n, 9)), 0.0)
        for storage in (X, sparse.csr_array(X)):
            view = as_view(storage, Preprocessing(center=center))
            for r in (1, 3, 9):
                bound = pickle.loads(pickle.dumps(found(view, r, max_iter=5)))
                assert bound.value >= nonnegative_optimum(view.gram(), r)
                problem = Problem(1, r, 9, "variance", nonnegative=True)
                np.testing.assert_allclose(checked(bound, view, problem), bound.value, rtol=1e-12)
                assert bound.witness.factor is None


def test_more_wedges_are_tighter(rng):
    A = np.cov(rng.standard_normal((30, 12)) + 2 * rng.standard_normal((30, 1)) * rng.choice([-1.0, 1.0], 12), rowvar=0)
    values = [found(A, 5, max_cells=cells).value for cells in (8, 24)]
    assert values[0] >= values[1] >= nonnegative_optimum(A, 5)


@pytest.mark.parametrize("deadline", [0.0, None])
def test_an_expired_budget_gives_a_weaker_bound_not_a_wrong_one(deadline, rng):
    A = np.cov(rng.standard_normal((12, 8)), rowvar=False)
    assert nonnegative_optimum(A, 3) <= found(A, 3, budget=Budget(deadline=deadline)).value < np.inf


def test_units_do_not_matter(rng):
    X = rng.standard_normal((30, 9))
    values = [found(view := as_view(X * u), 3).value * view.square_unit / u**2 for u in (1.0, 1e-90)]
    np.testing.assert_allclose(values[1:], values[0], rtol=1e-6)


def test_nothing_varies():
    assert 0 <= found(np.zeros((5, 5)), 2).value < 1e-12
    assert 1 <= found(np.eye(5), 2).value < 1 + 1e-9


def test_what_it_does_not_bound(rng):
    small = DenseGram(np.eye(4))
    for problem in (Problem(2, 2, 4, "variance", nonnegative=True), Problem(1, 2, 4, "variance")):
        assert NonnegativeOptimality().bound(Task(small, problem), None, Run(rng)) is None
    assert found(np.eye(501), 3) is None
    assert found(np.eye(1), 1) is None


@pytest.mark.long
def test_leukemia(shared):
    """12582 genes, 72 patients: a search finds 0.2309 of the leading variance, without signs 0.2545."""
    view = as_view(shared("leukemia_armstrong.npz").astype(float))
    top = np.linalg.eigvalsh(view.row_gram())[-1]
    assert 0.2308 <= found(view, 50, max_cells=8, max_iter=20).value / top <= 0.255
    assert 0.2308 <= found(view, 50).value / top <= 0.243
