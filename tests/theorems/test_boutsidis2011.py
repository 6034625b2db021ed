"""Sparse features for PCA-like regression: the lemma behind dual set selection, corrected."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing import SparseEncoder
from sparing.data import Preprocessing, as_view
from sparing.estimators.sparse_pca_regressor import SparsePCARegressor
from sparing.linalg import encoder_on, single_threaded_blas, top_spectrum
from sparing.linalg.theorem_bounds import rank_revealing_factor
from sparing.methods.encoders.regression import Regression, regression_on
from sparing.methods.selectors import DualSet, Leverage, PivotedQR
from sparing.methods.selectors.dual_set import dual_set_weights
from sparing.results import Selection
from sparing.run import Run
from sparing.task import Task


@pytest.mark.parametrize("seed", range(60))
def test_lemma_5_corrected(seed):
    """At most r weights, lambda_min >= (1 - sqrt(k/r))^2, and the residual does not grow."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 5))
    d, r = int(rng.integers(k + 2, 30)), int(rng.integers(k + 1, 4 * k + 4))
    V = np.linalg.qr(rng.standard_normal((d, k)) * rng.random((d, 1)) ** 3)[0]
    a = rng.random(d) ** 4 * (rng.random(d) < 0.8)
    s = dual_set_weights(V, a, r)
    assert np.count_nonzero(s) <= r
    assert (s >= 0).all()
    assert np.linalg.eigvalsh((V.T * s) @ V)[0] >= (1 - np.sqrt(k / r)) ** 2 * (1 - 1e-9)
    assert s @ a <= a.sum() * (1 + 1e-9)


def test_lemma_5_control_uniform_weights_fail(rng):
    V = np.linalg.qr(rng.standard_normal((30, 3)) * rng.random((30, 1)) ** 6)[0]
    worst = np.zeros(30)
    worst[np.argsort((V**2).sum(axis=1))[:6]] = 30 / 6
    assert np.linalg.eigvalsh((V.T * worst) @ V)[0] < (1 - np.sqrt(3 / 6)) ** 2


def test_columns_are_not_repeated_while_new_ones_are_feasible(rng):
    """The printed rule returns one column again and again, for k = 1 always."""
    V = np.linalg.qr(rng.standard_normal((50, 1)))[0]
    assert np.count_nonzero(dual_set_weights(V, rng.random(50), 10)) >= 8


def unspanned(X, columns, Y):
    """||Y - CC^+Y||."""
    Q = np.linalg.qr(X[:, columns])[0]
    return np.linalg.norm(Y - Q @ (Q.T @ Y))


def test_table_2_draws_are_unbiased(rng):
    """E[sum v_i v_i' / (r p_i)] = I, which Theorem 2 rests on; weights for uniform draws do not fit."""
    V = np.linalg.qr(rng.standard_normal((40, 3)) * rng.random((40, 1)) ** 4)[0]
    view = as_view(np.linalg.qr(rng.standard_normal((60, 3)))[0] * [3, 2, 1] @ V.T, Preprocessing(center=False))
    target = top_spectrum(view, 3, rng)
    p = (V**2).sum(axis=1) / 3
    drawn = np.bincount(
        [
            int(Leverage(distinct=False).select(Task.of_columns(view, 1, target), Run(rng)).columns[0])
            for _ in range(4000)
        ],
        minlength=40,
    )
    spread = np.linalg.norm((V.T * (drawn / 4000 / p)) @ V - np.eye(3), 2)
    assert spread < 4 * np.sqrt(3 / 4000)
    assert np.linalg.norm((V.T * (drawn / 4000 * 40)) @ V - np.eye(3), 2) > 10 * spread


