"""Choice of the selector of a regression by cross-validation within the training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sparing.data.targets import Targets
from sparing.estimators.validation.folds import Fold, standard_error
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.methods.encoders.regression import Regression
from sparing.methods.selectors import Selector
from sparing.results import Array, Indices
from sparing.run import Run
from sparing.search_limits import SEARCH
from sparing.task import Task

STEP_APART = 1e-9
"""Scores closer than this share of their range belong to copies of one sample."""

GAIN_ROUNDING = 1e-9
"""Squared errors that differ by less than this share of the targets' squares count as equal."""

EVEN = [(np.arange(SEARCH.selector_folds - 1), np.arange(1))]
"""Folds of equal size, even if the data contain copies of samples."""


def best_selector(
    task: Task,
    targets: Targets,
    run: Run,
    candidates: Mapping[str, Selector],
    *,
    on: DataMatrix | None,
    fit_intercept: bool,
) -> str:
    """The first name, or that of a selector that is clearly better on held-out samples.

    Folds depend only on the data, like selectors, so the order of samples and their storage do not matter: samples are
    sorted by their score on the first principal component and assigned to folds in turn, copies together. Searches
    within folds are quick, because only the kinds of selectors are compared. ``on`` is the view for the regression, if
    it is another.
    """
    first = next(iter(candidates))
    if not task.gram.has_rows or task.gram.noise is not None or task.spectrum.rank == 0:
        return first
    rows, places = _sorted(task, targets)
    n_different = len(np.unique(places))
    n_folds = SEARCH.selector_folds
    determined = n_folds * (task.n_nonzero + 1) / (n_folds - 1)  # with fewer samples, fits on any features are perfect
    if n_different < max(SEARCH.selector_samples, determined):
        return first
    fold_of = places % n_folds
    folds = [(np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold)) for fold in range(n_folds)]
    view, other = task.gram.sampled(rows), None if on is None else on.sampled(rows)
    known = replace(targets, values=targets.values[rows], roots=None if targets.roots is None else targets.roots[rows])
    quick = replace(run, effort=run.effort.levels[0], rng=np.random.default_rng(0))  # the fit keeps its own draws
    errors = []
    for fold in folds:
        if run.budget.expired:
            return first
        errors.append(_held_out(task, view, other, known, fold, list(candidates.values()), quick, fit_intercept))
    named = zip(candidates, np.sum(errors, axis=0), strict=True)
    run.budget.say("held-out share of squares: " + ", ".join(f"{name} {error:.4g}" for name, error in named))
    return list(candidates)[_firmly_best(np.array(errors))]


def _firmly_best(errors: Array) -> int:
    """The selector with the smallest error among those better than the first by two standard errors over folds."""
    gains = errors[:, :1] - errors
    mean = gains.mean(axis=0)
    firm = mean > SEARCH.selector_errors * standard_error(gains, EVEN) + GAIN_ROUNDING
    return int(np.argmax(np.where(firm, mean, 0.0)))


def _sorted(task: Task, targets: Targets) -> tuple[Indices, Indices]:
    """The samples used, and the rank of each by its score, which copies share."""
    scores = task.gram.matmat(task.spectrum.basis[:, :1])[:, 0]
    weighed = np.ones(len(scores), dtype=bool) if targets.roots is None else targets.roots > 0
    rows = np.flatnonzero(weighed)
    scores = scores[rows] if targets.roots is None else scores[rows] / targets.roots[rows]
    rows, scores = rows[np.argsort(scores, kind="stable")], np.sort(scores)
    steps = np.diff(scores)
    place = np.append(0, np.cumsum(steps > STEP_APART * steps.sum()))[: len(rows)]  # the same rank for equal scores
    n_different = int(place[-1]) + 1 if len(rows) else 0
    n_most = int(SEARCH.selector_entries // task.gram.n_features * n_different / max(len(rows), 1))
    if n_most < n_different:
        taken = np.linspace(0, n_different - 1, max(n_most, 1)).astype(np.intp)
        rows, place = rows[np.isin(place, taken)], np.searchsorted(taken, place[np.isin(place, taken)])
    order = np.argsort(rows)
    return rows[order], place[order]


def _held_out(
    task: Task,
    view: DataMatrix,
    on: DataMatrix | None,
    targets: Targets,
    fold: Fold,
    selectors: Sequence[Selector],
    run: Run,
    fit_intercept: bool,
) -> list[float]:
    """Residual share of the squares of held-out samples for each selector."""
    train, test = fold
    guide, unseen = view.split(train, test)
    fitted, new = (guide, unseen) if on is None else on.split(train, test)
    Y, mean = _learned(targets, train, fit_intercept)
    wanted = targets.values[test] - np.multiply.outer(_ones(targets, test), mean)
    spectrum = top_spectrum(guide, task.spectrum.rank, run.rng)
    unit, found = float(np.sqrt(new.square_unit / fitted.square_unit)), []
    for selector in selectors:
        predicted = np.zeros_like(wanted)
        if spectrum.rank > 0 and fitted.total > 0:
            asked = Task.of_components(guide, spectrum, task.n_nonzero, rules=task.rules)
            fit = Regression(selector).encode(asked, Y, run, on=None if on is None else fitted)
            predicted = unit * (new.columns(fit.support) @ fit.coefficients.T)
        found.append(float(np.square(wanted - predicted).sum()))
    return [error / max(float(np.square(wanted).sum()), np.finfo(float).tiny) for error in found]


def _ones(targets: Targets, rows: Indices) -> Array:
    """The factor of an intercept: 1, or the root of the sample's weight."""
    return np.ones(len(rows)) if targets.roots is None else targets.roots[rows]


def _learned(targets: Targets, train: Indices, fit_intercept: bool) -> tuple[Array, Array]:
    """Targets of the training samples minus their mean, and the mean."""
    Y, ones = targets.values[train], _ones(targets, train)
    mean = ones @ Y / (ones @ ones) if fit_intercept else np.zeros(Y.shape[1])
    return Y - np.multiply.outer(ones, mean), mean
