"""Optimal sparse linear auto-encoders: lower bounds, directions one by one, both sides sparse; each with a control."""

from __future__ import annotations

import dataclasses
from itertools import combinations

import numpy as np
import pytest

from sparing import DoublySparseEncoder, SparseEncoder, information_loss
from sparing.data import Preprocessing, as_view
from sparing.datasets import make_hard_columns
from sparing.gram import Projected
from sparing.linalg import encoder_on, single_threaded_blas, top_spectrum
from sparing.linalg.theorem_bounds import (
    PROJECTED,
    adaptive_factor,
    doubly_sparse_factor,
    dual_set_factor,
    iterative_bound,
    theorem_11_bound,
    theorem_11_schedule,
    two_sided_adaptive_factor,
)
from sparing.methods.encoders import Iterative
from sparing.methods.encoders.doubly_sparse import DoublySparse
from sparing.methods.selectors import Adaptive, DualSet, Greedy, Uniform
from sparing.results import Premise, Selection
from sparing.run import Run
from sparing.task import Task

UNCENTRED = Preprocessing(center=False)


@pytest.fixture(autouse=True)
def one_thread():
    """Many small products are several times slower on two busy threads than on one."""
    with single_threaded_blas():
        yield


def pca_loss(X, k):
    return (np.linalg.svd(X, compute_uv=False)[k:] ** 2).sum()


def signals(rng, n=60, d=40, k=3, fall=2.0):
    """A few strong columns of falling size among weak ones: bad choices lose far more than the theorems allow."""
    X = 0.05 * rng.standard_normal((n, d))
    X[:, :k] += rng.standard_normal((n, k)) * 10 / fall ** np.arange(k)
    return X[:, rng.permutation(d)]


class SmallestColumns:
    """Sabotage: the columns of least norm."""

    def select(self, task, run):
        columns = np.argsort(task.gram.gram_diagonal())[: task.n_nonzero]
        return Selection(columns, task.gram.gram_columns(columns))


# --- Theorem 2 ------------------------------------------------------------------------------------------------------


def theorem_2_holds(X, H, loss):
    """||X - X_k||^2 (1 + eps) >= loss implies that HH^+ keeps ||X_k||^2 - eps ||X - X_k||^2, and the relative form."""
    k, rank = H.shape[1], np.linalg.matrix_rank(X)
    kept = ((X @ H @ np.linalg.pinv(H)) ** 2).sum()
    best, tail = (X**2).sum() - pca_loss(X, k), pca_loss(X, k)
    epsilon = loss / tail - 1
    absolute = kept >= best - epsilon * tail - 1e-9 * best
    relative = kept >= (1 - (rank - k) / k * epsilon) * best - 1e-9 * best
    return absolute and relative


@pytest.mark.parametrize("seed", range(10))
def test_theorem_2_is_about_the_symmetric_loss(seed):
    """Relative error of ||X - XHH^+||^2 gives relative error of the variance that HH^+ keeps."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 8)) * 0.7 ** np.arange(8)
    for k in (1, 3):
        H = np.linalg.svd(X)[2][:k].T.copy()
        H[np.argsort(np.abs(H).sum(axis=1))[: 2 + seed % 3]] = 0.0  # sparse, no longer orthonormal
        assert theorem_2_holds(X, H, ((X - X @ H @ np.linalg.pinv(H)) ** 2).sum())


def test_theorem_2_control_it_says_nothing_about_the_information_loss(rng):
    """A small copy of the signal tells everything, and HH^+ keeps nothing."""
    z = rng.standard_normal((50, 1))
    X = np.hstack([0.01 * z, z + 0.1 * rng.standard_normal((50, 5))])
    H = np.eye(6)[:, :1]
    assert information_loss(H.T, X, center=False) < 1.3 * pca_loss(X, 1)
    assert not theorem_2_holds(X, H, information_loss(H.T, X, center=False))
    assert theorem_2_holds(X, H, ((X - X @ H @ H.T) ** 2).sum())


# --- Lemma 8 and Theorem 9 ------------------------------------------------------------------------------------------


def outside(X, columns, reconstruction):
    Q = np.linalg.qr(X[:, columns])[0]
    return ((reconstruction - Q @ (Q.T @ reconstruction)) ** 2).sum()


def test_lemma_8_a_sparse_encoder_reconstructs_within_its_columns(rng):
    """XHG = CY for the columns C that H reads and Y = Omega'HG, whatever the decoder; with fewer columns it is not."""
    X, H, G = rng.standard_normal((20, 10)), np.zeros((10, 3)), rng.standard_normal((3, 10))
    columns = np.array([1, 4, 5, 8])
    H[columns] = rng.standard_normal((4, 3))
    np.testing.assert_allclose(X @ H @ G, X[:, columns] @ (H[columns] @ G), atol=1e-12)
    assert outside(X, columns, X @ H @ G) < 1e-20
    assert outside(X, columns, X) <= ((X - X @ H @ G) ** 2).sum()  # inequality (2) of the paper
    assert outside(X, columns[1:], X @ H @ G) > 1  # control: H reads a column that C lacks


