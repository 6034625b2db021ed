"""Laws that algorithms of every kind keep, and a view that sees to one of them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

from sparing.gram import DataMatrix
from sparing.proof.bounds import BOUNDS
from sparing.results import Bound, Problem
from sparing.task import Task

BIBLIOGRAPHY = Path(__file__).parents[1] / "docs" / "references.bib"


BY_DESIGN = (
    "does not raise an error when the number of features in transform is different",
    "does not check for consistency between input number",
    "doesn't check for NaN and inf in transform",
    "transform does not raise",
    "predict does not raise",
    "score does not raise",
)
"""How scikit-learn's checks end where a model takes a table of its features alone, in any order, with NaN elsewhere."""


def assert_scikit_learn(estimator, check, by_design=BY_DESIGN) -> None:
    """A check of scikit-learn, but for what its rules on new tables forbid and these models allow."""
    try:
        check(estimator)
    except AssertionError as refused:
        if not any(said in str(refused) for said in by_design):
            raise


def assert_cites(algorithm) -> None:
    """One citation, three places that must agree: attribute, docstring, bibliography."""
    known = set(re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY.read_text()))
    reference, text = algorithm.reference, inspect.getdoc(algorithm)
    assert reference.key in known
    assert re.search(r"(Alg|Table|Theorem|Sec)", reference.where), "name the numbered place"
    assert f"[{reference.key}, " in text
    assert "**Optimises**" in text
    assert "**Differs from the paper.**" in text


def assert_one_verb(algorithm, verb: str) -> None:
    """A frozen dataclass with one public method, its own or inherited."""
    public = [n for n, _ in inspect.getmembers(algorithm, inspect.isfunction) if n[0] != "_"]
    assert public == [verb]
    assert dataclasses.is_dataclass(algorithm)
    assert algorithm.__dataclass_params__.frozen


def checked(bound: Bound, view: DataMatrix, problem: Problem) -> float:
    """The bound again from the data and its witness alone, by the method it names, as a recheck has it."""
    return BOUNDS[bound.name]().check(Task(view, problem), bound.witness)


def mostly_long(values, *first):
    """Cases of one law: those named first for every change, the others, which say the same again, for `make stress`."""

    def case(value):
        several = value if isinstance(value, tuple) else (value,)
        return pytest.param(*several, marks=() if value in first else pytest.mark.long)

    return [case(value) for value in values]


class Unformed(DataMatrix):
    """A view that may not be seen as a whole."""

    def __init__(self, matrix, most: int = 300) -> None:
        self._matrix, self.n_features, self._most = matrix, len(matrix), most

    def gram_matmat(self, V):
        assert V.shape[1] < 100
        return self._matrix @ V

    def gram_columns(self, J):
        assert len(J) < self._most
        return self._matrix[:, J]

    def gram_diagonal(self):
        return np.diagonal(self._matrix)

    def gram(self):
        raise AssertionError("nothing of size d x d")
