"""Marks are equal for equal contents and for nothing else."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np

from sparing.data import ArrayRows
from sparing.data.checkpoint import fingerprint
from sparing.data.jobs import Columns, GramColumns, GramProduct, Moments, mapped
from sparing.data.standardized_block import Standardization
from sparing.methods.solvers import Greedy, Rounding


class Own:
    """A user's object."""

    def __init__(self, value):
        self.value, self.me = value, self


def works():
    x, J = np.arange(6.0).reshape(3, 2), np.array([1, 0])
    placement = Standardization(1.0, x[0], x[1], None, None)
    return [
        partial(mapped, (GramProduct(x),), placement),
        partial(mapped, (GramProduct(x.reshape(2, 3)),), placement),
        partial(mapped, (GramProduct(x.astype(np.float32)),), placement),
        partial(mapped, (GramProduct(x), Moments()), placement),
        partial(mapped, (GramProduct(x),), placement._replace(unit=2.0)),
        partial(mapped, (GramProduct(x),), placement._replace(weights=x[2])),
        partial(mapped, (GramColumns(J),), placement),
        partial(mapped, (Columns(J),), placement),
        partial(mapped, (Columns(slice(0, 2)),), placement),
    ]


def test_work_that_differs_in_anything_has_another_mark():
    marks = [fingerprint(work) for work in works()]
    assert len(set(marks)) == len(marks)
    assert marks == [fingerprint(work) for work in works()]


def test_values_and_settings():
    things = [0, 0.0, False, None, "0", (), [], [0], [[0]], [[], 0], {"a": 1}, {"a": 2}, {"b": 1}, np.zeros(0), {1, 2}]
    things += [Own(1), Own(2), Greedy(), Rounding(), Rounding(repeats=3), Greedy, print, np.float64, (1, 2), (12,)]
    things += [np.random.default_rng(0), np.random.default_rng(1), np.random.RandomState(0), np.random.RandomState(1)]
    marks = [fingerprint(thing) for thing in things]
    assert len(set(marks)) == len(marks)
    assert fingerprint(Own(1)) == fingerprint(Own(1))
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1})
    assert fingerprint(np.asfortranarray(np.eye(3))) == fingerprint(np.eye(3))
    assert fingerprint([ArrayRows(np.eye(2))]) == fingerprint([ArrayRows(np.eye(3))])  # told apart elsewhere
    used = np.random.default_rng(0)
    used.random()
    assert fingerprint(used) != fingerprint(np.random.default_rng(0))


def test_other_processes_agree():
    code = "from sparing.data.checkpoint import fingerprint as f; print(f(({'a', 'b', 'c'}, {'x': 1.5}, 'text')))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == fingerprint(({"c", "b", "a"}, {"x": 1.5}, "text"))
