"""Checks of the parameters of estimators, once for each parameter."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from sparing import errors
from sparing.clustering import LINKAGES
from sparing.data import Preprocessing
from sparing.data.checkpoint import Checkpoint
from sparing.effort import EFFORTS
from sparing.estimators.inputs import PASSES
from sparing.methods.base import check_settings
from sparing.run import Budget, Run

MISSING = ("error", "mean")
"""Values of ``missing``."""

NAMES_OUT = ("numbered", "leading")
"""Values of ``feature_names_out``."""


def is_whole(value: Any) -> bool:
    """Whether it is an integer of Python or NumPy, except True and False."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def flag(name: str, value: Any) -> bool:
    """Check for True or False, and nothing that merely converts to them."""
    if not isinstance(value, (bool, np.bool_)):
        raise errors.not_a_flag(name, value)
    return bool(value)


def count(name: str, value: Any) -> int:
    """Check for an integer of at least 1."""
    if not is_whole(value):
        raise errors.not_an_integer(name, value)
    if value < 1:
        raise errors.not_positive(name, value)
    return int(value)


def one_of(name: str, value: Any, allowed: Collection[str], also: tuple[object, ...] = ()) -> str:
    """Check for a name from a short list; ``also`` lists further allowed values for the message."""
    if not isinstance(value, str) or value not in allowed:
        raise errors.unknown_choice(name, value, [*allowed, *also])
    return value


def feature_count(name: str, value: Any, n_features: int) -> int:
    """Check a number of features against X."""
    checked = count(name, value)
    if checked > n_features:
        raise ValueError(
            f"n_nonzero={checked} is outside [1, {n_features}]: X has {n_features} feature(s). Pass an integer between "
            f"1 and {n_features}, or leave n_nonzero out to get the fewest features that do nearly as well as PCA."
        )
    return checked


def checked_components(value: Any, n_features: int) -> int:
    """Check a number of components against X."""
    checked = count("n_components", value)
    if checked > n_features:
        raise errors.n_components_too_large(checked, n_features)
    return checked


def feature_counts(value: Any, n_components: int, n_features: int) -> int | list[int]:
    """Check a number of features, or one for each component."""
    if np.ndim(value) == 0:
        return feature_count("n_nonzero", value, n_features)
    counts = [feature_count("n_nonzero", each, n_features) for each in value]
    return one_for_each("n_nonzero", counts, n_components)


def row_counts(value: Any, n_components: int) -> int | list[int]:
    """Check a number of samples, or one for each component."""
    if np.ndim(value) == 0:
        return count("n_rows", value)
    return one_for_each("n_rows", [count("n_rows", each) for each in value], n_components)


def one_for_each(name: str, counts: list[int], n_components: int) -> list[int]:
    """Check that there is one count for each component."""
    if len(counts) != n_components:
        raise ValueError(
            f"{name} has {len(counts)} counts, but n_components={n_components}. Pass one count for each component, "
            "or one integer for all of them."
        )
    return counts


def is_number(value: Any) -> bool:
    """Whether it is a finite real number, except True and False."""
    kinds = (int, float, np.integer, np.floating)
    try:
        return isinstance(value, kinds) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer too large for a float
        return False


def tolerance(name: str, value: Any) -> float:
    """Check for a nonnegative number."""
    if not is_number(value) or value < 0:
        raise ValueError(f"{name}={value!r} must be a number of at least 0, such as 1e-6.")
    return float(value)


def loss_limit(value: Any) -> float:
    """Check for a loss ratio that can be reached."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not value >= 1:
        raise ValueError(
            f"max_loss={value!r} must be a number of at least 1: it is the loss divided by PCA's, and no encoder loses "
            "less than PCA. max_loss=1.1 allows 10% more than PCA."
        )
    return min(float(value), sys.float_info.max)


def share(name: str, value: Any, example: str) -> float:
    """Check for a number above 0 and at most 1."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:
        raise errors.not_a_share(name, value, example)
    return float(value)


def cosine(name: str, value: Any) -> float:
    """Check for a number from 0 to 1."""
    if not is_number(value) or not 0 <= value <= 1:
        raise ValueError(
            f"{name}={value!r} must be a number from 0 to 1: the largest absolute cosine of two components, 0 for "
            "orthogonal ones and 1 for no limit. Pass one such as 0.3."
        )
    return float(value)