def best_component_ratio(m, r, alpha):
    """Loss of the best component on r of m hard columns over PCA's."""
    return 1 + (m - r) / (m - 1) / (r + alpha**2)


@pytest.mark.parametrize("r", [1, 3, 6])
@pytest.mark.parametrize("alpha", [0.1, 1.0])
def test_theorem_9_the_hard_matrix_has_the_ratio_of_its_formula(r, alpha):
    """Every choice of r of m columns leaves (m - r)/(m - 1) (1 + 1/(r + alpha^2)) of PCA's loss; one component more."""
    m = 7
    X = make_hard_columns(1, m, alpha)
    for columns in map(list, combinations(range(m), r)):
        spanned = outside(X, columns, X) / pca_loss(X, 1)
        np.testing.assert_allclose(spanned, (m - r) / (m - 1) * (1 + 1 / (r + alpha**2)))
        loss = encoder_on(Selection(np.array(columns), X.T @ X[:, columns]), 1, (X**2).sum()).loss
        np.testing.assert_allclose(loss / pca_loss(X, 1), best_component_ratio(m, r, alpha))
        assert loss / pca_loss(X, 1) >= spanned * (1 - 1e-9)
    fitted = SparseEncoder(1, n_nonzero=r, center=False, random_state=0).fit(X)
    np.testing.assert_allclose(fitted.loss_ratio_, best_component_ratio(m, r, alpha))


def test_theorem_9_brute_force_over_two_groups():
    """The best 4 of 10 features share their number evenly; nothing else comes near."""
    X = make_hard_columns(2, 5, alpha=0.1)
    ratios = {
        columns: encoder_on(Selection(np.array(columns), X.T @ X[:, columns]), 2, (X**2).sum()).loss / pca_loss(X, 2)
        for columns in combinations(range(10), 4)
    }
    best = min(ratios, key=ratios.get)
    assert sum(column < 5 for column in best) == 2
    np.testing.assert_allclose(ratios[best], best_component_ratio(5, 2, 0.1))
    fitted = SparseEncoder(2, n_nonzero=4, center=False, random_state=0).fit(X)
    np.testing.assert_allclose(fitted.loss_ratio_, ratios[best])


@pytest.mark.parametrize(("k", "r"), [(1, 5), (2, 6), (3, 3)])
def test_theorem_9_no_encoder_with_combined_sparsity_r_beats_1_plus_k_over_r(k, r):
    delta = 0.01
    X = make_hard_columns(k, 400, alpha=0.01)
    assert SparseEncoder(k, n_nonzero=r, center=False, random_state=0).fit(X).loss_ratio_ >= 1 + k / r - delta


