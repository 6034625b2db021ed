"""Words that every output shares: names as they may be shown, loadings in order of size, components as equations."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sparing.estimators.inputs import named_or_numbered

JOINERS = "\u200c\u200d"
"""Invisible, but parts of words and emoji."""

ISOLATE, END_OF_ISOLATE = "\u2068", "\u2069"
"""What keeps text that runs from right to left from turning round its neighbours."""


class LoadingsRow(NamedTuple):
    """One feature of a table of loadings: its name as it may be shown, its place in X, a loading per component."""

    name: str
    feature: int
    loadings: tuple[float, ...]


def shown(name: object) -> str:
    """A name as it may be shown: control characters, which could command a terminal, become question marks, and spaces
    of any width one space."""
    text = str(name)
    if text.startswith(ISOLATE) and text.endswith(END_OF_ISOLATE):  # shown before
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
    """The names as they may be shown; x0, x1, ... where features have none, as in scikit-learn."""
    return [shown(name) for name in named_or_numbered(feature_names, n_features)]


def component_name(number: int) -> str:
    """What the component of this index is called in tables and equations."""
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

    A feature's name stands for its value as the fit prepared it: less its mean where the estimator centres, and
    divided by its standard deviation where it scales.

    Parameters
    ----------
    name : str
        Of the component.
    loadings : array-like of shape (n_features,)
    feature_names : sequence, optional
        x0, x1, ... by default.
    digits : int, default=3
        Significant digits of each loading.
    most : int, optional
        Terms that are written out; the others are counted.

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
    """The right side of an equation, term by term, for those who break lines between them."""
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
    """The features that any component uses, with their loadings; those with the largest loading first."""
    H = np.asarray(components, dtype=np.float64)
    names = names_of(feature_names, H.shape[1])
    used = np.flatnonzero(H.any(axis=0))
    order = used[np.argsort(-np.abs(H[:, used]).max(axis=0, initial=0.0), kind="stable")]
    return [LoadingsRow(names[j], int(j), tuple(float(value) for value in H[:, j])) for j in order]
