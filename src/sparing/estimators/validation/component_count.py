"""The number of components, by three methods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing.certificates.sentences import counted
from sparing.data import as_view
from sparing.estimators.inputs import check_has_variance, fit_context
from sparing.estimators.parameters import count, generator_of, preprocessing_from, run_from
from sparing.estimators.validation.folds import folds_of, named_rows, standard_error, transfers
from sparing.estimators.validation.grid import path_grid
from sparing.estimators.validation.noise import noise_levels
from sparing.gram import DataMatrix
from sparing.linalg import top_spectrum
from sparing.results import Array
from sparing.search_limits import SEARCH


@dataclass(frozen=True, eq=False)
class ComponentCount:
    """Three estimates of the number of components; print it to compare them.

    Attributes
    ----------
    held_out : int
        The fewest components within one standard error of the best on features that are not read, in samples left out.
    parallel : int
        Leading eigenvalues above the 95% quantile of those of permuted features (parallel analysis).
    elbow : int
        The point where the curve of eigenvalues bends most, the elbow that people find by eye.
    held_out_scores, held_out_se : ndarray of shape (max_components,)
        Share of unread features that 1, 2, ... components keep, with the best number of features and noise.
    eigenvalues, permuted : ndarray
        Shares of the total variance that components explain, and the 95% quantile of those of permuted features.
    n_samples, n_features : int
    """

    held_out: int
    parallel: int
    elbow: int
    held_out_scores: Array
    held_out_se: Array
    eigenvalues: Array
    permuted: Array
    n_samples: int
    n_features: int

    def __str__(self) -> str:
        lines = [
            f"How many components ({counted(self.n_samples, 'sample')}, {counted(self.n_features, 'feature')})?",
            f"  held-out samples:  {self.held_out}",
            f"  parallel analysis: {self.parallel}",
            f"  elbow by eye:      {self.elbow}",
        ]
        return "\n".join(lines)


def component_count(
    X: Any,
    *,
    max_components: int = 15,
    cv: Any = 5,
    n_permutations: int = 20,
    center: bool = True,
    scale: bool = False,
    missing: str = "error",
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ComponentCount:
    """How many components X has, by held-out samples, by parallel analysis and by the elbow of its spectrum.

    Held-out samples cannot choose the number of components of PCA, because its error always decreases: a held-out value
    enters its own prediction. Here features are predicted from other features that are read.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame, Dask array or rows of ``open_data``, of shape (n_samples, n_features)
    max_components : int, default=15
        Largest number of components to try.
    cv : int, splitter of scikit-learn or pairs of indices, default=5
    n_permutations : int, default=20
        Permutations of the values of each feature, in parallel analysis.
    center, scale, missing, random_state
        As in :class:`SparseEncoder`.
    n_jobs : int, optional
        Number of folds to run in parallel.

    Returns
    -------
    ComponentCount
        Print it.

    Examples
    --------
    >>> import numpy as np
    >>> from sparing import component_count
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 40)) + 0.5 * rng.normal(size=(80, 40))
    >>> print(component_count(X))
    How many components (80 samples, 40 features)?
      held-out samples:  3
      parallel analysis: 3
      elbow by eye:      3
    """
    preprocessing, rows = preprocessing_from(center, scale, False, missing), named_rows(X)
    run, (n, d) = run_from(random_state), rows.shape
    most = min(count("max_components", max_components), n - 1, d)
    view = check_has_variance(as_view(rows, preprocessing), center)
    folds = folds_of(cv, n, random_state=random_state)
    with fit_context(view, most):
        longest = min(SEARCH.read_features * most, max(d // 2, 1))  # the others are needed for the test
        grid = path_grid(
            view, folds, noise_levels("auto"), most, longest, run, n_jobs=n_jobs if rows.is_local else None
        )
        scores = grid.mean.max(axis=(0, 1))  # with the best noise and number of features
        places = [np.unravel_index(int(np.argmax(part)), part.shape) for part in np.moveaxis(grid.mean, 2, 0)]
        by_fold = np.array([grid.unread[:, level, size, k] for k, (level, size) in enumerate(places)])
        errors = standard_error(by_fold, axis=1)
        best = int(np.argmax(scores))
        held_out = int(np.flatnonzero(scores >= scores[best] - np.nan_to_num(errors[best]))[0]) + 1
        if not transfers(float(scores[best]), float(standard_error(by_fold[best], folds))):
            held_out = 0
        spectrum = top_spectrum(view, most, run.rng)
        eigenvalues = np.pad(spectrum.values, (0, most - spectrum.rank)) / spectrum.total
        above, permuted = _parallel(view, most, count("n_permutations", n_permutations), generator_of(random_state))
    return ComponentCount(held_out, above, _elbow(eigenvalues), scores, errors, eigenvalues, permuted, n, d)


def _parallel(view: DataMatrix, most: int, n_permutations: int, rng: np.random.Generator) -> tuple[int, Array]:
    """The number of leading eigenvalues above those of permuted features, and the thresholds."""
    n, d = view.n_samples or 0, view.n_features
    most_entries = SEARCH.permuted_entries
    some = np.arange(d) if n * d <= most_entries else np.sort(rng.choice(d, most_entries // n, replace=False))
    X = view.columns(some)
    chance = np.array([_leading(rng.permuted(X, axis=0), most) for _ in range(n_permutations)])
    limit = np.quantile(chance, SEARCH.chance_quantile, axis=0)
    exceeds = _leading(X, most) > limit
    return int(exceeds.argmin()) if not exceeds.all() else most, limit


def _leading(X: Array, most: int) -> Array:
    """The largest shares of the total variance."""
    gram = X @ X.T if len(X) <= X.shape[1] else X.T @ X
    values = np.linalg.eigvalsh(gram)[::-1][:most]
    return np.asarray(np.pad(values, (0, most - len(values))) / np.trace(gram))


def _elbow(eigenvalues: Array) -> int:
    """The number before the point farthest below the line from the first eigenvalue to the last."""
    if len(eigenvalues) < 3:
        return len(eigenvalues)
    line = np.linspace(eigenvalues[0], eigenvalues[-1], len(eigenvalues))
    return max(int(np.argmax(line - eigenvalues)), 1)
