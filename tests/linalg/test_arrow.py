"""Arrow matrices, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparing.linalg.arrow import contenders, largest_of_arrow, least_missed

KINDS = ("dense", "integer", "graded", "equal", "sparse")


def arrows(kind, seed, k, m=6):
    """v (k,), b (k, m), c (m,), with ties, zeros and entries of very different sizes."""
    rng = np.random.default_rng(seed)
    v, b, c = rng.standard_normal(k), rng.standard_normal((k, m)), rng.standard_normal(m)
    if kind == "integer":
        v, b, c = np.round(v), np.round(b), np.round(c)
    elif kind == "graded":
        b *= 10.0 ** rng.integers(-12, 1, b.shape)
    elif kind == "equal":
        v, c = np.full(k, v[0]), np.full(m, v[0])
    elif kind == "sparse":
        b *= rng.random(b.shape) < 0.4
    return v, b, c


def largest(v, b, c):
    whole = np.block([[np.diag(v), b[:, None]], [b[None], np.array([[c]])]])
    return float(np.linalg.eigvalsh(whole)[-1])


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), k=st.integers(1, 7))
def test_largest_eigenvalue_to_rounding_and_never_ruled_out(kind, seed, k):
    v, b, c = arrows(kind, seed, k)
    wanted = np.array([largest(v, b[:, j], c[j]) for j in range(len(c))])
    found = largest_of_arrow(v[None], b[None], c[None])[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
    able = contenders(v, b, c)
    assert able[wanted >= wanted.max() - 1e-9].all()


def test_few_contend(rng):
    """The test at the best two-by-two block is worth its price only if it rules out most."""
    v, b, c = rng.random(20) * 5, rng.standard_normal((20, 1000)), rng.random(1000)
    assert contenders(v, b, c).sum() < 300


@settings(deadline=None, max_examples=80)
@given(seed=st.integers(0, 10**6), s=st.integers(2, 8), tied=st.booleans(), count=st.integers(1, 3))
def test_least_missed_coordinates(seed, s, tied, count):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((s, s))
    A = np.eye(s) + (np.abs(A + A.T) > 2) * 0.5 if tied else A @ A.T
    values, vectors = np.linalg.eigh(A)
    gone = least_missed(values[::-1], vectors[:, ::-1], min(count, s))
    assert len(set(gone)) == min(count, s)
    left = np.array([np.linalg.eigvalsh(np.delete(np.delete(A, j, 0), j, 1))[-1] for j in range(s)])
    assert left[gone].min() >= np.sort(left)[s - len(gone)] - 1e-8 * abs(left).max()


def test_of_equals_the_last_goes():
    values, vectors = np.linalg.eigh(np.full((4, 4), 0.5) + 0.5 * np.eye(4))
    assert list(least_missed(values[::-1], vectors[:, ::-1], 2)) == [2, 3]
