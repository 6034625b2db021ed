"""Truncated power iterations: no step lowers what is explained, whatever the sign, and each keeps to the rules."""

from __future__ import annotations

import numpy as np
import pytest

from small_problems import covariance
from sparing.gram import DenseGram
from sparing.run import Budget
from sparing.search.truncated_power import truncated_powers


@pytest.mark.parametrize("nonnegative", [False, True])
def test_powers_never_fall_and_keep_to_what_is_allowed(nonnegative, rng):
    A = covariance("dense", rng, 10)
    allowed = np.ones((10, 1), dtype=bool)
    allowed[3] = False
    starts = np.where(allowed, np.abs(rng.standard_normal((10, 6))), 0.0)

    def after(steps, starts=starts, **how):
        return truncated_powers(
            DenseGram(A), starts, 4, max_iter=steps, budget=Budget(), allowed=allowed, nonnegative=nonnegative, **how
        )

    last = after(0, settled=99)
    for steps in range(1, 8):
        X = after(steps, settled=99)
        assert X.min() >= 0 or not nonnegative
        assert not X[3].any()
        assert np.count_nonzero(X, axis=0).max() <= 4
        np.testing.assert_allclose(np.linalg.norm(X, axis=0), 1)
        values, before = (np.einsum("ij,ij->j", Z, A @ Z) for Z in (X, last))
        assert np.all(values >= before * (1 - 1e-12))
        last = X
    assert (after(5, -starts, settled=2).shape == (10, 0)) is nonnegative  # nothing positive to begin with


def test_a_column_ends_by_itself(rng):
    """What becomes of a start does not depend on the others that share the products with A."""
    A = covariance("dense", rng, 12)
    starts = rng.standard_normal((12, 8))
    for how in ({"settled": 2}, {"settled": 99, "growth": 1e-2}):
        together = truncated_powers(DenseGram(A), starts, 4, max_iter=30, budget=Budget(), **how)
        alone = [truncated_powers(DenseGram(A), x[:, None], 4, max_iter=30, budget=Budget(), **how) for x in starts.T]
        np.testing.assert_allclose(together, np.column_stack(alone), atol=1e-12)
    whole = truncated_powers(DenseGram(A), starts, 4, max_iter=30, settled=99, budget=Budget())
    assert not np.allclose(together, whole, atol=1e-6)  # the growth that was asked for did end it


def test_little_work_goes_to_the_best_starts_and_none_falls(rng):
    """Where work does not suffice for all steps of all starts, the best go on; the others stay where they are."""
    view, starts = DenseGram(covariance("dense", rng, 40)), np.eye(40)

    def values(products):
        how = {"max_iter": 40, "settled": 2, "budget": Budget(), "least": 3}
        ends = truncated_powers(view, starts, 5, work=products * view.product_work, **how)
        return np.einsum("ij,ij->j", ends, view.gram() @ ends)

    unlimited, little, one_step = values(np.inf), values(60), values(0)
    assert np.array_equal(unlimited, values(1e6))
    assert (one_step >= view.gram_diagonal() * (1 - 1e-12)).all()
    assert (little >= one_step * (1 - 1e-12)).all()
    ahead = little > one_step * (1 + 1e-9)
    assert 0 < ahead.sum() <= 8  # control: all 40 go on where there is enough
    assert (unlimited > one_step * (1 + 1e-9)).sum() > 20