def test_theorem_2_corrected():
    """With probability .7 regression of Y = U_k on r > 144 k ln(20k) draws misses at most
    sqrt(36 k ln(20k) / r) ||X - X_k|| / sigma_k(X): the root does not cover the second factor.
    """
    rng = np.random.default_rng(0)
    n, d, k, r = 450, 1000, 1, 432
    v = np.zeros(d)
    v[rng.choice(d, 500, replace=False)] = 1.0
    X = np.outer(rng.standard_normal(n), v) + 1e-3 * rng.standard_normal((n, d))
    view = as_view(X, Preprocessing(center=False))
    target = top_spectrum(view, k, rng)
    U = np.linalg.qr(X @ target.basis)[0]
    limit = np.sqrt(36 * k * np.log(20 * k) / r) * np.sqrt(target.tail / target.values[k - 1])
    worst = np.argsort((target.basis**2).sum(axis=1))[:r]  # control: no leverage, no regression
    with single_threaded_blas():
        misses = [
            unspanned(X, Leverage(distinct=False).select(Task.of_columns(view, r, target), Run(rng)).columns, U)
            for _ in range(4)
        ]
        assert np.mean(np.array(misses) <= limit) >= 0.7
        assert unspanned(X, worst, U) > limit


def test_table_3_dsf_takes_the_first_feasible_column(shared):
    """Ionosphere, k = 5: in-sample .52 for r = 6 and .51 for r = 10; other ties give other numbers."""
    X, labels = (shared("ionosphere.npz", key).astype(float) for key in ("X", "y"))
    y = (labels < 0).astype(float)

    def in_sample(selector, r):
        errors = []
        for split in range(20):
            rng = np.random.default_rng(split)
            rows = rng.permutation(len(y))[: int(0.8 * len(y))]
            view = as_view(X[rows], Preprocessing(center=False))
            C = X[np.ix_(rows, selector.select(Task.of_columns(view, r, top_spectrum(view, 5, rng)), Run(rng)).columns)]
            errors.append(np.sqrt(np.mean((C @ np.linalg.lstsq(C, y[rows])[0] - y[rows]) ** 2)))
        return np.mean(errors)

    assert in_sample(DualSet(tie="first"), 6) == pytest.approx(0.52, abs=0.005)
    assert in_sample(DualSet(tie="first"), 10) == pytest.approx(0.51, abs=0.005)
    assert in_sample(DualSet(), 6) > 0.525


def best_in_span(X, columns, Y, k):
    """||Y - Pi_{C,k}(Y)|| by the library."""
    return regression_on(as_view(X, Preprocessing(center=False)), np.asarray(columns), Y, k).residual


def weighted_columns(rng, d, r):
    """A sampling matrix times a rescaling: Omega S, d x r."""
    columns = rng.choice(d, r, replace=False)
    sampling = np.zeros((d, r))
    sampling[columns, np.arange(r)] = rng.random(r) + 0.1
    return columns, sampling


@pytest.mark.parametrize("seed", range(30))
def test_lemma_3_any_factorisation(seed):
    """||Y - Pi_{C,k}(Y)|| <= ||Y - HH^+Y|| + ||E Omega S (Z'Omega S)^+ H^+Y|| for X = HZ' + E, any H."""
    rng = np.random.default_rng(seed)
    k, r = int(rng.integers(1, 4)), int(rng.integers(4, 8))
    X, Y = rng.standard_normal((30, 12)), rng.standard_normal((30, int(rng.integers(1, 6))))
    Z = np.linalg.qr(rng.standard_normal((12, k)))[0]
    H = X @ Z if seed % 2 else rng.standard_normal((30, k))
    columns, sampling = weighted_columns(rng, 12, r)
    fit = np.linalg.pinv(H) @ Y
    missed = (X - H @ Z.T) @ sampling @ np.linalg.pinv(Z.T @ sampling) @ fit
    assert best_in_span(X, columns, Y, k) <= np.linalg.norm(Y - H @ fit) + np.linalg.norm(missed) + 1e-9


