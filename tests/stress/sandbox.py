"""A process that opens hostile files for us: with little memory, little time, and nothing of ours to lose.

Run as a program it reads names of files from its input, one in each line, and answers each with a line of JSON.
"""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

MEMORY = 3 * 2**29
"""Bytes that opening a file of a few KB may take, above what the libraries take."""

SECONDS = 20


class Sandbox:
    """Asks such a process, and starts another one where a file has ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def opened(self, path: Path) -> str:
        """``rows``, ``refused`` or what went wrong."""
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-P", str(Path(__file__)), str(Path(__file__).parents[1])]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{path}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if answer:
            return str(json.loads(answer))
        ended = self._process.wait(120)
        with suppress(OSError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process = None
        return f"the process ended with {ended} ({-signal.SIGPROF} and {-signal.SIGALRM} are out of time)"

    def close(self) -> None:
        """Let the process end."""
        if self._process is not None:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.close()
            self._process.wait(120)
            self._process.stdout.close()


def main() -> None:
    """Open what is named."""
    sys.path.insert(0, sys.argv[1])
    import numpy as np

    import sparing
    from sparing.data.readers import READERS
    from stress.outcomes import assert_is_ours

    for name in set(READERS.values()):
        __import__(f"sparing.data.readers.{name}")
    for name in ("h5py", "pyarrow.parquet", "zarr", "bed_reader", "scipy.io"):
        __import__(name)

    def use(path: str) -> None:
        if path.endswith(".model"):
            model = sparing.load_model(path)
            model.transform(np.zeros((2, model.n_features_in_)))
            return
        with sparing.open_data(path) as rows:  # small blocks, but not thousands where a damaged shape says so
            block_bytes = 256 if rows.shape[0] <= 1000 else 2**16
        with sparing.open_data(path, block_bytes=block_bytes) as rows:
            assert sum(block.stop - block.start for block in rows.blocks()) == rows.shape[0], "rows are missing"
            sparing.SparseEncoder(1, n_nonzero=1, missing="mean", random_state=0).fit(rows)

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("os.system", "subprocess.Popen", "os.exec", "pickle.find_class", "socket.connect"):
            raise SystemExit(f"{event} {arguments}")

    size = int(Path("/proc/self/statm").read_text().split()[5]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_DATA, (size + MEMORY, size + MEMORY))  # all that could be written to
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sys.addaudithook(audit)
    for line in sys.stdin:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of work, on a busy machine too
        signal.alarm(10 * SECONDS)  # nobody handles either: they end also what hangs in C
        answer = "rows"
        try:
            use(line.rstrip("\n"))
        except BaseException as refused:
            try:
                assert_is_ours(refused, also=(FileNotFoundError,))
                answer = f"refused: {refused}"
            except AssertionError as wrong:
                answer = f"{type(refused).__name__}: {wrong}"
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