def test_theorem_9_control_other_matrices_and_sparsity_per_component_beat_it(rng):
    k, r, m = 2, 6, 400
    easy = rng.standard_normal((60, 12)) @ rng.standard_normal((12, 40))
    assert SparseEncoder(k, n_nonzero=r, center=False, random_state=0).fit(easy).loss_ratio_ < 1 + k / r - 0.1
    each = np.zeros((k, k * m))  # r features for each component, 2 r in all: the theorem is about the sum
    each[0, :r], each[1, m : m + r] = 1.0, 1.0
    X = make_hard_columns(k, m, alpha=0.01)
    assert information_loss(each, X, center=False) / pca_loss(X, k) < 1 + k / r - 0.1


# --- Lemma 10 and Theorem 11 ----------------------------------------------------------------------------------------


def next_direction(view, selector, r, rng):
    """A sparse direction for the residual, by the batch algorithm with k = 1."""
    spectrum = top_spectrum(view, 1, rng)
    return encoder_on(selector.select(Task.of_columns(view, r, spectrum), Run(rng)), 1, spectrum.total).components


def loss_and_residual(X, H):
    """err and what PCA would leave of the residual: err - ||X - XH(XH)^+X||_2^2."""
    Q = np.linalg.qr(X @ H.T)[0]
    rest = X - Q @ (Q.T @ X)
    return (rest**2).sum(), pca_loss(rest, 1)


def loss_after_one_more(X, H, selector, r, seed, *, on_residual=True):
    view, rng = as_view(X, UNCENTRED), np.random.default_rng(seed)
    h = next_direction(Projected(view, residual_of=H.T) if on_residual else view, selector, r, rng)
    return information_loss(np.vstack([H, h]), X, center=False)


@pytest.mark.parametrize("selector", [DualSet(), Greedy()], ids=["dual set", "greedy"])
@pytest.mark.parametrize("seed", range(8))
def test_lemma_10_one_more_direction_from_the_residual(selector, seed):
    """With dual set selection the loss is at most (2 + ..) (err - ||B||^2), always; greedy keeps Theorem 7's factor."""
    X, r = signals(np.random.default_rng(seed)), 10
    H = next_direction(as_view(X, UNCENTRED), selector, r, np.random.default_rng(seed))
    err, best = loss_and_residual(X, H)
    factor = dual_set_factor(1, r) if isinstance(selector, DualSet) else 1 + 5 / (r - 5)
    loss = loss_after_one_more(X, H, selector, r, seed)
    assert best * (1 - 1e-9) <= loss <= factor * best
    assert best < 0.5 * err  # there was something to gain


def test_lemma_10_the_decoder_of_its_proof_is_stacked_vertically_and_need_not_be_the_best(rng):
    """B - B h g = X - X [H, h] [G - G h g; g]: so the loss is at most that of the residual, mostly less."""
    X = signals(rng)
    H = next_direction(as_view(X, UNCENTRED), Greedy(), 6, rng).T
    G = np.linalg.lstsq(X @ H, X, rcond=None)[0]
    B = X - X @ H @ G
    h = next_direction(Projected(as_view(X, UNCENTRED), residual_of=H), Greedy(), 6, rng).T
    g = np.linalg.lstsq(B @ h, B, rcond=None)[0]
    together = X - X @ np.hstack([H, h]) @ np.vstack([G - G @ h @ g, g])
    np.testing.assert_allclose(together, B - B @ h @ g, atol=1e-10)
    wrong = X - X @ np.hstack([H, h]) @ np.vstack([G, g])  # control: without the correction of the old decoder
    assert np.abs(wrong - (B - B @ h @ g)).max() > 0.01
    assert information_loss(np.hstack([H, h]).T, X, center=False) <= (together**2).sum() * (1 + 1e-12)


def test_lemma_10_control_without_the_residual_or_with_bad_columns_it_fails(rng):
    X, r = signals(rng), 10
    H = next_direction(as_view(X, UNCENTRED), DualSet(), r, rng)
    _, best = loss_and_residual(X, H)
    for sabotaged in (
        loss_after_one_more(X, H, DualSet(), r, 0, on_residual=False),
        loss_after_one_more(X, H, SmallestColumns(), r, 0),
    ):
        assert sabotaged > dual_set_factor(1, r) * best


