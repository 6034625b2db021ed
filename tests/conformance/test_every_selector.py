"""The laws of every selector."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from sparing.data import Preprocessing, as_view
from sparing.linalg import encoder_on, top_spectrum
from sparing.methods import encoders
from sparing.methods.selectors import SELECTORS
from sparing.run import Run
from sparing.task import Task

ALGORITHMS = [
    *SELECTORS.values(),
    *(getattr(encoders, name) for name in encoders.__all__ if isinstance(getattr(encoders, name), type)),
]
BIBLIOGRAPHY = Path(__file__).parents[2] / "docs" / "references.bib"
selectors = pytest.mark.parametrize("selector", SELECTORS.values(), ids=SELECTORS.keys())

DRAWN = {"adaptive", "leverage", "uniform"}
"""Selectors whose draws belong to places: the same seed on columns in another order is another choice."""

DETERMINISTIC = {name: selector for name, selector in SELECTORS.items() if name not in DRAWN}
deterministic = pytest.mark.parametrize("selector", DETERMINISTIC.values(), ids=DETERMINISTIC.keys())


def select(selector, X, r, k=2, seed=0, **preprocessing):
    view = as_view(X, Preprocessing(**preprocessing))
    spectrum = top_spectrum(view, k, np.random.default_rng(seed))
    return selector().select(Task.of_columns(view, r, spectrum), Run(np.random.default_rng(seed))), spectrum


@pytest.mark.filterwarnings("ignore:The features returned are the best found")  # exact search of collinear columns
@selectors
@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), r=st.integers(1, 7), k=st.integers(1, 3), integers=st.booleans())
def test_distinct_columns_no_more_than_asked_with_their_gram_columns(selector, seed, r, k, integers):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (9, 7)).astype(float) if integers else rng.standard_normal((9, 7))
    X[0, 0] += 1.0
    view = as_view(X)
    if view.total == 0:
        return
    found, _ = select(selector, X, r, k)
    assert 1 <= len(found.columns) <= r
    assert len(set(found.columns)) == len(found.columns)
    np.testing.assert_allclose(found.gram_columns, view.gram_columns(found.columns), atol=1e-12)
    if not integers:
        assert len(found.columns) == r


@selectors
def test_zero_and_constant_columns_are_never_chosen(selector, rng):
    X = rng.standard_normal((20, 6))
    X[:, 1], X[:, 4] = 0.0, 3.0
    found, _ = select(selector, X, 4)
    assert not {1, 4} & set(found.columns)


@selectors
def test_powers_of_two(selector, rng):
    X = rng.standard_normal((40, 12)) @ rng.standard_normal((12, 12))
    plain = list(select(selector, X, 5)[0].columns)
    assert list(select(selector, X * 2.0**30, 5)[0].columns) == plain


@deterministic
def test_permutations(selector, rng):
    X = rng.standard_normal((40, 12)) @ rng.standard_normal((12, 12))
    order = rng.permutation(12)
    plain = set(select(selector, X, 5)[0].columns)
    assert {int(order[j]) for j in select(selector, X[:, order], 5)[0].columns} == plain


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_draws_depend_on_the_seed_alone(name, rng):
    X = rng.standard_normal((40, 30)) @ rng.standard_normal((30, 30))
    choices = [tuple(select(SELECTORS[name], X, 8, seed=seed)[0].columns) for seed in (0, 0, 1, 2)]
    assert choices[0] == choices[1]
    assert len(set(choices)) > 1


@selectors
def test_same_choice_in_every_storage(selector, rng):
    d = 15 if selector.__name__ == "Exact" else 300  # a proof takes few features
    X = rng.standard_normal((60, d)) * (rng.random((60, d)) < 0.3)
    plain = list(select(selector, X, 8)[0].columns)
    for storage in (sparse.csr_array(X), sparse.csc_array(X), np.asfortranarray(X)):
        assert list(select(selector, storage, 8)[0].columns) == plain


@selectors
def test_copies_of_one_column_are_not_taken_for_several(selector, rng):
    z = rng.standard_normal((30, 3))
    X = np.column_stack([np.tile(z[:, :1], 5) * 3, z[:, 1:]])
    found, spectrum = select(selector, X, 5, k=3)
    assert spectrum.loss_ratio(encoder_on(found, 3, spectrum.total).loss) == 1.0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_cites_its_paper_in_code_and_in_prose(algorithm):
    """One citation, three places that must agree: attribute, docstring, bibliography."""
    known = set(re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY.read_text()))
    reference = algorithm.reference
    assert reference.key in known
    assert re.search(r"(Alg|Table|Theorem|Sec)", reference.where), "name the numbered place"
    assert f"[{reference.key}, " in inspect.getdoc(algorithm)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_has_one_verb_and_frozen_settings(algorithm):
    public = [n for n, f in vars(algorithm).items() if inspect.isfunction(f) and n[0] != "_"]
    assert len(public) == 1
    assert public[0] in {"solve", "select", "encode", "deflate"}
    assert dataclasses.is_dataclass(algorithm)
    assert algorithm.__dataclass_params__.frozen


def test_every_key_cited_anywhere_is_in_the_bibliography():
    known = set(re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY.read_text()))
    source = Path(inspect.getfile(as_view)).parents[1]
    cited = set()
    for path in source.rglob("*.py"):
        cited |= set(re.findall(r"\[([a-z]+\d{4}), ", path.read_text()))
    assert cited
    assert cited <= known