@pytest.mark.parametrize("seed", range(30))
def test_lemma_4_principal_components_and_the_chain_to_theorem_1(seed):
    """Lemma 3 for X_k, and each step from it: Frobenius times spectral norms, Lemma 5's 1 / (1 - sqrt(k/r))."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 4))
    r = int(rng.integers(k + 1, 4 * k + 2))
    X = rng.standard_normal((40, 5)) @ rng.standard_normal((5, 15)) + 0.3 * rng.standard_normal((40, 15))
    Y = X @ rng.standard_normal((15, 3)) + rng.standard_normal((40, 3))
    U, s, Vt = np.linalg.svd(X, full_matrices=False)
    U, E, V = U[:, :k], X - (U[:, :k] * s[:k]) @ Vt[:k], Vt[:k].T
    weights = dual_set_weights(V, (E**2).sum(axis=0), r)
    columns = np.flatnonzero(weights)
    sampling = np.diag(np.sqrt(weights))[:, columns]
    inverse = np.linalg.pinv(V.T @ sampling)
    by_pca, second = np.linalg.norm(Y - U @ (U.T @ Y)), E @ sampling @ inverse @ ((U.T @ Y) / s[:k, None])
    limit = np.linalg.norm(E) / (1 - np.sqrt(k / r)) / s[k - 1] * np.linalg.norm(Y, 2)
    assert best_in_span(X, columns, Y, k) <= by_pca + np.linalg.norm(second) + 1e-9
    assert np.linalg.norm(second) <= limit * (1 + 1e-9)
    assert np.linalg.norm(inverse, 2) > 1 - np.sqrt(k / r)  # control: Lemma 5 as printed is false


def test_lemma_4_control_columns_that_miss_the_components(rng):
    """Where V_k'Omega S has not rank k the inequality is not claimed, and fails."""
    X = 0.1 * rng.standard_normal((30, 10)) * (np.arange(10) >= 2)
    X[:, :2] += 5 * np.linalg.qr(rng.standard_normal((30, 2)))[0]
    X[:, 2:] -= X[:, :2] @ np.linalg.lstsq(X[:, :2], X[:, 2:], rcond=None)[0]  # blocks that have nothing in common
    U = np.linalg.svd(X, full_matrices=False)[0][:, :2]
    assert best_in_span(X, np.arange(2, 7), U, 2) > np.linalg.norm(U - U @ (U.T @ U)) + 1.0


def few_strong_columns(rng, n=80, d=40, k=2, n_targets=3):
    """Strong columns among weak ones, and targets made of the strong: the theorem's limit is far below ||Y||."""
    X = 0.02 * rng.standard_normal((n, d))
    X[:, :k] += 10 * rng.standard_normal((n, k))
    Y = X[:, :k] @ rng.standard_normal((k, n_targets)) + 0.1 * rng.standard_normal((n, n_targets))
    return X[:, rng.permutation(d)], Y


class SmallestColumns:
    """Sabotage: the columns of least norm, which claims to be what the theorem is about."""

    def select(self, task, run):
        columns = np.argsort(task.gram.gram_diagonal())[: task.n_nonzero]
        return Selection(columns, task.gram.gram_columns(columns))


@pytest.mark.parametrize("selector", ["auto", "dual_set", DualSet(tie="first"), DualSet(tie="objective")], ids=str)
@pytest.mark.parametrize(("k", "r"), [(1, 2), (2, 3), (2, 4), (2, 8)])
def test_theorem_1_corrected(selector, k, r):
    """||Y - XW|| <= ||Y - XW_k*|| + ||X - X_k|| / sigma_k ||Y||_2 / (1 - sqrt(k/r)), and the certificate says so."""
    for seed in range(4):
        X, Y = few_strong_columns(np.random.default_rng(seed), k=k)
        model = SparsePCARegressor(k, n_nonzero=r, selector=selector, random_state=0).fit(X, Y)
        X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
        U, s, _ = np.linalg.svd(X, full_matrices=False)
        spread = np.sqrt((s[k:] ** 2).sum()) / s[k - 1]
        by_pca = np.linalg.norm(Y - U[:, :k] @ (U[:, :k].T @ Y))
        limit = by_pca + spread * np.linalg.norm(Y, 2) / (1 - np.sqrt(k / r))
        measured = np.linalg.norm(Y - X @ model.coef_.T)
        (guarantee,) = model.certificate_.guarantees
        assert (guarantee.limit, guarantee.measured) == pytest.approx((limit, measured), rel=1e-9)
        assert guarantee.reference.where == "Theorem 1"
        assert measured <= limit < np.linalg.norm(Y)


