"""`sparing explore`: the page, from a file."""

from __future__ import annotations

import gzip
import shlex
from types import SimpleNamespace

import numpy as np
import pytest

from sparing import open_data
from sparing.data import Preprocessing, as_rows
from sparing.show.cli.explore import _opened as is_opened
from sparing.show.report import explorer


@pytest.fixture
def asked(monkeypatch):
    """What the page was asked to show."""
    seen = {}

    def stand_in(X, path, **options):
        seen.update(options, shape=as_rows(X).shape, path=path)
        return path

    monkeypatch.setattr(explorer, "explore", stand_in)
    return seen


def test_labels_and_names_are_no_features(run, asked, folder):
    result = run("explore", "wine.csv", "-o", "p.html", "--label", "cultivar", "--names", "hue", "--scale", "-k", 3)
    assert result.exit_code == 0
    assert "Wrote p.html" in result.stdout
    assert asked["shape"] == (178, 12)
    assert asked["labels"][0] == "type 0"
    assert len(asked["sample_names"]) == 178
    assert "hue" not in asked["feature_names"]
    assert asked["n_components"] == 3
    assert asked["scale"] is True


def test_the_page_knows_how_its_file_is_read(run, asked, folder):
    (folder / "a b.csv").write_text("x;y;my group;z\n1;2,5;0;1\n2;1;1;4\n3;5;0;2\n")
    run("explore", "a b.csv", "-o", "p.html", "--label", "my group", "--drop", "z", "--decimal", ",")
    said = asked["source"].repeated(Preprocessing(scale=True), "quick", 3)
    command = shlex.split(" ".join(said["options"]))
    assert command == [
        "--label",
        "my group",
        "--drop",
        "z",
        "--decimal",
        ",",
        "--scale",
        "--effort",
        "quick",
        "--seed",
        "3",
    ]
    assert run("fit", "a b.csv", "-r", 1, *command).exit_code == 0
    opened = eval(
        f"open_data({', '.join(['path', *said['opening']])})", {"open_data": open_data, "path": folder / "a b.csv"}
    )
    assert opened.feature_names == ["x", "y"]
    assert said["settings"] == ["scale=True", 'effort="quick"', "random_state=3"]


def test_what_missing_values_mean_is_passed_on(run, asked):
    run("explore", "wine.csv", "-o", "p.html")
    assert asked["missing"] == "error"
    run("explore", "wine.csv", "-o", "p.html", "--missing", "mean")
    assert asked["missing"] == "mean"


def test_numbers_are_labels_too(run, asked, folder):
    (folder / "a.csv").write_text("x,y,group\n1,2,0\n2,1,1\n3,5,\n")
    assert run("explore", "a.csv", "-o", "p.html", "--label", "group").exit_code == 0
    assert asked["labels"] == [0, 1, None]
    (folder / "a.csv").write_text("x,y,dose\n1,2,0.5\n2,1,1\n3,5,2\n")
    run("explore", "a.csv", "-o", "p.html", "--label", "dose")
    assert asked["labels"] == [0.5, 1.0, 2.0]


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["007", "10", "2"], ["007", "10", "2"]),
        (["1_1", "1_2", "2_1"], ["1_1", "1_2", "2_1"]),
        (["12345678901234567890", "1", "2"], ["12345678901234567890", "1", "2"]),
        (["1.0", "-2", "3e0"], [1, -2, 3]),
        ([".5", "1", "2"], [0.5, 1.0, 2.0]),
    ],
)
def test_labels_that_only_look_like_numbers_stay_as_they_are(run, asked, folder, cells, labels):
    (folder / "a.csv").write_text("x,y,group\n" + "".join(f"{i},{i * i},{cell}\n" for i, cell in enumerate(cells)))
    assert run("explore", "a.csv", "-o", "p.html", "--label", "group").exit_code == 0
    assert asked["labels"] == labels


def test_what_cannot_be_done_gets_a_sentence(run, asked, folder):
    (folder / "p.html").write_text("mine")
    assert run("explore", "wine.csv", "-o", "p.html").exit_code == 1
    np.save("wine.npy", np.eye(4))
    assert "no names" in run("explore", "wine.npy", "-o", "q.html", "--label", "cultivar").stderr
    (folder / "wine.html").write_text("mine")
    assert run("explore", "wine.csv").exit_code == 1


def test_the_page_is_named_after_the_data(run, asked, folder):
    assert "wine.html" in run("explore", "wine.csv").stdout
    (folder / "inner").mkdir()
    (folder / "inner" / "a.b.csv").write_bytes((folder / "wine.csv").read_bytes())
    assert "Wrote a.b.html" in run("explore", "inner/a.b.csv").stdout
    (folder / "c.csv.gz").write_bytes(gzip.compress((folder / "wine.csv").read_bytes()))
    assert "Wrote c.html" in run("explore", "c.csv.gz").stdout


def test_progress_is_shown_on_terminals(run, asked, monkeypatch):
    run("explore", "wine.csv", "-o", "p.html")
    assert asked["verbose"] is False
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)
    run("explore", "wine.csv", "-o", "p.html")
    assert asked["verbose"] is True
    run("explore", "wine.csv", "-o", "p.html", "--quiet")
    assert asked["verbose"] is False


def test_the_page_itself(run, folder):
    pytest.importorskip("vl_convert")
    result = run("explore", "wine.csv", "-o", "page.html", "--label", "cultivar", "--scale", "--max-features", 4)
    assert result.exit_code == 0
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "flavanoids" in page
    assert "type 2" in page


@pytest.mark.parametrize(("at_a_terminal", "screen"), [(True, True), (False, True), (True, False)])
def test_the_page_opens_where_there_is_somebody_to_see_it(tmp_path, monkeypatch, at_a_terminal, screen):
    places = []
    monkeypatch.setattr("webbrowser.open", lambda address: places.append(address) or True)
    monkeypatch.setattr("sys.stdout", SimpleNamespace(isatty=lambda: at_a_terminal))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("DISPLAY", raising=False)
    if screen:
        monkeypatch.setenv("DISPLAY", ":0")
    assert is_opened(tmp_path / "page.html") == (at_a_terminal and screen)
    assert places == ([(tmp_path / "page.html").as_uri()] if at_a_terminal and screen else [])