def test_lemma_10_in_expectation_with_the_factor_of_theorem_7(rng):
    """E loss <= (1 + 5/(r - 5)) (err - ||B||^2): a mean over draws with its standard error; control: uniform draws."""
    X, r, draws = signals(rng, k=2), 10, 15
    H = next_direction(as_view(X, UNCENTRED), DualSet(), r, rng)
    _, best = loss_and_residual(X, H)
    limit = (1 + 5 / (r - 5)) * best
    losses = np.array([loss_after_one_more(X, H, Adaptive(split=5), r, seed) for seed in range(draws)])
    assert losses.mean() + 3 * losses.std(ddof=1) / np.sqrt(draws) <= limit
    uniform = np.array([loss_after_one_more(X, H, Uniform(), r, seed) for seed in range(draws)])
    assert uniform.mean() - 3 * uniform.std(ddof=1) / np.sqrt(draws) > limit


def test_theorem_11_schedule():
    assert theorem_11_schedule(3, 0.5) == [15, 25, 35]
    assert theorem_11_schedule(3, 3) == [7, 9, 10]
    assert theorem_11_schedule(3, 0.5, uniform=True) == [15, 15, 15]
    for epsilon in (0, -1.0, float("nan")):
        with pytest.raises(ValueError, match=r"epsilon=.* must be a positive number"):
            theorem_11_schedule(2, epsilon)


def inequality_of_the_proof(values, total, growth):
    """(*) in the proof: Q_l ||X - X_l||^2 + Q_l sum_{j=2..l} sigma_j^2 (Q_{j-1} - 1)/Q_{j-1}, with Q the growth."""
    Q = np.cumprod(growth)
    sums = np.concatenate([[0.0], np.cumsum(values[1:] * (1 - 1 / Q[:-1]))])
    return Q * (total - np.cumsum(values)) + Q * sums


@pytest.mark.parametrize("seed", range(20))
def test_theorem_11_bound_follows_from_lemma_10(seed):
    rng = np.random.default_rng(seed)
    k, epsilon = int(rng.integers(2, 9)), float(rng.choice([0.05, 0.3, 1.0]))
    values = np.sort(rng.random(k) ** rng.integers(0, 5))[::-1]
    total = values.sum() + values[-1] * rng.random() * 5
    count = np.arange(1, k + 1)
    bound = theorem_11_bound(values, total, epsilon)
    proved = inequality_of_the_proof(values, total, 1 + epsilon / count)
    assert np.all(proved <= bound * (1 + 1e-12))
    uniform = theorem_11_bound(values, total, epsilon, uniform=True)
    same_count = inequality_of_the_proof(values, total, np.full(k, 1 + epsilon))
    assert np.all(same_count <= uniform * (1 + 1e-12))
    np.testing.assert_allclose(uniform[0], (1 + epsilon) * (total - values[0]))
    if k > 2:  # control: equal counts are not covered by the bound for growing ones
        flat = np.ones(8)
        few = inequality_of_the_proof(flat, 8.0, np.full(8, 2.0))
        assert np.any(few > theorem_11_bound(flat, 8.0, 1.0))


def iterative_losses(X, counts, selector, seed):
    """The loss of every prefix when directions are added one at a time."""
    view, rng = as_view(X, UNCENTRED), np.random.default_rng(seed)
    H = next_direction(view, selector, counts[0], rng)
    for r in counts[1:]:
        H = np.vstack([H, next_direction(Projected(view, residual_of=H.T), selector, r, rng)])
    return np.array([information_loss(H[:length], X, center=False) for length in range(1, len(counts) + 1)])


