"""Loadings and equations of a fitted model, by feature name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.results import Array
from sparing.show.wording import component_name, equation, loadings_rows


def loadings_table(model: Any, feature_names: Sequence[object] | None = None) -> Any:
    """The nonzero loadings of a fitted model, component by component, the largest first.

    Parameters
    ----------
    model : fitted estimator
        One with ``components_``, such as :class:`SparseEncoder` or :class:`SparsePCA`.
    feature_names : sequence, optional
        Names of all features; by default those that the model was fitted with, or x0, x1, ...

    Returns
    -------
    pandas.DataFrame, polars.DataFrame or str
        With columns ``component``, ``feature`` and ``loading``; as text where neither package is installed.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparing import SparsePCA, loadings_table
    >>> wine = load_wine(as_frame=True).data
    >>> loadings_table(SparsePCA(1, n_nonzero=3, scale=True).fit(wine))["feature"].to_list()
    ['flavanoids', 'total_phenols', 'od280/od315_of_diluted_wines']
    """
    components, names = _named(model, feature_names)
    rows = [
        (component_name(i), row.name, row.loadings[0])
        for i, loadings in enumerate(components)
        for row in loadings_rows(loadings[None], names)
    ]
    columns = dict(zip(("component", "feature", "loading"), zip(*rows, strict=True), strict=True))
    for package in ("pandas", "polars"):
        try:
            return __import__(package).DataFrame({name: list(values) for name, values in columns.items()})
        except ModuleNotFoundError:
            continue
    widths = [max(len(str(row[i])) for row in rows) for i in range(2)]
    return "\n".join(f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:8.4f}" for row in rows)


def equations(model: Any, feature_names: Sequence[object] | None = None, *, digits: int = 3) -> str:
    """Each component of a fitted model as a sum of features, one line each, the largest term first.

    A name stands for the preprocessed value of its feature: minus its mean if the estimator centres, divided by its
    standard deviation if it scales.

    Parameters
    ----------
    model : fitted estimator
        One with ``components_``.
    feature_names : sequence, optional
        Names of all features; by default those that the model was fitted with, or x0, x1, ...
    digits : int, default=3
        Significant digits of each loading.

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sparing import SparsePCA, equations
    >>> wine = load_wine(as_frame=True).data
    >>> print(equations(SparsePCA(1, n_nonzero=3, scale=True).fit(wine)))
    component 1 = 0.597 flavanoids + 0.577 total_phenols + 0.557 od280/od315_of_diluted_wines
    """
    components, names = _named(model, feature_names)
    return "\n".join(equation(component_name(i), row, names, digits) for i, row in enumerate(components))


def _named(model: Any, feature_names: Sequence[object] | None) -> tuple[Array, Sequence[object] | None]:
    """The components of a model, and the names of all features, if any."""
    if not hasattr(type(model), "fit"):
        raise TypeError(
            f"model={model!r} is a {type(model).__name__}; a fitted estimator with components_ is needed. Pass, for "
            "example, SparseEncoder(2).fit(X)."
        )
    check_is_fitted(model)
    if not hasattr(model, "components_"):
        raise TypeError(
            f"{type(model).__name__} has no components_, so there are no loadings. Pass a fitted encoder or sparse PCA."
        )
    components = np.asarray(model.components_)
    names = getattr(model, "feature_names_in_", None) if feature_names is None else feature_names
    if names is not None and len(names) != components.shape[1]:
        raise errors.wrong_number_of_names(len(names), components.shape[1])
    return components, names
