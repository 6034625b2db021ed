"""Import time against scikit-learn's, in fresh processes that take turns."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np


def main() -> None:
    seconds: dict[str, list[float]] = {"sparing": [], "sklearn.decomposition": []}
    for _ in range(7):
        for name, taken in seconds.items():
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", f"import {name}"], check=True)
            taken.append(time.perf_counter() - start)
    mine, theirs = (float(np.median(taken)) for taken in seconds.values())
    ratio = f"{mine:.2f} s / sklearn.decomposition {theirs:.2f} s = {mine / theirs:.2f}"
    print(f"Import: sparing {ratio} (wanted at most 1.5)\n")


if __name__ == "__main__":
    main()
