"""The reference names every algorithm that an estimator can be given, and nothing that is not there."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import sparing
from sparing.certificates import Recheck
from sparing.estimators.sparse_encoder import STRATEGIES
from sparing.estimators.sparse_pca import BLOCK_SOLVERS
from sparing.linalg.theorem_bounds import rank_needed, theorem_11_schedule
from sparing.methods.deflation import DEFLATIONS
from sparing.methods.selectors import SELECTORS
from sparing.methods.solvers import NONNEGATIVE_SOLVERS, SOLVERS
from sparing.report import explore
from sparing.results import Guarantee, Problem

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text()


def described(page: str) -> list[object]:
    """What the page describes, as objects: two names of one class are the same."""
    places = (name.rpartition(".") for name in re.findall(r"^::: (\S+)$", page, re.MULTILINE))
    return [getattr(importlib.import_module(module), name) for module, _, name in places]


def registries() -> dict[str, list[type]]:
    """Every table from names to algorithms, wherever it is; an algorithm is a class that names its paper."""
    modules = [importlib.import_module(found.name) for found in pkgutil.walk_packages(sparing.__path__, "sparing.")]
    tables = {
        name: list(value.values())
        for module in modules
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, dict) and value
    }
    return {name: kinds for name, kinds in tables.items() if all(hasattr(kind, "reference") for kind in kinds)}


def certificates() -> list[type]:
    return [getattr(sparing.certificates, name) for name in sparing.certificates.__all__ if "Certificate" in name]


ALGORITHMS = {kind for kinds in registries().values() for kind in kinds}
ALGORITHMS |= {type(sparing.SparseEncoder(strategy=strategy)._algorithm()) for strategy in STRATEGIES}


def test_all_registries_are_looked_at():
    wanted = {"SELECTORS", "REGRESSION_SELECTORS", "SOLVERS", "BLOCK_SOLVERS", "NONNEGATIVE_SOLVERS"}
    assert wanted | {"DEFLATIONS", "CONSTRAINTS"} <= set(registries())


@pytest.mark.parametrize("kind", sorted(ALGORITHMS, key=str), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_algorithm_is_on_the_page(kind):
    assert kind in described(PAGE)


def test_what_certificates_and_pages_send_to_is_on_the_page():
    sent_to = [*certificates(), Problem, Recheck, Guarantee, explore, rank_needed, theorem_11_schedule]
    assert [each for each in sent_to if each not in described(PAGE)] == []


def test_nothing_is_described_twice():
    assert len(described(PAGE)) == len({id(each) for each in described(PAGE)})


def test_the_example_of_an_instance_is_right():
    (example,) = re.findall(r"`(SparsePCA\(solver=[^`]+)`", PAGE)
    model = eval(example, {"SparsePCA": sparing.SparsePCA, "sparing": sparing})
    assert type(model.set_params(n_nonzero=1)._algorithm().solver) in ALGORITHMS


def test_an_algorithm_that_was_forgotten_is_found():
    without = PAGE.replace("::: sparing.methods.solvers.Exact\n", "")
    assert ALGORITHMS - set(described(without)) == {sparing.methods.solvers.Exact}


NAMED = {
    (sparing.SparseEncoder, "selector"): SELECTORS,
    (sparing.SparsePCA, "solver"): {**SOLVERS, **BLOCK_SOLVERS},
    (sparing.SparsePCA, "deflation"): DEFLATIONS,
    (sparing.NonnegativeSparsePCA, "solver"): NONNEGATIVE_SOLVERS,
}


@pytest.mark.parametrize(("place", "registry"), NAMED.items(), ids=lambda each: str(each)[:40])
def test_docstrings_and_the_page_of_choices_name_every_algorithm(place, registry):
    estimator, parameter = place
    described = re.search(rf"\n    {parameter} :.*?(?=\n    \w+[\w, ]* : )", estimator.__doc__, re.DOTALL)[0]
    assert set(registry) - set(re.findall(r"``(\w+)``", described)) == set()
    choices = (Path(__file__).parents[1] / "docs" / "choose.md").read_text()
    assert set(registry) - set(re.findall(r'`"(\w+)"`', choices)) == set()
