"""The page on other packages is what its cells say, and every cell in which a peer is ahead says why."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "benchmarks" / "peers"
SMALL = 100_000

pytestmark = pytest.mark.skipif(not SCRIPTS.exists(), reason="benchmarks are not part of this copy")


@pytest.fixture
def script(monkeypatch):
    """Imports a script of the folder, as `run.py` does."""
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None)).startswith(str(ROOT / "benchmarks")):
            del sys.modules[name]


def row(package, name, loss, seconds, **more):
    return {"package": package, "name": name, "shared": False, "loss": loss, "seconds": seconds, "memory": 1.0, **more}


def test_the_page_is_what_the_cells_say(script):
    page = script("page")
    assert page.page(page.kept()) == (ROOT / "docs" / "peers.md").read_text()


def test_every_data_set_and_method_has_a_cell(script):
    found = script("page").kept()
    assert list(found["sets"]) == [data.name for data in script("sets").SETS]
    methods = [[(row["package"], row["name"]) for row in one["rows"]] for one in found["sets"].values()]
    assert all(names == methods[0] for names in methods)
    assert {package for package, _ in methods[0]} == set(script("cell").MODULES)


def test_a_cell_has_numbers_or_says_why_not(script):
    for one in script("page").kept()["sets"].values():
        for cell in one["rows"]:
            assert ("failed" in cell) != ("loss" in cell)
            if "loss" in cell:
                assert cell["features"] <= one["features"]
                assert cell["loss"] > 1 - 1e-9
                assert cell["information"] <= one["pca"] + 1e-9


def test_ours_never_fails(script):
    rows = [row for one in script("page").kept()["sets"].values() for row in one["rows"]]
    assert not [row for row in rows if row["package"] == "sparing" and "failed" in row]


def test_the_picture_is_there_and_small():
    (shown,) = re.findall(r"\]\((images/peers/[^)]+)\)", (ROOT / "docs" / "peers.md").read_text())
    assert [file.name for file in (ROOT / "docs/images/peers").iterdir()] == [Path(shown).name]
    assert (ROOT / "docs" / shown).stat().st_size < SMALL


def test_a_peer_with_less_loss_is_ahead(script):
    rows = [row("sparing", "a", 1.02, 1.0), row("other", "b", 1.01, 2.0), row("other", "c", 1.03, 2.0)]
    (cell,) = script("page").ahead("data", rows)
    assert (cell.method, cell.column, cell.theirs) == ("other b", "loss", "1.0100")


def test_a_faster_peer_is_ahead_only_of_what_is_as_good(script):
    ahead = script("page").ahead
    quick = row("other", "b", 1.05, 0.1)
    assert [cell.column for cell in ahead("data", [row("sparing", "a", 1.02, 1.0), quick])] == ["seconds at this loss"]
    assert not list(ahead("data", [row("sparing", "a", 1.02, 1.0), row("sparing", "z", 1.04, 0.1), quick]))
    worse = row("sparing", "z", 1.06, 0.1)
    assert [cell.column for cell in ahead("data", [row("sparing", "a", 1.02, 1.0), worse, quick])] == [
        "seconds at this loss"
    ]


def test_a_cell_without_a_reason_is_named(script):
    with pytest.raises(LookupError, match="other b is ahead in loss"):
        script("page").why("other b", "loss")


def test_a_cut_keeps_the_largest_entries(script):
    cut = script("entry").cut(np.array([[3.0, -4.0, 0.5, 1.0]]), 2)
    np.testing.assert_array_equal(cut, [[3.0, -4.0, 0.0, 0.0]])


def test_the_largest_penalty_that_leaves_enough_is_found(script):
    """Component j keeps its entries above the penalty; the second always has more than asked for."""
    entries = np.array([[5.0, 4.0, 3.0, 2.0], [9.0, 8.0, 7.0, 6.0]])
    found = script("entry").largest_penalty(lambda penalty: np.count_nonzero(entries > penalty, axis=1), 10.0, 3)
    assert 2.99 < found < 3.0


def test_an_unknown_data_set_is_named(script):
    with pytest.raises(SystemExit, match="pitprop:"):
        script("run").main(["pitprop"])


def test_our_side_of_a_small_set_is_found_again(script):
    """Losses and variances of the cheapest set, up to what another BLAS may change."""
    cell, sets = script("cell"), script("sets")
    data, found = sets.SETS[0], script("page").kept()["sets"]["PitProps"]
    X = data.load()
    values = np.linalg.eigvalsh(np.cov(X.T)) * (len(X) - 1)
    loss = values[: -data.n_components].sum()
    for entry in cell.entries("sparing"):
        (kept,) = [row for row in found["rows"] if (row["package"], row["name"]) == ("sparing", entry.name)]
        now = cell.scored(np.asarray(entry.fit(X, data.n_components, data.n_nonzero, None)), X, data.n_components, loss)
        assert now["loss"] == pytest.approx(kept["loss"], rel=1e-3)
        assert now["information"] == pytest.approx(kept["information"], rel=1e-3)


def test_every_panel_is_compared_under_every_rule(script):
    found, panels = script("page").kept()["panels"], script("panels")
    wanted = [(panel.data, panel.n_components, panel.n_features) for panel in panels.PANELS]
    assert [(one["data"], one["n_components"], one["n_features"]) for one in found] == wanted
    for one in found:
        packages = {
            kind: {row["package"] for row in one["rows"] if row["rule"] == kind} for kind in ("costs", "region")
        }
        assert all(known == {"sparing", "PySensors"} for known in packages.values())
        free = [row for row in one["rows"] if row["rule"] == "free"]
        assert {row["package"] for row in free} == {"sparing", "PySensors", "scikit-matter", "spapros"}
        assert all(0 < row["fit"] < row["same"] < 1 for row in one["rows"])


def test_a_peer_with_less_error_on_new_samples_is_ahead_and_says_why(script):
    page = script("panels_page")
    ours, peer = ({"package": name, "name": "a", "rule": "free"} for name in ("sparing", "other"))
    rows = [ours | {"same": 0.10, "own": 0.20}, peer | {"same": 0.09, "own": 0.21}]
    assert [(row["package"], column) for row, column, _ in page.ahead(rows)] == [("other", "same")]
    assert not list(page.ahead([rows[0], peer | {"same": 0.10001}]))
    with pytest.raises(LookupError, match="other a is ahead"):
        page.verdict([{"data": "d", "costs": "", "region": "", "max_region": 1, "rows": rows}])


def test_a_choice_that_breaks_its_rule_is_not_compared(script):
    method, panels = script("panel_method"), script("panels")
    rule = method.Rule(costs=np.array([1.0, 2.0, 3.0, 4.0]), max_cost=4.0)
    X = np.random.default_rng(0).standard_normal((20, 4))
    panel = panels.PANELS[0]._replace(n_features=2)

    def found(*features):
        choose = method.Method("p", "m", lambda *_: method.Choice(np.array(features)), ("costs",))
        return panels.error(choose, panel, rule, X[:15], X[15:])

    assert found(0, 2)["same"] > 0
    for features in ((1, 2), (0, 1, 2)):  # beyond the budget; too many
        with pytest.raises(ValueError, match="broke its rule"):
            found(*features)
