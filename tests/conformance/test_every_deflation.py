"""The laws of every deflation and constraint."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import linalg, sparse

from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.linalg import top_spectrum
from sparing.linalg.variance import basis
from sparing.methods.deflation import CONSTRAINTS, DEFLATIONS
from sparing.methods.encoders import Sequential
from sparing.methods.encoders.sequential import sequential_directions
from sparing.methods.solvers import Auto
from sparing.run import Run
from sparing.task import Task

ALL = {**DEFLATIONS, **CONSTRAINTS}
every = pytest.mark.parametrize("deflation", ALL.values(), ids=ALL.keys())
BIBLIOGRAPHY = Path(__file__).parents[2] / "docs" / "references.bib"


def problem(rng, d=7):
    X = rng.standard_normal((30, d)) @ rng.standard_normal((d, d))
    return as_view(X), np.cov(X, rowvar=False) * 29


def unit(H):
    return H / np.linalg.norm(H, axis=0)


def one_by_one(name, A, H):
    """Mackey's definitions, one direction after the other."""
    Q = np.zeros((len(A), 0))
    for x in H.T:
        if name == "projection":
            P = np.eye(len(A)) - np.outer(x, x)
            A = P @ A @ P
        elif name == "hotelling":
            A = A - (x @ A @ x) * np.outer(x, x)
        elif name == "schur":
            A = A - np.outer(A @ x, x @ A) / (x @ A @ x)
        elif name in ("orthogonalized", "generalized"):
            q = x - Q @ (Q.T @ x)
            q /= np.linalg.norm(q)
            Q = np.column_stack([Q, q])
            P = np.eye(len(A)) - np.outer(q, q)
            A = P @ A @ P
        else:
            A = A * np.outer(x == 0, x == 0)
    return A


@pytest.mark.parametrize("name", DEFLATIONS)
def test_all_directions_at_once_are_the_same_as_one_by_one(name, rng):
    view, A = problem(rng)
    H = unit(rng.standard_normal((7, 3)) * (rng.random((7, 3)) < 0.6) + np.eye(7, 3))
    left, metric = DEFLATIONS[name]().deflate(view, H)
    np.testing.assert_allclose(left.gram() * view.square_unit, one_by_one(name, A, H), atol=1e-9 * np.trace(A))
    if name == "generalized":
        off = np.eye(7) - linalg.orth(H) @ linalg.orth(H).T
        np.testing.assert_allclose(metric.block(np.arange(7)), off, atol=1e-12)
    else:
        assert metric is None
    least = np.linalg.eigvalsh(left.gram())[0]
    assert left.is_psd == (name != "hotelling")
    assert left.is_psd == (least > -1e-9 * view.total)  # Hotelling's makes it indefinite: the control


@every
def test_principal_components_leave_what_pca_leaves(deflation, rng):
    """For eigenvectors every deflation but the disjoint one is the same."""
    view, A = problem(rng)
    values, vectors = np.linalg.eigh(A)
    if deflation is DEFLATIONS["disjoint"]:
        return
    left, _ = deflation().deflate(view, vectors[:, [-1, -2]])
    wanted = (vectors[:, :-2] * values[:-2]) @ vectors[:, :-2].T
    np.testing.assert_allclose(left.gram() * view.square_unit, wanted, atol=1e-8 * values[-1])


@every
def test_the_same_in_every_storage(deflation, rng):
    X = rng.standard_normal((40, 8)) * (rng.random((40, 8)) < 0.6)
    H, J = unit(rng.standard_normal((8, 2))), np.array([1, 4, 6])
    Z = X - X.mean(axis=0)
    views = [as_view(X), as_view(sparse.csr_array(X)), as_view(Z.T @ Z, Preprocessing(precomputed=True))]
    lefts = [deflation().deflate(view, H) for view in views]
    blocks = [left.view.restricted(J).gram() * view.square_unit for left, view in zip(lefts, views, strict=True)]
    for block in blocks[1:]:
        np.testing.assert_allclose(block, blocks[0], atol=1e-9 * np.abs(blocks[0]).max())


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constraints_are_kept_exactly(name, rng):
    view, A = problem(rng, 12)
    spectrum = top_spectrum(view, 3, rng)
    H = sequential_directions(Auto(), CONSTRAINTS[name](), view, spectrum, [5, 5, 5], Run(rng))
    assert H.shape[1] == 3
    products = H.T @ H if name == "orthogonal" else H.T @ A @ H / np.trace(A)
    np.testing.assert_allclose(products, np.diag(np.diag(products)), atol=1e-10)
    free = sequential_directions(Auto(), DEFLATIONS["generalized"](), view, spectrum, [5, 5, 5], Run(rng))
    products = free.T @ free if name == "orthogonal" else free.T @ A @ free / np.trace(A)
    assert np.abs(products - np.diag(np.diag(products))).max() > 1e-3, "the control: unconstrained ones do not keep it"


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_a_constraint_that_leaves_nothing_ends_the_sequence(name, rng):
    view, _ = problem(rng, 6)
    spectrum = top_spectrum(view, 4, rng)
    H = sequential_directions(Auto(), CONSTRAINTS[name](), view, spectrum, [2] * 4, Run(rng))
    assert 1 <= H.shape[1] <= 4
    if name == "uncorrelated":  # each earlier component takes one degree of freedom of two
        assert H.shape[1] == 2


TABLE = {"hotelling": 81.50, "projection": 82.60, "schur": 81.79, "orthogonalized": 82.62, "generalized": 84.36}


@pytest.mark.parametrize("name", TABLE)
def test_pit_props_six_components_of_five_features(name):
    """Cumulative basis variance in percent, measured independently."""
    view = as_view(load_pitprops().correlation, Preprocessing(precomputed=True))
    rng = np.random.default_rng(0)
    spectrum = top_spectrum(view, 6, rng)
    found = Sequential(Auto(), DEFLATIONS[name]()).encode(Task.of_components(view, spectrum, 5), Run(rng))
    assert 100 * basis(view, found.components.T).sum() / view.total == pytest.approx(TABLE[name], abs=0.006)


def test_disjoint_components_share_no_feature(rng):
    view, _ = problem(rng, 9)
    spectrum = top_spectrum(view, 3, rng)
    H = sequential_directions(Auto(), DEFLATIONS["disjoint"](), view, spectrum, [3, 2, 4], Run(rng))
    assert (np.count_nonzero(H, axis=1) <= 1).all()
    assert list(np.count_nonzero(H, axis=0)) == [3, 2, 4]


@every
def test_cites_its_paper_and_has_one_verb(deflation):
    known = set(re.findall(r"@\w+\{(\w+),", BIBLIOGRAPHY.read_text()))
    assert deflation.reference.key in known
    assert f"[{deflation.reference.key}, " in inspect.getdoc(deflation)
    public = [name for name, f in vars(deflation).items() if inspect.isfunction(f) and name[0] != "_"]
    assert public == ["deflate"]
    assert dataclasses.is_dataclass(deflation)
    assert deflation.__dataclass_params__.frozen
