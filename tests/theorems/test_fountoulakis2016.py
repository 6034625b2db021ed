"""Randomized rounding: Theorem 1 and its lemmas for feasible points whose rounding is a real loss of entries.

The proof needs |x|_2 <= 1, |x|_1 <= sqrt(k) and rows of A of norm at most 1; only the comparison with the best sparse
vector needs x to be the global optimum of the relaxation. Where A has rank one that optimum is known.
"""

from __future__ import annotations

import numpy as np
import pytest

from sparing import SparsePCA
from sparing.linalg.soft_threshold import l1_l2_maximiser
from sparing.linalg.theorem_bounds import rounding_draws_needed
from sparing.methods.solvers import Rounding
from sparing.methods.solvers.rounding import sparsify

K, EPSILON, N = 2, 0.25, 20000
ENOUGH = 200 * K / EPSILON**2
FEW = 0.25 * K
DRAWS = 300


def spikes(rng):
    """k large entries and a long tail: what is left of the tail is small against its length."""
    x = np.zeros(N)
    x[:K] = 0.85 / np.sqrt(K)
    tail = rng.random(N - K)
    x[K:] = tail * 0.15 * np.sqrt(K) / tail.sum()
    return x * rng.choice([-1.0, 1.0], N)


def slope(rng):
    """Entries that fall by a power of their rank, and a level tail."""
    x = np.arange(1.0, N + 1) ** -2.5
    x += 0.1 * x.sum() / N
    return x * rng.choice([-1.0, 1.0], N) / max(np.linalg.norm(x), x.sum() / np.sqrt(K))


def factor(x, rng):
    """Few rows X so that A = X'X has rows of norm at most 1 and x'Ax is far above epsilon."""
    X = np.vstack([x / np.linalg.norm(x), 0.3 * rng.standard_normal((2, N)) / np.sqrt(N)])
    rows = np.sqrt(np.einsum("in,in->n", X, (X @ X.T) @ X))
    return X / np.sqrt(max(rows.max(), 1.0))


@pytest.fixture(params=[spikes, slope])
def problem(request):
    rng = np.random.default_rng(7)
    x = request.param(rng)
    assert np.linalg.norm(x) <= 1 + 1e-12
    assert np.abs(x).sum() <= np.sqrt(K) * (1 + 1e-12)
    X = factor(x, rng)
    assert np.linalg.norm(X @ x) ** 2 > 2 * EPSILON, "otherwise the zero vector would do"
    return x, X, rng


def rounded(x, s, rng):
    return [sparsify(x, s, rng) for _ in range(DRAWS)]


def test_theorem_1_rounding_is_unbiased_with_at_most_s_entries_in_expectation(problem):
    x, _, rng = problem
    sizes = np.abs(x)
    for s in (ENOUGH, FEW):
        kept = np.array([np.count_nonzero(draw) for draw in rounded(x, s, rng)])
        assert kept.mean() <= s + 3 * kept.std() / np.sqrt(DRAWS)
        assert kept.mean() < 0.2 * N, "rounding must cost something"
        assert np.mean([draw @ x for draw in rounded(x, s, rng)]) == pytest.approx(x @ x, rel=0.2)
    relative_to_the_wrong_norm = np.minimum(FEW * sizes / np.linalg.norm(x), 1.0)
    assert relative_to_the_wrong_norm.sum() > 1.2 * FEW  # control


def test_theorem_1_norm_and_variance_with_probability_three_quarters(problem):
    x, X, rng = problem
    value = np.linalg.norm(X @ x) ** 2

    def shares(s):
        draws = rounded(x, s, rng)
        within = [np.linalg.norm(draw) <= 1 + 0.15 * EPSILON for draw in draws]
        near = [abs(np.linalg.norm(X @ draw) ** 2 - value) <= EPSILON for draw in draws]
        return np.mean(within), np.mean(near)

    assert min(shares(ENOUGH)) >= 0.75
    assert max(shares(FEW)) < 0.75  # control: with far fewer entries both fail too often


