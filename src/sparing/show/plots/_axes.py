"""Axes, colours and feature names that all displays share."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sparing import errors
from sparing.estimators.inputs import named_or_numbered

SHOWN = 20
"""Maximum number of named features in each panel."""

AXIS_CHARACTERS = 28
"""Maximum number of characters of a name; longer ones are abbreviated in the middle, because names often differ only at
the end."""

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#B8A900", "#555555")
"""Told apart by colour-blind readers too [Okabe and Ito's palette; its yellow darker, for white paper]."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""One fewer than the number of colours, so that 56 groups look different."""


def pyplot() -> Any:
    """Import matplotlib's pyplot; an error explains what to install."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        raise errors.needs_package("Drawing", "matplotlib", "plot") from None
    return plt


def axes_of(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or new ones of this size in inches."""
    plt = pyplot()
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def panels_of(ax: Any, count: int, size: tuple[float, float]) -> list[Any]:
    """One axes per panel: the given ones, or new ones side by side, each of this size."""
    plt = pyplot()
    if ax is None:
        figure_size = (count * size[0], size[1])
        return list(plt.subplots(1, count, figsize=figure_size, squeeze=False, layout="constrained")[1].flat)
    given = list(np.ravel(np.asarray(ax, dtype=object)))
    if len(given) != count:
        raise ValueError(f"ax has {len(given)} axes, but {count} are needed. Pass a sequence of {count} axes, or none.")
    return given


def plain(name: object) -> str:
    """A name on one line, with dollar signs escaped, which matplotlib would read as mathematics."""
    text = " ".join(str(name).split())
    if len(text) > AXIS_CHARACTERS:
        text = f"{text[: AXIS_CHARACTERS - 10]}…{text[-9:]}"
    return text.replace("$", r"\$")


def names_of(estimator: Any, feature_names: Sequence[object] | None) -> list[str]:
    """Names given, names of the fit, or x0, x1, ..."""
    n_features = int(estimator.n_features_in_)
    given = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
    names = named_or_numbered(given, n_features)
    if len(names) != n_features:
        raise errors.wrong_number_of_names(len(names), n_features)
    return [plain(name) for name in names]


def fitted_with(estimator: Any, attributes: Sequence[str], drawn: str) -> None:
    """Reject an estimator that is not fitted, or lacks the attributes to draw."""
    check_is_fitted(estimator)
    for attribute in attributes:
        if not hasattr(estimator, attribute):
            raise errors.cannot_draw(estimator, attribute, drawn)


def chosen_components(components: Sequence[int] | None, n_components: int, count: int | None = None) -> list[int]:
    """Check component indices; by default all, or the first ``count``."""
    try:
        wanted = list(range(n_components if count is None else count)) if components is None else [*components]
        wanted = [operator.index(i) for i in wanted]
    except TypeError:
        wanted = []
    wrong_count = not wanted or (count is not None and len(wanted) != count)
    if wrong_count or any(not 0 <= i < n_components for i in wanted):
        raise _components_error(wanted if components is None else components, n_components, count)
    return wanted


def _components_error(value: object, n_components: int, count: int | None) -> ValueError:
    """The error for components that do not exist, or whose number differs from the number of axes."""
    have = "1 component" if n_components == 1 else f"{n_components} components"
    if count is not None and n_components < count:
        return ValueError(
            f"The picture has {count} axes, one for each component, and the estimator has {have}. Fit at least {count} "
            "with n_components; LoadingsDisplay draws any number of them."
        )
    many = "one or more" if count is None else str(count)
    return ValueError(
        f"components={value!r} cannot be drawn: {many} whole numbers from 0 to {n_components - 1} are, since the "
        f"estimator has {have}. Pass some of these, or fit more with n_components."
    )


def axis_title(estimator: Any, i: int) -> str:
    """The title of an axis: the component and the share that it adds."""
    shares = getattr(estimator, "explained_variance_ratio_", None)
    return f"component {i + 1}" + ("" if shares is None else f" ({shares[i]:.1%} of the variance)")
