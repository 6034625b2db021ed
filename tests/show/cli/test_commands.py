"""What all commands share: examples that run, codes, and never a traceback."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import sparing.show.cli.fit as fit_command
from sparing.show.cli import Terminated, main
from sparing.show.cli.commands import sparing
from sparing.show.cli.options import as_options

ROOT = Path(__file__).parents[3]
COMMANDS = ("fit", "path", "certify", "transform", "explore")


def examples():
    """Every line of a help text that is a command."""
    found = []
    for name in ((), *((name,) for name in COMMANDS)):
        said = CliRunner().invoke(sparing, [*name, "--help"]).stdout
        found += re.findall(r"^ +(sparing (?:\w+) .*)$", said.partition("Examples:")[2], flags=re.MULTILINE)
    return found


def of_the_guide():
    """The commands of its first page."""
    return re.findall(r"^(sparing \w+ .*)$", (ROOT / "docs" / "index.md").read_text("utf-8"), flags=re.MULTILINE)


def test_examples_in_the_help_texts_and_the_guide_run(run):
    lines = list(dict.fromkeys([*examples(), *of_the_guide()]))
    assert {line.split()[1] for line in lines} == set(COMMANDS)
    assert of_the_guide()
    for line in lines:
        _, command, *arguments = shlex.split(line)
        if command == "explore":
            pytest.importorskip("vl_convert")
            arguments += ["--max-features", "3", "--effort", "quick"]  # enough to see that it runs
        result = run(command, *arguments)
        assert result.exit_code == 0, (line, result.output)


def test_help_says_what_the_codes_mean():
    said = CliRunner().invoke(sparing, ["--help"]).stdout
    for code in ("0 ", "1 ", "2 ", "130 ", "143 "):
        assert re.search(rf"^    {code}", said, flags=re.MULTILINE)
    for name in COMMANDS:
        assert "Examples:" in CliRunner().invoke(sparing, [name, "--help"]).stdout


@pytest.mark.parametrize(
    ("raised", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "Interrupted."),
        (Terminated(), 143, "Terminated. Existing files"),
        (MemoryError(), 1, "not enough memory"),
        (ValueError("no\nsuch \x1b[2Jthing"), 1, "Error: no such ?[2Jthing\n"),
        (ModuleNotFoundError("needs h5py"), 1, "Error: needs h5py"),
        (
            OSError(28, "No space left on device"),
            1,
            "Cannot read or write the output: no space left on device. Free some space",
        ),
        (OSError(13, "Permission denied", "/x/y"), 1, "Cannot read or write '/x/y': permission denied."),
        (ValueError("n_nonzero=9 is too many for 'n_nonzero'"), 1, "Error: -r 9 is too many for 'n_nonzero'\n"),
    ],
)
def test_whatever_happens_there_is_one_sentence(run, monkeypatch, raised, code, said):
    def fails(*_):
        raise raised

    monkeypatch.setattr(fit_command, "asked_for", fails)
    result = run("fit", "wine.csv")
    assert result.exit_code == code
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_progress_is_on_the_error_stream_and_for_terminals_only(run, monkeypatch):
    asked = []

    class Talkative(fit_command.SparseEncoder):
        def fit(self, X, y=None, sample_weight=None):
            asked.append(self.verbose)
            if self.verbose:
                print("halfway")
            return super().fit(X)

    monkeypatch.setitem(fit_command.METHODS, "encoder", Talkative)
    plain = run("fit", "wine.csv", "-r", 3)
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda self: True, raising=False)
    shown = run("fit", "wine.csv", "-r", 3)
    quiet = run("fit", "wine.csv", "-r", 3, "--quiet")
    assert asked == [False, True, False]
    assert plain.stdout == quiet.stdout == shown.stdout
    assert "halfway" in shown.stderr
    assert "halfway" not in plain.stderr + quiet.stderr


def test_the_program_itself_on_a_terminal_of_few_signs(folder):
    table = (folder / "wine.csv").read_text().replace("flavanoids", "naïve 漢字", 1)
    (folder / "wine.csv").write_text(table, encoding="utf-8")
    program = Path(sys.executable).with_name("sparing")
    command = [program] if program.exists() else [sys.executable, "-c", "from sparing.show.cli import main; main()"]
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    done = subprocess.run(
        [*command, "fit", "wine.csv", "-r", "3", "--scale"],
        capture_output=True,
        encoding="latin-1",
        env=environment,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "naïve ??" in done.stdout
    assert done.stderr == "Not used as features (not numeric): cultivar.\n"


@pytest.mark.parametrize("package", ["click", "wcwidth"])
def test_without_its_packages_it_says_what_to_install(monkeypatch, package):
    for name in [name for name in sys.modules if name.startswith("sparing.show.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SystemExit, match=rf"needs the {package} package: pip install 'sparing\[cli\]'"):
        main()


def test_unknown_commands_are_misunderstandings(run):
    assert run("fly").exit_code == 2
    assert issubclass(click.UsageError, click.ClickException)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ('(missing="mean" does so)', "(--missing mean does so)"),
        ("Choose one with key='layers/counts'", "Choose one with --key layers/counts"),
        ("Choose one with key='a b'", "Choose one with --key 'a b'"),
        ("Pass one of these as key", "Pass one of these as --key"),
        ("max_loss=0.5 must be at least 1; max_loss", "--max-loss 0.5 must be at least 1; --max-loss"),
        ("or center=False; most have scale=True", "or --no-center; most have --scale"),
        ("feature 'max_loss' and column 'key=1'", "feature 'max_loss' and column 'key=1'"),
        ("the key is missing", "the key is missing"),
        ("if it numbers the rows pass drop=['']", "if it numbers the rows pass --drop ''"),
        ("Choose one with delimiter=';'", "Choose one with --delimiter ;"),
        ("pass drop_unreadable=True, or transpose=True", "pass --drop-unreadable, or --transpose"),
        ("n_components=3, but X has n_features=2: pass 1", "-k 3, but the data have 2 features: pass 1"),
        ("n_components=2, but X has n_features=1: pass 1", "-k 2, but the data have 1 feature: pass 1"),
        ("X has no variance. X lacks 'X has'", "The data have no variance. The data lack 'X has'"),
        ("or pass missing='mean' where the estimator has it.", "or pass --missing mean."),
    ],
)
def test_sentences_of_the_library_name_options(sentence, said):
    assert as_options(sentence) == said


def test_what_is_missing_is_said_in_options(run, folder):
    (folder / "holes.csv").write_text("a,b\n1,2\n,3\n4,1\n")
    assert "--missing mean" in run("fit", "holes.csv", "-r", 1).stderr
    assert "Pass -k between 1 and 13" in run("fit", "wine.csv", "-k", 99).stderr


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_help_that_cannot_be_written_gets_a_sentence():
    program = [sys.executable, "-c", "from sparing.show.cli import main; main()", "--help"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(program, stdout=full, stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: Cannot write the output: No space left")
    assert "Traceback" not in done.stderr
