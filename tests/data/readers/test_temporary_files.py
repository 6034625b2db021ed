"""Numbers that are set aside on the disk: they have no name, and a full disk is not the file's fault."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from sparing import open_data
from sparing.data.readers import temporary_files
from sparing.data.readers.temporary_files import Scratch
from sparing.errors import UnwritableError
from stress.files import FORMATS

SET_ASIDE = ["csv", "h5ad, csc", "bed"]


def test_numbers_come_back():
    space = Scratch()
    space.write(np.arange(6.0), 0)
    space.write(np.arange(3, dtype=np.int32), 8)
    np.testing.assert_array_equal(space.read(np.int32, 3, 8), [0, 1, 2])
    np.testing.assert_array_equal(space.read(np.float64, 2, 32), [4.0, 5.0])
    with pytest.raises(EOFError):
        space.read(np.float64, 7, 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")
@pytest.mark.parametrize("name", SET_ASIDE)
def test_a_full_temporary_disk_has_a_sentence_of_its_own(name, tmp_path, monkeypatch):
    path = FORMATS[name](tmp_path)
    monkeypatch.setattr(temporary_files, "TemporaryFile", lambda **_: Path("/dev/full").open("r+b", buffering=0))  # noqa: SIM115
    monkeypatch.setattr(temporary_files.os, "posix_fallocate", lambda *_: os.write(os.open("/dev/full", 1), b"x"))
    with pytest.raises(UnwritableError, match=r"folder of temporary files, '.*': no space left on device.* TMPDIR"):
        list(open_data(path, block_bytes=40).blocks())
    monkeypatch.undo()
    assert len(list(open_data(path, block_bytes=40).blocks())) > 1  # the file was never damaged


def test_a_process_that_may_write_no_large_file_gets_the_sentence(tmp_path):
    """The same by the system itself, which refuses more than so many bytes."""
    np.savetxt(tmp_path / "X.csv", np.ones((500, 4)), delimiter=",", header="a,b,c,d", comments="")
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "from sparing import open_data; open_data(sys.argv[1])"
    )
    # -B: compiled modules would be cut off at the limit, too, and break every later process that imports them
    command = [sys.executable, "-B", "-c", code, tmp_path / "X.csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert "UnwritableError: Cannot write to the folder of temporary files" in done.stderr
    assert "file too large" in done.stderr


KILLED = """
import os, signal, sys, warnings
warnings.simplefilter("ignore")
from sparing import open_data
for path in sys.argv[1:]:
    for stop in (signal.SIGTERM, signal.SIGKILL):
        if (child := os.fork()) == 0:
            rows = open_data(path, block_bytes=40)
            next(rows.blocks())
            os.kill(os.getpid(), stop)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -stop, path
        assert os.listdir(os.environ["TMPDIR"]) == [], path
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are made by fork, so that the library is imported once")
def test_a_process_that_is_killed_leaves_nothing(tmp_path):
    """Files without a name go with their process: no later run has to look for them."""
    temporary = tmp_path / "scratch"
    temporary.mkdir()
    command = [sys.executable, "-c", KILLED, *(str(FORMATS[name](tmp_path)) for name in SET_ASIDE)]
    environment = {**os.environ, "TMPDIR": str(temporary)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr


def test_a_file_with_a_name_would_be_left(tmp_path):
    """The control: what the process above does not do."""
    code = f"import os, tempfile; tempfile.mkstemp(dir={str(tmp_path)!r}); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code], timeout=120, check=False)
    assert len(os.listdir(tmp_path)) == 1


def test_no_temporary_file_has_a_name(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    space = Scratch()
    space.write(np.ones(5), 0)
    if os.name == "posix":
        assert os.listdir(tmp_path) == []
    del space
    assert os.listdir(tmp_path) == []
