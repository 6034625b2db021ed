"""Other packages beside this one, on the same data with the same number of features, and the page `docs/peers.md`.

SPARING_DATA=... python benchmarks/peers/run.py [data set] ...            # or all
SPARING_DATA=... python benchmarks/peers/run.py panels [data set] ...     # only the section on new samples

Every cell is a process of its own with one BLAS thread. On each data set all methods take their turn before the next.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import page
import panels
import published
from cell import entries
from entry import Entry
from scipy import sparse
from sets import SETS, Data
from sklearn.decomposition import PCA

from sparing import information_loss

SECONDS = 60
"""CPU time after which a cell is given up."""

PATIENCE = 10
"""Times as long on the clock: other work may slow it."""

PENALTIES = Path(__file__).parent / "penalties.json"
PACKAGES = ("sparing", "scikit-learn", "abess", "sparsepca", "skmatter", "python-sensors", "spapros", "numpy")


class Problem(NamedTuple):
    """A data set in a folder, and what PCA loses of it."""

    data: Data
    folder: Path
    pca_loss: float
    about: dict[str, Any]


@contextmanager
def prepared(data: Data) -> Iterator[Problem]:
    """The data where each process finds them."""
    with tempfile.TemporaryDirectory() as folder:
        X = data.load()
        if is_sparse := sparse.issparse(X):
            sparse.save_npz(Path(folder) / "X.npz", X)
        else:
            np.save(Path(folder) / "X.npy", X)
        pca = PCA(data.n_components, svd_solver="full").fit(X.toarray() if is_sparse else X)
        about = {
            "shape": X.shape,
            "what": data.what,
            "components": data.n_components,
            "features": data.n_nonzero,
            "sparse": is_sparse,
            "pca": float(pca.explained_variance_ratio_.sum()),
        }
        yield Problem(data, Path(folder), information_loss(pca.components_, X), about)


def outcome(what: str, entry: Entry, problem: Problem, seconds: int, penalty: Any = None) -> dict[str, Any]:
    """What one process found, or why it found nothing."""
    data, late = problem.data, {"failed": f"not done after {seconds} s"}
    numbers = [str(data.n_components), str(data.n_nonzero), repr(problem.pca_loss), json.dumps(penalty)]
    cell = [str(Path(__file__).parent / "cell.py"), what, str(seconds), str(entry), str(problem.folder), *numbers]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    try:
        done = subprocess.run(
            [sys.executable, *cell],
            capture_output=True,
            text=True,
            timeout=PATIENCE * seconds,
            env={**os.environ, **threads},
            check=False,
        )
    except subprocess.TimeoutExpired:
        return late
    if -done.returncode in (signal.SIGXCPU, signal.SIGKILL):
        return late
    if done.returncode != 0:
        return {"failed": f"the process died ({done.returncode})"}
    return json.loads(done.stdout.splitlines()[-1])


def penalties() -> dict[str, dict[str, Any]]:
    """What `tune.py` found, by method and data set."""
    return json.loads(PENALTIES.read_text()) if PENALTIES.exists() else {}


def row(entry: Entry, problem: Problem) -> dict[str, Any]:
    """A method on a data set."""
    tuned = penalties().get(str(entry), {}).get(problem.data.name, {})
    if entry.tune is None:
        found = outcome("fit", entry, problem, SECONDS)
    elif "penalty" in tuned:
        found = {**outcome("fit", entry, problem, SECONDS, tuned["penalty"]), "search": tuned["seconds"]}
    else:
        found = {"failed": f"no penalty: {tuned.get('failed', 'tune.py has not run')}"}
    print(f"  {entry}: {found}", flush=True)
    return {"package": entry.package, "name": entry.name, "shared": entry.shared, **found}


def compared(names: list[str]) -> dict[str, Any]:
    """Every method on these data sets, or on all."""
    known = [data.name for data in SETS]
    if unknown := set(names) - set(known):
        sys.exit(f"{', '.join(sorted(unknown))}: no such data set. There are {', '.join(known)}, and panels.")
    found = {}
    for data in SETS:
        if not names or data.name in names:
            print(data.name, flush=True)
            with prepared(data) as problem:
                found[data.name] = {**problem.about, "rows": [row(entry, problem) for entry in entries()]}
    everything = page.kept()["sets"] | found
    return {name: everything[name] for name in known if name in everything}


def main(names: list[str]) -> None:
    kept, only = page.kept(), names[:1]
    if only != ["panels"]:
        kept["sets"], kept["published"] = compared(names), published.text()
    if only in ([], ["panels"]):
        kept["panels"] = panels.merged(kept.get("panels", []), panels.main(names[1:]))
    kept["versions"] = {name: version(name) for name in PACKAGES}
    page.keep(kept)


if __name__ == "__main__":
    main(sys.argv[1:])
