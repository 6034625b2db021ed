"""What every estimator does with what it is given."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from sparing import errors
from sparing.data import DataMatrix, Preparation, Rows, as_rows, as_view


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Rows:
    """Raw rows of X, with names and number of features learned (``reset``) or compared with those learned."""
    rows = as_rows(X)
    named = X if hasattr(X, "columns") else rows
    validate_data(estimator, named, skip_check_array=True, reset=reset)
    return rows


def checked_view(estimator: Any, X: Any, preparation: Preparation) -> DataMatrix:
    """The view that an estimator fits; errors name features as the user does."""
    rows = checked_rows(estimator, X, reset=True)
    return as_view(X if preparation.precomputed else rows, preparation)


def generator_of(random_state: Any) -> np.random.Generator:
    """The generator of a fit, from any of scikit-learn's ways to say ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    if isinstance(random_state, Integral):
        return np.random.default_rng(int(random_state))
    return np.random.default_rng(check_random_state(random_state).randint(2**31))


def count(name: str, value: Any) -> int:
    """A whole number of at least 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral):
        raise errors.not_an_integer(name, value)
    if value < 1:
        raise errors.not_positive(name, value)
    return int(value)


def loss_limit(value: Any) -> float:
    """A loss ratio that something can reach."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not float(value) >= 1:
        raise errors.max_loss_out_of_range(value)
    return float(value)


def resolved(parameter: str, registry: Mapping[str, Any], verb: str, choice: Any) -> Any:
    """An algorithm by its name, or the user's own instance with its settings."""
    if isinstance(choice, str):
        if choice not in registry:
            raise errors.unknown_choice(parameter, choice, registry)
        return registry[choice]()
    if isinstance(choice, type) or not callable(getattr(choice, verb, None)):
        raise errors.unknown_choice(parameter, choice, registry)
    return choice
