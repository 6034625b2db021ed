"""The exact solver: optima that are known, proved; data sets of the literature; cliques."""

from __future__ import annotations

import networkx
import numpy as np
import pytest

from laws import mostly_long
from sparing import SparsePCA, certify
from sparing.data import Preprocessing, as_view
from sparing.datasets import load_pitprops
from sparing.methods.solvers import Exact, TruncatedPower
from sparing.proof.bounds import BranchAndBound
from sparing.proof.trees.prover import Prover
from sparing.run import Budget

PIT_PROPS = [
    1.0, 1.954, 2.475331, 2.937479, 3.406155, 3.770960, 3.996190, 4.068607, 4.138647, 4.172638, 4.208276, 4.218245,
    4.218633,
]  # fmt: skip


def exact(A, r, **settings):
    return SparsePCA(n_nonzero=r, solver="exact", precomputed=True, random_state=0, **settings).fit(A)


@pytest.mark.parametrize("r", range(1, 14))
def test_pit_props(r):
    model = exact(load_pitprops().correlation, r)
    assert model.variance_[0] == pytest.approx(PIT_PROPS[r - 1], abs=6e-7)
    assert model.certificate_.gap <= 1e-8
    assert "proved optimal" in str(model.certificate_)
    assert model.certificate_.recheck(load_pitprops().correlation)


BCP = [
    "communities", "normCommunities", "arrhythmia", "normArrhythmia", "miniBooNE", "normMiniBooNE", "geographic",
    "normGeographic", "normionosphere", "normlung", "normgait", "normvoice", "normgastro",
]  # fmt: skip
KNOWN = {
    ("normCommunities", 5): 4.860548,
    ("normCommunities", 10): 8.823616,
    ("normCommunities", 20): 14.326952,
    ("normArrhythmia", 5): 4.233204,
    ("normArrhythmia", 10): 7.539385,
    ("normArrhythmia", 20): 11.466511,
}


CASES = [(name, r) for name in BCP for r in (5, 10, 20)]


@pytest.mark.parametrize(("name", "r"), mostly_long(CASES, *KNOWN, *CASES[2::3]))
def test_matrices_of_the_literature(shared, name, r):
    A = np.nan_to_num(shared("bcp_covariances.npz", name))
    model = exact((A + A.T) / 2, r)
    assert model.certificate_.gap <= 1e-6
    if (name, r) in KNOWN:
        assert model.variance_[0] == pytest.approx(KNOWN[name, r], abs=6e-7)


@pytest.mark.parametrize("r", [5, 10, 20])
@pytest.mark.parametrize("name", ["eisen1", "eisen2"])
def test_yeast(shared, name, r):
    assert exact(shared("eisen_cov.npz", name), r).certificate_.gap <= 1e-6


@pytest.mark.parametrize(("name", "optimum"), [("colon", 2641.22886), ("lymphoma", 6008.74112)])
def test_500_genes(shared, name, optimum):
    A = shared(f"{name}_cov500.npz", "C")
    model = exact(A, 10)
    assert model.variance_[0] == pytest.approx(optimum, abs=1e-5)
    assert model.certificate_.gap <= 1e-6
    assert exact(A, 30).certificate_.gap <= 1e-6


@pytest.mark.parametrize("scale", [False, True])
def test_thousands_of_genes_from_the_data(shared, scale):
    X = shared("colon_alon.npz").astype(float)
    model = SparsePCA(n_nonzero=5, solver="exact", scale=scale, random_state=0, effort="quick").fit(X)
    assert model.certificate_.gap <= 1e-6
    assert model.certificate_.recheck(X)


def planted(n, size, seed):
    graph = networkx.gnp_random_graph(n, 0.5, seed=seed)
    members = np.random.default_rng(seed).choice(n, size, replace=False).tolist()
    graph.add_edges_from((a, b) for a in members for b in members if a < b)
    return graph


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("size", [0, 9])
def test_cliques_are_optima(size, seed):
    """A clique of r vertices exists exactly where r features of I + adjacency / n reach 1 + (r - 1) / n."""
    n = 30
    graph = planted(n, size, seed)
    A = np.eye(n) + networkx.to_numpy_array(graph) / n
    largest = max(map(len, networkx.find_cliques(graph)))
    for r in (largest - 1, largest, largest + 1):
        model = exact(A, r)
        assert model.certificate_.gap <= 1e-6
        reached = model.variance_[0] >= 1 + (r - 1) / n - 1e-6
        assert reached == (r <= largest)


def test_a_poor_start_is_made_good(shared):
    """From an answer that is not the best the search goes on to the best."""
    A = load_pitprops().correlation
    start = TruncatedPower()
    poor = SparsePCA(n_nonzero=3, solver=start, precomputed=True, random_state=0).fit(A)
    model = SparsePCA(n_nonzero=3, solver=Exact(incumbent=start), precomputed=True, random_state=0).fit(A)
    assert poor.variance_[0] <= model.variance_[0]
    assert model.variance_[0] == pytest.approx(2.475331, abs=6e-7)


