"""Random rules on few features, and the best support under them by trying all."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

from sparing.rules import Rules

KINDS = ("required", "allowed", "costs", "groups")


def random_rules(rng: np.random.Generator, d: int, kinds=KINDS) -> Rules:
    """Rules of some kinds that some support keeps; costs have ties and zeros."""
    rules, required = {}, np.zeros(0, dtype=np.intp)
    if "required" in kinds:
        required = rules["required"] = np.sort(rng.choice(d, rng.integers(1, 3), replace=False))
    if "allowed" in kinds:
        rules["allowed"] = rng.random(d) < 0.75
        rules["allowed"][required] = True
    if "costs" in kinds:
        costs = rules["costs"] = rng.choice([0.0, 0.1, 0.5, 1.0, 1.0, 2.0, 3.0], d)
        rules["max_cost"] = float(costs[required].sum() + rng.choice([0.3, 1.0, 2.0, 4.0]))
    if "groups" in kinds:
        groups = rules["groups"] = rng.integers(-1, 3, d)
        taken = [int((groups[required] == g).sum()) for g in range(3)]
        rules["max_per_group"] = np.maximum(rng.integers(0, 3, 3), taken)
    return Rules(**rules)


def supports_under(rules: Rules, d: int, size: int):
    """All supports of at most ``size`` features that keep the rules, from the rules' own words."""
    costs = np.zeros(d) if rules.costs is None else rules.costs
    for support in chain.from_iterable(combinations(range(d), m) for m in range(1, size + 1)):
        J = np.array(support)
        within = costs[J].sum() <= rules.max_cost + 1e-9
        may = rules.allowed is None or rules.allowed[J].all()
        few = rules.groups is None or all((rules.groups[J] == g).sum() <= m for g, m in enumerate(rules.max_per_group))
        if within and may and few and set(rules.required) <= set(support):
            yield J


def captured(A: np.ndarray, support, rank: int) -> float:
    """What k components on a support capture, by an eigendecomposition that needs no full rank."""
    Z = A[:, support]
    values, vectors = np.linalg.eigh(Z[support])
    kept = values > 1e-10 * max(values[-1], 1e-300)
    if not kept.any():
        return 0.0
    whitened = Z @ (vectors[:, kept] / np.sqrt(values[kept]))
    return float(np.linalg.eigvalsh(whitened.T @ whitened)[-rank:].sum())


def most_captured(A: np.ndarray, rules: Rules, size: int, rank: int) -> float:
    """The most that any support under the rules captures; -inf where there is none."""
    return max((captured(A, J, rank) for J in supports_under(rules, len(A), size)), default=-np.inf)