def test_theorem_1_repeated_draws_filtered_by_their_norm(problem):
    """Each draw keeps both bounds with probability 1/2, so of t draws none does with probability 2^-t at most."""
    x, X, rng = problem
    value = np.linalg.norm(X @ x) ** 2

    def best_of(t, s):
        draws = (sparsify(x, s, rng) for _ in range(t))
        return max(
            (np.linalg.norm(X @ draw) ** 2 for draw in draws if np.linalg.norm(draw) <= 1 + 0.15 * EPSILON), default=0.0
        )

    assert np.mean([best_of(4, ENOUGH) >= value - EPSILON for _ in range(40)]) >= 1 - 2.0**-4
    assert np.mean([best_of(4, FEW) >= value - EPSILON for _ in range(200)]) < 1 - 2.0**-4


@pytest.mark.parametrize("seed", range(3))
def test_theorem_1_at_a_global_optimum(seed):
    """A = uu': the relaxation is solved by one linear maximisation, the sparse problem by the k largest entries."""
    rng = np.random.default_rng(seed)
    u = rng.standard_normal(2000) * np.exp(-np.arange(2000) / 400)
    u[:K] += 30.0
    u /= np.linalg.norm(u)
    x = l1_l2_maximiser(u, np.sqrt(K))
    best = np.sort(u**2)[-K:].sum()
    assert (u @ x) ** 2 >= best - 1e-12  # Lemma 2
    draws = [sparsify(x, ENOUGH, rng) for _ in range(DRAWS)]
    assert np.mean([(u @ draw) ** 2 >= best - EPSILON for draw in draws]) >= 0.75
    few = [sparsify(x, FEW, rng) for _ in range(DRAWS)]
    assert np.mean([(u @ draw) ** 2 >= best - EPSILON for draw in few]) < 0.75


def moments(x, s):
    """Of 1 - delta_i: E(1 - delta)^2 = 1/p - 1 and E(1 - delta)^4 = 1/p^3 - 4/p^2 + 6/p - 3."""
    p = np.minimum(s * np.abs(x) / np.abs(x).sum(), 1.0)
    return 1 / p - 1, 1 / p**3 - 4 / p**2 + 6 / p - 3


def squared_form(A, x, s):
    """E((x - y)'A(x - y))^2 for a rounding y: the four cases of Lemma 5."""
    second, fourth = moments(x, s)
    w, a = second * x**2, np.diagonal(A)
    pairs = 2 * A**2 + np.multiply.outer(a, a)
    np.fill_diagonal(pairs, 0.0)
    return w @ pairs @ w + (a**2 * x**4 * fourth).sum()


def small_problem(seed, k=3, n=60):
    rng = np.random.default_rng(seed)
    x = l1_l2_maximiser(rng.standard_normal(n) * rng.random(n) ** 2, np.sqrt(k)) + 1e-6
    x /= max(np.linalg.norm(x), np.abs(x).sum() / np.sqrt(k))
    B = rng.standard_normal((n, int(rng.integers(1, n))))
    A = B @ B.T
    return A / np.linalg.norm(A, axis=1).max(), x, rng


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("s", [3.0, 12.0, 100.0])
def test_lemmas_1_4_and_5_in_expectation_and_the_constants_of_markovs_inequality(seed, s):
    k = 3
    A, x, _ = small_problem(seed, k)
    second, _ = moments(x, s)
    assert second @ x**2 <= k / s  # eq. (5)
    assert second @ (x * (A @ x)) ** 2 <= k / s  # Lemma 4 before Markov's inequality
    limit = 3 * k**2 / s**2 + k**2 / s**3 + 6 * np.sqrt(k) / s
    assert squared_form(A, x, s) <= limit
    corrected = 24 * k**2 / s**2 + 8 * k**2 / s**3 + 48 * np.sqrt(k) / s  # printed: 24, 6 and 54
    assert 8 * limit == pytest.approx(corrected)


def test_lemma_5_moments_are_those_of_the_draws():
    A, x, rng = small_problem(1)
    squares = [(z := x - sparsify(x, 12.0, rng)) @ A @ z for _ in range(20000)]
    squares = np.square(squares)
    spread = squares.std() / np.sqrt(len(squares))
    assert abs(squares.mean() - squared_form(A, x, 12.0)) <= 5 * spread
    assert abs(squares.mean() - squared_form(A, x, 6.0)) > 5 * spread  # control


