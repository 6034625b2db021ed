"""Rules on features: what they permit, what may be added or swapped, and how many must go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from small_rules import KINDS, random_rules, supports_under
from sparing.rules import NO_RULES, Rules

kinds_of_rules = st.sets(st.sampled_from(KINDS))


@given(st.integers(0, 10**6), kinds_of_rules)
@settings(max_examples=60, deadline=None)
def test_permitted_supports_are_those_that_keep_every_rule(seed, kinds):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, 6, kinds)
    permitted = {tuple(J) for J in supports_under(rules, 6, 6)}
    every = {tuple(J) for J in supports_under(NO_RULES, 6, 6)}
    assert {J for J in every if rules.permits(np.array(J))} == permitted
    longest = max(map(len, permitted), default=0)
    assert rules.most_features(6) == longest or not permitted
    usable = np.zeros(6, dtype=bool)
    usable[sorted(set().union(*permitted))] = True
    np.testing.assert_array_equal(rules.usable(6) & usable, usable)  # never says no to what some support has


@given(st.integers(0, 10**6), kinds_of_rules)
@settings(max_examples=60, deadline=None)
def test_swaps_are_permitted_exactly_where_what_they_lead_to_is(seed, kinds):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, 7, kinds)
    supports = [J for J in supports_under(rules, 7, 3) if len(J) == 3]
    if not supports:
        return
    support = supports[rng.integers(len(supports))]
    outside = np.setdiff1d(np.arange(7), support)
    mask = rules.swaps(support[None], outside[None])[0]
    for slot in range(3):
        for place, j in enumerate(outside):
            after = support.copy()
            after[slot] = j
            assert mask[slot, place] == rules.permits(after)


@given(st.integers(0, 10**6), kinds_of_rules)
@settings(max_examples=40, deadline=None)
def test_rooms_are_open_to_what_keeps_the_rules(seed, kinds):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, 7, kinds)
    rooms, support = rules.rooms(1, 7), list(rules.required)
    while (opened := np.flatnonzero(rooms.open()[0])).size:
        for j in range(7):
            assert (j in opened) == (j not in support and rules.permits(np.array([*support, j])))
        rooms.take(opened[:1])
        support.append(int(opened[0]))
    assert rules.permits(np.array(support, dtype=np.intp))


@given(st.integers(0, 10**6), kinds_of_rules)
@settings(max_examples=40, deadline=None)
def test_no_fewer_columns_than_said_may_go(seed, kinds):
    rng = np.random.default_rng(seed)
    rules = random_rules(rng, 6, set(kinds) - {"allowed"})
    kept = rules.required
    columns = np.append(kept, np.setdiff1d(np.arange(6), kept))
    size = int(rng.integers(max(len(kept), 1), 7))
    said = rules.fewest_deletions(columns, len(kept), size)
    possible = [6 - len(J) for J in supports_under(rules, 6, size)]
    assert said is None or not possible or said <= min(possible)
    assert said is not None or not possible


def test_restricted_rules_speak_of_the_same_features():
    rules = Rules(np.array([3]), None, np.arange(6.0), 7.0, np.array([0, 0, 1, 1, 0, -1]), np.array([1, 1]))
    inside = rules.restricted(np.array([1, 3, 4, 6]), 6)  # 6 stands for no feature
    assert inside.required.tolist() == [1]
    assert inside.permits([1, 2]) == rules.permits([3, 4])
    assert inside.permits([1, 3])  # an empty slot costs nothing
    assert not inside.permits([0, 1, 2])  # two of one group


def test_tenths_add_up_to_their_budget():
    rules = Rules(costs=np.full(3, 0.1), max_cost=0.3)
    assert rules.permits([0, 1, 2])
    assert not Rules(costs=np.full(3, 0.1), max_cost=0.29).permits([0, 1, 2])


def test_rules_compare_by_what_they_say():
    assert Rules(np.array([1])) == Rules(np.array([1])) != Rules(np.array([2]))
    assert not NO_RULES
    assert Rules(allowed=np.ones(3, dtype=bool))


@pytest.mark.parametrize("kind", KINDS)
def test_control_each_kind_of_rule_forbids_something(kind):
    rng = np.random.default_rng(3)
    assert any(len(list(supports_under(random_rules(rng, 6, [kind]), 6, 6))) < 63 for _ in range(5))
