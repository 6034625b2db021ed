"""`sparing fit`: a file in, an answer out, one sentence for anything else."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from click.testing import CliRunner

from sparing import SparseEncoder
from sparing.cli import main
from sparing.cli.commands import sparing
from sparing.datasets import make_spiked

X = np.round(make_spiked(40, 6, n_components=1, n_nonzero=3, random_state=0).X, 6)


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(text, *options, name="data.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return CliRunner().invoke(sparing, ["fit", name, *options])

    return call


def table(names=("a", "b", 'c "quoted"', "<b>d</b>", "é🎉", "f"), delimiter=",", label=None):
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    rows = [delimiter.join(quoted + (["kind"] if label else []))]
    rows += [delimiter.join([*map(repr, map(float, row)), *([label] if label else [])]) for row in X]
    return "\n".join(rows) + "\n"


def test_prints_the_certificate_and_named_loadings(run):
    result = run(table(label="spruce"), "-k", "1", "-r", "3")
    assert result.exit_code == 0
    model = SparseEncoder(1, n_nonzero=3, random_state=0).fit(X)
    assert result.stdout.startswith(str(model.certificate_))
    for j in model.support_:
        name = ("a", "b", 'c "quoted"', "<b>d</b>", "é🎉", "f")[j]
        assert f"{name} " in result.stdout
        assert f"{model.components_[0, j]:.4f}" in result.stdout
    assert "Left out, because not numeric: kind." in result.stderr


def test_tabs_and_max_loss_and_scale(run):
    result = run(table(delimiter="\t"), "--max-loss", "1.5", "--scale", name="data.tsv")
    assert result.exit_code == 0
    model = SparseEncoder(2, max_loss=1.5, scale=True, random_state=0).fit(X)
    assert str(model.certificate_) in result.stdout


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("", (), "a header and at least one row"),
        ("a,b\n", (), "a header and at least one row"),
        ("a,b\n1,2\n3\n", (), "line 3 has 1 cells, the header has 2"),
        ("a,b\nx,y\n", (), "no column holds only numbers"),
        ("a,b\n1_0,1_1\n2_0,2_5\n", (), "no column holds only numbers"),
        ("a;b\n1;2\n3;4\n", (), "separated by ';'"),
        ("1,2\n3,4\n5,7\n", (), "its first row holds numbers only"),
        ("a,b\n1,2\n\n\n3\n", (), "line 5 has 1 cells"),
        ("a,b\n1,2\n3,\n4,7\n", (), "contains NaN (first at row 1, feature 'b')"),
        ("a,b\n1,2\n1,2\n", (), "every feature is constant"),
        ("a,b\n1,2\n2,1\n5,1\n", ("-r", "3"), "n_nonzero=3 is outside [1, 2]"),
        ("a,b\n1,2\n2,1\n5,1\n", ("-k", "3"), "n_components=3, but X has n_features=2"),
        ("a,b\n1,2\n2,1\n5,1\n", ("-r", "1", "--max-loss", "1.1"), "Both n_nonzero and max_loss"),
    ],
)
def test_bad_files_get_one_sentence_and_a_code(run, text, options, sentence):
    result = run(text, *options)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert "Traceback" not in result.output


def test_missing_binary_and_directory(run, tmp_path):
    for path, why in ((tmp_path / "none.csv", "no such file"), (tmp_path, "is a directory")):
        result = CliRunner().invoke(sparing, ["fit", str(path)])
        assert result.exit_code == 1
        assert why in result.stderr
    (tmp_path / "bin.csv").write_bytes(bytes(range(256)))
    assert "not a text table" in CliRunner().invoke(sparing, ["fit", str(tmp_path / "bin.csv")]).stderr


def test_notes_go_to_the_error_stream_and_control_characters_are_not_printed(run):
    result = run(table(names=("a", "b\x1b[31m", "c", "d", "e", "f")), "-k", "5", "-r", "2")
    assert result.exit_code == 0
    assert "Note: n_components=5 was asked for" in result.stderr
    assert "\x1b" not in result.stdout


def test_without_click_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "click", None)
    monkeypatch.delitem(sys.modules, "sparing.cli.commands")
    with pytest.raises(SystemExit, match=r"pip install 'sparing\[cli\]'"):
        main()