def resolved(parameter: str, registry: Mapping[str, Any], verb: str, choice: Any, also: tuple[str, ...] = ()) -> Any:
    """The algorithm of this name, or the user's instance with its settings."""
    if isinstance(choice, str):
        if choice not in registry:
            raise errors.unknown_choice(parameter, choice, [*registry, *also])
        return registry[choice]()
    if isinstance(choice, type) or not callable(getattr(choice, verb, None)):
        raise errors.unknown_choice(parameter, choice, [*registry, *also])
    check_settings(choice)
    return choice


CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "n_components": count,  # or None, if the estimator allows it
    "rank": count,
    "accuracy": lambda name, value: share(name, value, "0.1 allows an answer 10% below the best."),
    "max_loss": lambda _, value: None if value is None else loss_limit(value),
    "min_variance": lambda name, value: (
        None if value is None else share(name, value, "0.9 keeps 90% of the variance that PCA keeps.")
    ),
    "max_cosine": cosine,
    "refit": flag,
    "n_features_to_select": count,
    "fit_intercept": flag,
    "center": flag,
    "scale": flag,
    "certify": flag,
    "precomputed": flag,
    "missing": lambda name, value: one_of(name, value, MISSING),
    "passes": lambda name, value: one_of(name, value, PASSES),
    "feature_names_out": lambda name, value: one_of(name, value, NAMES_OUT),
    "n_init": lambda name, value: None if isinstance(value, str) and value == "auto" else count(name, value),
    "n_permutations": count,
    "max_iter": count,
    "tol": tolerance,
    "linkage": lambda name, value: one_of(name, value, LINKAGES),
    "complementary": flag,
    "effort": lambda name, value: one_of(name, value, EFFORTS),
}
"""Checks that do not depend on the data, by parameter name."""


def check_parameters(estimator: Any) -> None:
    """Reject invalid parameters before any data are read."""
    for name, value in vars(estimator).items():  # get_params looks up signatures, half a millisecond
        if name in CHECKS and not (value is None and name in getattr(estimator, "_optional", ())):
            CHECKS[name](name, value)


def preprocessing_of(estimator: Any) -> Preprocessing:
    """The preprocessing defined by the parameters of an estimator."""
    precomputed = getattr(estimator, "precomputed", False)
    return preprocessing_from(estimator.center, estimator.scale, precomputed, estimator.missing)


def preprocessing_from(center: Any, scale: Any, precomputed: Any = False, missing: Any = "error") -> Preprocessing:
    """The same from a user's arguments."""
    flags = (flag("center", center), flag("scale", scale), flag("precomputed", precomputed))
    return Preprocessing(*flags, one_of("missing", missing, MISSING))


def run_of(estimator: Any, checkpoint: Checkpoint | None = None) -> Run:
    """Random numbers, time limit and effort defined by the parameters of an estimator."""
    return run_from(
        estimator.random_state,
        getattr(estimator, "time_limit", None),
        estimator.verbose,
        getattr(estimator, "effort", "default"),
        checkpoint,
    )


def run_from(
    random_state: Any,
    time_limit: Any = None,
    verbose: Any = False,
    effort: Any = "default",
    checkpoint: Checkpoint | None = None,
) -> Run:
    """The same from a user's arguments."""
    chosen = EFFORTS[one_of("effort", effort, EFFORTS)]
    return Run(generator_of(random_state, checkpoint), Budget.of(time_limit, verbose), chosen)


def generator_of(random_state: Any, checkpoint: Checkpoint | None = None) -> np.random.Generator:
    """The generator of a fit, from any ``random_state`` that scikit-learn accepts; a resumed fit uses its stored
    seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng(None if checkpoint is None else checkpoint.seed)
    if is_whole(random_state) and random_state >= 0:
        return np.random.default_rng(int(random_state))
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    raise ValueError(
        f"random_state={random_state!r} is neither a non-negative integer, a numpy Generator or RandomState, nor None. "
        "Pass an integer such as random_state=0 for the same answer every time."
    )