@pytest.mark.parametrize("uniform", [False, True])
def test_theorem_11_every_prefix_keeps_its_bound_in_expectation(uniform, rng):
    k, epsilon, draws = 3, 1.0, 8
    X, counts = signals(rng), theorem_11_schedule(k, epsilon, uniform=uniform)
    values = np.linalg.svd(X, compute_uv=False)[:k] ** 2
    bound = theorem_11_bound(values, (X**2).sum(), epsilon, uniform=uniform)
    losses = np.array([iterative_losses(X, counts, Adaptive(split=5), seed) for seed in range(draws)])
    assert np.all(losses.mean(axis=0) + 3 * losses.std(axis=0, ddof=1) / np.sqrt(draws) <= bound)
    assert np.all(iterative_losses(X, counts, Greedy(), 0) <= bound)
    sabotaged = iterative_losses(X, counts, SmallestColumns(), 0)
    assert np.any(sabotaged > bound)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("selector", "factor"), [(DualSet(), dual_set_factor), (Adaptive(derandomised=True), adaptive_factor)]
)
def test_theorem_11_recursion_holds_for_any_counts_and_deterministic_selectors(seed, selector, factor):
    X, counts = signals(np.random.default_rng(seed), fall=5.0), [4, 12, 7]
    values = np.linalg.svd(X, compute_uv=False)[:3] ** 2
    bound = iterative_bound(values, (X**2).sum(), [factor(1, count) for count in counts])
    assert np.all(iterative_losses(X, counts, selector, seed) <= bound)
    assert np.any(iterative_losses(X, counts, SmallestColumns(), seed) > bound)  # control


def test_theorem_11_recursion_says_more_than_its_sum(rng):
    """The closed form bounds the recursion for its own counts, from above and by far; what is known already stays."""
    X, epsilon, k = signals(rng), 1.0, 3
    values, total = np.linalg.svd(X, compute_uv=False)[:k] ** 2, (X**2).sum()
    factors = [adaptive_factor(1, count, PROJECTED) for count in theorem_11_schedule(k, epsilon)]
    recursion, closed = iterative_bound(values, total, factors), theorem_11_bound(values, total, epsilon)
    assert np.all(recursion <= closed)
    assert recursion[-1] < 0.5 * closed[-1]
    np.testing.assert_array_equal(iterative_bound(values, total, [2.0, np.inf, 9e9]), 2 * (total - values[0]))


@pytest.mark.parametrize(
    ("selector", "factor", "words"),
    [
        ("auto", dual_set_factor, "deterministic selection"),
        ("dual_set", dual_set_factor, "deterministic selection"),
        (Adaptive(derandomised=True), adaptive_factor, "derandomised adaptive sampling"),
    ],
)
def test_theorem_11_is_in_the_certificate_with_the_factor_of_the_selector(rng, selector, factor, words):
    X, counts = signals(rng), [9, 16]
    settings = {"n_nonzero": counts, "strategy": "iterative", "effort": "quick"}
    model = SparseEncoder(2, selector=selector, **settings).fit(X)
    (promise,) = model.certificate_.guarantees
    centred = X - X.mean(axis=0)
    values = np.linalg.svd(centred, compute_uv=False)[:2] ** 2
    limit = iterative_bound(values, (centred**2).sum(), [factor(1, count) for count in counts])[-1]
    assert promise.limit == pytest.approx(limit / pca_loss(centred, 2))
    assert (promise.strength, promise.reference.where) == ("always", "Theorem 11")
    assert promise.claim.endswith(f"by {words}")
    assert promise.holds
    assert model.certificate_.recheck(X)
    for without in ({"selector": "greedy"}, {"selector": selector, "exclude": [0]}):  # no safeguard; a rule
        assert SparseEncoder(2, **settings, **without).fit(X).certificate_.guarantees == ()


def test_theorem_11_holds_for_any_selector_with_its_safeguard(rng):
    X = signals(rng, fall=5.0)
    view = as_view(X, UNCENTRED)
    spectrum = top_spectrum(view, 3, rng)
    bound = iterative_bound(spectrum.values, spectrum.total, [dual_set_factor(1, 8)] * 3)[-1]
    for safeguard, holds in ((DualSet(), True), (None, False)):
        task = Task.of_components(view, spectrum, [8, 8, 8])
        found = Iterative(SmallestColumns(), safeguard=safeguard).encode(task, Run(rng))
        assert (found.loss <= bound) == holds


