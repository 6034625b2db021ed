"""Results as JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sparing import __version__
from sparing.certificates import Certificate
from sparing.results import Array
from sparing.show.cli.opening import Table
from sparing.show.wording import component_name, equation, loadings_rows

NUMBERS = (
    *("variance_kept", "variance_kept_bound", "n_samples", "n_asked", "pca_variance"),
    *("value", "bound", "pca_value", "total", "ratio", "bound_ratio", "gap"),
)
"""Attributes of a certificate."""


def dumped(record: Any) -> str:
    """Standard JSON; numbers that are not finite are null."""
    return json.dumps(_plain(record), indent=2, allow_nan=False)


def model_record(model: Any, table: Table) -> dict[str, Any]:
    """The record of a fitted model."""
    names = raw_names(table)
    return {
        "sparing": __version__,
        "data": data_record(table),
        "class": type(model).__name__,
        "parameters": model.get_params(deep=False),
        "sentence": str(model.certificate_),
        "variance_kept": model.variance_kept_,
        "support": [{"feature": j, "name": names[j]} for j in model.support_.tolist()],
        "components": components_record(model.components_, names),
        "feature_r2": model.feature_r2_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        "loss": model.loss_,
        "loss_ratio": model.loss_ratio_,
        "n_passes": model.n_passes_,
        "certificate": certificate_record(model.certificate_),
    }


def data_record(table: Table) -> dict[str, Any]:
    """The record of the data."""
    n, d = table.rows.shape
    n_samples = None if table.precomputed else n
    left_out = {"not_numeric": table.not_numeric, "dropped": table.dropped}
    return {"path": str(table.path), "n_samples": n_samples, "n_features": d, "left_out": left_out}


def components_record(components: Array, names: Sequence[str]) -> list[dict[str, Any]]:
    """Each component: its equation, and its loadings by name, the largest first."""
    H = np.asarray(components)
    return [
        {
            "name": component_name(i),
            "equation": equation(component_name(i), row, names),
            "loadings": [
                {"feature": j, "name": names[j], "loading": value} for _, j, (value,) in loadings_rows([row], names)
            ],
        }
        for i, row in enumerate(H)
    ]


def certificate_record(certificate: Certificate) -> dict[str, Any]:
    """The numbers of a certificate, and its text."""
    c = certificate
    return {
        "sentence": str(c),
        "details": c.details().splitlines(),
        "kind": type(c).__name__,
        **{name: getattr(c, name) for name in NUMBERS},
        "sense": c.sense,
        "proved_by": c.witness.method,
        "strength": c.strength,
        "problem": dataclasses.asdict(c.problem),
        "preparation": dataclasses.asdict(c.preprocessing),
        "guarantees": [{**dataclasses.asdict(promise), "holds": promise.holds} for promise in c.guarantees],
        "notes": c.notes,
        "parts": [certificate_record(part) for part in c.parts],
    }


def raw_names(table: Table) -> list[str]:
    """Feature names as in the file; JSON escapes what is not printable."""
    return table.labels if table.feature_names is None else list(table.feature_names)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