def test_lemma_5_as_printed_is_weaker_where_it_is_used():
    for k in (1.0, 4.0, 100.0):
        edge = np.sqrt(k**1.5 / 3)
        for s in (0.5 * edge, 2 * edge):
            corrected = 8 * k**2 / s**3 + 48 * np.sqrt(k) / s
            printed = 6 * k**2 / s**3 + 54 * np.sqrt(k) / s
            assert (printed >= corrected) == (s > edge)


def test_eq_15_needs_the_norm_itself(rng):
    A, x, _ = small_problem(0)
    A, top = A / (2 * np.linalg.norm(A, 2)), np.linalg.eigh(A)[1][:, -1]
    assert top @ A @ top / np.linalg.norm(A, 2) == pytest.approx(1.0)
    assert 0 <= x @ A @ x / np.linalg.norm(A, 2) <= 1
    assert top @ A @ top / np.linalg.norm(A, 2) ** 2 == pytest.approx(2.0)  # control: as printed


def test_theorem_1_algebra():
    """2 sqrt(8k/s) + Lemma 5's root is at most epsilon at s = 200 k / epsilon^2, at 100 it is not."""

    def total(k, epsilon, constant):
        s = constant * k / epsilon**2
        return 2 * np.sqrt(8 * k / s) + np.sqrt(24 * k**2 / s**2 + 8 * k**2 / s**3 + 48 * np.sqrt(k) / s)

    for k in (1, 2, 5, 50):
        for epsilon in (0.01, 0.3, 1.0):
            assert total(k, epsilon, 200) <= epsilon
            assert rounding_draws_needed(k, epsilon) == np.ceil(200 * k / epsilon**2)
    assert total(1, 1.0, 100) > 1.0
    assert rounding_draws_needed(3, 0.5, row_norm=10.0) == rounding_draws_needed(3, 0.05)  # A / 10 and a tenth of eps
    for wrong in ({"accuracy": 0.0}, {"accuracy": 2.0}, {"accuracy": 0.1, "row_norm": -1.0}):
        with pytest.raises(ValueError, match=r"accuracy|row_norm"):
            rounding_draws_needed(3, **wrong)


def test_algorithm_1_as_printed_has_a_random_count_of_the_right_mean(rng):
    """From the estimator: as many entries as were drawn, s at most in expectation, and the relaxation itself whole."""
    X = rng.standard_normal((60, 30)) * np.linspace(2, 1, 30)

    def counts(**settings):
        fits = [
            SparsePCA(
                n_nonzero=8, solver=Rounding(repeats=1, **settings), certify=False, random_state=seed, effort="quick"
            ).fit(X)
            for seed in range(25)
        ]
        return np.array([len(model.support_) for model in fits])

    printed = counts(exact_count=False)
    assert printed.std() > 0
    assert printed.mean() <= 8 + 3 * printed.std() / 5
    assert set(counts()) == {8}  # control: at equal counts
    assert counts(exact_count=False, draws=2).mean() < printed.mean() - 1
    uncut = SparsePCA(n_nonzero=8, solver=Rounding(rounding=False, exact_count=False), refit=False, effort="quick").fit(
        X
    )
    x = uncut.components_[0]
    assert np.count_nonzero(x) > 8
    assert np.abs(x).sum() <= np.sqrt(8) * (1 + 1e-6)
    assert uncut.certificate_.problem.n_nonzero == np.count_nonzero(x)  # it speaks of as many as there are
    assert uncut.certificate_.recheck(X)


def test_best_of_several_draws_favours_draws_with_many_entries(problem):
    """Why the solver compares roundings at equal counts: x'Ax of a draw grows with the entries it kept."""
    x, X, rng = problem
    draws = rounded(x, 20.0, rng)
    kept = np.array([np.count_nonzero(draw) for draw in draws])
    values = [np.linalg.norm(X @ draw) ** 2 for draw in draws]
    chosen = [max(range(i, i + 20), key=values.__getitem__) for i in range(0, DRAWS, 20)]
    assert kept[chosen].mean() > kept.mean() + kept.std() / 2
