"""Checks of rules on features as users pass them: names, indices or masks, costs and groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sparing.errors import listed
from sparing.estimators.parameters import count, is_number, is_whole
from sparing.results import Array, Indices
from sparing.rules import NO_GROUP, NO_RULES, Rules

RULES = ("include", "exclude", "costs", "max_cost", "groups", "max_per_group")
"""Parameters of estimators that are rules on features."""


class Counted(NamedTuple):
    """The requested number of features, per component and in total, and the parameter that sets it."""

    parameter: str = "n_nonzero"
    each: int | None = None
    together: int | None = None


UNCOUNTED = Counted()


def rules_of(estimator: Any, names: Sequence[str], counted: Counted) -> Rules:
    """The rules of an estimator for data whose features have these names."""
    return checked_rules(names, counted, **{rule: getattr(estimator, rule, None) for rule in RULES})


def checked_rules(
    names: Sequence[str],
    counted: Counted = UNCOUNTED,
    *,
    include: Any = None,
    exclude: Any = None,
    costs: Any = None,
    max_cost: Any = None,
    groups: Any = None,
    max_per_group: Any = None,
) -> Rules:
    """Check the user's rules; a ValueError names those that cannot be satisfied."""
    if all(rule is None for rule in (include, exclude, costs, max_cost, groups, max_per_group)):
        return NO_RULES
    d = len(names)
    required = features_of("include", include, names)
    forbidden = features_of("exclude", exclude, names)
    if len(both := np.intersect1d(required, forbidden)):
        raise ValueError(
            f"include and exclude both name {listed(names[j] for j in both)}: a feature is either read or not. Take it "
            "out of one of them."
        )
    allowed = None
    if exclude is not None:
        allowed = np.ones(d, dtype=bool)
        allowed[forbidden] = False
    prices, budget = _costs(costs, max_cost, names)
    labels, limits, words = _groups(groups, max_per_group, names)
    rules = Rules(required, allowed, prices, budget, labels, limits)
    _check_possible(rules, names, words, counted)
    return rules


def features_of(parameter: str, value: Any, names: Sequence[str]) -> Indices:
    """Sorted indices of the features that a user passes as names, indices or a mask."""
    if value is None:
        return np.zeros(0, dtype=np.intp)
    if isinstance(value, (str, int, np.integer)) and not isinstance(value, bool):
        value = [value]
    if not hasattr(value, "dtype") and not isinstance(value, Iterable):
        raise TypeError(f"{parameter}={value!r} was passed; names, indices or a mask of features are needed.")
    items = np.asarray(value).ravel() if hasattr(value, "dtype") else np.array(list(value), dtype=object)
    d, given = len(names), items.tolist()
    if given and all(isinstance(item, (bool, np.bool_)) for item in given):
        if len(given) != d:
            raise ValueError(
                f"{parameter} is a mask of {len(given)} values, but X has {d} features. A mask has one True or False "
                "for each feature; names and indices need not be all."
            )
        return np.flatnonzero(np.array(given, dtype=bool))
    if all(isinstance(item, str) for item in given):
        return _by_name(parameter, given, names)
    if not all(is_whole(item) for item in given):
        odd = next(item for item in given if not is_whole(item))
        raise TypeError(
            f"{parameter} holds {odd!r}, which is neither the name of a feature, nor an index, nor True or False. Pass "
            "names, indices or a mask, not a mixture."
        )
    outside = [item for item in given if not 0 <= item < d]
    if outside:
        raise ValueError(
            f"{parameter} holds index {outside[0]}, but X has {d} features, numbered 0 to {d - 1}. Pass indices in "
            "that range, or names."
        )
    return np.unique(np.array(given, dtype=np.intp))


def _by_name(parameter: str, wanted: list[str], names: Sequence[str]) -> Indices:
    place = {name: j for j, name in enumerate(names)}
    if unknown := [name for name in wanted if name not in place]:
        raise ValueError(
            f"{parameter} names {listed(sorted(set(unknown)))}, which X does not have. Its features are "
            f"{listed(names)}."
        )
    return np.unique(np.array([place[name] for name in wanted], dtype=np.intp))


def plain_rule(value: Any) -> Any:
    """Convert a rule to lists, arrays and dicts, from sets, ranges, and indices and series of data frames."""
    if (by_name := _as_mapping(value)) is not None:
        return dict(by_name)
    if isinstance(value, (str, list, tuple, np.ndarray)) or not isinstance(value, Iterable):
        return value
    return sorted(value) if isinstance(value, (set, frozenset)) else list(value)


def _as_mapping(value: Any) -> Mapping[Any, Any] | None:
    """A mapping by name: a dict, or a pandas Series whose index holds names."""
    if isinstance(value, Mapping):
        return value
    index = getattr(value, "index", None)
    if index is not None and hasattr(value, "to_dict") and all(isinstance(name, str) for name in index):
        found: Mapping[Any, Any] = value.to_dict()
        return found
    return None


def _costs(costs: Any, max_cost: Any, names: Sequence[str]) -> tuple[Array | None, float]:
    if (costs is None) != (max_cost is None):
        given, other = ("costs", "max_cost") if max_cost is None else ("max_cost", "costs")
        raise ValueError(
            f"{given} was given without {other}: costs say what each feature costs, max_cost what all of them may cost "
            "together. Pass both or neither."
        )
    if costs is None:
        return None, math.inf
    if not is_number(max_cost) or max_cost < 0:
        raise ValueError(f"max_cost={max_cost!r} must be a number of at least 0: what all features may cost together.")
    free = "0 for one that costs nothing; a feature that may not be read goes into exclude"
    return values_by_feature("costs", costs, names, free), float(max_cost)


