"""One method on one data set, in a process of its own that prints one line of JSON.

python cell.py {fit,tune} SECONDS METHOD FOLDER K R PCA_LOSS PENALTY    # the folder has X.npy, or X.npz if sparse
"""

from __future__ import annotations

import importlib
import json
import resource
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from entry import Array, Entry
from scipy import sparse

from sparing import explained_variance, information_loss
from sparing.data import Preprocessing, as_view
from sparing.linalg import encoder_on
from sparing.results import Selection

MODULES = {
    "sparing": "ours",
    "scikit-learn": "sklearn_sparse_pca",
    "abess": "abess_spca",
    "sparsepca": "sparsepca_spca",
    "scikit-matter": "skmatter_selectors",
}
MOST_MEMORY = 4 * 2**30
ENOUGH_SECONDS, MOST_ROUNDS, SHORTEST_ROUND = 1.0, 6, 0.03


def entries(package: str | None = None) -> list[Entry]:
    """All methods, or those of a package."""
    modules = MODULES.values() if package is None else [MODULES[package]]
    return [entry for name in modules for entry in importlib.import_module(name).ENTRIES]


def stored(folder: Path) -> Any:
    """The data as every method gets them."""
    if (file := folder / "X.npy").exists():
        return np.load(file)
    return sparse.csr_array(sparse.load_npz(folder / "X.npz"))


def held(line: str) -> float:
    """Memory that the process holds (VmRSS), or held at most (VmHWM), in MiB; getrusage also counts its parent's."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{line}:")[2].split()[0]) / 1024


def measured(entry: Entry, X: Any, k: int, r: int, penalty: Any) -> tuple[Array, dict[str, float]]:
    """What the fit returns, the least CPU time of a few fits, and the memory that the first needed beyond X."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    before = held("VmRSS")
    given = X.toarray() if sparse.issparse(X) and not entry.reads_sparse else X
    seconds, fits = [], 1
    while not seconds or (fits * sum(seconds) < ENOUGH_SECONDS and len(seconds) < MOST_ROUNDS):
        start = time.process_time()
        for _ in range(fits):
            found = entry.fit(given, k, r, penalty)
        seconds.append((time.process_time() - start) / fits)
        if len(seconds) == 1:
            memory = held("VmHWM") - before
            fits = int(np.clip(SHORTEST_ROUND / max(seconds[0], 1e-4), 1, 100))  # clocks are coarse
    return found, {"seconds": min(seconds[1:] or seconds), "memory": memory}


def scored(found: Array, X: Any, k: int, pca_loss: float) -> dict[str, float]:
    """What is lost and explained; of chosen columns, by the best encoder that reads them."""
    if found.ndim == 1:
        view, columns = as_view(X, Preprocessing(center=True)), np.sort(found)
        H = encoder_on(Selection(columns, view.gram_columns(columns)), k, view.total).components
        definitions: tuple[str, ...] = ("information",)
    else:
        H, definitions = found, ("information", "symmetric", "adjusted")
    shares = {name: float(explained_variance(H, X, definition=name)[-1]) for name in definitions}
    features = len(found) if found.ndim == 1 else int(np.count_nonzero(found, axis=1).max())
    return {"loss": information_loss(H, X) / pca_loss, "features": features, **shares}


def run(what: str, name: str, folder: Path, k: int, r: int, pca_loss: float, penalty: Any) -> dict[str, Any]:
    entry = next(entry for entry in entries(name.partition(" ")[0]) if str(entry) == name)
    X = stored(folder)
    if what == "tune":
        start = time.process_time()
        found = entry.tune(X.toarray() if sparse.issparse(X) else X, k, r)
        return {"penalty": found, "seconds": round(time.process_time() - start, 2)}
    small = np.random.default_rng(0).standard_normal((30, 8))
    entry.fit(small, 2, 3, 1e-3)  # what is imported late is imported now
    found, costs = measured(entry, X, k, r, penalty)
    return {**costs, **scored(found, X, k, pca_loss)}


def main(arguments: list[str]) -> None:
    what, seconds, name, folder, k, r, pca_loss, penalty = arguments
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    warnings.simplefilter("ignore")
    try:
        outcome = run(what, name, Path(folder), int(k), int(r), float(pca_loss), json.loads(penalty))
    except MemoryError:
        outcome = {"failed": f"needs more than {MOST_MEMORY // 2**30} GiB"}
    except Exception as problem:
        outcome = {"failed": f"{type(problem).__name__}: {problem}".splitlines()[0][:120]}
    print(json.dumps(outcome))


if __name__ == "__main__":
    main(sys.argv[1:])
