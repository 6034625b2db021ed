"""Features that predict all others on new samples: sensors and gene panels, free, within a budget, and with regions.

SPARING_DATA=... python benchmarks/peers/run.py panels    # or, of one data set: run.py panels digits

Features are chosen and everything is fitted on four fifths of the rows; the error is what is left of the squares of the
others about the means of the fit. By one decoder for all, least squares from the chosen features, and by each package's
own.
"""

from __future__ import annotations

import importlib
import math
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from entry import Array
from panel_method import Method, Rule
from scipy import sparse
from sets import shared, stored
from sklearn.datasets import load_digits
from sklearn.model_selection import RepeatedKFold

MODULES = ("ours", "pysensors_sspor", "skmatter_selectors", "spapros_pca")
FIFTHS, PREDICTED = 5, 2000
"""Five folds, shuffled anew until so many rows have been predicted: one round of a small table says little."""

GENES = 1000


class Table(NamedTuple):
    """Rows, what each feature costs, and a region."""

    X: Array
    costs: Array
    region: Array


class Panel(NamedTuple):
    """A problem: so many features of these data, chosen by k components where a method wants to know."""

    data: str
    n_components: int
    n_features: int
    max_region: int
    load: Callable[[], Table]
    costs: str
    region: str


def image(X: Array, side: int, width: int) -> Table:
    """Pixels cost one at the rim and up to three in the middle; the region is the square in the middle."""
    from_middle = np.abs(np.arange(side) - (side - 1) / 2)
    distance = np.maximum.outer(from_middle, from_middle).ravel()
    return Table(X, 3 - 2 * distance / distance.max(), distance < width / 2)


def spectra() -> Table:
    """The later half of the wavelengths costs three times as much; the region is the first third."""
    X = stored("lrs")
    place = np.arange(X.shape[1])
    return Table(X, np.where(place < len(place) / 2, 1.0, 3.0), place < len(place) / 3)


def genes() -> Table:
    """Log counts of the most variable genes; a gene costs its mean count, since bright ones crowd a picture."""
    file = shared("pbmc_facs.npz")
    counts = sparse.load_npz(file).astype(float)
    depth = np.asarray(counts.sum(axis=1)).ravel()
    scaled = sparse.csc_array(sparse.diags(np.median(depth) / depth) @ counts)
    logs = scaled.copy()
    logs.data = np.log1p(logs.data)
    variances = logs.multiply(logs).mean(axis=0) - np.square(logs.mean(axis=0))
    kept = np.sort(np.argsort(-variances)[:GENES])
    names = np.load(file)["feature_names"][kept]
    ribosomal = np.array([name.startswith(("RPL", "RPS")) for name in names])
    return Table(logs[:, kept].toarray(), np.asarray(scaled[:, kept].mean(axis=0)).ravel(), ribosomal)


MIDDLE = "pixels cost 1 at the rim, up to 3 in the middle"
PANELS = (
    Panel("CBCL faces", 20, 40, 5, lambda: image(stored("cbcl_faces"), 19, 9), MIDDLE, "the middle 9 x 9 pixels"),
    Panel("LRS spectra", 5, 10, 1, spectra, "later wavelengths cost 3, others 1", "the first third of the wavelengths"),
    Panel("digits", 10, 20, 4, lambda: image(load_digits().data, 8, 4), MIDDLE, "the middle 4 x 4 pixels"),
    Panel("digits", 20, 20, 4, lambda: image(load_digits().data, 8, 4), MIDDLE, "the middle 4 x 4 pixels"),
    Panel("pbmc", 10, 50, 2, genes, "a gene costs its mean count", "ribosomal genes"),
)


def methods(kind: str) -> list[Method]:
    """All that know such a rule."""
    known = [method for name in MODULES for method in importlib.import_module(name).PANELS]
    return [method for method in known if kind in method.rules]


def rules(panel: Panel, table: Table, train: Array) -> dict[str, Rule]:
    """None; a budget halfway between the cheapest features and those of a QR that sees no costs; a region of few."""
    qr = importlib.import_module("pysensors_sspor")
    free = qr.all_modes(train, panel.n_components, panel.n_features, Rule()).features
    cheapest = np.sort(table.costs)[: panel.n_features]
    return {
        "free": Rule(),
        "costs": Rule(costs=table.costs, max_cost=float(table.costs[free].sum() + cheapest.sum()) / 2),
        "region": Rule(region=table.region, max_region=panel.max_region),
    }


def error(method: Method, panel: Panel, rule: Rule, train: Array, test: Array) -> dict[str, float]:
    """Of a fold, by least squares and by the package's own predictions; centred on the rows of the fit."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a budget pays for fewer features than components
        found = method.choose(train, panel.n_components, panel.n_features, rule)
    seconds, J = time.process_time() - start, found.features
    if len(J) > panel.n_features or not rule.allows(J):
        raise ValueError(f"{method.package} {method.name} broke its rule.")
    total = np.square(test).sum()
    weights = np.linalg.lstsq(train[:, J], train)[0]
    errors = {"same": np.square(test - test[:, J] @ weights).sum() / total, "seconds": seconds}
    errors["fit"] = np.square(train - train[:, J] @ weights).sum() / np.square(train).sum()
    if found.predict is not None:
        errors["own"] = np.square(test - found.predict(test[:, J])).sum() / total
    return {name: float(value) for name, value in errors.items()}


def rows(panel: Panel) -> Iterator[dict[str, Any]]:
    """Each method under each rule that it knows: means over folds, and the errors of each."""
    table = panel.load()
    folds, rounds = [], math.ceil(PREDICTED / len(table.X))
    for train, test in RepeatedKFold(n_splits=FIFTHS, n_repeats=rounds, random_state=0).split(table.X):
        mean = table.X[train].mean(axis=0)
        centred = table.X[train] - mean
        folds.append((centred, table.X[test] - mean, rules(panel, table, centred)))
    for kind in folds[0][2]:
        for method in methods(kind):
            found = [error(method, panel, rule[kind], train, test) for train, test, rule in folds]
            row = {"package": method.package, "name": method.name, "rule": kind}
            row |= {column: float(np.mean([one[column] for one in found])) for column in found[0]}
            print(f"  {row}", flush=True)
            yield row


def main(names: list[str]) -> list[dict[str, Any]]:
    """All problems, or those of the data sets named."""
    known = [panel.data for panel in PANELS]
    if unknown := set(names) - set(known):
        raise SystemExit(
            f"{', '.join(sorted(unknown))}: no such data set. There are {', '.join(dict.fromkeys(known))}."
        )
    found = []
    for panel in PANELS:
        if not names or panel.data in names:
            print(f"{panel.data}, k={panel.n_components}, r={panel.n_features}", flush=True)
            about = {name: value for name, value in panel._asdict().items() if name != "load"}
            found.append({**about, "shape": panel.load().X.shape, "rows": list(rows(panel))})
    return found


def merged(before: list[dict[str, Any]], found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is new in the place of what was there, in the order of the problems."""

    def place(one: dict[str, Any]) -> tuple[str, int]:
        return one["data"], one["n_components"]

    everything = {place(one): one for one in [*before, *found]}
    order = [(panel.data, panel.n_components) for panel in PANELS]
    return [everything[key] for key in order if key in everything]
