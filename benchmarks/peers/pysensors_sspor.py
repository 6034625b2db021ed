"""PySensors (python-sensors on PyPI): pivoted QR of the leading modes, with costs (CCQR) or a region (GQR).

QR ranks as many sensors as there are modes and shuffles the rest, so it is run with k modes, as its users write it, and
with r. CCQR subtracts costs from norms and knows no budget: costs get the smallest weight, by bisection, with which the
sensors fit into it. Its own predictions are the better of its two ways, with and without a prior.
"""

from __future__ import annotations

import warnings

import numpy as np
from entry import Array
from panel_method import Choice, Method, Rule
from pysensors import SSPOR
from pysensors.basis import SVD
from pysensors.optimizers import CCQR, GQR, QR

STEPS = 25
"""Bisections of the weight of costs."""


def modes_of(X: Array, count: int) -> SVD:
    """Exact ones, since it is not their approximation that is compared."""
    return SVD(n_basis_modes=min(count, min(X.shape) - 1), algorithm="arpack", random_state=0).fit(X)


def fitted(X: Array, basis: SVD, r: int, optimizer: QR, **settings: object) -> SSPOR:
    """A model on centred rows and their modes."""
    return SSPOR(basis=basis, optimizer=optimizer, n_sensors=r).fit(X, prefit_basis=True, seed=0, **settings)


def choice(model: SSPOR, X: Array) -> Choice:
    """Its sensors, and the one of its two ways to predict that is better on the rows of the fit."""
    sensors = np.asarray(model.get_selected_sensors())

    def predicted(values: Array, method: str | None) -> Array:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the noise is unknown
            return model.predict(values, method=method)

    ways = (None, "unregularized")
    best = min(ways, key=lambda way: float(np.square(X - predicted(X[:, sensors], way)).sum()))
    return Choice(sensors, lambda values: predicted(values, best))


def few_modes(X: Array, k: int, r: int, rule: Rule) -> Choice:
    return choice(fitted(X, modes_of(X, k), r, QR()), X)


def all_modes(X: Array, k: int, r: int, rule: Rule) -> Choice:
    return choice(fitted(X, modes_of(X, r), r, QR()), X)


def within_costs(X: Array, k: int, r: int, rule: Rule) -> Choice:
    """Costs are given in units of norms: the weight is found here."""
    unit, basis = 1 / rule.costs.max(), modes_of(X, r)
    low, high = 0.0, 1e3
    for _ in range(STEPS):
        middle = np.sqrt(low * high) if low else high / 10
        model = fitted(X, basis, r, CCQR(sensor_costs=middle * unit * rule.costs))
        low, high = (low, middle) if rule.allows(model.get_selected_sensors()) else (middle, high)
        if low == 0.0 and high < 1e-6:
            break
    return choice(fitted(X, basis, r, CCQR(sensor_costs=high * unit * rule.costs)), X)


def few_in_a_region(X: Array, k: int, r: int, rule: Rule) -> Choice:
    basis = modes_of(X, r)
    ranked = fitted(X, basis, r, QR()).get_all_sensors()
    settings = {
        "idx_constrained": np.flatnonzero(rule.region),
        "n_sensors": r,
        "n_const_sensors": rule.max_region,
        "all_sensors": ranked,
        "constraint_option": "max_n",
    }
    return choice(fitted(X, basis, r, GQR(), **settings), X)


PANELS = [
    Method("PySensors", "QR, k modes", few_modes),
    Method("PySensors", "QR, r modes", all_modes),
    Method("PySensors", "CCQR", within_costs, ("costs",)),
    Method("PySensors", "GQR", few_in_a_region, ("region",)),
]
