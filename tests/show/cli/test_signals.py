"""SIGTERM, which schedulers and ``timeout`` send, is Ctrl-C with another code: files stay, and nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparing.data.writing import UNFINISHED, replacing

STOPPED = """
import gc, json, os, signal, sys, time
from sparing import load_model
from sparing.show import cli

PACKAGE = os.sep + "sparing" + os.sep
FIT = ["fit", "wine.csv", "-r", "3", "--effort", "quick", "--quiet", "--force", "--save", "m"]
WRITE = ["transform", "m", "wine.csv", "-o", "scores.csv", "--force"]

def at_call(number, program):
    # SIGTERM at that call of a function of the library; how many calls there were.
    calls = 0
    def trace(frame, event, _):
        nonlocal calls
        if PACKAGE in frame.f_code.co_filename:
            calls += 1
            if calls == number:
                os.kill(os.getpid(), signal.SIGTERM)
    sys.settrace(trace)
    try:
        program()
    except SystemExit as end:
        if number:
            raise
        assert not end.code
    finally:
        sys.settrace(None)
    return calls

def while_writing(number, hidden):
    def stopped(*args, **kwargs):
        try:
            os.kill(os.getpid(), number)
            time.sleep(60)
        except KeyboardInterrupt:
            if hidden:
                raise ValueError("as NumPy raises for the format of a buffer that it parses then")
            raise
    from sparing.show.cli import transform
    transform._write_scores = stopped
    cli.main()

def imported_anew():
    for name in [name for name in sys.modules if name.startswith("sparing.show.cli.")]:
        del sys.modules[name]
    cli.main()

def child(arguments, act, *given):
    # Its code, what it says, and what it leaves.
    heard, said = os.pipe()
    sys.argv[1:] = arguments
    if (process := os.fork()) == 0:
        sys.stdout = open(os.devnull, "w")
        os.dup2(said, 2)
        try:
            act(*given)
        except SystemExit as end:
            os._exit(end.code)  # what was imported need not be tidied up each time
    os.close(said)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    left = [sorted(os.listdir(".")), os.listdir(os.environ["TMPDIR"]), open("scores.csv").readline(), model()]
    print(json.dumps([code, os.read(heard, 4096).decode(), *left]))

def model():
    # The file that a fit writes over: what was there, or a whole model.
    if open("m", "rb").read() == b"old":
        return "old"
    load_model("m")
    return "new"

def fit_stopped(number, program):
    open("m", "w").write("old")
    child(FIT, at_call, number, program)

def moments(last, count):
    return [2 + i * (last - 4) // (count - 1) for i in range(count)]  # the first call sets the handlers

sys.argv[1:] = FIT
kept, sys.stdout = sys.stdout, open(os.devnull, "w")
at_call(0, cli.main)  # which imports what is needed
calls, anew = at_call(0, cli.main), at_call(0, imported_anew)
sys.stdout = kept
gc.freeze()
for number, hidden in ((15, False), (2, False), (15, True), (2, True), (9, False)):
    child(WRITE, while_writing, number, hidden)
for name in os.listdir("."):
    if name.startswith("."):
        os.utime(name, (0, 0))  # long ago
child(WRITE, at_call, 10**9, cli.main)
for number in moments(calls, 25):
    fit_stopped(number, cli.main)
for number in moments(anew - calls, 5):
    fit_stopped(number, imported_anew)
fit_stopped(10**9, cli.main)  # the control
"""


FILES = ["m", "scores.csv", "scratch", "wine.csv"]


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Code, words and files of each process that was stopped; made by fork: the library is imported once."""
    if not hasattr(os, "fork"):
        pytest.skip("needs fork")
    folder, wine = tmp_path_factory.mktemp("stopped"), load_wine()
    np.savetxt(folder / "wine.csv", wine.data, delimiter=",", header=",".join(wine.feature_names), comments="")
    (folder / "scores.csv").write_text("old")
    (folder / "scratch").mkdir()
    environment = {**os.environ, "TMPDIR": str(folder / "scratch")}
    command = [sys.executable, "-c", STOPPED]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, cwd=folder, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_signal_in_the_middle_of_writing(told):
    """Also where an extension in C hides it by an error of its own; SIGKILL leaves a file that the next run removes."""
    *handled, killed, after = told[:6]
    for (code, said, *left), (wanted, word) in zip(
        handled, 2 * [(143, "Terminated."), (130, "Interrupted.")], strict=True
    ):
        assert code == wanted, said
        assert said == f"{word} Existing files are unchanged.\n"
        assert left == [FILES, [], "old", "new"]
    code, said, (unfinished, *there), *left = killed
    assert code == -signal.SIGKILL, said
    assert unfinished.startswith(".scores.csv-")
    assert unfinished.endswith(UNFINISHED)
    assert [there, *left] == [FILES, [], "old", "new"]
    code, said, *left = after
    assert code == 0, said
    assert left == [FILES, [], "component_1,component_2\n", "new"]


def test_a_signal_at_any_moment(told):
    """Importing, reading, fitting, writing: the code is that of the signal, and files are whole."""
    *stopped, (code, said, *_, model) = told[6:]
    assert (code, model) == (0, "new"), said
    for code, said, there, scratch, *_ in stopped:
        assert code == 143, said
        assert "Traceback" not in said
        assert (there, scratch) == (FILES, [])
    assert {model for *_, model in stopped} == {"old", "new"}  # before and after it was written


def test_only_what_nobody_writes_any_more_is_removed(tmp_path):
    target = tmp_path / "a.csv"
    mine = tmp_path / f".a.csv-mine{UNFINISHED}.txt"
    mine.write_text("somebody's own")
    os.utime(mine, (0, 0))
    with replacing(target) as first:
        (writing,) = tmp_path.glob(f".a.csv-*{UNFINISHED}")
        os.utime(writing, (0, 0))
        first.write(b"first")
        first.flush()
        os.utime(writing, (0, 0))
        with replacing(target) as second:
            second.write(b"second")
        assert writing.exists()  # it is old, but locked
        young = tmp_path / f".a.csv-young{UNFINISHED}"
        young.touch()
        with replacing(target) as third:
            third.write(b"third")
        assert young.exists()
    assert target.read_bytes() == b"first"
    assert mine.exists()