def values_by_feature(parameter: str, given: Any, names: Sequence[str], zero: str) -> Array:
    """One finite number of at least 0 for each feature, from an array or by name; ``zero`` explains the meaning of
    0."""
    if (by_name := _as_mapping(given)) is not None:
        _by_name(parameter, [str(name) for name in by_name], names)
        if absent := [name for name in names if name not in by_name]:
            raise ValueError(f"{parameter} has no value for {listed(absent)}. Give every feature one: {zero}.")
        given = [by_name[name] for name in names]
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise TypeError(f"{parameter} must be numbers, one for each of the {len(names)} features of X.") from None
    if values.shape != (len(names),):
        raise ValueError(
            f"{parameter} has shape {values.shape}, but X has {len(names)} features: pass one number for each."
        )
    if not (np.isfinite(values) & (values >= 0)).all():
        j = int(np.flatnonzero(~(np.isfinite(values) & (values >= 0)))[0])
        raise ValueError(f"{parameter} has {values[j]:g} for {names[j]!r}. Numbers are finite and at least 0: {zero}.")
    return values


def _groups(
    groups: Any, max_per_group: Any, names: Sequence[str]
) -> tuple[Indices | None, Indices | None, Sequence[Any]]:
    if (groups is None) != (max_per_group is None):
        given, other = ("groups", "max_per_group") if max_per_group is None else ("max_per_group", "groups")
        raise ValueError(
            f"{given} was given without {other}: groups has a label for each feature, max_per_group says how many "
            "features of one label may be read. Pass both or neither."
        )
    if groups is None:
        return None, None, ()
    if (by_name := _as_mapping(groups)) is not None:
        _by_name("groups", [str(name) for name in by_name], names)
        labels = [by_name.get(name) for name in names]
    elif isinstance(groups, Iterable) and not isinstance(groups, str):
        labels = list(groups)
    else:
        raise TypeError(f"groups={groups!r} was passed; one label for each feature is needed, or a dict by name.")
    if len(labels) != len(names):
        raise ValueError(f"groups has {len(labels)} labels, but X has {len(names)} features: pass one label for each.")
    words = list(dict.fromkeys(label for label in labels if not _is_none(label)))
    place = {word: g for g, word in enumerate(words)}
    codes = np.array([NO_GROUP if _is_none(label) else place[label] for label in labels], dtype=np.intp)
    if isinstance(max_per_group, Mapping):
        if unknown := [word for word in max_per_group if word not in place]:
            raise ValueError(
                f"max_per_group has a limit for {listed(map(str, unknown))}, but groups has only "
                f"{listed(map(str, words))}."
            )
        limits = [_limit(max_per_group.get(word, len(names))) for word in words]
    else:
        limits = [count("max_per_group", max_per_group)] * len(words)
    return codes, np.array(limits, dtype=np.intp), words


def _limit(value: Any) -> int:
    if not is_whole(value) or value < 0:
        raise ValueError(f"max_per_group has the limit {value!r}; a whole number of at least 0 is needed.")
    return int(value)


def _is_none(label: Any) -> bool:
    """Whether it means no group: None, or a missing value of a data frame."""
    return label is None or (isinstance(label, float) and math.isnan(label))


def _check_possible(rules: Rules, names: Sequence[str], words: Sequence[Any], counted: Counted) -> None:
    """Raise an error for rules that no choice of features satisfies; it names the cause."""
    required, d = rules.required, len(names)
    if counted.together is not None and len(required) > counted.together:
        raise ValueError(
            f"include names {len(required)} features ({listed(names[j] for j in required)}), but "
            f"{counted.parameter} allows {counted.together} in all. Raise {counted.parameter}, or shorten include."
        )
    if rules.costs is not None and not rules.within_limits(required[None])[0] and len(required):
        spent = rules.cost(required)
        if spent > rules.max_cost:
            raise ValueError(
                f"The {len(required)} features of include cost {spent:g} together, above max_cost={rules.max_cost:g}. "
                f"Raise max_cost, or shorten include ({listed(names[j] for j in required)})."
            )
    if rules.groups is not None and rules.max_per_group is not None:
        for g, word in enumerate(words):
            members = [names[j] for j in required if rules.groups[j] == g]
            if len(members) > rules.max_per_group[g]:
                raise ValueError(
                    f"include names {len(members)} features of group {word!r} ({listed(members)}), but max_per_group "
                    f"allows {rules.max_per_group[g]}. Raise the limit, or shorten include."
                )
    most = rules.most_features(d)
    if most == 0:
        if rules.costs is not None and (rules.allowed is None or rules.allowed.any()):
            cheapest = np.where(True if rules.allowed is None else rules.allowed, rules.costs, np.inf)
            j = int(np.argmin(cheapest))
            raise ValueError(
                f"max_cost={rules.max_cost:g} pays for no feature: the cheapest that may be read is {names[j]!r} with "
                f"cost {rules.costs[j]:g}. Raise max_cost."
            )
        raise ValueError("exclude and max_per_group leave no feature to read. Remove at least one from exclude.")
    if counted.each is not None and most < counted.each and not rules.has_budget:
        rule = "exclude and max_per_group leave" if rules.groups is not None else "exclude leaves"
        raise ValueError(
            f"{counted.parameter}={counted.each}, but {rule} {most} of {d} features to read. Pass {counted.parameter} "
            f"of {most} or less."
        )
