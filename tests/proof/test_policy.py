"""Which bounds are computed: the free ones always, others by cost, until the value is proved or the effort is spent."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from sparing import SparsePCA
from sparing.gram import DenseGram
from sparing.linalg import top_spectrum
from sparing.linalg.span import encoder_of
from sparing.proof import policy
from sparing.proof.bounds import BOUNDS
from sparing.proof.policy import prove
from sparing.proof_effort import ProofEffort
from sparing.results import Bound, Problem
from sparing.run import DEFAULT, EXHAUSTIVE, Budget, Effort, Run
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

    def register(its_objective="variance", its_steps_scale=False, **given):
        def kind_of(its_name, its_cost, value):
            class Method:
                name, objective, scales = its_name, its_objective, its_steps_scale

                def applies(self, task):
                    return not math.isnan(its_cost)

                def cost(self, task):
                    return its_cost

                def bound(self, task, incumbent, run):
                    asked.append((its_name, run.effort))
                    if isinstance(value, type):
                        raise value
                    return None if value is None else Bound(value, its_name, its_name, "always")

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
    registered(dear=(0.4, 8.0), second=(0.0, 9.0), cheap=(0.1, 8.0), third=(0.0, 9.0), outside=(math.nan, 8.0))
    assert proved() == ["second", "third", "cheap", "dear"]
    assert {effort for _, effort in asked} == {DEFAULT}


def test_nothing_dear_is_computed_once_a_value_is_proved(registered, asked):
    registered(dear=(0.4, 8.0), sharp=(0.1, VALUE * (1 + 1e-7)), free=(0.0, VALUE), also=(0.0, 9.0))
    assert proved() == ["free", "also"]
    registered(dear=(0.4, 8.0), sharp=(0.1, VALUE * (1 + 1e-7)), free=(0.0, 9.0))
    assert proved() == ["free", "sharp"]
    registered(dear=(0.4, 8.0), blunt=(0.1, VALUE * (1 + 1e-5)), free=(0.0, 9.0))
    assert proved() == ["free", "blunt", "dear"]  # control


def test_steps_fall_faster_than_their_price_rises_until_they_are_not_worth_while(registered, asked):
    """So that neither time nor quality jumps where a bound becomes too dear."""
    costs = 0.4, 0.5, 0.6, 1.0, 1.5, 1.6
    registered(its_steps_scale=True, **{f"at {cost}": (cost, 9.0) for cost in costs})
    assert proved() == [f"at {cost}" for cost in costs[:-1]]
    shares = [effort.proof.share for _, effort in asked]
    assert shares[:2] == [1.0, 1.0]
    times = [share * cost for share, cost in zip(shares, costs, strict=False)]
    assert times[1:] == sorted(times[1:], reverse=True)
    assert DEFAULT.proof.least_share <= shares[-1] < 0.2
    registered(**{f"at {cost}": (cost, 9.0) for cost in costs})
    assert proved() == ["at 0.4", "at 0.5"]  # control: what has no steps is computed or not


def test_losses_are_proved_from_below(registered):
    loss = found().loss
    assert loss == pytest.approx(6.0)
    registered("loss", free=(0.0, 1.0), sharp=(0.1, loss * (1 - 1e-7)), dear=(0.4, 1.0))
    assert proved(Problem(1, 2, 4)) == ["free", "sharp"]
    registered("loss", free=(0.0, 1.0), high=(0.1, loss * (1 - 1e-5)), dear=(0.4, 1.0))
    assert proved(Problem(1, 2, 4)) == ["free", "high", "dear"]


@pytest.mark.parametrize(("most", "wanted"), [(0.0, 1), (0.2, 2), (0.5, 3), (10.0, 4), (math.inf, 5)])
def test_effort_decides_what_is_worth_its_cost(most, wanted, registered):
    registered(free=(0.0, 9.0), a=(0.1, 9.0), b=(0.4, 9.0), c=(3.0, 9.0), d=(math.inf, 9.0))
    run = Run(np.random.default_rng(0), effort=Effort(proof=ProofEffort(cost=most)))
    assert proved(run=run) == ["free", "a", "b", "c", "d"][:wanted]


def test_with_a_time_limit_all_come_again_without_another_limit(registered, asked):
    registered(free=(0.0, 9.0), cheap=(0.1, 9.0), dear=(math.inf, 9.0))
    run = Run(np.random.default_rng(0), Budget.of(1000.0))
    assert proved(run=run) == ["free", "cheap", "cheap", "dear"]
    assert [effort for _, effort in asked] == [DEFAULT, DEFAULT, EXHAUSTIVE, EXHAUSTIVE]


def test_where_time_is_over_only_what_is_free_is_computed(registered):
    registered(cheap=(0.1, 9.0), free=(0.0, 9.0))
    assert proved(run=Run(np.random.default_rng(0), Budget(deadline=0.0))) == ["free"]


def test_bounds_that_cannot_help_are_passed_over(registered):
    registered(none=(0.0, None), free=(0.0, 9.0))
    assert proved() == ["free"]


def test_what_a_solver_has_searched_is_not_searched_again(registered, asked):
    known = {"single_bounds": {2: Bound(9.0, "branch_and_bound", "branch and bound", "always")}}
    registered(free=(0.0, 9.0), branch_and_bound=(0.1, 9.0), other=(0.2, 9.0))
    assert proved(**known) == ["branch_and_bound", "free", "other"]
    assert names(asked) == ["free", "other"]
    asked.clear()
    proved(replace(ONE, n_nonzero=3), **known)  # nothing is known of three features
    assert names(asked) == ["free", "branch_and_bound", "other"]
    asked.clear()
    proved(run=Run(np.random.default_rng(0), Budget.of(1000.0)), **known)  # with time, as far as it goes
    assert names(asked) == ["free", "other", "branch_and_bound", "other"]


def test_a_proof_for_nonnegative_loadings_is_known_for_those_alone(registered):
    registered(free=(0.0, 9.0))
    signed = Bound(5.0, "nonnegative_branch_and_bound", "signed", "always", nonnegative=True)
    assert proved(replace(ONE, nonnegative=True), single_bounds={2: signed}) == [signed.name, "free"]
    assert proved(single_bounds={2: signed}) == ["free"]


def test_an_interruption_keeps_what_is_proved(registered):
    run = Run(np.random.default_rng(0), Budget())
    registered(free=(0.0, 9.0), long=(0.1, KeyboardInterrupt), dear=(0.2, 8.0))
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
        assert all(BOUNDS[bound.name]().cost(task_of()) == 0 for bound in computed)


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
