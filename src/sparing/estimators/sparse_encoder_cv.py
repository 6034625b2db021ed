"""Numbers of components and features, and the noise, chosen together by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

from sparing.data import as_view
from sparing.estimators.encoding import EncodingEstimator
from sparing.estimators.feature_rules import RULES, Counted, checked_rules
from sparing.estimators.inputs import (
    check_has_variance,
    checked_rows,
    fit_context,
    named_or_numbered,
    restore_on_failure,
)
from sparing.estimators.parameters import check_parameters, count, one_of, preprocessing_of, run_of
from sparing.estimators.sparse_encoder import SparseEncoder, Strategy
from sparing.estimators.sparsity_path import SparsityPath, sparsity_path
from sparing.estimators.validation.folds import folds_of, warn_nothing_transfers
from sparing.estimators.validation.grid import PathGrid, fewest_within_one_error, path_grid
from sparing.estimators.validation.noise import checked_noise, noise_levels
from sparing.results import Indices
from sparing.search_limits import SEARCH

CHOICES = ("one_se", "best")


@dataclass(eq=False, repr=False)
class SparseEncoderCV(EncodingEstimator[Strategy]):
    """A :class:`SparseEncoder` with numbers of components and features, and noise, chosen by cross-validation.

    The choice is cross-validated. Each fold selects one nested path of features for each noise, which gives every
    number of features, and one decomposition gives every number of components. The share of the variance of the
    features that are *not* read decides. The encoder is then fitted on all samples, with its certificate.

    Parameters
    ----------
    n_components : int or sequence of int, optional
        Numbers of components to try; by default all up to 20. With one component per feature, nothing that was read is
        lost.
    n_nonzero : int or sequence of int, optional
        Numbers of features to try; by default all up to 100, or to half of the features if that is less: the others
        judge.
    noise_variance : "auto", float, array-like of shape (n_features,), dict by name or None, default="auto"
        Noise on the readings, as in :class:`SparseEncoder`; "auto" tries 0, .03, .1, .3, 1, 3 and 10 mean variances.
    cv : int, splitter of scikit-learn or pairs of indices, default=5
        As in :func:`cross_validated`.
    rule : {"one_se", "best"}, default="one_se"
        ``one_se``: the fewest features that reach, with any number of components and any noise, the best result less
        one standard error; then the best components and noise for that number of features. ``best``: the best of all.
    include, exclude, costs, max_cost, groups, max_per_group
        Rules on features, as in :class:`SparseEncoder`.
    n_jobs : int, optional
        Number of folds to run in parallel.
    feature_names_out : {"numbered", "leading"}, default="numbered"
        Names of the scores, as in :class:`SparseEncoder`.
    time_limit : float, optional
        Seconds for everything. Cross-validation may use half of them; then the completed folds decide, at least one,
        and a warning tells how many. The fit on all samples may use the remaining time.
    center, scale, certify, missing, effort, random_state, verbose
        As in :class:`SparseEncoder`.

    Attributes
    ----------
    n_components_, n_nonzero_ : int
        The chosen numbers.
    noise_variance_ : float or ndarray of shape (n_features,)
        The chosen noise variance; 0 means no noise.
    held_out_, held_out_se_ : float
        Share of the variance of the features that are not read, in samples left out, that this choice keeps; and its
        standard error. As the best of many candidates it is slightly optimistic; ``cross_validated`` of this estimator
        is not.
    cv_results_ : dict of arrays
        As in scikit-learn: one entry for each noise, number of features and number of components.
    path_ : SparsityPath
        The share that every number of features keeps with the chosen components and noise, on these samples and held
        out.
    best_index_ : int
        The choice, in ``cv_results_``.
    n_splits_ : int
    components_, decoder_, support_, variance_kept_, feature_r2_, loss_, loss_ratio_, certificate_, mean_, scale_
        And all other attributes of the :class:`SparseEncoder` fitted on all samples.

    Examples
    --------
    >>> from sparing import SparseEncoderCV
    >>> from sparing.datasets import make_spiked
    >>> X = make_spiked(random_state=0).X
    >>> model = SparseEncoderCV(n_components=(1, 2), n_nonzero=(5, 10), effort="quick").fit(X)
    >>> bool(model.held_out_ > 0)
    True
    """

    n_components: int | Sequence[int] | None = None
    _: KW_ONLY
    n_nonzero: int | Sequence[int] | None = None
    noise_variance: Any = "auto"
    cv: Any = 5
    rule: str = "one_se"
    include: Any = None
    exclude: Any = None
    costs: Any = None
    max_cost: float | None = None
    groups: Any = None
    max_per_group: Any = None
    n_jobs: int | None = None
    center: bool = True
    scale: bool = False
    certify: bool = True
    missing: str = "error"
    feature_names_out: str = "numbered"
    effort: str = "default"
    time_limit: float | None = None
    random_state: Any = 0
    verbose: bool = False

    @restore_on_failure
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, sample_groups: Any = None) -> SparseEncoderCV:
        """Choose by cross-validation, then fit on all samples.

        Parameters
        ----------
        X : array-like, sparse matrix, numpy.memmap or data frame of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            An integer weight counts as that many copies of the row.
        sample_groups : array-like of shape (n_samples,), optional
            Samples that belong together, for a splitter such as ``GroupKFold``.

        Returns
        -------
        SparseEncoderCV
        """
        _check(self)
        rows = checked_rows(self, X, reset=True)
        run, preprocessing = run_of(self), preprocessing_of(self)
        names = named_or_numbered(getattr(self, "feature_names_in_", None), rows.shape[1])
        noise = checked_noise(self.noise_variance, names)
        rules = checked_rules(names, Counted(), **{rule: getattr(self, rule) for rule in RULES})
        folds = folds_of(self.cv, rows.shape[0], groups=sample_groups, random_state=self.random_state)
        longest = min(rules.most_features(rows.shape[1]), rows.shape[1])
        half = max(rows.shape[1] // 2, 1)
        most = min(SEARCH.tried_features, half)
        sizes = _tried("n_nonzero", self.n_nonzero, max(len(rules.required), 1), longest, most)
        most = min(SEARCH.tried_components, int(sizes.max()))
        ranks = _tried("n_components", self.n_components, 1, rows.shape[1], most)
        view = as_view(rows, preprocessing, sample_weight)
        check_has_variance(view, preprocessing.center)
        with fit_context(view, int(ranks.max())):
            grid = path_grid(
                view,
                folds,
                noise_levels(noise),
                int(ranks.max()),
                int(sizes.max()),
                run.share(1 / 2),
                rules=rules,
                n_jobs=self.n_jobs if rows.is_local else None,
            )
        level, size, rank = fewest_within_one_error(grid, sizes, ranks, self.rule)
        variances = [each.of(view) for each in grid.levels]
        chosen = {"n_components": int(ranks[rank]), "n_nonzero": int(sizes[size]), "noise_variance": variances[level]}
        self._refit(X, sample_weight, {**chosen, "time_limit": run.budget.left})
        self.cv_results_, self.best_index_ = _results(grid, sizes, ranks, variances, (level, size, rank))
        self.n_splits_, at = len(folds), (level, int(sizes[size]) - 1, int(ranks[rank]) - 1)
        self.held_out_, self.held_out_se_ = float(grid.mean[at]), float(grid.error[at])
        self.path_ = self._path(X, grid, at)
        warn_nothing_transfers(self.held_out_, self.held_out_se_, stacklevel=4)
        return self

    def _refit(self, X: Any, sample_weight: Any, chosen: dict[str, Any]) -> None:
        """Fit all samples with the chosen parameters, in the remaining time."""
        own = self.get_params(deep=False)
        known = SparseEncoder().get_params(deep=False)
        shared = {name: value for name, value in own.items() if name in known}
        model = SparseEncoder(**(shared | chosen)).fit(X, sample_weight=sample_weight)
        self.__dict__ |= {name: value for name, value in vars(model).items() if name not in known}
        self.n_nonzero_ = chosen["n_nonzero"]

    def _path(self, X: Any, grid: PathGrid, at: tuple[int, int, int]) -> SparsityPath:
        """The path with the chosen components and noise: shares on these samples and on held-out ones."""
        level, _, rank = at
        own = self.get_params(deep=False)
        kept = {name: own[name] for name in (*RULES, "center", "scale", "missing", "effort", "random_state")}
        noise = None if np.ndim(self.noise_variance_) == 0 and self.noise_variance_ == 0 else self.noise_variance_
        path = sparsity_path(
            X,
            rank + 1,
            max_features=grid.unread.shape[2],
            noise_variance=noise,
            improve=False,
            certify=False,
            **kept,
        )
        return path.with_held_out(*grid.curve(level, rank))


def _check(estimator: SparseEncoderCV) -> None:
    """Reject invalid parameters before any data are read."""
    one_of("rule", estimator.rule, CHOICES)
    single = SparseEncoder(n_components=2)
    for name in set(single.get_params(deep=False)) & set(estimator.get_params(deep=False)):
        if name not in ("n_components", "n_nonzero"):
            setattr(single, name, getattr(estimator, name))
    check_parameters(single)


def _tried(name: str, value: Any, least: int, most: int, default: int) -> Indices:
    """Sorted numbers to try, each between ``least`` and ``most``."""
    if value is None:
        return np.arange(min(least, most), max(min(default, most), min(least, most)) + 1)
    numbers = np.unique([count(name, each) for each in (value if np.ndim(value) else [value])])
    if len(numbers) == 0:
        raise ValueError(f"{name}={value!r} is empty. Pass the numbers to try, or None for all.")
    if numbers[0] < least or numbers[-1] > most:
        raise ValueError(
            f"{name}={value!r} has a number outside [{least}, {most}]: X has fewer allowed features, or include needs "
            f"more. Pass numbers in that range, or leave {name} out."
        )
    return numbers.astype(np.intp)


def _results(
    grid: PathGrid, sizes: Indices, ranks: Indices, variances: Sequence[Any], chosen: tuple[int, int, int]
) -> tuple[dict[str, Any], int]:
    """``cv_results_`` in scikit-learn's layout, and the index of the choice."""
    places = [
        (level, i, j)
        for level in range(len(variances))
        for i in range(len(sizes))
        for j in range(len(ranks))
        if ranks[j] <= sizes[i] or (level, i, j) == chosen
    ]
    levels, i, j = (np.array(part) for part in zip(*places, strict=True))
    scores = grid.unread[:, levels, sizes[i] - 1, ranks[j] - 1]
    everything = grid.everything[:, levels, sizes[i] - 1, ranks[j] - 1]
    noise = [0.0 if each is None else each for each in variances]
    given = np.array([float(np.mean(each)) for each in noise])
    results: dict[str, Any] = {
        "param_n_components": ranks[j],
        "param_n_nonzero": sizes[i],
        "param_noise_variance": given[levels],
        "params": [
            {"n_components": int(ranks[b]), "n_nonzero": int(sizes[a]), "noise_variance": noise[level]}
            for level, a, b in places
        ],
        **{f"split{fold}_test_score": split for fold, split in enumerate(scores)},
        "mean_test_score": scores.mean(axis=0),
        "std_test_score": scores.std(axis=0),
        "mean_test_everything": everything.mean(axis=0),
        "mean_test_pca": grid.pca.mean(axis=0)[ranks[j] - 1],
    }
    results["rank_test_score"] = rankdata(-results["mean_test_score"], method="min").astype(np.int32)
    return results, places.index(chosen)
