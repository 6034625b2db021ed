"""New supports from known ones: crossovers, perturbations, and restarted components."""

from __future__ import annotations

from itertools import chain
from typing import Any, Protocol

import numpy as np

from sparing.results import Array, Indices
from sparing.rules import Rules
from sparing.search.descent import SwapObjective
from sparing.search_limits import SEARCH


class BlockObjective(SwapObjective, Protocol):
    """An objective of several components; its last features, ``padding``, are empty slots and stay in place."""

    padding: int

    def renewed(self, supports: Indices, state: Any, rng: np.random.Generator) -> tuple[Indices, Array]:
        """Each support with one component restarted, and loadings to start from."""


def offspring_of_one(
    objective: SwapObjective, elite: Indices, count: int, rules: Rules, rng: np.random.Generator
) -> Indices:
    """New supports: by turns a crossover of two of the elite, or one of them with some features replaced."""
    _, state = objective.fitted(elite)
    scores = objective.swap_gains(elite, state)  # (S, r, c)
    nearby = np.argsort(-scores, axis=2)[:, :, : SEARCH.nearby]
    children = []
    for number in range(count):
        first, second = rng.integers(len(elite), size=2)
        if number % 2 and first != second:
            children.append(_crossed(elite[first], elite[second], rng))
        else:
            children.append(_perturbed(elite[first], nearby[first], objective.size, rules, rng))
        if rules.has_limits and not rules.permits(children[-1]):
            mended = _mended(children[-1], objective.size, rules, rng)
            children[-1] = mended if len(mended) == len(elite[first]) else elite[first]
    return np.array(children)


def _mended(support: Indices, n_features: int, rules: Rules, rng: np.random.Generator) -> Indices:
    """The part of a support that satisfies the rules, taken in random order and filled up as far as possible."""
    rooms, child = rules.rooms(1, n_features), list(rules.required)
    order = chain(rng.permutation(np.setdiff1d(support, rules.required)), rng.permutation(n_features))
    for j in order:
        if len(child) == len(support):
            break
        if rooms.open()[0, j]:
            rooms.take(np.array([j]))
            child.append(j)
    return np.array(child, dtype=np.intp)


def _crossed(first: Indices, second: Indices, rng: np.random.Generator) -> Indices:
    """The features that two supports share, and some of those that only one of them has."""
    common, others = np.intersect1d(first, second), np.setxor1d(first, second)
    return np.concatenate([common, rng.choice(others, len(first) - len(common), replace=False)])


def _perturbed(support: Indices, nearby: Indices, n_features: int, rules: Rules, rng: np.random.Generator) -> Indices:
    """A few features replaced, mostly by good replacements of their own."""
    child = support.copy()
    least, most = SEARCH.perturbed
    free = np.flatnonzero(~np.isin(support, rules.required))
    for slot in rng.choice(free, min(int(rng.integers(least, most + 1)), len(free)), replace=False):
        options = np.arange(n_features) if rng.random() < SEARCH.anywhere else nearby[slot]
        inside = np.zeros(n_features, dtype=bool)
        inside[child] = True
        if len(options := options[~inside[options]]):
            child[slot] = options[rng.integers(len(options))]
    return child


def offspring_of_several(
    objective: BlockObjective, supports: Indices, loadings: Array, count: int, rng: np.random.Generator
) -> tuple[Indices, Array]:
    """New supports: alternately one of the elite with a component restarted, and with some features replaced."""
    _, state = objective.fitted(supports, loadings)
    scores = objective.swap_gains(supports, state)  # (S, R, c)
    parents = rng.integers(len(supports), size=count)
    rows, anew = supports[parents], np.arange(0, count, SEARCH.renewed)
    for child in np.setdiff1d(np.arange(count), anew):
        rows[child] = _perturbed_components(supports[parents[child]], scores[parents[child]], objective.blocks, rng)
    of_parents = tuple(part[parents] for part in state)
    before = objective.kept(of_parents, rows == supports[parents])
    rows[anew], before[anew] = objective.renewed(supports[parents[anew]], tuple(part[anew] for part in of_parents), rng)
    return rows, before


def _perturbed_components(support: Indices, scores: Array, blocks: int, rng: np.random.Generator) -> Indices:
    """A few features replaced, mostly by good replacements of their own."""
    child, n_slots = support.copy(), len(support)
    size, (least, most) = n_slots // blocks, SEARCH.perturbed
    for slot in rng.choice(n_slots, min(int(rng.integers(least, most + 1)), n_slots), replace=False):
        worth = scores[slot].copy()
        worth[child[slot // size * size : (slot // size + 1) * size]] = -np.inf
        possible = np.flatnonzero(worth > -np.inf)
        if len(possible):
            nearby = possible[np.argsort(-worth[possible], kind="stable")[: SEARCH.nearby]]
            options = possible if rng.random() < SEARCH.anywhere else nearby
            child[slot] = options[rng.integers(len(options))]
    return child