def test_few_nodes_give_the_gap_and_say_so():
    X = np.random.default_rng(0).standard_normal((60, 80))
    model = SparsePCA(n_nonzero=8, solver=Exact(max_nodes=20), random_state=0).fit(X)
    certificate = model.certificate_
    assert 0 < certificate.gap < 0.6
    assert "No component with 8 features can keep more than" in str(certificate)
    assert "of the best are missing" in certificate.details()
    assert certificate.recheck(X)


def test_a_time_limit_leaves_a_valid_bound(ticking):
    ticking(1e-3)
    X = np.random.default_rng(1).standard_normal((100, 120))
    model = SparsePCA(n_nonzero=10, solver="exact", time_limit=0.2, random_state=0).fit(X)
    assert model.certificate_.bound >= model.certificate_.value
    assert 0 < model.certificate_.gap < 0.1
    assert model.certificate_.recheck(X)


def test_several_components_each_proved_in_what_is_left():
    A = load_pitprops().correlation
    model = exact(A, 5, n_components=3)
    assert model.certificate_.parts[0].gap <= 1e-8
    disjoint = exact(A, 4, n_components=3, deflation="disjoint")
    assert disjoint.certificate_.gap <= 1e-8
    assert disjoint.certificate_.problem.disjoint
    assert "No 3 disjoint components" in str(disjoint.certificate_)
    used = disjoint.components_ != 0
    assert used.sum(axis=0).max() == 1


def test_foreign_loadings_are_judged_by_the_same_search():
    A = load_pitprops().correlation
    loadings = np.zeros((1, 13))
    loadings[0, [0, 1, 2]] = 1.0
    certificate = certify(loadings, A, objective="variance", precomputed=True)
    assert certificate.bound == pytest.approx(2.475331, abs=6e-7)
    assert certificate.gap > 0.01


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"max_nodes": 0}, "max_nodes"),
        ({"max_nodes": -1}, "max_nodes"),
        ({"max_nodes": True}, "max_nodes"),
        ({"max_nodes": "x"}, "max_nodes"),
        ({"max_nodes": float("inf")}, "max_nodes"),
        ({"incumbent": "auto"}, "not its name or class"),
        ({"incumbent": TruncatedPower}, "not its name or class"),
        ({"incumbent": None}, "not its name or class"),
    ],
)
def test_bad_settings_get_a_sentence(settings, words):
    with pytest.raises((ValueError, TypeError), match=words):
        Exact(**settings)


def test_what_is_known_before_the_search_ends_it():
    """The first eigenvalue is reached by one feature; no search is needed to see that nothing has more."""
    X = np.eye(60)
    said = []
    proof = Prover(as_view(X, Preprocessing())).prove(
        10, np.arange(10), np.random.default_rng(0), max_nodes=10**6, budget=Budget(progress=said.append)
    )
    assert proof.nodes < 100
    assert exact(np.eye(60) - 1 / 60, 10).certificate_.gap <= 1e-6


def test_an_interruption_of_the_certificate_keeps_the_components(monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(BranchAndBound, "bound", interrupt)
    X = np.random.default_rng(0).standard_normal((60, 40))
    model = SparsePCA(n_nonzero=5, random_state=0).fit(X)
    assert np.count_nonzero(model.components_) == 5
    assert model.certificate_.bound >= model.certificate_.value
    assert "interrupted" in model.certificate_.details()


def test_foreign_loadings_hear_how_good_the_best_is():
    loadings = np.zeros((1, 13))
    loadings[0, [0, 1, 2]] = 1.0
    certificate = certify(loadings, load_pitprops().correlation, objective="variance", precomputed=True)
    assert "No component with 3 features can keep more than 58.7%." in str(certificate)
    assert "58.7% of PCA's variance, which some components have, by branch and bound" in certificate.details()


@pytest.mark.parametrize("k", [1, 3])
def test_time_is_shared_by_the_components(k, ticking):
    ticking(1e-2)
    X = np.random.default_rng(3).standard_normal((60, 80))
    model = SparsePCA(k, n_nonzero=6, solver="exact", time_limit=0.6, random_state=0).fit(X)
    quick = SparsePCA(k, n_nonzero=6, deflation="orthogonalized", random_state=0).fit(X)
    assert (model.variance_ >= 0.98 * quick.variance_).all()


def test_the_proof_of_the_solver_serves_the_part_too(monkeypatch):
    """The first of several components was proved when it was found: its certificate does not search again."""

    def never(*args, **kwargs):
        raise AssertionError("searched again")

    monkeypatch.setattr(BranchAndBound, "bound", never)
    model = exact(load_pitprops().correlation, 5, n_components=2)
    assert model.certificate_.parts[0].gap <= 1e-8
