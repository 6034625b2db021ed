"""Certificates of small problems beside exact arithmetic: means up to 10^14 times the spread.

Rows are centred as fractions, where nothing is rounded; what is left are numbers of one size, on which double precision
has all its digits. There all supports are tried.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_problems import nonnegative_optimum, optimum
from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA, certify, sparsity_path
from stress.outcomes import examples_of

SLACK = 1e-11
"""Share of the total that eigenvalues of the exact problem may be off by."""


def exactly_centred(X: np.ndarray) -> np.ndarray:
    """X less its means, without rounding but that of the differences."""
    columns = [[Fraction(float(value)) for value in column] for column in X.T]
    means = [sum(column) / len(column) for column in columns]
    return np.array([[float(value - mean) for value in column] for column, mean in zip(columns, means, strict=True)]).T


def loss_on(C: np.ndarray, support: tuple[int, ...], k: int) -> float:
    """What k components on these features lose: everything but the best rank k part of the projection of C."""
    U, sizes, _ = np.linalg.svd(C[:, support], full_matrices=False)
    Q = U[:, sizes > 1e-12 * max(sizes.max(), np.finfo(float).tiny)]
    kept = np.sort(np.linalg.svd(Q.T @ C, compute_uv=False) ** 2)[::-1][:k].sum()
    return float((C**2).sum() - kept)


def lost_by(C: np.ndarray, components: np.ndarray) -> float:
    """What the best decoder of these components loses."""
    scores = C @ components.T
    scores = scores / np.maximum(np.linalg.norm(scores, axis=0), np.finfo(float).tiny)
    U, sizes, _ = np.linalg.svd(scores, full_matrices=False)
    Q = U[:, sizes > 1e-9]
    return float((C**2).sum() - ((Q.T @ C) ** 2).sum())


@st.composite
def tables(draw):
    """Whole numbers times a power of two, on means of any size up to 10^13 times that."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 7)), draw(st.integers(2, 5))
    whole = np.round(draw(st.sampled_from([1.0, 4.0])) * rng.standard_normal((n, d)))
    means = rng.choice([1.0, -1.0, 0.5, 0.0, 3.0], size=d)
    return means + whole * 2.0 ** -draw(st.sampled_from([0, 10, 20, 30, 35, 40, 44]))


FARTHEST = 1e14
"""Means beyond this many times the spread: the feature varies by its own rounding alone, and counts as constant."""


def within_reach(X: np.ndarray) -> bool:
    """Does some feature vary, and each that does by more than rounding?"""
    C = exactly_centred(X)
    spread, varies = np.sqrt((C**2).mean(axis=0)), C.any(axis=0)
    return bool(varies.any() and (np.abs(X.mean(axis=0)) <= FARTHEST * spread)[varies].all())


def compare(X: np.ndarray, k: int, r: int) -> None:
    """Every certificate of this table."""
    C = exactly_centred(X)
    total, d = float((C**2).sum()), X.shape[1]
    A = C.T @ C / (len(X) - 1)
    k, r = min(k, d), min(r, d)
    best = min(loss_on(C, support, k) for support in combinations(range(d), r))
    model = SparseEncoder(k, n_nonzero=r, effort="quick").fit(X)
    certificate = model.certificate_
    assert certificate.bound <= best + SLACK * total
    assert certificate.value >= best - SLACK * total
    assert certificate.value >= lost_by(C, model.components_) - SLACK * total
    assert certificate.recheck(X)
    others = certify(model.components_, X, effort="quick")
    assert others.bound <= min(loss_on(C, s, k) for s in combinations(range(d), len(model.support_))) + SLACK * total
    path = sparsity_path(X, k, max_features=r, effort="quick")
    pca = float((np.linalg.svd(C, compute_uv=False)[k:] ** 2).sum())
    for size, ratio in zip(path.n_features, path.bound, strict=True):
        least = min(loss_on(C, s, k) for s in combinations(range(d), int(size)))
        assert ratio * pca <= least + SLACK * total or ratio == 1.0
    found = SparsePCA(1, n_nonzero=r, effort="quick").fit(X)
    assert found.certificate_.bound >= optimum(A, r) - SLACK * total
    assert found.certificate_.value <= optimum(A, r) + SLACK * total
    positive = NonnegativeSparsePCA(1, n_nonzero=r, effort="quick").fit(X)
    assert positive.certificate_.bound >= nonnegative_optimum(A, r) - SLACK * total
    assert positive.certificate_.value <= nonnegative_optimum(A, r) + SLACK * total


@pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")
@examples_of(12)
@given(tables(), st.integers(1, 3), st.integers(1, 3))
def test_certificates_hold_in_exact_arithmetic(X, k, r):
    if within_reach(X):
        compare(X, k, r)


@pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")
def test_the_mean_of_three_numbers_is_not_one_of_double_precision():
    """The rounding of means was proved to be lost: 1.1e-8 of the total, where nothing is."""
    X = 1 + np.round(np.random.default_rng(35).normal(size=(3, 3))) * 2.0**-40
    rounded = X - X.mean(axis=0)
    C = exactly_centred(X)
    assert loss_on(C, (0, 1, 2), 2) <= 1e-15 * (C**2).sum()
    assert loss_on(rounded, (0, 1, 2), 2) > 1e-9 * (C**2).sum()  # what rounded means make of it
    certificate = SparseEncoder(2, n_nonzero=3).fit(X).certificate_
    assert certificate.bound == 0
    assert certificate.value <= 1e-15 * (C**2).sum()
    compare(X, 2, 3)


@pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")
def test_a_feature_that_varies_by_its_rounding_alone_is_constant():
    """One number in six off by 2^-44 of 3: below 32 units of rounding, so the loss is that of the other features."""
    X = 1 + np.round(np.random.default_rng(6).normal(size=(6, 4))) * 2.0**-40
    flat = np.full((6, 1), 3.0)
    flat[2] += 2.0**-44
    assert not within_reach(np.hstack([X, flat]))
    model = SparseEncoder(2, n_nonzero=3, effort="quick").fit(np.hstack([X, flat]))
    assert model.certificate_.value == SparseEncoder(2, n_nonzero=3, effort="quick").fit(X).certificate_.value
    assert 4 not in model.support_
