"""The laws of every bound on the variance of one component: never below brute force, the same from its witness."""

from __future__ import annotations

import inspect
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from small_problems import matrices, optimum
from sparing.gram import DenseGram
from sparing.linalg import top_spectrum
from sparing.linalg.span import encoder_of
from sparing.objectives.variance import RayleighObjective
from sparing.proof import bounds
from sparing.proof.bounds import LeadingVariance
from sparing.results import Encoder, Problem
from sparing.run import Run
from sparing.task import Task

BIBLIOGRAPHY = Path(__file__).parents[2] / "docs" / "references.bib"

ONE = [
    "BlockSplit",
    "BranchAndBound",
    "DirectOptimality",
    "LargestDiagonals",
    "LeadingVariance",
    "RowSquares",
    "RowSums",
    "SemidefiniteDual",
    "SharperDual",
    "ShiftedLowRank",
]
SEVERAL = ["DisjointSupports", "EachAlone", "OrthogonalDual", "SharedPart"]
NONNEGATIVE = ["DoublyNonnegativeDual", "NonnegativeBranchAndBound", "NonnegativeOptimality"]
OF_LOSS = ["LossTree", "PcaLoss"]

every_bound = pytest.mark.parametrize("name", ONE)


def compute(name, view, size):
    """The bound with the best support of a quick search as incumbent."""
    kind = getattr(bounds, name)
    rng = np.random.default_rng(0)
    spectrum = top_spectrum(view, 1, rng) if view.is_psd else None
    method = kind(spectrum) if kind is LeadingVariance else kind()
    found = RayleighObjective(view).component(RayleighObjective(view).grown(size))
    incumbent = Encoder(found.support, found.loadings[None], np.zeros((0, view.n_features)), np.zeros(0), np.nan)
    problem = Problem(1, size, view.n_features, "variance")
    return method.bound(Task(view, problem), incumbent, Run(rng)), problem


def test_every_bound_is_here():
    assert sorted(ONE + SEVERAL + NONNEGATIVE + OF_LOSS) == sorted(bounds.__all__)


@every_bound
def test_nothing_passes_it_and_it_can_be_computed_again(name):
    issued = 0
    for kind, A in matrices(10, 5, largest=6):
        psd = bool(np.linalg.eigvalsh(A)[0] >= -1e-12 * np.abs(A).max())
        if not psd and name == "LeadingVariance":
            continue
        view = DenseGram(A, is_psd=psd, psd_slack=1e-12 * float(np.abs(A).max()))
        for size in (1, 2, len(A) - 1, len(A)):
            bound, problem = compute(name, view, size)
            if bound is None:
                continue
            issued += 1
            scale = np.abs(A).max()
            assert bound.value >= optimum(A, size) - 1e-13 * scale, (kind, size)
            again = pickle.loads(pickle.dumps(bound))
            value = again.check(view, problem, again.witness)
            assert value == pytest.approx(bound.value, rel=1e-7, abs=1e-7 * scale)
    assert issued > 20


@every_bound
def test_units_do_not_matter(name):
    _, A = next(pair for pair in matrices(8, 9) if pair[0] == "dense")
    plain, _ = compute(name, DenseGram(A), 2)
    large, _ = compute(name, DenseGram(1e10 * A), 2)
    assert large.value == pytest.approx(1e10 * plain.value, rel=1e-5)


@every_bound
def test_it_is_for_one_component_or_says_nothing(name):
    """Only Ky Fan's sum and the largest variances speak of several; k times a bound on one would be wrong."""
    A = next(A for kind, A in matrices(8, 9) if kind == "dense")
    view = DenseGram(A)
    several = Problem(2, 2, len(A), "variance", shared_support=False)
    rng = np.random.default_rng(0)
    kind = getattr(bounds, name)
    method = kind(top_spectrum(view, 2, rng)) if kind is LeadingVariance else kind()
    bound = method.bound(Task(view, several), encoder_of(view, np.eye(len(A), 2), view.total), Run(rng))
    assert (bound is not None) == (name in ("LeadingVariance", "LargestDiagonals"))


@pytest.mark.parametrize("name", ONE + SEVERAL + NONNEGATIVE)
def test_it_cites_its_paper_in_code_and_in_prose(name):
    known = set(re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY.read_text()))
    kind = getattr(bounds, name)
    assert kind.reference.key in known
    assert re.search(r"(Alg|Table|Theorem|Sec)", kind.reference.where), "name the numbered place"
    assert f"[{kind.reference.key}, " in inspect.getdoc(kind)
