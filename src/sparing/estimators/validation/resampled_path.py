"""How often the features of a path are chosen again on other samples."""

from __future__ import annotations

import warnings

import numpy as np

from sparing import errors
from sparing.estimators.inputs import fit_context
from sparing.estimators.path_search import PathSearch
from sparing.estimators.validation.folds import Fold, over_folds, random_halves
from sparing.linalg import top_spectrum
from sparing.methods.encoders.path import improved_path
from sparing.results import Indices
from sparing.run import QUICK, Budget, Run


def chosen_again(walk: PathSearch, longest: int, n_halves: int, budget: Budget, seed: int = 0) -> list[list[int]]:
    """For 1, 2, ... features up to ``longest``, how many half-samples choose each feature of the support again.

    Nothing, with a warning, where the time is over before the last half-sample.
    """
    view, rank, sizes = walk.view.signal, walk.spectrum.rank, min(longest, len(walk.supports))

    def supports(fold: Fold) -> list[Indices] | None:
        if budget.expired:
            return None
        half, _ = view.split(*map(np.sort, fold))
        if half.total <= 0:
            return []
        run = Run(np.random.default_rng(seed), effort=QUICK)
        return improved_path(half, top_spectrum(half, rank, run.rng), sizes, run, rules=walk.rules).supports

    halves = random_halves(view.n_samples or 0, n_halves, np.random.default_rng(seed))
    with fit_context(walk.view, rank):
        found = over_folds(supports, ((half,) for half in halves))
    paths = [path for path in found if path is not None]
    if len(paths) < len(found):
        message = "time_limit ended before it was known how often features are chosen again; a larger one tells."
        warnings.warn(message, errors.SparingWarning, stacklevel=4)
        return []
    return [
        [sum(j in path[place] for path in paths if place < len(path)) for j in walk.supports[place]]
        for place in range(sizes)
    ]