def test_theorem_1_control_and_safeguard(rng):
    """Bad columns break the limit; with the safeguard they are replaced."""
    X, Y = few_strong_columns(rng)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    view = as_view(X)
    spectrum = top_spectrum(view, 2, rng)
    limit = SparsePCARegressor(2, n_nonzero=8).fit(X, Y).certificate_.guarantees[0].limit
    for safeguard, holds in ((DualSet(), True), (None, False)):
        found = Regression(SmallestColumns(), safeguard).encode(Task.of_components(view, spectrum, 8), Y, Run(rng))
        assert (found.residual <= limit) == holds


def test_theorem_1_printed_factor_is_too_small_for_few_columns():
    """1 + sqrt(9k/r) covers 1 / (1 - sqrt(k/r)) exactly from r = 2.25 k on."""
    for k in (4, 40):
        for r in range(k + 1, 6 * k):
            assert (1 + np.sqrt(9 * k / r) >= 1 / (1 - np.sqrt(k / r)) * (1 - 1e-12)) == (r >= 2.25 * k)


def test_theorem_1_is_claimed_only_under_its_hypothesis(rng):
    X, Y = few_strong_columns(rng)
    silent = [
        {"n_nonzero": 2},  # needs r > k
        {"selector": "greedy"},
        {"selector": "response"},
        {"selector": DualSet(sketch=10)},  # another V_k
        {"center": False},  # components of one matrix, regression on another
    ]
    for parameters in silent:
        model = SparsePCARegressor(**{"n_components": 2, "n_nonzero": 8, "random_state": 0, **parameters}).fit(X, Y)
        assert model.certificate_.guarantees == ()
        assert "Lower bound: none; other features may explain more." in model.certificate_.details()


def test_theorem_2_is_claimed_with_its_probability_from_its_number_of_columns_on():
    rng = np.random.default_rng(0)
    X = 0.01 * rng.standard_normal((500, 450))
    X[:, :5] += 10 * rng.standard_normal((500, 1))
    y = X[:, 0] + 0.1 * rng.standard_normal(500)
    kept = []
    for seed in range(5):
        model = SparsePCARegressor(1, n_nonzero=432, selector=Leverage(distinct=False), random_state=seed).fit(X, y)
        (guarantee,) = model.certificate_.guarantees
        assert (guarantee.strength, guarantee.reference.where) == ("probability 0.7", "Theorem 2")
        assert guarantee.limit < model.certificate_.total
        kept.append(guarantee.holds)
    assert np.mean(kept) >= 0.7
    fewer = SparsePCARegressor(1, n_nonzero=431, selector="leverage", random_state=0).fit(X, y)
    assert fewer.certificate_.guarantees == ()  # 144 ln 20 = 431.4
    Xc, yc = X - X.mean(axis=0), y - y.mean()
    weakest = np.argsort((Xc**2).sum(axis=0))[:432]  # control: as many columns without leverage miss the limit
    assert unspanned(Xc, weakest, yc) > guarantee.limit


# --- Section 3: the bound of rank-revealing QR -----------------------------------------------------------------------


@pytest.mark.parametrize(("k", "r"), [(1, 1), (2, 2), (2, 6)])
def test_section_3_columns_that_reveal_the_rank(k, r):
    """Loss and residual are within k(d-k)+1 of PCA's, from r = k on, where no other theorem speaks."""
    for seed in range(4):
        X, Y = few_strong_columns(np.random.default_rng(seed), k=k)
        factor = k * (X.shape[1] - k) + 1
        model = SparsePCARegressor(k, n_nonzero=r, selector="pivoted_qr", effort="quick").fit(X, Y)
        encoder = SparseEncoder(k, n_nonzero=r, selector="pivoted_qr", effort="quick").fit(X)
        (residual,), (loss,) = model.certificate_.guarantees, encoder.certificate_.guarantees
        s = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
        spread, size = np.linalg.norm(s[k:]) / s[k - 1], np.linalg.norm(Y - Y.mean(axis=0), 2)
        assert residual.limit == pytest.approx(model.certificate_.pca_value + np.sqrt(factor) * spread * size)
        assert residual.limit < model.certificate_.total  # it says something here
        assert (loss.limit, loss.reference.where) == (pytest.approx(factor, rel=1e-8), "Sec. 3")
        assert residual.holds
        assert loss.holds
        assert model.certificate_.recheck(X, Y)
        assert encoder.certificate_.recheck(X)
    view = as_view(X)
    weak = np.argsort(view.gram_diagonal())[:r]  # control: columns that do not reveal it
    spectrum = top_spectrum(view, k, np.random.default_rng(0))
    assert rank_revealing_factor(spectrum.basis[weak], 40) == np.inf
    assert unspanned(X - X.mean(axis=0), weak, Y - Y.mean(axis=0)) > residual.limit
    assert spectrum.loss_ratio(encoder_on(Selection(weak, view.gram_columns(weak)), k, spectrum.total).loss) > factor