# --- Theorem 6, comment 5: both sides sparse --------------------------------------------------------------------------


def both_sides(selector, row_selector, X, k, r, n_rows, seed=0):
    view, rng = as_view(X, UNCENTRED), np.random.default_rng(seed)
    spectrum = top_spectrum(view, k, rng)
    encoder = DoublySparse(selector, n_rows, row_selector, sweeps=0)
    return spectrum.loss_ratio(encoder.encode(Task.of_components(view, spectrum, r), Run(rng)).loss)


def loud_samples(rng, k=2):
    """Strong columns, and strong samples among many weak ones: either side can be chosen badly."""
    X = signals(rng, k=k)
    X[5:] = 1e-3 * rng.standard_normal(X[5:].shape)
    return X[rng.permutation(len(X))]


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("k", "r", "n_rows"), [(1, 2, 3), (2, 6, 4), (2, 3, 8)])
def test_comment_5_dual_sets_on_both_sides(seed, k, r, n_rows):
    X = loud_samples(np.random.default_rng(seed), k)
    assert both_sides(DualSet(), DualSet(), X, k, r, n_rows) <= doubly_sparse_factor(k, r, n_rows)


def test_comment_5_control_a_bad_choice_on_either_side_breaks_it(rng):
    X, limit = loud_samples(rng), doubly_sparse_factor(2, 6, 6)
    assert both_sides(SmallestColumns(), DualSet(), X, 2, 6, 6) > limit
    assert both_sides(DualSet(), SmallestColumns(), X, 2, 6, 6) > limit
    assert both_sides(DualSet(), DualSet(), X, 2, 6, 6) <= limit


def test_comment_5_adaptive_sampling_on_both_sides_in_expectation(rng):
    """1 + O(k/c) + O(k/r), below the sum of both factors; the mean of draws keeps it, uniform draws do not."""
    X, k, r, n_rows = loud_samples(rng, k=1), 1, 9, 9
    limit = two_sided_adaptive_factor(k, r, n_rows, PROJECTED)
    assert limit < 2 * adaptive_factor(k, r, PROJECTED) - 0.9

    def mean_and_error(selector):
        ratios = [both_sides(selector, selector, X, k, r, n_rows, seed) for seed in range(10)]
        return np.mean(ratios), np.std(ratios, ddof=1) / np.sqrt(len(ratios))

    mean, error = mean_and_error(Adaptive())
    assert mean + 3 * error <= limit
    assert mean_and_error(Uniform())[0] > limit  # control


@pytest.mark.parametrize(
    ("selector", "strength"), [("adaptive", "in expectation"), (Adaptive(derandomised=True), "always")]
)
def test_comment_5_adaptive_sampling_is_in_the_certificate(rng, selector, strength):
    X = loud_samples(rng)
    model = DoublySparseEncoder(2, n_nonzero=9, n_rows=12, selector=selector, effort="quick").fit(X)
    (promise,) = model.certificate_.guarantees
    factors = adaptive_factor(2, 9) + adaptive_factor(2, 12)
    assert promise.limit == (two_sided_adaptive_factor(2, 9, 12, PROJECTED) if strength != "always" else factors)
    assert (promise.strength, promise.reference.where) == (strength, "Theorem 6, comment 5")
    assert model.certificate_.recheck(X)
    other = dataclasses.replace(promise, claim=promise.claim.split(" by ")[0] + " by deterministic selection")
    assert not dataclasses.replace(model.certificate_, guarantees=(other,)).recheck(X)
    other = dataclasses.replace(other, premise=Premise("dual_set", 12))  # with the limit of another selector
    assert not dataclasses.replace(model.certificate_, guarantees=(other,)).recheck(X)
