"""JSON that every program reads."""

from __future__ import annotations

import json

import numpy as np
import pytest

from sparing.show.cli.records import dumped


def test_what_is_not_finite_is_null_and_numpy_becomes_plain():
    record = {"a": np.inf, "b": [np.float64("nan"), np.int64(3)], "c": np.array([1.5, -np.inf]), "d": (True, None, "é")}
    text = dumped(record)
    again = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert again == {"a": None, "b": [None, 3], "c": [1.5, None], "d": [True, None, "é"]}
    assert text.isascii()
