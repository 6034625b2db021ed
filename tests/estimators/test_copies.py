"""Copies of features: a component that repeats others is none, and a right certificate of such data is found right."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from sparing import SparsePCA
from sparing.errors import SparingWarning

SOLVERS = ("auto", "exact")


@pytest.fixture
def x():
    return np.random.default_rng(0).standard_normal((30, 3)) * [2, 1.5, 1]


@pytest.mark.parametrize("solver", SOLVERS)
def test_disjoint_components_pass_over_copies(solver, x):
    """The features of most variance are copies of one; the third component is another feature."""
    X = x[:, [0, 0, 1, 2]]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SparingWarning)
        model = SparsePCA(3, n_nonzero=1, deflation="disjoint", solver=solver).fit(X)
    assert [int(np.flatnonzero(h)[0]) for h in model.components_] == [0, 2, 3]
    assert model.certificate_.recheck(X)
    two = SparsePCA(3, n_nonzero=1, deflation="disjoint", solver=solver)
    with pytest.warns(SparingWarning, match="2 component"):  # control: there is no third one
        assert len(two.fit(X[:, :3]).components_) == 2


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_sum_that_counts_copies_is_not_said_to_be_reached(solver, x):
    """The best disjoint supports repeat a component: what remains of them has less than their bound."""
    X = np.column_stack([x[:, [0, 0, 0, 0, 1, 2]], x[:, 1] - x[:, 2]])
    certificate = SparsePCA(3, n_nonzero=2, deflation="disjoint", solver=solver).fit(X).certificate_
    assert certificate.witness.name == "disjoint_supports"
    assert certificate.recheck(X)
    claimed = replace(certificate, witness=replace(certificate.witness, reached=True))
    assert not claimed.recheck(X)  # control


def test_a_bound_is_reached_only_where_a_check_finds_the_result_on_its_supports():
    """Collinear features: directions from the supports alone have less than those that the search began with."""
    rng = np.random.default_rng(6177)
    d, k = int(rng.integers(4, 8)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (10, k)).astype(float) @ rng.integers(-1, 2, (k, d))
    model = SparsePCA(2, n_nonzero=3, constraint="orthogonal", random_state=0).fit(X)
    certificate = model.certificate_
    assert certificate.witness.name == "orthogonal_lists"
    assert certificate.gap < 1e-7  # so that the search's own value would count as reached
    assert certificate.recheck(X)
    claimed = replace(certificate, witness=replace(certificate.witness, reached=True))
    assert not claimed.recheck(X)  # control
