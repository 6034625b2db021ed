"""The same by this library, without certificates, which no other package has."""

from __future__ import annotations

from typing import Any

import numpy as np
from entry import Array, Entry
from panel_method import Choice, Method, Rule

from sparing import ColumnSelector, SparseEncoder, SparsePCA
from sparing.methods.selectors import Greedy


def entry(name: str, model: type, shared: bool = False, **settings: Any) -> Entry:
    """Loadings, or columns where components share them; ``settings`` are what the defaults do not say."""

    def fit(X: Any, k: int, r: int, penalty: Any = None) -> Any:
        found = model(k, n_nonzero=r, certify=False, random_state=0, **settings).fit(X)
        return found.support_ if shared else found.components_

    return Entry("sparing", name, fit, shared=shared, reads_sparse=True)


def select(X: Any, k: int, r: int, penalty: Any = None) -> Any:
    return ColumnSelector(r, n_components=k, random_state=0).fit(X).support_


ENTRIES = [
    entry("SparsePCA", SparsePCA),
    entry('SparsePCA, deflation="generalized"', SparsePCA, deflation="generalized"),
    entry('SparsePCA, deflation="schur"', SparsePCA, deflation="schur"),
    entry('SparsePCA, solver="varimax"', SparsePCA, solver="varimax"),
    entry('SparseEncoder, strategy="iterative"', SparseEncoder, strategy="iterative"),
    entry('SparseEncoder, strategy="joint"', SparseEncoder, strategy="joint"),
    entry("SparseEncoder", SparseEncoder, shared=True),
    entry("SparseEncoder, Greedy(swaps=False)", SparseEncoder, shared=True, selector=Greedy(swaps=False)),
    Entry("sparing", "ColumnSelector", select, shared=True, reads_sparse=True),
]


def panel(X: Array, k: int | None, r: int, rule: Rule) -> Choice:
    """Features and the predictions of the model, which reads them alone."""
    settings: dict[str, Any] = {}
    if rule.costs is not None:
        settings = {"costs": rule.costs, "max_cost": rule.max_cost}
    elif rule.region is not None:
        groups = np.where(rule.region, "region", None)
        settings = {"groups": groups, "max_per_group": {"region": rule.max_region}}
    model = SparseEncoder(k, n_nonzero=r, certify=False, center=False, **settings).fit(X)
    return Choice(model.support_, lambda values: model.inverse_transform(model.transform(values)))


PANELS = [
    Method(
        "sparing",
        "SparseEncoder(None)",
        lambda X, k, r, rule: panel(X, None, r, rule),
        ("free", "costs", "region"),
    ),
    Method("sparing", "SparseEncoder(k)", panel, ("free", "costs", "region")),
]
