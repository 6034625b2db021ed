"""Jeffers' pit props, the classical example of sparse PCA."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
from sklearn.utils import Bunch


def load_pitprops() -> Any:
    """Correlations of 13 measurements on 180 timber pit props, as published by Jeffers (1967).

    Returns
    -------
    Bunch
        ``correlation`` (13 x 13 ndarray), ``feature_names`` (list of str), ``n_samples`` (180), ``DESCR``.

    Examples
    --------
    >>> from sparing.datasets import load_pitprops
    >>> load_pitprops().feature_names[:2]
    ['topdiam', 'length']
    """
    text = files("sparing.datasets").joinpath("pitprops.csv").read_text(encoding="utf-8")
    names, *rows = text.splitlines()
    return Bunch(
        correlation=np.array([row.split(",") for row in rows], dtype=np.float64),
        feature_names=names.split(","),
        n_samples=180,
        DESCR="Correlations of 13 measurements on 180 pit props of Corsican pine. J. N. R. Jeffers (1967), Two case "
        "studies in the application of principal component analysis, Applied Statistics 16, 225-236.",
    )
