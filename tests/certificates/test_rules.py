"""Certificates of saved models that were altered: nothing of what they say may change unnoticed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparing import DoublySparseEncoder, NonnegativeSparsePCA, SparseEncoder, SparsePCA, certify, load_model, save_model
from sparing.certificates.rules import fresh_spectrum, iterates
from sparing.certificates.sentences import share
from sparing.data import as_view
from sparing.datasets import load_pitprops
from sparing.estimators.nonnegative_sparse_pca import _promised
from sparing.gram import DenseGram
from sparing.methods.solvers.nonnegative import Spannogram
from sparing.proof.bounds import BOUNDS, LossTree
from sparing.results import Bound, Guarantee, Premise, Problem, Reference
from sparing.task import Task

PITPROPS = load_pitprops().correlation
OF_LOSS = [name for name, kind in BOUNDS.items() if kind().applies(Task(DenseGram(PITPROPS), Problem(1, 3, 13)))]
OF_VARIANCE = [name for name in BOUNDS if name not in OF_LOSS]


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(1)
    return rng.standard_normal((60, 12)) * np.linspace(1, 2, 12) + rng.standard_normal((60, 1)) * np.linspace(-1, 1, 12)


@pytest.fixture(scope="module")
def loss(X):
    """Features drawn at random: others lose less."""
    certificate = SparseEncoder(2, n_nonzero=4, selector="uniform", random_state=0).fit(X).certificate_
    assert certificate.gap > 0.05
    assert certificate.recheck(X)
    return certificate


@pytest.fixture(scope="module")
def variance(X):
    """One arbitrary component: others have more."""
    certificate = certify(np.eye(12)[:4].sum(axis=0, keepdims=True), X, objective="variance", random_state=0)
    assert certificate.gap > 0.1
    assert certificate.recheck(X)
    return certificate


@pytest.fixture(scope="module")
def promised(X):
    certificate = SparseEncoder(2, n_nonzero=6, random_state=0).fit(X).certificate_
    assert certificate.guarantees
    assert certificate.recheck(X)
    return certificate


def proved_by(certificate, name, witness=None):
    """The claim that nothing is better, by another proof."""
    return replace(
        certificate, witness=replace(certificate.witness, value=certificate.value, name=name, witness=witness)
    )


@pytest.mark.parametrize("witness", [None, np.eye(12), ("dual", np.eye(12)), ("pca_loss", None)], ids=repr)
@pytest.mark.parametrize("name", OF_VARIANCE)
def test_a_bound_on_variances_proves_nothing_of_a_loss(name, witness, loss, X):
    altered = proved_by(loss, name, witness)
    assert altered.gap == 0
    again = altered.recheck(X)
    assert not again
    assert "of which nothing is proved" in str(again)


@pytest.mark.parametrize("name", ["", "none_such", "PcaLoss", "os:system", "__class__", None, 3, (), [], np.eye(2)])
def test_a_proof_that_we_do_not_know_proves_nothing(name, loss, variance, X):
    for certificate in (loss, variance):
        again = proved_by(certificate, name, certificate.witness.witness).recheck(X)
        assert not again
        assert "of which nothing is proved" in str(again)


@pytest.mark.parametrize("name", OF_LOSS)
def test_a_bound_on_losses_proves_nothing_of_a_variance(name, X):
    strong = 0.1 * X + np.linspace(-3, 3, 60)[:, None]  # PCA loses less than any feature has
    poor = certify(np.eye(12)[:1] + np.eye(12)[1:2] / 9, strong, objective="variance", random_state=0)
    assert poor.gap > 0.1
    assert poor.recheck(strong)
    again = proved_by(poor, name, (np.arange(1), 10)).recheck(strong)
    assert not again
    assert "of which nothing is proved" in str(again)


def test_features_of_all_are_not_those_of_each(X):
    """Two components with two features each read four: the search of supports is about those."""
    certificate = SparseEncoder(2, n_nonzero=2, strategy="iterative", random_state=0).fit(X).certificate_
    assert certificate.recheck(X)
    problems = [replace(certificate.problem, shared_support=True, n_nonzero=r) for r in (2, 4)]
    witness, view = (certificate.support[:2], 1000), as_view(X, certificate.preprocessing)
    problems = [*problems, certificate.problem]
    two, four, each = (LossTree().check(Task(view, one), witness) * view.square_unit for one in problems)
    assert each == four < certificate.value < two  # the last would be no bound
    assert not proved_by(certificate, "loss_tree", witness).recheck(X)


def test_a_witness_that_is_none_is_no_error_of_ours(loss, X):
    for witness in (None, 3, (np.arange(4),), ("a", "b")):
        again = proved_by(loss, "loss_tree", witness).recheck(X)
        assert not again
        assert "nothing is proved" in str(again)


@pytest.mark.parametrize("witness", [None, 3, "ab", (), ("a", "b"), (None, None), np.eye(11), [[]]], ids=repr)
@pytest.mark.parametrize("name", OF_VARIANCE)
def test_whatever_is_in_a_witness_a_recheck_answers_in_a_sentence(name, witness, variance, X):
    """Some bounds need no witness; but none proves that nothing is better than this component."""
    again = proved_by(variance, name, witness).recheck(X)
    assert not again
    assert "it claims the bound" in str(again)


@pytest.mark.parametrize("nothing", [1e9, -1.0, float("nan")])
def test_what_counts_as_nothing_is_checked(nothing, loss, variance, X):
    for certificate in (loss, variance):
        again = replace(certificate, nothing=nothing).recheck(X)
        assert not again
        assert "as zero" in str(again)


def test_more_components_than_spoken_of(loss, X):
    one = replace(loss.problem, n_components=1)
    bold = replace(loss, problem=one, witness=replace(loss.witness, value=loss.value), pca_error=1e9)
    assert "there are 2 components, not 1" in str(bold.recheck(X))


def test_more_components_than_the_data_have_dimensions(rng):
    """There only the rank is spoken of: what goes beyond adds nothing."""
    flat = rng.standard_normal((30, 2)) @ rng.standard_normal((2, 6))
    certificate = certify(np.eye(6)[:3], flat, random_state=0)
    assert certificate.problem.n_components < len(certificate.loadings)
    assert certificate.recheck(flat)


def test_the_error_of_pca_is_no_more_than_an_iteration_leaves(loss, variance, X):
    for certificate in (loss, variance):
        assert "for PCA" in str(replace(certificate, pca_error=certificate.total).recheck(X))


def test_zeros_do_not_make_components_orthogonal(X):
    H = np.zeros((3, 12))
    H[0, :3], H[1, 2:5] = 1.0, 1.0
    certificate = certify(H[:2], X, objective="variance", random_state=0)
    assert certificate.recheck(X)
    altered = replace(
        certificate,
        problem=replace(certificate.problem, n_components=3, orthogonal=True),
        loadings=H[:, certificate.support],
        parts=(),
    )
    assert "not orthogonal" in str(altered.recheck(X))


def test_a_bound_from_an_iteration_does_not_hold_always(rng):
    tall = rng.standard_normal((500, 700)) * np.linspace(2, 1, 700)  # too many features for a search
    certificate = SparseEncoder(1, n_nonzero=5, effort="quick", random_state=0).fit(tall).certificate_
    assert certificate.strength == "numerical"
    assert certificate.recheck(tall)
    witness = replace(certificate.witness, strength="always")
    confirmed = replace(certificate, witness=witness)
    assert confirmed.recheck(tall)  # a dense solver, which can do this, proves the same
    disjoint = SparsePCA(2, n_nonzero=5, deflation="disjoint", effort="quick").fit(tall).certificate_
    twice = 2 * disjoint.parts[0].pca_value
    wrapped = Bound(twice, "each_alone", "2 times PCA's own variance", "always", ("leading_variance", None))
    assert replace(disjoint, witness=wrapped).recheck(tall)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sparing.certificates.certificate.dense_spectrum", fresh_spectrum)
        for claim, one in ((certificate, witness), (disjoint, wrapped)):
            assert "'always', which is more than is proved" in str(replace(claim, witness=one).recheck(tall))
        assert replace(disjoint, witness=replace(wrapped, strength="numerical")).recheck(tall)
    assert not replace(certificate, witness=replace(witness, strength="certainly")).recheck(tall)


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 1.001},
        {"limit": 1e6},
        {"measured": 1.0},
        {"strength": "always, and for all data"},
        {"claim": "Loss over PCA's loss for any features"},
        {"reference": Reference("magdonismail2015", "Theorem 7")},
    ],
)
def test_promises_of_theorems_are_computed_again(change, promised, X):
    (guarantee,) = promised.guarantees
    again = replace(promised, guarantees=(replace(guarantee, **change),)).recheck(X)
    assert not again
    assert "does not match the theorem here" in str(again)


def test_every_theorem_about_losses_is_computed_again():
    wide = np.random.default_rng(2).standard_normal((80, 60)) * 3 / np.arange(1, 61)
    settings = {"6(ii)": {"n_nonzero": 9}, "11": {"n_nonzero": 12, "strategy": "iterative"}}
    for theorem, chosen in settings.items():
        certificate = SparseEncoder(2, selector="adaptive", random_state=0, **chosen).fit(wide).certificate_
        (guarantee,) = certificate.guarantees
        assert guarantee.reference.where == f"Theorem {theorem}"
        assert certificate.recheck(wide)
        low = replace(guarantee, limit=0.99 * guarantee.limit)
        assert not replace(certificate, guarantees=(low,)).recheck(wide)


def test_promises_about_rows_are_computed_again(X):
    certificate = DoublySparseEncoder(2, n_nonzero=4, n_rows=9, random_state=0, effort="quick").fit(X).certificate_
    (guarantee,) = certificate.guarantees
    assert certificate.recheck(X)
    more = guarantee.claim.replace("9 data points", "{} data points")
    for change in ({"limit": 1.1}, {"measured": 1.0}, {"claim": more.format(61)}, {"premise": None}):
        assert not replace(certificate, guarantees=(replace(guarantee, **change),)).recheck(X), change
    other = {"claim": more.format(12), "premise": Premise("dual_set", 12)}  # another theorem, with the same limit
    assert not replace(certificate, guarantees=(replace(guarantee, **other),)).recheck(X)
    assert "it is about 600 data points, but X has 60" in str(replace(certificate, n_samples=600).recheck(X))


@pytest.mark.parametrize("solver", ["spannogram", "spannogram_net"])
def test_promises_about_nonnegative_components_are_computed_again(solver):
    model = NonnegativeSparsePCA(n_nonzero=5, solver=solver, precomputed=True, random_state=0).fit(PITPROPS)
    certificate = model.certificate_
    (guarantee,) = certificate.guarantees
    assert certificate.recheck(PITPROPS)
    for change in (
        {"limit": 1.01},
        {"measured": 0.5},
        {"strength": "for sure"},
        {"claim": "Everything"},
        {"premise": None},
    ):
        assert not replace(certificate, guarantees=(replace(guarantee, **change),)).recheck(PITPROPS), change
    foreign = Guarantee("Loss", 2.0, 1.0, "always", Reference("magdonismail2015", "Theorem 6(i)"))
    assert not replace(certificate, guarantees=(foreign,)).recheck(PITPROPS)


def test_a_promise_can_fail_where_the_optimum_is_known():
    """Without the optimum nothing can be measured beyond the limit; with it there is nothing to hide behind."""
    model = NonnegativeSparsePCA(n_nonzero=5, solver="spannogram", precomputed=True, random_state=0).fit(PITPROPS)
    view, rng = DenseGram(PITPROPS), np.random.default_rng(0)
    for reached in (False, True):
        witness = replace(model.certificate_.witness, value=100 * model.certificate_.value, reached=reached)
        (guarantee,) = _promised(replace(model.certificate_, witness=witness), view, Spannogram(), rng)
        assert guarantee.holds is not reached
        assert guarantee.measured == pytest.approx(100.0 if reached else guarantee.limit)


def test_where_data_differ_weights_are_named(X):
    weights = np.linspace(1, 3, len(X))
    certificate = SparseEncoder(2, n_nonzero=3, random_state=0).fit(X, sample_weight=weights).certificate_
    assert certificate.recheck(X, weights)
    assert "If the fit had sample_weight, pass the same." in str(certificate.recheck(X))


def test_small_numbers_are_not_rounded_away():
    wine = load_wine().data  # one column has nearly all the variance
    *_, first, _, third = SparseEncoder(2, n_nonzero=5, random_state=0).fit(wine).certificate_.details().splitlines()
    ratio = first.partition("Loss: ")[2].partition(" times")[0]
    assert 1 < float(ratio) < 1.0001
    assert f"measured {ratio};" in third
    assert "(PCA loses 0.017% of the variance)" in first
    assert [share(part) for part in (0.5, 0.0012, 0.000999, 1.234e-6, 0.0)] == [
        "50.0%",
        "0.1%",
        "0.1%",
        "0.00012%",
        "0.0%",
    ]


def test_parts_of_many_components_are_rechecked_with_the_spectrum_of_all(rng):
    """What is exact for many components would come from an iteration for one."""
    tall = rng.standard_normal((400, 230)) * np.linspace(3, 1, 230)
    certificate = SparsePCA(2, n_nonzero=5, random_state=0, effort="quick").fit(tall).certificate_
    pca = replace(certificate.witness, value=certificate.parts[0].pca_value, name="leading_variance")
    part = replace(certificate.parts[0], witness=replace(pca, strength="always", witness=None))
    assert replace(certificate, parts=(part,)).recheck(tall)
    assert part.recheck(tall)


def test_a_proof_that_asks_another_can_be_saved_and_names_it_alone(tmp_path, rng):
    X = rng.standard_normal((60, 28))
    model = SparsePCA(2, n_nonzero=7, deflation="disjoint", random_state=0, effort="quick").fit(X)
    assert (model.certificate_.witness.name, model.certificate_.witness.witness[0]) == ("orthogonal_dual", "part")
    save_model(model, tmp_path / "some.model")
    certificate = load_model(tmp_path / "some.model").certificate_
    assert (certificate.witness.name, certificate.witness.witness[0]) == ("orthogonal_dual", "part")
    assert certificate.recheck(X)
    assert not proved_by(certificate, "bound_of_one_component", certificate.witness.witness).recheck(X)


def test_a_multiple_of_a_proof_rests_on_what_that_rests_on():
    of_all = Bound(1.0, "each_alone", "2 times", "always", ("leading_variance", None))
    assert iterates(of_all)
    assert iterates(replace(of_all, name="leading_variance"))
    assert not iterates(replace(of_all, witness=("row_sums", None)))
