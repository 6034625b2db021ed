"""Nonnegative sparse PCA by random directions in a low rank subspace."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import betainc

from sparing import errors
from sparing.methods.base import check_counts
from sparing.objectives.nonnegative import NonnegativeObjective, best_nonnegative, positive_part
from sparing.proof.sphere.spannogram import leading_factors
from sparing.results import Array, Component, Reference
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task


@dataclass(frozen=True)
class SpannogramNet:
    """The best of random directions c in the span of the leading eigenpairs of A [asteris2014, Algorithm 3].

    Parameters
    ----------
    rank : int
        Eigenpairs used, the paper's d.
    accuracy : float
        Allowed relative distance to the optimum for these eigenpairs, the paper's epsilon.
    failure : float, optional
        Probability that the distance is larger. By default 1 / (number of features).
    refit : bool
        Improve the best direction on all of A. Otherwise return it as is.

    Notes
    -----
    **Optimises** x'A_d x over unit x >= 0 with r nonzeros, where A_d = VV' keeps the ``rank`` leading eigenpairs of A:
    each draw c gives the r largest positive entries of Vc, and of -Vc.
    **Guarantee.** At least (1 - accuracy) times ``approximation_factor`` of the optimum, except with probability
    ``failure`` [asteris2014, Theorem 2].
    **Differs from the paper.** The number of draws is what the guarantee needs, :func:`draws_needed`, instead of a
    multiple of log(d) / accuracy^rank: 112 instead of 5889 for rank 3, accuracy 0.1 and 361 features. With a metric the
    draws use the numerator, and the metric is used by ``refit``.
    """

    rank: int = 3
    accuracy: float = 0.1
    failure: float | None = None
    refit: bool = True

    reference: ClassVar = Reference("asteris2014", "Algorithm 3")

    def __post_init__(self) -> None:
        check_counts(rank=self.rank)
        if not _is_number(self.accuracy) or not 0 < self.accuracy <= 1:
            raise errors.not_a_share("accuracy", self.accuracy, "accuracy=0.1 allows an answer 10% below the best.")
        if self.failure is not None and not (_is_number(self.failure) and 0 < self.failure < 1):
            example = "failure=0.01 is one run in a hundred; None is one in as many as there are features."
            raise errors.not_a_share("failure", self.failure, example, below_one=True)

    def solve(self, task: Task, run: Run) -> Component:
        """Return the best of all draws, improved on all of A."""
        view = task.gram
        objective = NonnegativeObjective(view, task.metric, run.budget)
        V = np.where(objective.usable[:, None], leading_factors(view, self.rank, run.rng)[0], 0.0)
        best = np.zeros((len(V), 1))
        if V.any():
            failure = 1 / view.n_features if self.failure is None else self.failure
            draws = draws_needed(V.shape[1], self.accuracy, failure)
            if draws > SEARCH.net_draws:
                raise ValueError(
                    f"SpannogramNet(rank={V.shape[1]}, accuracy={self.accuracy:g}) needs {float(draws):.3g} random "
                    f"directions; {SEARCH.net_draws} are allowed. Pass a lower rank or a larger accuracy, or use "
                    "solver='spannogram', which is exact."
                )
            best = best_of_net(V, task.n_nonzero, draws, run)
        return best_nonnegative(objective, best, task.n_nonzero, refit=self.refit)


def draws_needed(rank: int, accuracy: float, failure: float) -> int:
    """Number of draws of c after which none is close to the best c* with at most this probability.

    A c at the angle t to c* has at least cos(t)^2 times the optimum, so sin(t)^2 <= accuracy is close enough, for c or
    for -c: both are tried. For c uniform on the sphere cos(t)^2 has the distribution Beta(1/2, (rank - 1)/2), so the
    probability is I_accuracy((rank - 1)/2, 1/2); for c alone it would be half of that.
    """
    if rank == 1 or accuracy >= 1:
        return 1
    chance = max(float(betainc((rank - 1) / 2, 0.5, accuracy)), np.finfo(float).tiny)
    return max(math.ceil(math.log(failure) / math.log1p(-chance)), 1)


def best_of_net(V: Array, n_nonzero: int, draws: int, run: Run) -> Array:
    """The x (one column) with the largest |V'x|^2 of those that ``draws`` random c, and -c, choose."""
    d, m = V.shape
    best, value, left = np.zeros((d, 1)), 0.0, draws
    while left > 0:
        count = min(left, max(SEARCH.net_entries // (2 * d), 1))
        entries = V @ run.rng.standard_normal((m, count))
        X = positive_part(np.column_stack([entries, -entries]), n_nonzero)
        values = np.square(V.T @ X).sum(axis=0)
        at = int(np.argmax(values)) if len(values) else 0
        if len(values) and values[at] > value:
            best, value = X[:, at : at + 1], float(values[at])
        left -= count
        if run.budget.expired:
            break
    return best


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
