"""The penalties that leave the numbers of features asked for, kept in `penalties.json`: up to an hour, so done once.

SPARING_DATA=... python benchmarks/peers/tune.py [data set] ... [package] ...
"""

from __future__ import annotations

import json
import sys

from cell import entries
from run import PENALTIES, outcome, penalties, prepared
from sets import SETS

SECONDS = 600
"""CPU time after which a search is given up."""


def main(names: list[str]) -> None:
    packages = {entry.package for entry in entries()}
    asked, of = set(names) - packages, set(names) & packages
    for data in SETS:
        if asked and data.name not in asked:
            continue
        with prepared(data) as problem:
            for entry in entries():
                if entry.tune is not None and (not of or entry.package in of):
                    found = outcome("tune", entry, problem, SECONDS)
                    print(f"{entry}, {data.name}: {found}", flush=True)
                    kept = penalties()  # read again: two searches may run beside one another
                    kept.setdefault(str(entry), {})[data.name] = found
                    PENALTIES.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
