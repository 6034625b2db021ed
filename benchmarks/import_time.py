"""Import time of an estimator against scikit-learn's, in fresh processes that take turns: CPU seconds."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np


def processor_seconds() -> float:
    """CPU time of all child processes so far: other work on the machine does not count."""
    return os.times().children_user + os.times().children_system


def main() -> None:
    seconds: dict[str, list[float]] = {"from sparing import SparseEncoder": [], "import sklearn.decomposition": []}
    for _ in range(7):
        for name, taken in seconds.items():
            start = processor_seconds()
            subprocess.run([sys.executable, "-c", name], check=True)
            taken.append(processor_seconds() - start)
    mine, theirs = (float(np.median(taken)) for taken in seconds.values())
    ratio = f"{mine:.2f} s / sklearn.decomposition {theirs:.2f} s = {mine / theirs:.2f}"
    print(f"Import: SparseEncoder {ratio} (wanted at most 1.1)\n")


if __name__ == "__main__":
    main()
