"""Progress of passes: a line every few seconds, and nothing where all is quick."""

from __future__ import annotations

import numpy as np
import pytest

from sparing import ColumnSelector, DoublySparseEncoder, NonnegativeSparsePCA, SparseEncoder, SparsePCA, open_data
from sparing.data import ArrayRows, Imputed, StandardizedRows
from sparing.data.dask_rows import DaskRows
from sparing.data.jobs import GramBlock
from sparing.data.tracked import TrackedRows


class Clock:
    """A second passes whenever the time is asked for."""

    def __init__(self, step=1.0):
        self.now, self.step = 0.0, step

    def __call__(self):
        self.now += self.step
        return self.now


@pytest.fixture
def X(rng):
    return rng.standard_normal((1000, 4)) + 1.0


def test_lines_come_every_few_seconds_and_at_the_end_of_a_pass(X):
    lines = []
    view = StandardizedRows(TrackedRows(ArrayRows(X, 100), lines.append, clock=Clock()))
    assert lines == [
        *(f"pass 1: {share}% of 1,000 rows" for share in (20, 40, 60, 80, 100)),
    ]
    view.one_pass(GramBlock())
    assert lines[5:] == [f"pass 2: {share}% of 1,000 rows" for share in (20, 40, 60, 80, 100)]


def test_a_pass_that_spoke_says_its_end(X):
    lines = []
    StandardizedRows(TrackedRows(ArrayRows(X, 400), lines.append, clock=Clock()))
    assert lines == ["pass 1: 80% of 1,000 rows", "pass 1: 100% of 1,000 rows"]


def test_quick_passes_say_nothing_until_together_they_are_slow(X):
    lines = []
    view = StandardizedRows(TrackedRows(ArrayRows(X, 500), lines.append, clock=Clock(0.3)))
    assert lines == []
    for _ in range(4):
        view.one_pass(GramBlock())
    assert lines == ["pass 4: 50% of 1,000 rows", "pass 4: 100% of 1,000 rows"]


def test_passes_are_those_of_this_fit_and_imputing_is_one(X):
    rows, lines = ArrayRows(X, 500), []
    StandardizedRows(rows)
    inner = TrackedRows(rows, lines.append, clock=Clock())
    view = StandardizedRows(Imputed(inner))
    assert view.passes == 2
    assert [line.split(":")[0] for line in lines] == ["pass 1", "pass 2"]


def test_a_dask_pass_says_at_least_a_line(X):
    lines = []
    view = StandardizedRows(
        TrackedRows(DaskRows(pytest.importorskip("dask.array").from_array(X, chunks=(300, 4))), lines.append)
    )
    view.one_pass(GramBlock())
    assert lines == ["pass 1: 1,000 rows", "pass 2: 1,000 rows"]


@pytest.mark.parametrize(
    "model",
    [
        SparseEncoder(2, n_nonzero=3),
        SparsePCA(n_nonzero=2, effort="quick"),
        NonnegativeSparsePCA(n_nonzero=2, effort="quick"),
        ColumnSelector(2),
        DoublySparseEncoder(2, n_nonzero=3, n_rows=20, effort="quick"),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_estimator_shows_its_passes_when_asked(model, X, capsys, request, tmp_path):
    np.save(tmp_path / "X.npy", X)
    rows = open_data(tmp_path / "X.npy")
    model.set_params(random_state=0).fit(rows)
    assert "pass" not in capsys.readouterr().out
    request.getfixturevalue("slow_reading")
    model.set_params(verbose=True).fit(rows)
    assert "[sparing] pass 1: 100% of 1,000 rows\n" in capsys.readouterr().out
    assert getattr(model, "n_passes_", 0) == getattr(type(model)(**model.get_params()).fit(rows), "n_passes_", 0)
