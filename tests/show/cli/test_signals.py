"""SIGTERM, which schedulers and ``timeout`` send, is Ctrl-C with another code: files stay, and nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sparing.data.writing import UNFINISHED, replacing

PROGRAM = "from sparing.show.cli import main; main()"
STOPPED = """
import os, signal, sys
from sparing.show.cli import {module} as command
real = command.{function}
def stopped(*args, **kwargs):
    os.kill(os.getpid(), {number})
    return real(*args, **kwargs)
command.{function} = stopped
from sparing.show.cli import main
main()
"""


def in_a_process(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(("number", "code", "said"), [(15, 143, "Terminated."), (2, 130, "Interrupted.")])
def test_a_signal_in_the_middle_of_writing(folder, run, number, code, said):
    temporary = folder / "scratch"
    temporary.mkdir()
    assert run("fit", "wine.csv", "-r", 3, "--save", "m").exit_code == 0
    (folder / "scores.csv").write_text("old\n")
    before = sorted(os.listdir(folder))
    stopped = STOPPED.format(module="transform", function="_write_scores", number=number)
    done = in_a_process(stopped, "transform", "m", "wine.csv", "-o", "scores.csv", "--force", TMPDIR=str(temporary))
    assert done.returncode == code, done.stderr
    assert done.stderr == f"{said} Files that were there are as they were.\n"
    assert (folder / "scores.csv").read_text() == "old\n"
    assert sorted(os.listdir(folder)) == before
    assert os.listdir(temporary) == []


def test_without_a_handler_a_file_is_left(folder, run):
    """The control: SIGKILL cannot be handled, and the next run removes what it leaves."""
    assert run("fit", "wine.csv", "-r", 3, "--save", "m").exit_code == 0
    stopped = STOPPED.format(module="transform", function="_write_scores", number=9)
    assert in_a_process(stopped, "transform", "m", "wine.csv", "-o", "scores.csv").returncode == -signal.SIGKILL
    (left,) = folder.glob(f".scores.csv-*{UNFINISHED}")
    os.utime(left, (0, 0))
    assert run("transform", "m", "wine.csv", "-o", "scores.csv").exit_code == 0
    assert not left.exists()
    assert (folder / "scores.csv").exists()


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


def test_a_signal_at_any_moment(folder):
    """Reading, fitting, importing: the code is that of the signal, and nothing is left."""
    temporary = folder / "scratch"
    temporary.mkdir()
    rng = np.random.default_rng(0)
    np.savetxt("X.csv", rng.standard_normal((3000, 60)), delimiter=",", header=",".join(f"g{j}" for j in range(60)))
    command = [sys.executable, "-c", PROGRAM, "fit", "X.csv", "-k", "5", "--effort", "thorough", "--save", "m"]
    config = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    environment = {**os.environ, "TMPDIR": str(temporary)}
    processes = [subprocess.Popen(command, env=environment, **config) for _ in range(4)]
    for process in processes:  # one after the other, so that each is further than the one before
        time.sleep(0.5)
        process.send_signal(signal.SIGTERM)
    for process in processes:
        said = process.communicate(timeout=120)[1]
        assert process.returncode in {143, -15}, said  # the latter while Python itself starts
        assert "Traceback" not in said
    assert os.listdir(temporary) == []
    assert not (folder / "m").exists()
