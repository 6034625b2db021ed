"""Loss against number of features."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from sparing import errors
from sparing.data import as_rows
from sparing.estimators.inputs import feature_names_of, features_called
from sparing.estimators.parameters import flag, loss_limit, preprocessing_from, run_from
from sparing.estimators.path_search import path_search
from sparing.results import Array, Indices

LONGEST_SUPPORT = 100
"""Features of the longest support where nothing else is asked for."""


@dataclass(frozen=True, eq=False)
class SparsityPath:
    """What each number of features loses, and what no choice of as many can go below; both divided by PCA's loss.

    Attributes
    ----------
    n_features : ndarray of int
        1, 2, 3, ...
    loss_ratio, bound : ndarray
    supports : list of ndarray
        The features used at each step; not nested where swaps found better ones.
    feature_names : list of str
        Names of all features of X: those of its columns or in its file, or x0, x1, ...

    Examples
    --------
    >>> from sparing import sparsity_path
    >>> from sparing.datasets import load_pitprops
    >>> path = sparsity_path(load_pitprops().correlation, 2, precomputed=True, random_state=0)
    >>> len(path)
    13
    >>> path.loss_ratio[:4].round(3)
    array([1.503, 1.149, 1.086, 1.054])
    >>> path.supports[3]
    array([1, 2, 6, 7])
    """

    n_features: Indices
    loss_ratio: Array
    bound: Array
    supports: list[Indices] = field(repr=False)
    feature_names: list[str] = field(repr=False)

    def smallest(self, max_loss: float) -> int:
        """The fewest features whose loss is at most ``max_loss`` times PCA's.

        Parameters
        ----------
        max_loss : float
            A loss that can be borne: 1.05 is 5% more than PCA loses.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            Where the path ends before that.
        """
        fits = np.flatnonzero(self.loss_ratio <= loss_limit(max_loss))
        if len(fits) == 0:
            longest = len(self.n_features)
            raise ValueError(
                f"No number of features up to {longest} keeps the loss within {max_loss:g} times PCA's; {longest} "
                f"features lose {self.loss_ratio[-1]:.4g} times. Compute a longer path with max_features, or allow a "
                "larger max_loss."
            )
        return int(self.n_features[fits[0]])

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row per number of features.

        Returns
        -------
        pandas.DataFrame
            With columns ``loss_ratio``, ``bound`` and ``features``, their names.
        """
        try:
            import pandas as pd  # type: ignore[import-untyped]
        except ModuleNotFoundError as missing:
            raise errors.needs_package("to_frame", "pandas", "io") from missing
        names = [", ".join(self.feature_names[j] for j in support) for support in self.supports]
        columns = {"n_features": self.n_features, "loss_ratio": self.loss_ratio, "bound": self.bound, "features": names}
        return pd.DataFrame(columns).set_index("n_features")

    def __len__(self) -> int:
        return len(self.n_features)

    def _repr_html_(self) -> str:
        steps = zip(self.n_features, self.loss_ratio, self.bound, self.supports, strict=True)
        rows = "".join(
            f"<tr><td>{r}</td><td>{ratio:.4f}</td><td>{bound:.4f}</td>"
            f"<td>{escape(', '.join(self.feature_names[j] for j in support))}</td></tr>"
            for r, ratio, bound, support in steps
        )
        head = "<tr><th>features</th><th>loss / PCA's</th><th>at least</th><th>which</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"


def sparsity_path(
    X: Any,
    n_components: int = 2,
    *,
    max_features: int | None = None,
    max_loss: float | None = None,
    improve: bool = True,
    center: bool = True,
    scale: bool = False,
    precomputed: bool = False,
    missing: str = "error",
    certify: bool = True,
    effort: str = "default",
    time_limit: float | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> SparsityPath:
    """Loss and bound for every number of shared features.

    The path itself costs a few fits, without ``improve`` about one. Proofs cost a few certificates
    together, less the more features there are, and nothing from about 100 on. With a ``time_limit`` they take what it
    leaves; ``certify=False`` leaves them out.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or rows of ``open_data``, of shape (n_samples, n_features)
    n_components : int, default=2
    max_features : int, optional
        The longest support; by default 100, or all features where there are fewer.
    max_loss : float, optional
        Stop as soon as the loss is at most this many times PCA's.
    improve : bool, default=True
        Try swaps at each number of features; without them the path is nested.
    center, scale, precomputed, missing, certify, effort, time_limit, random_state, verbose
        As in :class:`SparseEncoder`. ``certify`` proves a bound for each number of features where there are at most 40.

    Returns
    -------
    SparsityPath

    Examples
    --------
    >>> from sparing import sparsity_path
    >>> from sparing.datasets import load_pitprops
    >>> path = sparsity_path(load_pitprops().correlation, 2, center=False, random_state=0)
    >>> path.smallest(1.05)
    4
    """
    preprocessing = preprocessing_from(center, scale, precomputed, missing)
    rows = as_rows(X)
    names = feature_names_of(X, rows)
    with features_called(names):
        walk = path_search(
            rows,
            n_components,
            preprocessing,
            LONGEST_SUPPORT if max_features is None else max_features,
            run_from(random_state, time_limit, verbose, effort),
            max_loss=None if max_loss is None else loss_limit(max_loss),
            improve=flag("improve", improve),
            prove=flag("certify", certify),
        )
    return SparsityPath(np.arange(1, len(walk.supports) + 1), walk.loss_ratio, walk.bound, walk.supports, names)
