"""Real data of the benchmarks: what is there, what is missing, and where each file comes from.

python benchmarks/data.py check    # compare the folder SPARING_DATA with data.toml; exit code 1 if anything is missing
python benchmarks/data.py page     # write docs/data.md
"""

from __future__ import annotations

import hashlib
import os
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "data.md"
HEAD = """# Benchmark data

*Where do the real data of the benchmarks and tutorials come from, and how do I get them?*

`make test` and `make demo` need no data but those bundled with scikit-learn and this package. The tutorials, `make
papers`, `make peers` and parts of `make bench` read public data sets from a folder:

```console
export SPARING_DATA=/path/to/data
python benchmarks/data.py check
```

The command lists each file as present, changed or missing, with its source. The files themselves are not part of
this repository: they belong to their authors. Fetch each from its source (repository @ commit : path), convert it
as described, and compare the checksum. A file that differs in bytes but holds the same numbers works as well; the
command then says "changed".

`.npz` files hold `X` (samples x features) and, where known, `y`, `feature_names` and `row_names`; covariance files
hold `C` or one array per matrix; sparse counts are in SciPy's format (`scipy.sparse.load_npz`). None needs
`allow_pickle`.
"""


def catalogue() -> dict[str, dict[str, str]]:
    """The files by name, each with what, shape, origin, licence, made, sha256."""
    return tomllib.loads((ROOT / "benchmarks" / "data.toml").read_text(encoding="utf-8"))


def status(file: Path, sha256: str) -> str:
    """Is it there, and as it was?"""
    if not file.is_file():
        return "missing"
    with file.open("rb") as opened:
        return "present" if hashlib.file_digest(opened, "sha256").hexdigest() == sha256 else "changed"


def check(folder: str | None) -> int:
    """Print what is there, and the sources of what is not."""
    if not folder:
        print("SPARING_DATA is not set. Set it to the folder of the data sets; docs/data.md says where they come from.")
        return 1
    missing = 0
    for name, about in catalogue().items():
        found = status(Path(folder) / name, about["sha256"])
        missing += found == "missing"
        source = "" if found == "present" else f"  from {about['origin']} ({about['licence']})"
        print(f"{found:8} {name}{source}")
    print(f"{missing} of {len(catalogue())} files are missing." if missing else "All files are there.")
    return int(missing > 0)


def page() -> str:
    """The page of the guide."""
    out = [HEAD]
    for name, about in catalogue().items():
        what = about["what"][0].upper() + about["what"][1:]
        out.append(
            f"## {name}\n\n{what}. Shape: {about['shape']}.\n\n- Source: `{about['origin']}`\n"
            f"- Licence stated there: {about['licence']}\n- Conversion: {about['made']}\n"
            f"- SHA-256: `{about['sha256']}`\n"
        )
    return "\n".join(out)


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        sys.exit(check(os.environ.get("SPARING_DATA")))
    if sys.argv[1:] == ["page"]:
        PAGE.write_text(page(), encoding="utf-8")
        sys.exit()
    sys.exit(__doc__)
