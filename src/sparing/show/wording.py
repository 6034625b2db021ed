"""Common parts of all output: printable names, loadings sorted by size, components as equations."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sparing.estimators.inputs import named_or_numbered

JOINERS = "\u200c\u200d"
"""Invisible characters that are parts of words and emoji."""

ISOLATE, END_OF_ISOLATE = "\u2068", "\u2069"
"""Characters that isolate right-to-left text from its neighbours."""


class LoadingsRow(NamedTuple):
    """One feature of a loadings table: its printable name, its index in X, and a loading per component."""

    name: str
    feature: int
    loadings: tuple[float, ...]


def shown(name: object) -> str:
    """A printable name: control characters, which could control a terminal, become question marks, and spaces
    of any width one space."""
    text = str(name)
    if text.startswith(ISOLATE) and text.endswith(END_OF_ISOLATE):  # already converted
        text = text[1:-1]
    text = "".join(_sign(sign) for sign in text)
    if any(unicodedata.bidirectional(sign) in {"R", "AL"} for sign in text):
        return f"{ISOLATE}{text}{END_OF_ISOLATE}"
    return text


def _sign(sign: str) -> str:
    if unicodedata.category(sign) == "Zs":
        return " "
    return sign if sign.isprintable() or sign in JOINERS else "?"


def names_of(feature_names: Sequence[object] | None, n_features: int) -> list[str]:
    """Printable names; x0, x1, ... for unnamed features, as in scikit-learn."""
    return [shown(name) for name in named_or_numbered(feature_names, n_features)]


def component_name(number: int) -> str:
    """The name of a component in tables and equations."""
    return f"component {number + 1}"


def equation(
    name: str,
    loadings: ArrayLike,
    feature_names: Sequence[object] | None = None,
    digits: int = 3,
    *,
    most: int | None = None,
) -> str:
    """A component as a sum of features, the largest term first and zero terms left out.

    A name stands for the preprocessed value of its feature: minus its mean if the estimator centres, divided by its
    standard deviation if it scales.

    Parameters
    ----------
    name : str
        Name of the component.
    loadings : array-like of shape (n_features,)
    feature_names : sequence, optional
        x0, x1, ... by default.
    digits : int, default=3
        Significant digits of each loading.
    most : int, optional
        Maximum number of terms written; the others are counted.

    Returns
    -------
    str

    Examples
    --------
    >>> equation("component 1", [0.6, 0.0, -0.8], ["alcohol", "ash", "hue"])
    'component 1 = -0.8 hue + 0.6 alcohol'
    """
    return f"{name} = {' '.join(terms(loadings, feature_names, digits, most=most))}"


def terms(
    loadings: ArrayLike,
    feature_names: Sequence[object] | None = None,
    digits: int = 3,
    *,
    most: int | None = None,
) -> list[str]:
    """The terms of the right side of an equation, to allow line breaks between them."""
    row = np.atleast_2d(np.asarray(loadings, dtype=np.float64))
    rows = loadings_rows(row, feature_names)
    shown_rows = rows[:most]
    out = [f"{'-' if loading < 0 else '+'} {abs(loading):.{digits}g} {label}" for label, _, (loading,) in shown_rows]
    if not out:
        return ["0"]
    out[0] = "-" + out[0][2:] if out[0].startswith("-") else out[0][2:]
    rest = len(rows) - len(shown_rows)
    return [*out, f"+ ... ({rest} smaller term{'s' if rest > 1 else ''})"] if rest else out


def loadings_rows(components: ArrayLike, feature_names: Sequence[object] | None = None) -> list[LoadingsRow]:
    """The features that some component uses, with their loadings, sorted by the largest loading."""
    H = np.asarray(components, dtype=np.float64)
    names = names_of(feature_names, H.shape[1])
    used = np.flatnonzero(H.any(axis=0))
    order = used[np.argsort(-np.abs(H[:, used]).max(axis=0, initial=0.0), kind="stable")]
    return [LoadingsRow(names[j], int(j), tuple(float(value) for value in H[:, j])) for j in order]
