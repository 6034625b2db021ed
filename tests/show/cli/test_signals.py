"""SIGTERM, which schedulers and ``timeout`` send, is Ctrl-C with another code: files stay, and nothing is left."""

from __future__ import annotations

import json
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
import json, os, time
from sparing.show.cli import main, transform
def stopped(*args, **kwargs):
    try:
        os.kill(os.getpid(), number)
        time.sleep(60)
    except KeyboardInterrupt:
        if hidden:
            raise ValueError("as NumPy raises for the format of a buffer that it parses then")
        raise
transform._write_scores = stopped
for number, hidden in ((15, False), (2, False), (15, True), (2, True), (9, False)):
    heard, said = os.pipe()
    if (child := os.fork()) == 0:
        os.dup2(said, 2)
        main()
    os.close(said)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(json.dumps([code, os.read(heard, 4096).decode(), os.listdir(".")]), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made by fork, so that the library is imported once")
def test_a_signal_in_the_middle_of_writing(folder, run):
    """Also where an extension in C hides it by an error of its own; SIGKILL leaves a file that the next run removes."""
    temporary = folder / "scratch"
    temporary.mkdir()
    assert run("fit", "wine.csv", "-r", 3, "--save", "m").exit_code == 0
    (folder / "scores.csv").write_text("old\n")
    before = sorted(os.listdir(folder))
    command = [sys.executable, "-c", STOPPED, "transform", "m", "wine.csv", "-o", "scores.csv", "--force"]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    *handled, killed = map(json.loads, done.stdout.splitlines())
    for (code, said, there), (wanted, word) in zip(
        handled, 2 * [(143, "Terminated."), (130, "Interrupted.")], strict=True
    ):
        assert code == wanted, said
        assert said == f"{word} Existing files are unchanged.\n"
        assert sorted(there) == before
    assert os.listdir(temporary) == []
    assert (folder / "scores.csv").read_text() == "old\n"
    assert killed[0] == -signal.SIGKILL
    (left,) = folder.glob(f".scores.csv-*{UNFINISHED}")
    os.utime(left, (0, 0))
    assert run("transform", "m", "wine.csv", "-o", "scores.csv", "--force").exit_code == 0
    assert not left.exists()
    assert (folder / "scores.csv").read_text() != "old\n"


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
