"""Nonnegative components found together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from small_problems import covariance
from sparing import NonnegativeSparsePCA
from sparing.datasets import load_pitprops
from sparing.effort import QUICK
from sparing.gram import CachedGram, DenseGram
from sparing.linalg import top_spectrum
from sparing.linalg.variance import symmetric_total
from sparing.methods.encoders import JointNonnegative, joint_nonnegative
from sparing.methods.solvers import NonnegativeAuto
from sparing.run import Budget, Run
from sparing.task import Task


def encode(A, k, r, *, budget=None, effort=QUICK, **settings):
    view, rng = DenseGram(A), np.random.default_rng(0)
    spectrum = top_spectrum(view, k, rng)
    return JointNonnegative(NonnegativeAuto(starts=3, perturbations=0), **settings).encode(
        Task.of_components(view, spectrum, r), Run(rng, budget or Budget(), effort)
    )


def test_components_are_lawful_and_have_no_less_than_their_starts(rng):
    for _ in range(2):
        A = covariance("dense", rng, 10)
        found = encode(A, 3, [4, 3, 2])
        H = found.components.T
        assert H.min() >= 0
        np.testing.assert_allclose(np.linalg.norm(H, axis=0), 1.0)
        assert sorted(np.count_nonzero(H, axis=0)) <= [2, 3, 4]
        assert symmetric_total(DenseGram(A), H) <= np.linalg.eigvalsh(A)[-3:].sum() * (1 + 1e-9)


def test_blocks_are_found_apart():
    """Three groups of features: each component takes one, and together they have all there is."""
    A = np.kron(np.diag([3.0, 2.0, 1.0]), np.ones((3, 3))) + 0.01 * np.eye(9)
    found = encode(A, 3, 3)
    assert [np.flatnonzero(x).tolist() for x in found.components] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_turns_pay(monkeypatch, rng):
    """The control: without turns less is found on some matrices, never more."""
    matrices = [np.corrcoef(rng.standard_normal((10, 20))) for _ in range(2)]
    improved = [symmetric_total(DenseGram(A), encode(A, 3, 4).components.T) for A in matrices]
    monkeypatch.setattr(joint_nonnegative._Nonnegative, "improve_by_turns", lambda goal, H, sizes: H)
    plain = [symmetric_total(DenseGram(A), encode(A, 3, 4).components.T) for A in matrices]
    assert np.mean(np.array(improved) > np.array(plain) * (1 + 1e-6)) >= 0.5


@pytest.mark.parametrize("deadline", [0.0])
def test_an_expired_budget_still_has_an_answer(deadline, rng):
    found = encode(covariance("dense", rng, 8), 2, 3, budget=Budget(deadline=deadline))
    assert found.components.min() >= 0
    assert len(found.components) == 2


@pytest.mark.parametrize("effort", ["quick", pytest.param("default", marks=pytest.mark.long)])
def test_free_components_have_no_less_than_orthogonal_ones(effort):
    """And the control: what is found one after the other has less."""
    A = load_pitprops().correlation

    def reached(**way):
        config = {"precomputed": True, "random_state": 0, "certify": False, "effort": effort}
        model = NonnegativeSparsePCA(3, n_nonzero=4, **config, **way).fit(A)
        return symmetric_total(DenseGram(A), model.components_.T)

    orthogonal = reached(constraint="orthogonal")
    assert reached() >= orthogonal * (1 - 1e-9)
    assert reached(deflation="generalized") < orthogonal * (1 - 1e-3)


def test_both_deflations_share_their_first_component():
    A, asked = np.corrcoef(np.random.default_rng(0).standard_normal((8, 20))), []

    class Counting(NonnegativeAuto):
        def solve(self, task, run):
            asked.append(task.metric is None and isinstance(task.gram, CachedGram))
            return super().solve(task, run)

    view, rng = DenseGram(A), np.random.default_rng(0)
    JointNonnegative(Counting(starts=2, perturbations=0)).encode(
        Task.of_components(view, top_spectrum(view, 2, rng), 3), Run(rng)
    )
    assert sum(asked) == 1
    assert len(asked) == 3


@pytest.mark.parametrize(("k", "r"), [(2, 6), pytest.param(4, 10, marks=pytest.mark.long)])
def test_nothing_that_it_is_made_of_is_better(k, r):
    """Nor less effort: each begins with the answer of the one below."""
    X = load_digits().data[:300, 16:40]

    def kept(**way):
        model = NonnegativeSparsePCA(k, n_nonzero=r, certify=False, random_state=0, **way).fit(X)
        return symmetric_total(DenseGram(np.cov(X.T)), model.components_.T)

    efforts = [kept(effort=effort) for effort in ("quick", "default")]
    assert np.all(np.diff(efforts) >= -1e-9 * efforts[0])
    for way in ({"solver": "em"}, {"solver": "spannogram"}, {"constraint": "orthogonal"}, {"deflation": "disjoint"}):
        assert efforts[1] >= kept(**way) * (1 - 1e-6), way
