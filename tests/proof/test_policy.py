"""Which bounds are computed: the free ones always, others by cost, until the value is proved or the effort is spent."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.effort import DEFAULT, QUICK, Effort, ProofEffort
from sparing.gram import DenseGram
from sparing.linalg import top_spectrum
from sparing.linalg.span import encoder_of
from sparing.proof import policy
from sparing.proof.bounds import BOUNDS
from sparing.proof.bounds.base import BoundMethod, ContinuedBound, Hypothesis
from sparing.proof.policy import prove
from sparing.proof_limits import LIMITS
from sparing.results import Bound, Problem
from sparing.run import Budget, Run
from sparing.task import Task

ONE = Problem(1, 2, 4, "variance")
A = np.diag([4.0, 3.0, 2.0, 1.0])
VALUE = 4.0


@pytest.fixture
def asked():
    """Names of the bounds that were computed, in turn, with the effort each of them was allowed."""
    return []


@pytest.fixture
def registered(asked, monkeypatch):
    """Puts bounds of these costs and values in place of ours; an exception is raised."""

    def register(its_objective="variance", its_steps_scale=False, its_proofs=(), **given):
        def kind_of(its_name, its_cost, value):
            class Method(BoundMethod):
                name, hypothesis = its_name, Hypothesis(its_objective)
                scales, proves = its_steps_scale, its_name in its_proofs

                def _suits(self, task):
                    return not math.isnan(its_cost)

                def cost(self, task, effort):
                    return its_cost

                def bound(self, task, incumbent, run):
                    asked.append((its_name, run.effort))
                    if isinstance(value, type):
                        raise value
                    known = value(run.effort.proof) if callable(value) else value
                    return None if known is None else Bound(known, its_name, its_name, "always")

                def _again(self, task, witness):
                    return math.inf

            return Method

        monkeypatch.setattr(policy, "BOUNDS", {name: kind_of(name, *of) for name, of in given.items()})

    return register


def found(**known):
    """The first feature alone."""
    return replace(encoder_of(DenseGram(A), np.eye(4, 1), float(A.trace())), **known)


def task_of(problem=ONE):
    view = DenseGram(A)
    return Task(view, problem, top_spectrum(view, 1, np.random.default_rng(0)))


def proved(problem=ONE, run=None, **known):
    run = run or Run(np.random.default_rng(0))
    return [bound.name for bound in prove(task_of(problem), found(**known), run)]


def names(asked):
    return [name for name, _ in asked]


def test_the_cheapest_come_first_and_equals_in_the_order_of_the_registry(registered, asked):
    registered(dear=(0.1, 8.0), second=(0.0, 9.0), cheap=(0.05, 8.0), third=(0.0, 9.0), outside=(math.nan, 8.0))
    assert proved() == ["second", "third", "cheap", "dear"]
    assert names(asked) == ["second", "third", "cheap", "dear"]


def test_a_search_that_may_end_with_a_proof_comes_before_what_costs_a_little_less(registered):
    registered(other=(0.05, 8.0), search=(0.1, 8.0))
    assert proved() == ["other", "search"]
    registered(other=(0.05, 8.0), search=(0.1, 8.0), its_proofs=("search",))
    assert proved() == ["search", "other"]
    registered(other=(0.02, 8.0), search=(0.1, 8.0), its_proofs=("search",))
    assert proved() == ["other", "search"]


def test_nothing_dear_is_computed_once_a_value_is_proved(registered, asked):
    registered(dear=(0.1, 8.0), sharp=(0.05, VALUE * (1 + 1e-7)), free=(0.0, VALUE), also=(0.0, 9.0))
    assert proved() == ["free", "also"]
    registered(dear=(0.1, 8.0), sharp=(0.05, VALUE * (1 + 1e-7)), free=(0.0, 9.0))
    assert proved() == ["free", "sharp"]
    registered(dear=(0.1, 8.0), blunt=(0.05, VALUE * (1 + 1e-5)), free=(0.0, 9.0))
    assert proved() == ["free", "blunt", "dear"]  # control


@pytest.mark.parametrize("most", [0.05, 0.3, 7.0])
def test_all_bounds_together_cost_what_the_effort_allows(registered, asked, most):
    costs = {"a": 0.004, "b": 0.11, "c": 0.14, "d": 0.2, "e": 1.5, "f": 5.0, "g": 60.0}
    registered(its_steps_scale=True, **{name: (cost, 9.0) for name, cost in costs.items()})
    proved(run=Run(np.random.default_rng(0), effort=Effort(proof=ProofEffort(cost=most))))
    spent = [effort.proof.share * costs[name] for name, effort in asked]
    assert sum(spent) <= most * (1 + 1e-12)
    assert sum(spent) > 0.7 * most
    shares = [effort.proof.share for _, effort in asked]
    assert all(share == 1.0 for share in shares[:-1])
    assert min(shares) >= ProofEffort().least_share
    asked.clear()
    registered(**{name: (cost, 9.0) for name, cost in costs.items()})
    proved(run=Run(np.random.default_rng(0), effort=Effort(proof=ProofEffort(cost=most))))
    assert {effort.proof.share for _, effort in asked} == {1.0}  # control: what has no steps is computed or not
    assert sum(costs[name] for name in names(asked)) <= most


def test_what_cannot_help_leaves_its_share_to_others(registered):
    registered(none=(0.2, None), other=(0.21, 9.0))
    assert proved() == ["other"]
    registered(one=(0.2, 9.0), other=(0.21, 9.0))
    assert proved() == ["one"]  # control


def test_losses_are_proved_from_below(registered):
    loss = found().loss
    assert loss == pytest.approx(6.0)
    registered("loss", free=(0.0, 1.0), sharp=(0.1, loss * (1 - 1e-7)), dear=(0.11, 1.0))
    assert proved(Problem(1, 2, 4)) == ["free", "sharp"]
    registered("loss", free=(0.0, 1.0), high=(0.1, loss * (1 - 1e-5)), dear=(0.11, 1.0))
    assert proved(Problem(1, 2, 4)) == ["free", "high", "dear"]


@pytest.mark.parametrize(("most", "wanted"), [(0.0, 1), (0.2, 2), (0.5, 3), (10.0, 4), (math.inf, 5)])
def test_effort_decides_what_is_worth_its_cost(most, wanted, registered):
    registered(free=(0.0, 9.0), a=(0.1, 9.0), b=(0.4, 9.0), c=(3.0, 9.0), d=(math.inf, 9.0))
    run = Run(np.random.default_rng(0), effort=Effort(proof=ProofEffort(cost=most)))
    assert proved(run=run) == ["free", "a", "b", "c", "d"][:wanted]


LONG = 1e6
"""Seconds that no test takes: rounds end by what they find."""


def limited():
    return Run(np.random.default_rng(0), Budget.of(LONG))


def test_with_a_time_limit_all_come_again_with_twice_the_steps_until_the_value_is_proved(registered, asked):
    """A tree that needs 100 times its nodes, and one whose estimate is infinite, get there."""
    enough = 100 * DEFAULT.proof.nodes
    registered(free=(0.0, 9.0), cheap=(0.1, lambda effort: VALUE if effort.nodes >= enough else 5 + 1 / effort.nodes))
    assert proved(run=limited()) == ["free", "cheap"]
    nodes = [effort.proof.nodes / DEFAULT.proof.nodes for name, effort in asked if name == "cheap"]
    assert nodes == [QUICK.proof.nodes / DEFAULT.proof.nodes, *[2**turn for turn in range(1, 8)]]
    asked.clear()
    registered(
        free=(0.0, 9.0), dear=(math.inf, lambda effort: VALUE if effort.nodes >= enough else 5.0 + 1 / effort.nodes)
    )
    assert proved(run=limited()) == ["free", "dear"]
    assert proved() == ["free"]  # control: without a limit it is not begun


def test_time_is_left_where_more_steps_change_nothing(registered, asked):
    registered(free=(0.0, 9.0), cheap=(0.1, 8.0))
    assert proved(run=limited()) == ["free", "cheap"]
    assert names(asked).count("cheap") == 1 + 1 + LIMITS.unchanged_rounds - 1
    asked.clear()

    def slow(effort):
        turn = math.log2(effort.nodes / DEFAULT.proof.nodes)
        return 7.0 if turn >= 3 else 8.0

    registered(free=(0.0, 9.0), cheap=(0.1, slow))
    proved(run=limited())
    assert names(asked).count("cheap") == 1 + 3 + LIMITS.unchanged_rounds


def test_the_bounds_of_the_effort_come_first_and_none_gets_worse(registered, asked):
    """More time never makes a gap larger: a later bound that is worse is not kept."""
    registered(free=(0.0, 9.0), cheap=(0.1, lambda effort: 6.0 if effort.cost < math.inf else 7.0))
    run = limited()
    computed = prove(task_of(), found(), run)
    assert [effort.proof.nodes for _, effort in asked[:2]] == [DEFAULT.proof.nodes, QUICK.proof.nodes]
    assert min(bound.value for bound in computed) == 6.0
    assert len(computed) == 2


def test_where_time_is_over_only_what_is_free_is_computed(registered):
    registered(cheap=(0.1, 9.0), free=(0.0, 9.0))
    assert proved(run=Run(np.random.default_rng(0), Budget(deadline=0.0))) == ["free"]


def test_bounds_that_cannot_help_are_passed_over(registered):
    registered(none=(0.0, None), free=(0.0, 9.0))
    assert proved() == ["free"]


def test_what_a_solver_has_searched_is_not_searched_again(registered, asked):
    known = {"single_bounds": {2: Bound(9.0, "branch_and_bound", "branch and bound", "always")}}
    registered(free=(0.0, 9.0), branch_and_bound=(0.1, 9.0), other=(0.12, 9.0))
    assert proved(**known) == ["branch_and_bound", "free", "other"]
    assert names(asked) == ["free", "other"]
    asked.clear()
    proved(replace(ONE, n_nonzero=3), **known)  # nothing is known of three features
    assert names(asked) == ["free", "branch_and_bound", "other"]
    asked.clear()
    proved(run=limited(), **known)  # with time, as far as it goes
    assert names(asked)[:4] == ["free", "other", "branch_and_bound", "other"]


def test_a_proof_for_nonnegative_loadings_is_known_for_those_alone(registered):
    registered(free=(0.0, 9.0))
    signed = Bound(5.0, "nonnegative_branch_and_bound", "signed", "always", nonnegative=True)
    assert proved(replace(ONE, nonnegative=True), single_bounds={2: signed}) == [signed.name, "free"]
    assert proved(single_bounds={2: signed}) == ["free"]


def test_an_interruption_keeps_what_is_proved(registered):
    run = Run(np.random.default_rng(0), Budget())
    registered(free=(0.0, 9.0), long=(0.1, KeyboardInterrupt), dear=(0.12, 8.0))
    assert proved(run=run) == ["free"]
    assert run.budget.interrupted


def test_an_interruption_before_anything_is_proved_is_one(registered):
    registered(free=(0.0, KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        proved()


def test_an_interruption_of_a_certificate_that_does_not_speak_of_it_is_one(registered):
    registered("loss", free=(0.0, 1.0), long=(0.1, KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        proved(Problem(1, 2, 4))


def test_something_is_proved_of_every_problem(rng):
    """Whatever the sign, the rules and the objective, there is a bound that costs next to nothing."""
    X = rng.standard_normal((9, 6))
    view = DenseGram(X.T @ X)
    two = encoder_of(view, np.eye(6, 2), view.total)
    run = Run(rng, effort=Effort(proof=ProofEffort(cost=0.0)))
    for objective, nonnegative in product(("loss", "variance"), (False, True)):
        problem = Problem(2, 3, 6, objective, shared_support=False, nonnegative=nonnegative)
        computed = prove(Task(view, problem, top_spectrum(view, 2, rng)), two, run)
        assert computed
        assert all(BOUNDS[bound.name]().cost(task_of(), ProofEffort()) == 0 for bound in computed)


def test_gaps_of_orthogonal_components_do_not_jump_with_the_number_of_features(rng):
    """A bound that takes all of its steps at 32 features takes some at 40, and is still the best."""
    X = (rng.standard_normal((200, 5)) * [3, 2.5, 2, 1.5, 1]) @ rng.standard_normal((5, 40)) + rng.standard_normal(
        (200, 40)
    )
    certificates = [
        SparsePCA(3, n_nonzero=4, constraint="orthogonal", random_state=0).fit(X[:, :d]).certificate_ for d in (32, 40)
    ]
    assert [certificate.witness.name for certificate in certificates] == ["orthogonal_dual"] * 2
    few, many = (certificate.gap for certificate in certificates)
    assert many < few + 0.05


KINDS = {
    "free": (SparsePCA, {}),
    "orthogonal": (SparsePCA, {"constraint": "orthogonal"}),
    "limited": (SparsePCA, {"max_cosine": 0.3}),
    "disjoint": (SparsePCA, {"deflation": "disjoint"}),
    "nonnegative": (NonnegativeSparsePCA, {}),
    "one": (SparsePCA, {"n_components": 1}),
    "shared": (SparseEncoder, {}),
    "joint": (SparseEncoder, {"strategy": "joint"}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_time_is_spent_on_every_kind_of_problem_and_no_gap_is_larger_for_it(kind, rng, monkeypatch, ticking):
    """The clock goes on by a millisecond whenever it is looked at."""
    proofs = []

    def followed(task, incumbent, run):
        without = prove(task, incumbent, replace(run, budget=Budget()))
        looks = ticking(0.001)
        turns, compute = [], policy._Proof.compute
        with monkeypatch.context() as patched:
            patched.setattr(policy._Proof, "compute", lambda self, *a, **b: turns.append(a) or compute(self, *a, **b))
            proofs.append(
                (task, without, prove(task, incumbent, replace(run, budget=Budget.of(0.1))), turns, next(looks))
            )
        return without

    X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 12)) + rng.standard_normal((60, 12))
    cls, settings = KINDS[kind]
    for module in ("certificates.variance", "estimators.sparse_encoder"):
        monkeypatch.setattr(f"sparing.{module}.prove", followed)
    cls(**{"n_components": 2, "n_nonzero": 4, "random_state": 0} | settings).fit(X)
    task, without, with_time, turns, looks = proofs[0]
    sign = -1 if task.problem.objective == "loss" else 1
    least, later = (min(sign * bound.value for bound in bounds) for bounds in (without, with_time))
    assert later <= least
    proved = any(bound.reached for bound in with_time)
    assert proved or len(turns) >= 2
    assert proved or looks > 80 or len(turns) > LIMITS.unchanged_rounds


def test_a_bound_that_would_have_no_more_steps_is_not_repeated(registered, asked):
    registered(plain=(0.05, 8.0), free=(0.0, 9.0))
    proved()
    assert names(asked) == ["free", "plain"]


def test_lower_efforts_come_first_and_all_share_the_allowance(registered, asked):
    """What quick affords is computed as quick does, although the default effort pays for the expensive one."""
    registered(cheap=(0.04, 8.0), half=(0.05, 8.0), expensive=(0.2, 8.0), more=(0.25, 8.0))
    assert proved() == ["cheap", "half", "expensive"]
    assert [effort.levels[-1].below is None for _, effort in asked] == [True, True, False]
    assert proved(run=Run(np.random.default_rng(0), effort=QUICK)) == ["cheap", "half"]


def test_a_search_that_goes_on_costs_what_is_new(monkeypatch):
    """Where it is the tightest it goes on first; a bound that cannot go on is computed anew, and pays for it all."""
    asked = []

    def kind_of(its_name, its_value, goes_on):
        class Method(ContinuedBound if goes_on else BoundMethod):
            name, hypothesis, scales = its_name, Hypothesis("variance"), True

            def cost(self, task, effort):
                return 1e-3 * effort.nodes / 2  # 0.05 for quick, 0.25 for default

            def bound(self, task, incumbent, run, kept=None):
                before = kept.begun(list) if kept is not None else []
                asked.append((its_name, round(run.effort.proof.share, 2), len(before)))
                before.append(run)
                return Bound(its_value - len(before) - run.effort.proof.nodes * 1e-6, its_name, its_name, "always")

            def _again(self, task, witness):
                return math.inf

        return Method

    kinds = {"anew": kind_of("anew", 9.0, False), "on": kind_of("on", 8.0, True)}
    monkeypatch.setattr(policy, "BOUNDS", kinds)
    proved()
    assert asked == [("anew", 1.0, 0), ("on", 1.0, 0), ("on", 1.0, 1)]  # of 0.3 are 0.05 + 0.25 spent
    asked.clear()
    monkeypatch.setattr(policy, "BOUNDS", {"on": kind_of("on", 8.0, False), "anew": kind_of("anew", 9.0, False)})
    proved()
    assert asked == [("on", 1.0, 0), ("anew", 1.0, 0), ("on", 0.8, 0)]  # control
