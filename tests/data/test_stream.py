"""What is kept of a stream: exact means and norms, directions from below, and no more memory for more rows."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from counted_rows import factors
from sparing.data import StandardizedRows, as_rows
from sparing.data.stream import Stream


def streamed(X, edges, weights=None, *, length=8, scale=False):
    edges = np.unique([0, *edges, X.shape[0]])
    stream = Stream(as_rows(X[: edges[1]]), scale=scale, length=length)
    for start, stop in pairwise(edges):
        some = None if weights is None else weights[start:stop]
        stream = stream.extended(as_rows(X[start:stop]), some)
    return stream


def drifting(rng, n, d, kind):
    X = factors(rng, n, d, 3)
    if kind == "drifting":
        X += 30 * np.linspace(-1, 1, n)[:, None] * rng.standard_normal(d)
    elif kind == "sorted":
        X = X[np.argsort(X[:, 0])]
    elif kind == "dominated":
        X[:, rng.integers(d)] *= 1e4
    elif kind == "growing":
        X *= np.exp(np.linspace(-4, 4, n))[:, None]
    return X


kinds = st.sampled_from(["plain", "drifting", "sorted", "dominated", "growing"])


@settings(deadline=None, max_examples=60)
@given(
    kind=kinds,
    cuts=st.lists(st.integers(1, 79), max_size=8),
    seed=st.integers(0, 10**6),
    center=st.booleans(),
    scale=st.booleans(),
    weighted=st.booleans(),
)
def test_norms_are_exact_and_the_rest_is_as_far_off_as_is_said(kind, cuts, seed, center, scale, weighted):
    rng = np.random.default_rng(seed)
    X = drifting(rng, 80, 10, kind)
    weights = rng.integers(1, 4, 80).astype(float) if weighted else None
    stream = streamed(X, cuts, weights, scale=scale)
    exact, sketched, (_, dropped, _) = stream.views(center=center, scale=scale)
    truth = StandardizedRows(as_rows(X), center=center, scale=scale, weights=weights)
    A, unit = truth.gram() * truth.square_unit, exact.square_unit
    total = np.trace(A)
    np.testing.assert_allclose(exact.mean, truth.mean, atol=1e-12 * np.abs(X).max())
    np.testing.assert_allclose(exact.scale, truth.scale, rtol=1e-9)
    np.testing.assert_allclose(sketched.gram_diagonal() * unit, np.diag(A), rtol=1e-7, atol=1e-10 * total)
    B = sketched.parts[0].rows * np.sqrt(unit)
    values = np.linalg.eigvalsh(A - B.T @ B)
    assert values[0] >= -1e-10 * total
    assert values[-1] <= dropped * unit + 1e-10 * total
    assert stream.n_samples == 80


def test_control_more_is_lost_than_nothing(rng):
    X = factors(rng, 400, 30, 3)
    _, sketched, (_, dropped, _) = streamed(X, range(50, 400, 50)).views(center=True, scale=False)
    assert dropped > 0.01 * sketched.total / 30


def test_a_stream_does_not_grow(rng):
    X = sparse.csr_array(factors(rng, 60, 20))
    stream = streamed(X, [30])
    size = None
    for _ in range(12):
        stream = stream.extended(as_rows(X), None)
        size = size or len(pickle.dumps(stream))
        assert len(pickle.dumps(stream)) <= size + 100
    assert stream.n_samples == 13 * 60


def test_what_happens_to_later_rows_does_not_touch_what_was_kept(rng):
    X = factors(rng, 90, 6)
    stream = streamed(X[:60], [20, 40])
    before = pickle.dumps(stream)
    longer = stream.extended(as_rows(X[60:]), None)
    assert pickle.dumps(stream) == before
    stream.views(center=True, scale=False)
    longer.views(center=True, scale=False)
    assert pickle.dumps(stream) == before
    with pytest.raises(ValueError, match=r"NaN \(first at row 3, feature 2\)"):
        stream.extended(as_rows(np.where(np.arange(180).reshape(30, 6) == 20, np.nan, X[60:])), None)
    with pytest.raises(ValueError, match="double precision"):
        stream.extended(as_rows(1e300 * X[60:]), None)
    assert pickle.dumps(stream) == before


@pytest.mark.parametrize("size", [1e-140, 1e-60, 1e60, 1e140])
def test_any_unit_will_do(size, rng):
    X = factors(rng, 90, 6)
    plain, other = (streamed(Y, [50], length=4).views(center=True, scale=False) for Y in (X, X * size))
    ratio = plain[0].square_unit / other[0].square_unit * size**2
    np.testing.assert_allclose(other[1].gram() / ratio, plain[1].gram(), rtol=1e-9, atol=1e-9)
    assert other[2].dropped / ratio == pytest.approx(plain[2].dropped)


def test_rows_of_a_stream_cannot_be_read_again(rng):
    exact, _, _ = streamed(factors(rng, 30, 5), []).views(center=True, scale=False)
    for second in (lambda: exact.gram(), lambda: list(exact.rows.blocks())):
        with pytest.raises(ValueError, match="Use fit with all rows"):
            second()
