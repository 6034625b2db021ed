"""Selectors under rules on features: never broken, and equal to trying all supports where a selector is to be best."""

import warnings

import numpy as np
import pytest

from small_rules import KINDS, captured, most_captured, random_rules
from sparing.data import as_view
from sparing.effort import QUICK
from sparing.linalg import top_spectrum
from sparing.methods.encoders import Batch, Iterative, Joint
from sparing.methods.selectors import SELECTORS, Exact, Greedy
from sparing.proof.bounds import LossTree
from sparing.results import Problem
from sparing.rules import NO_RULES, Rules
from sparing.run import Run
from sparing.task import Task

EVERY = [(kind,) for kind in KINDS] + [KINDS]


def problems(kinds, count, offset=0):
    """Tables with dependent and constant columns among them, and rules that some support keeps."""
    made, seed = 0, offset
    while made < count:
        rng, seed = np.random.default_rng([seed, len(kinds), KINDS.index(kinds[0])]), seed + 1
        d, k = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        X = rng.normal(size=(int(rng.choice([5, 20])), d)) @ rng.normal(size=(d, d))
        if rng.random() < 0.2:
            X[:, rng.integers(d)] = 1.0
        rules, size = random_rules(rng, d, kinds), int(rng.integers(1, d))
        size = min(size, rules.most_features(d))
        view = as_view(X)
        varies = (view.gram_diagonal() > 0) & (rules.usable(d) if size > len(rules.required) else np.zeros(d, bool))
        varies[rules.required] |= view.gram_diagonal()[rules.required] > 0
        if size < max(len(rules.required), 1) or not varies.any():
            continue
        made += 1
        yield Task.of_components(view, top_spectrum(view, min(k, d), rng), size, rules=rules), rng


@pytest.mark.parametrize("kinds", EVERY, ids="+".join)
def test_the_best_support_under_rules_is_found(kinds):
    """Equal to all supports tried, whichever rules there are: 125 problems, two selectors."""
    for task, rng in problems(kinds, 25):
        best = most_captured(task.gram.gram(), task.rules, task.n_nonzero, task.spectrum.rank)
        for selector in (Greedy(), Exact()):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what cannot be proved is said
                found = selector.select(task, Run(rng))
            assert task.rules.permits(found.columns)
            assert len(np.unique(found.columns)) == len(found.columns) <= task.n_nonzero
            reached = captured(task.gram.gram(), found.columns, task.spectrum.rank)
            assert reached >= best * (1 - 1e-7)


@pytest.mark.parametrize("name", SELECTORS)
def test_no_selector_breaks_a_rule(name):
    for kinds in EVERY:
        for task, rng in problems(kinds, 3, offset=1000):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = SELECTORS[name]().select(task, Run(rng, effort=QUICK))
            assert task.rules.permits(found.columns)
            assert len(found.columns) <= task.n_nonzero


@pytest.mark.parametrize("encoder", [Batch(Greedy()), Iterative(Greedy()), Joint(Greedy())], ids=str)
def test_no_encoder_breaks_a_rule(encoder):
    """A required feature is read by some component; a budget and limits hold for all of them together."""
    for kinds in EVERY:
        for task, rng in problems(kinds, 2, offset=2000):
            found = encoder.encode(task, Run(rng, effort=QUICK))
            assert task.rules.permits(found.support)
            assert (np.count_nonzero(found.loadings, axis=1) <= task.n_nonzero).all()


def test_control_without_rules_they_would_be_broken():
    broken = 0
    for task, rng in problems(KINDS, 20):
        free = Task.of_components(task.gram, task.spectrum, task.n_nonzero)
        broken += not task.rules.permits(Greedy().select(free, Run(rng, effort=QUICK)).columns)
    assert broken >= 10


@pytest.mark.parametrize("kinds", EVERY, ids="+".join)
def test_the_tree_bounds_every_support_under_the_rules(kinds):
    """No support under the rules captures more, and most bounds are those of the best one."""
    tight = tried = 0
    for task, rng in problems(kinds, 12, offset=3000):
        rules, k = task.rules, task.spectrum.rank
        best = most_captured(task.gram.gram(), rules, task.n_nonzero, k)
        found = Batch(Greedy()).encode(task, Run(rng, effort=QUICK))
        problem = Problem(k, task.n_nonzero, task.gram.n_features, rules=rules)
        proof = LossTree(max_nodes=5000).bound(Task(task.gram, problem, task.spectrum), found, Run(rng))
        if proof is None:
            continue
        least = task.spectrum.total - best
        assert proof.value <= least + 1e-9 * task.spectrum.total
        assert LossTree().check(Task(task.gram, problem), proof.witness) == pytest.approx(proof.value)
        tried += 1
        tight += proof.value >= least - 1e-6 * task.spectrum.total
    assert tight >= 0.9 * tried > 0


def test_control_rules_raise_the_bound():
    """The tree that knows the rules proves more than the one that does not: it is not the same bound."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(30, 8)) * [9, 8, 1, 1, 1, 1, 1, 1]
    view = as_view(X)
    spectrum, rules = top_spectrum(view, 2, rng), Rules(allowed=np.arange(8) > 1)
    bounds = []
    for each in (NO_RULES, rules):
        task = Task.of_components(view, spectrum, 3, rules=each)
        found = Batch(Greedy()).encode(task, Run(rng))
        bounds.append(LossTree(max_nodes=5000).bound(task, found, Run(rng)).value)
    assert bounds[1] > 10 * bounds[0]


def test_a_budget_buys_many_cheap_features_instead_of_one_dear_one():
    """Beyond what is enumerated: 40 features, of which one costs as much as ten that say more together."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 40))
    X[:, 0] *= 2
    X[:, 1:11] *= 1.5
    costs = np.ones(40)
    costs[0] = 10.0
    view = as_view(X)
    spectrum = top_spectrum(view, 10, rng)
    task = Task.of_components(view, spectrum, 40, rules=Rules(costs=costs, max_cost=10.0))
    found = Greedy().select(task, Run(rng, effort=QUICK))
    assert sorted(found.columns) == list(range(1, 11))
