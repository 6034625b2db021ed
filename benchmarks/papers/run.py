"""Every table and figure of the papers again, or those named, and the page `docs/papers.md` from them.

SPARING_DATA=... python benchmarks/papers/run.py [table3] [rounding_figure1] ...
"""

from __future__ import annotations

import importlib
import sys
import time
import warnings

from summary import ORDER


def main(names: list[str]) -> None:
    unknown = set(names) - set(ORDER)
    if unknown:
        sys.exit(f"{', '.join(sorted(unknown))}: no such script. There are {', '.join(ORDER)}.")
    for name in names or ORDER:
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # rank-deficient splits, methods that stop at their limit of steps
            importlib.import_module(name).main()
        print(f"({name}: {time.perf_counter() - start:.0f} s)\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
