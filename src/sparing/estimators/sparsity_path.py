"""Sparsity path: the share that is kept against the number of features."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

import numpy as np

from sparing import errors
from sparing.certificates.sentences import percent, percent_kept
from sparing.data import as_rows
from sparing.estimators.feature_rules import Counted, checked_rules
from sparing.estimators.inputs import feature_names_of, features_called, fit_context
from sparing.estimators.parameters import count, flag, generator_of, loss_limit, preprocessing_from, run_from, share
from sparing.estimators.path_search import PathSearch, path_search
from sparing.estimators.validation.folds import folds_of, warn_nothing_transfers
from sparing.estimators.validation.grid import path_grid
from sparing.estimators.validation.noise import NoiseLevel, checked_noise
from sparing.results import Array, Enough, Indices
from sparing.run import Budget, Run
from sparing.search_limits import SEARCH


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """Share of PCA's variance that each number of features keeps, and its upper bound.

    Attributes
    ----------
    n_features : ndarray of int
        1, 2, 3, ..., from the number of features of ``include`` on. With ``max_cost`` supports may have fewer.
    variance_kept, variance_kept_bound : ndarray
        Share of the variance of PCA's components that is kept, and its upper bound for every choice of the same number
        of features.
    loss_ratio, bound : ndarray
        Loss divided by PCA's loss, and a lower bound of it.
    supports : list of ndarray
        The features used at each step; not nested where swaps found better ones.
    feature_names : list of str
        Names of all features of X: those of its columns or in its file, or x0, x1, ...
    noise_variance : float or ndarray of shape (n_features,)
        Variance of the assumed noise; 0 for none.
    held_out, held_out_se : ndarray or None
        With ``cv``: share of the variance of the features that are not read, in samples left out, for each number of
        features, chosen again in every fold; and its standard error. ``variance_kept`` is relative to PCA and about
        these samples; this is a share of the total variance.
    held_out_pca : ndarray or None
        With ``cv``: share of the variance of the same features by PCA with the same number of components. It reads
        every feature, including those that it predicts.

    Examples
    --------
    >>> from sparing import sparsity_path
    >>> from sparing.datasets import load_pitprops
    >>> path = sparsity_path(load_pitprops().correlation, 2, precomputed=True, random_state=0)
    >>> len(path)
    13
    >>> path.variance_kept[:4].round(3)
    array([0.512, 0.856, 0.917, 0.948])
    >>> path.supports[3]
    array([1, 2, 6, 7])
    """

    n_features: Indices
    variance_kept: Array
    variance_kept_bound: Array
    loss_ratio: Array
    bound: Array
    supports: list[Indices] = field(repr=False)
    feature_names: list[str] = field(repr=False)
    noise_variance: float | Array = 0.0
    held_out: Array | None = None
    held_out_se: Array | None = None
    held_out_pca: Array | None = None

    def with_held_out(self, kept: Array, error: Array, pca: Array) -> SparsityPath:
        """The same path with the shares that 1, 2, 3, ... features keep of held-out samples, standard errors, and PCA's
        shares."""
        places = np.minimum(self.n_features, len(kept)) - 1
        return replace(self, held_out=kept[places], held_out_se=error[places], held_out_pca=pca[places])

    def smallest(self, max_loss: float | None = None, *, min_variance: float | None = None) -> int:
        """The fewest features that keep a share of PCA's variance, or lose at most a multiple of PCA's loss.

        Parameters
        ----------
        max_loss : float, optional
            Largest acceptable loss ratio: 1.05 is 5% more than PCA's loss.
        min_variance : float, optional
            A share of PCA's variance: 0.95 keeps 95% of it.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If the path ends before.
        """
        longest = len(self.n_features)
        if (max_loss is None) == (min_variance is None):
            raise ValueError(
                f"max_loss={max_loss!r} and min_variance={min_variance!r} were passed; smallest needs one of them. "
                "Pass min_variance=0.9 for 90% of PCA's variance, or max_loss=1.05 for 5% more than PCA loses."
            )
        if max_loss is not None:
            fits = np.flatnonzero(self.loss_ratio <= loss_limit(max_loss))
            missed = (
                f"keeps the loss within {max_loss:g} times PCA's; {longest} features lose {self.loss_ratio[-1]:.4g}"
            )
            missed += " times. Compute a longer path with max_features, or allow a larger max_loss."
        else:
            wanted = share("min_variance", min_variance, "0.9 keeps 90% of the variance that PCA keeps.")
            fits = np.flatnonzero(self.variance_kept >= wanted)
            missed = f"keeps {wanted:.4g} of PCA's variance; {longest} features keep {self.variance_kept[-1]:.4g}. "
            missed += "Compute a longer path with max_features, or ask for a smaller min_variance."
        if len(fits) == 0:
            raise ValueError(f"No number of features up to {longest} {missed}")
        return int(self.n_features[fits[0]])

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per number of features.

        Returns
        -------
        pandas.DataFrame
            With columns ``variance_kept``, ``variance_kept_bound``, ``loss_ratio``, ``bound`` and ``features``, their
            names.
        """
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ModuleNotFoundError as missing:
            raise errors.needs_package("to_frame", "pandas", "io") from missing
        names = [", ".join(self.feature_names[j] for j in support) for support in self.supports]
        numbers = ["n_features", "variance_kept", "variance_kept_bound", "loss_ratio", "bound"]
        numbers += ["held_out", "held_out_se", "held_out_pca"] if self.held_out is not None else []
        columns = {**{name: getattr(self, name) for name in numbers}, "features": names}
        return pd.DataFrame(columns).set_index("n_features")

    def __len__(self) -> int:
        return len(self.n_features)

    def _repr_html_(self) -> str:
        steps = zip(self.n_features, self.variance_kept, self.variance_kept_bound, self.supports, strict=True)
        rows = "".join(
            f"<tr><td>{r}</td><td>{percent_kept(kept)}</td><td>{percent(most)}</td>"
            f"<td>{escape(', '.join(self.feature_names[j] for j in support))}</td></tr>"
            for r, kept, most, support in steps
        )
        head = "<tr><th>features</th><th>kept of PCA's variance</th><th>at most</th><th>which</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def sparsity_path(
    X: Any,
    n_components: int = 2,
    *,
    max_features: int | None = None,
    min_variance: float | None = None,
    max_loss: float | None = None,
    include: Any = None,
    exclude: Any = None,
    costs: Any = None,
    max_cost: float | None = None,
    groups: Any = None,
    max_per_group: Any = None,
    noise_variance: Any = None,
    cv: Any = None,
    improve: bool = True,
    center: bool = True,
    scale: bool = False,
    precomputed: bool = False,
    missing: str = "error",
    certify: bool = True,
    effort: str = "default",
    time_limit: float | None = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> SparsityPath:
    """Share of PCA's variance that every number of shared features keeps, and its upper bound.

    The path itself costs a few fits, without ``improve`` about one. Proofs cost a few certificates together: in tables
    with many features only the smallest numbers get a bound tighter than PCA's. With a ``time_limit`` they use the
    remaining time; ``certify=False`` skips them.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or rows of ``open_data``, of shape (n_samples, n_features)
    n_components : int, default=2
    max_features : int, optional
        Maximum number of features; by default 100 in addition to those of ``include``, or all if there are fewer.
    min_variance : float, optional
        Stop as soon as this share of PCA's variance is kept.
    max_loss : float, optional
        Stop as soon as the loss is at most this multiple of PCA's loss.
    include, exclude, costs, max_cost, groups, max_per_group
        Rules on features, as in :class:`SparseEncoder`: every support satisfies them, and bounds hold for every choice
        that does. The path starts with the features of ``include`` and ends when no better choice is within
        ``max_cost``.
    noise_variance : float, array-like of shape (n_features,), dict by name, "auto" or None, default=None
        Variance of independent noise on every reading, as in :class:`SparseEncoder`. "auto" chooses the noise that is
        best along the whole path.
    cv : int, splitter of scikit-learn or pairs of indices, optional
        Also cross-validate, for ``held_out``; as in :func:`cross_validated`. One nested path for each fold. Of a
        ``time_limit`` the path on all samples then has half; folds that have not begun at its end are left out, with a
        warning.
    improve : bool, default=True
        Try swaps at each number of features; without them the path is nested.
    center, scale, precomputed, missing, certify, effort, time_limit, random_state, verbose
        As in :class:`SparseEncoder`. ``certify`` proves bounds wherever a fit does.

    Returns
    -------
    SparsityPath

    Examples
    --------
    >>> from sparing import sparsity_path
    >>> from sparing.datasets import load_pitprops
    >>> path = sparsity_path(load_pitprops().correlation, 2, center=False, random_state=0)
    >>> path.smallest(min_variance=0.95)
    3
    """
    if cv is not None and precomputed:
        raise ValueError(
            "cv needs samples, but a covariance has none. Pass the samples themselves, with "
            "precomputed=False, or leave cv out."
        )
    preprocessing = preprocessing_from(center, scale, precomputed, missing)
    rows = as_rows(X)
    names = feature_names_of(X, rows)
    counted = Counted("max_features", together=None if max_features is None else count("max_features", max_features))
    rules = checked_rules(
        names,
        counted,
        include=include,
        exclude=exclude,
        costs=costs,
        max_cost=max_cost,
        groups=groups,
        max_per_group=max_per_group,
    )
    run = run_from(random_state, time_limit, verbose, effort)
    with features_called(names):
        walk = path_search(
            rows,
            n_components,
            preprocessing,
            counted.together or SEARCH.tried_features + len(rules.required),
            run if cv is None else run.share(1 / 2),
            enough=_enough(min_variance, max_loss),
            improve=flag("improve", improve),
            prove=flag("certify", certify),
            rules=rules,
            noise=checked_noise(noise_variance, names),
        )
    path = SparsityPath(
        n_features=walk.sizes,
        variance_kept=walk.variance_kept,
        variance_kept_bound=walk.variance_kept_bound,
        loss_ratio=walk.loss_ratio,
        bound=walk.bound,
        supports=walk.supports,
        feature_names=names,
        noise_variance=0.0 if walk.preprocessing.noise_variance is None else walk.preprocessing.noise_variance,
    )
    if cv is None:
        return path
    kept, error, pca = held_out_curve(walk, cv, run.budget, random_state)
    path, best = path.with_held_out(kept, error, pca), int(np.argmax(kept))
    warn_nothing_transfers(float(kept[best]), float(error[best]))
    return path