def kahan_directions(k=8, s=0.8, copies=100):
    """Orthonormal V whose first pivots are rows of Kahan's matrix: pivoting does not see how nearly they depend."""
    K = np.diag(s ** np.arange(k)) @ (np.eye(k) - np.sqrt(1 - s * s) * np.triu(np.ones((k, k)), 1))
    K *= (1 - 1e-3 * np.arange(k)) / (1.0001 * np.linalg.norm(K, 2))
    values, vectors = np.linalg.eigh(np.eye(k) - K @ K.T)
    rest = np.repeat(vectors * np.sqrt(np.maximum(values, 0.0)), copies, axis=1) / np.sqrt(copies)
    return np.hstack([K, rest]).T


def test_section_3_nothing_is_claimed_where_pivots_miss_the_rank(rng):
    """The hypothesis bites: on Kahan's matrix pivoting fails, so no promise; the other selector makes none either."""
    V = kahan_directions()
    X = np.linalg.qr(rng.standard_normal((30, 8)))[0] * np.linspace(3, 2, 8) @ V.T + 1e-5 * rng.standard_normal(
        (30, 808)
    )
    parameters = {"center": False, "certify": True, "effort": "quick"}
    failed = SparseEncoder(8, n_nonzero=8, selector="pivoted_qr", **parameters).fit(X)
    np.testing.assert_array_equal(failed.support_, np.arange(8))
    assert failed.certificate_.guarantees == ()
    assert rank_revealing_factor(V[:8], 808) == np.inf
    assert rank_revealing_factor(V[[*range(8), -1]], 808) == pytest.approx(6401)  # control: one column more reveals it
    plain = PivotedQR(components_first=False)  # knows nothing of V_k
    assert SparseEncoder(2, n_nonzero=4, selector=plain, **parameters).fit(X).certificate_.guarantees == ()


def test_section_3_control_coefficients_do_not_agree_as_printed():
    """||w_k* - w|| <= sqrt(k(d-k)+1) ||X - X_k|| / sigma_k (...) is 0 for rank k, and w_k* is dense; the fits agree."""
    rng = np.random.default_rng(0)
    X = np.outer(rng.standard_normal(20), np.ones(5))
    y = X[:, 0] + rng.standard_normal(20)
    sparse, dense = np.linalg.lstsq(X[:, :1], y)[0], np.linalg.pinv(X) @ y
    assert np.linalg.norm(np.append(sparse, np.zeros(4)) - dense) > 0.1
    np.testing.assert_allclose(X[:, :1] @ sparse, X @ dense)


# --- Section 6: targets decide ---------------------------------------------------------------------------------------


def copies_of_directions(rng, n=60, k=2, copies=6):
    """Features that say the same of the components, of which one each also says what the target adds."""
    T, extra = rng.standard_normal((n, k)) * 5, rng.standard_normal((n, k))
    X = np.repeat(T, copies, axis=1) + 0.3 * rng.standard_normal((n, k * copies))
    X[:, ::copies] += 0.5 * extra
    return X, T @ np.array([1.0, -1.0]) + 2 * extra.sum(axis=1)


