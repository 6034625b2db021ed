"""Search and proof are one step: what a fit returns is never worse than what its own certificate has seen."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.data import as_view
from sparing.datasets import load_pitprops
from sparing.linalg import information_loss_of
from sparing.proof.answers import answer_on, better_of
from sparing.results import Bound
from sparing.task import Task

QUICK = {"effort": "quick", "random_state": 0, "center": False}
FITS = {
    "encoder": lambda k, r: SparseEncoder(k, n_nonzero=r, **QUICK),
    "joint, one component": lambda k, r: SparseEncoder(1, n_nonzero=r, strategy="joint", **QUICK),
    "exact": lambda k, r: SparseEncoder(k, n_nonzero=r, selector="exact", **QUICK),
    "one": lambda k, r: SparsePCA(1, n_nonzero=r, **QUICK),
    "disjoint": lambda k, r: SparsePCA(k, n_nonzero=r, deflation="disjoint", **QUICK),
    "nonnegative": lambda k, r: NonnegativeSparsePCA(1, n_nonzero=r, **QUICK),
    "nonnegative disjoint": lambda k, r: NonnegativeSparsePCA(k, n_nonzero=r, constraint="orthogonal", **QUICK),
}


def tables():
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n, d = (6, 8) if seed % 3 == 2 else (15, 7)
        yield rng.standard_normal((n, d)) @ (np.eye(d) if seed % 2 else rng.standard_normal((d, d)))


def worth(view, components, sense):
    """The variance of components without common features, or what is left of the total after the loss."""
    if sense == "min":
        return view.total - information_loss_of(view, components)
    return float(np.einsum("ij,jk,ik->", components, view.gram(), components))


@pytest.mark.filterwarnings("ignore:.*features are read, and there are")
@pytest.mark.parametrize("fit", FITS)
def test_a_fit_is_never_worse_than_what_its_proof_came_upon(fit):
    seen = 0
    for X in tables():
        certificate = FITS[fit](2, 3).fit(X).certificate_
        view = as_view(X, certificate.preprocessing)
        answer = answer_on(Task(view, certificate.problem), certificate.witness.supports)
        if answer is not None:
            reached, other = (worth(view, each.components, certificate.sense) for each in (certificate, answer))
            assert reached >= other - 1e-9 * view.total
            assert not certificate.witness.reached or certificate.gap <= 1e-6
            seen += 1
    assert seen > 1


def test_disjoint_components_are_those_of_the_search_that_bounds_them():
    C = load_pitprops().correlation
    model = SparsePCA(3, n_nonzero=5, deflation="disjoint", precomputed=True, effort="quick").fit(C)
    alone = SparsePCA(3, n_nonzero=5, deflation="disjoint", precomputed=True, effort="quick", certify=False).fit(C)
    assert model.variance_.sum() > 1.1 * alone.variance_.sum()  # one after the other they are far from the best
    assert (model.components_ != 0).sum(axis=0).max() == 1
    assert model.certificate_.gap < 0.01
    assert model.certificate_.recheck(C)


def test_sets_that_were_all_tried_are_a_proof_with_fewer_samples_than_features(rng):
    X = rng.standard_normal((10, 12))
    certificate = SparseEncoder(2, n_nonzero=3, random_state=0).fit(X).certificate_
    assert certificate.gap <= 1e-6
    assert "trying all 220 sets" in certificate.details()
    assert certificate.recheck(X)


def test_named_methods_keep_their_answer(rng):
    """Who asks for a method by its name wants to see what it does; the certificate says what was seen beside it."""
    X = rng.standard_normal((30, 10)) @ rng.standard_normal((10, 10))
    uniform = SparseEncoder(2, n_nonzero=3, selector="uniform", random_state=0).fit(X)
    again = SparseEncoder(2, n_nonzero=3, selector="uniform", random_state=0, certify=False).fit(X)
    np.testing.assert_array_equal(uniform.support_, again.support_)
    assert uniform.certificate_.gap > 0.01
    assert SparseEncoder(2, n_nonzero=3, random_state=0).fit(X).certificate_.gap <= 1e-6


def test_supports_that_break_the_problem_are_no_answer(rng):
    X = rng.standard_normal((30, 6))
    certificate = SparseEncoder(2, n_nonzero=2, exclude=[5], effort="quick").fit(X).certificate_
    task = Task(as_view(X, certificate.preprocessing), certificate.problem)
    assert answer_on(task, (np.array([0, 1]),)) is not None
    for supports in ((), ([0, 1, 2],), ([0, 5],), ([0, 6],), ([0], [1])):
        assert answer_on(task, tuple(np.array(support) for support in supports)) is None
    worst = max(combinations(range(5), 2), key=lambda S: answer_on(task, (np.array(S),)).loss)
    best = min(combinations(range(5), 2), key=lambda S: answer_on(task, (np.array(S),)).loss)
    bound = Bound(0.0, "loss_tree", "", "always", supports=(np.array(best),))
    found = answer_on(task, (np.array(worst),))
    assert better_of(task, found, [bound]).support.tolist() == list(best)
    assert better_of(task, found, [Bound(0.0, "loss_tree", "", "always")]) is found