def held_out_curve(walk: PathSearch, cv: Any, budget: Budget, random_state: Any = 0) -> tuple[Array, Array, Array]:
    """Shares of unread features that 1, 2, 3, ... features keep in held-out samples, standard errors, and PCA's shares
    of the same features."""
    folds = folds_of(cv, walk.view.signal.n_samples or 0, random_state=random_state)
    run, level = Run(generator_of(random_state), budget), NoiseLevel(variance=walk.preprocessing.noise_variance)
    with fit_context(walk.view, walk.spectrum.rank):
        data, rank, longest = walk.view.signal, walk.spectrum.rank, int(walk.sizes[-1])
        grid = path_grid(data, folds, [level], rank, longest, run, rules=walk.rules)
    return grid.curve(0, -1)


def _enough(min_variance: Any, max_loss: Any) -> Enough | None:
    """The criterion that ends a path early."""
    if min_variance is not None and max_loss is not None:
        raise ValueError(
            "Both min_variance and max_loss were given; each says where the path ends. Pass min_variance for a share "
            "of PCA's variance, or max_loss for a multiple of what PCA loses."
        )
    if max_loss is not None:
        return Enough(max_loss=loss_limit(max_loss))
    if min_variance is None:
        return None
    return Enough(min_variance=share("min_variance", min_variance, "0.9 keeps 90% of the variance that PCA keeps."))
