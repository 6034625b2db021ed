"""Which selector of a regression predicts new samples best? Cross-validation within the training samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sparing.data.targets import Targets
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders.regression import Regression
from sparing.methods.selectors import Selector
from sparing.results import Array, Indices
from sparing.run import Run
from sparing.task import Task

FOLDS, FEWEST = 5, 10
"""Folds, and the fewest samples that are divided into them."""


def best_selector(
    task: Task,
    targets: Targets,
    run: Run,
    candidates: Mapping[str, Selector],
    *,
    on: DataMatrix | None,
    fit_intercept: bool,
) -> str:
    """The name of the selector of least squared error on held-out samples; of equals, and without folds, the first.

    Folds and searches within them are the same for all, and quick: only what a selector looks at is compared. ``on`` is
    the view that targets are regressed on, where it is another.
    """
    view, first = task.gram, next(iter(candidates))
    n = len(targets.values)
    if not view.rows_in_memory or n < FEWEST or view.noise is not None or len(candidates) == 1:
        return first
    quick, errors = replace(run, effort=run.effort.levels[0]), dict.fromkeys(candidates, 0.0)
    order = np.random.default_rng(0).permutation(n)  # folds must not depend on what was drawn before
    for fold in range(FOLDS):
        if run.budget.expired:
            return first
        test = np.sort(order[fold::FOLDS])
        train = np.setdiff1d(order, test)
        known, unseen = view.split(train, test)
        fitted, new = (known, unseen) if on is None else on.split(train, test)
        spectrum = top_spectrum(known, task.spectrum.rank, run.rng)
        if spectrum.rank == 0 or fitted.total <= 0:
            continue  # nothing varies among these samples
        asked = Task.of_components(known, spectrum, min(task.n_nonzero, len(train)), rules=task.rules)
        Y, mean = _learned(targets, train, fit_intercept)
        wanted = targets.values[test] - np.multiply.outer(_ones(targets, test), mean)
        unit = float(np.sqrt(new.square_unit / fitted.square_unit))
        for name, selector in candidates.items():
            fit = Regression(selector).encode(asked, Y, quick, on=None if on is None else fitted)
            predicted = unit * (new.columns(fit.support) @ fit.coefficients.T)
            errors[name] += float(np.square(wanted - predicted).sum())
    run.budget.say("held-out squared error: " + ", ".join(f"{name} {error:.4g}" for name, error in errors.items()))
    return min(errors, key=errors.__getitem__)


def _ones(targets: Targets, rows: Indices) -> Array:
    """What an intercept is multiplied by: 1, or the root of the sample's weight."""
    return np.ones(len(rows)) if targets.roots is None else targets.roots[rows]


def _learned(targets: Targets, train: Indices, fit_intercept: bool) -> tuple[Array, Array]:
    """Targets of the training samples less their own mean, and that mean."""
    Y, ones = targets.values[train], _ones(targets, train)
    mean = ones @ Y / (ones @ ones) if fit_intercept else np.zeros(Y.shape[1])
    return Y - np.multiply.outer(ones, mean), mean