@pytest.mark.parametrize("seed", range(8))
def test_section_6_ties_by_targets_keep_theorem_1_and_explain_more(seed):
    X, y = copies_of_directions(np.random.default_rng(seed))
    fits = {
        selector: SparsePCARegressor(2, n_nonzero=4, selector=selector, effort="quick").fit(X, y)
        for selector in ("response_dual_set", "dual_set")
    }
    ours, plain = (fits[name].certificate_ for name in ("response_dual_set", "dual_set"))
    (promise,) = ours.guarantees
    assert promise.reference.where == "Theorem 1"
    assert promise.limit == pytest.approx(plain.guarantees[0].limit)  # whatever the tie
    assert promise.holds
    assert ours.value <= plain.value * (1 + 1e-9)
    assert ours.recheck(X, y)


def test_section_6_the_weights_keep_lemma_5_whatever_the_targets_prefer(rng):
    """lambda_min >= (1 - sqrt(k/r))^2 for a tie that likes the worst columns; a choice outside the feasible fails."""
    V, k, r = np.linalg.qr(rng.standard_normal((30, 3)))[0], 3, 9
    V[:20] *= 0.02
    V = np.linalg.qr(V)[0]
    liked = -np.einsum("ij,ij->i", V, V)

    def smallest(w):
        return np.linalg.eigvalsh((V.T * w) @ V)[0]

    def among_feasible(slack, feasible, fresh):
        return int(np.argmax(np.where(feasible, liked, -np.inf)))

    least = (1 - np.sqrt(k / r)) ** 2
    assert smallest(dual_set_weights(V, np.ones(30), r, among_feasible)) >= least * (1 - 1e-9)
    assert smallest(dual_set_weights(V, np.ones(30), r, lambda *_: int(np.argmax(liked)))) < least  # control


def test_section_6_held_out_samples_choose_the_selector(rng):
    """What looks at y stands, unless what PCA regularises predicts new samples firmly better."""
    X = rng.standard_normal((120, 30)) * np.r_[np.full(6, 5.0), np.ones(24)]
    weak = X[:, 20] - X[:, 25] + 0.1 * rng.standard_normal(120)
    model = SparsePCARegressor(3, n_nonzero=4, effort="quick").fit(X, weak)
    assert model.selector_ == "lasso"
    assert {20, 25} <= set(model.support_)
    assert model.certificate_.guarantees[0].holds  # Theorem 1 by the safeguard
    named = SparsePCARegressor(3, n_nonzero=4, selector="greedy", effort="quick").fit(X, weak)
    assert named.selector_ == "greedy"
    assert named.score(X, weak) < 0.5  # control: what looks at X alone
    few = SparsePCARegressor(2, n_nonzero=3, effort="quick").fit(X[:8], weak[:8])
    assert few.selector_ == "lasso"


def read_off_a_factor(rng, n=150, d=60):
    """y says a factor of X with much noise, so that its correlation with single features is chance."""
    f = rng.standard_normal((n, 1))
    loadings = np.r_[np.full(5, 3.0), np.full(d - 5, 0.1)]
    return f * loadings + rng.standard_normal((n, d)), f[:, 0] + 3.0 * rng.standard_normal(n)


def test_section_6_pca_is_chosen_where_targets_are_noise_and_the_choice_depends_on_the_data_alone():
    """Neither the order of samples nor copies in the place of weights nor storage changes it."""
    X, y = read_off_a_factor(np.random.default_rng(0))
    ask = {"n_components": 1, "n_nonzero": 8, "effort": "quick"}
    model = SparsePCARegressor(**ask).fit(X, y)
    assert model.selector_ in ("greedy", "response")
    order, weights = np.random.default_rng(1).permutation(150), np.arange(150) % 3
    shuffled = SparsePCARegressor(**ask).fit(X[order], y[order])
    stored = SparsePCARegressor(**ask).fit(sparse.csr_array(X), y)
    weighted = SparsePCARegressor(**ask).fit(X, y, sample_weight=weights)
    copied = SparsePCARegressor(**ask).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    for one, other in ((model, shuffled), (model, stored), (weighted, copied)):
        assert one.selector_ == other.selector_
        np.testing.assert_array_equal(one.support_, other.support_)
    by_targets = SparsePCARegressor(**ask, selector="lasso").fit(X, y)  # control: that choice is another
    assert len(np.intersect1d(by_targets.support_, model.support_)) < 8
