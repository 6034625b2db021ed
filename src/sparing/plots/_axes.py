"""Where to draw, and how features are called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sparing import errors


def axes_of(ax: Any, size: tuple[float, float]) -> Any:
    """The axes given, or new ones of this size in inches; a sentence where there is nothing to draw with."""
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError:
        raise errors.needs_package("Drawing", "matplotlib", "plot") from None
    return plt.subplots(figsize=size)[1] if ax is None else ax


def plain(name: object) -> str:
    """A name as it is: matplotlib would read mathematics between two dollar signs."""
    return str(name).replace("$", r"\$")


def names_of(estimator: Any, feature_names: Sequence[object] | None) -> list[str]:
    """Names given, names of the fit, or x0, x1, ..."""
    n_features = int(estimator.n_features_in_)
    names: Any = getattr(estimator, "feature_names_in_", None) if feature_names is None else feature_names
    if names is None:
        names = [f"x{j}" for j in range(n_features)]
    if len(names) != n_features:
        raise errors.wrong_number_of_names(len(names), n_features)
    return [plain(name) for name in np.asarray(names, dtype=object)]
