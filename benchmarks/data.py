"""Real data of the benchmarks: which files are present or missing, and the source of each.

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

`make test` and `make demo` use only data that are bundled with scikit-learn and this package. The tutorials, `make
papers`, `make peers` and parts of `make bench` read public data sets from a folder:

```console
export SPARING_DATA=/path/to/data
python benchmarks/data.py check
```

The command lists each file as present, changed or missing, with its source. The files belong to their authors and are
not part of this repository. To get one:

1. Download it from its source below. `owner/name@commit : path` is a file of a GitHub repository.
2. Convert it as described and save it under the name in the heading.
3. Run the check again. "changed" means that the bytes differ from ours; the file still works if the numbers are the
   same.

`.npz` files hold `X` (samples x features) and, if known, `y`, `feature_names` and `row_names`. Covariance files hold
`C` or one array per matrix. Sparse counts are in SciPy's format (`scipy.sparse.load_npz`). No file needs
`allow_pickle`.
"""


def catalogue() -> dict[str, dict[str, str]]:
    """Files by name, each with the keys what, shape, origin, licence, made and sha256."""
    return tomllib.loads((ROOT / "benchmarks" / "data.toml").read_text(encoding="utf-8"))


def status(file: Path, sha256: str) -> str:
    """Return 'present', 'changed' or 'missing'."""
    if not file.is_file():
        return "missing"
    with file.open("rb") as opened:
        return "present" if hashlib.file_digest(opened, "sha256").hexdigest() == sha256 else "changed"


def check(folder: str | None) -> int:
    """Print the status of every file, with the source of those that are missing or changed."""
    if not folder:
        print("SPARING_DATA is not set. Set it to the folder of the data sets; docs/data.md says where they come from.")
        return 1
    missing = 0
    for name, about in catalogue().items():
        found = status(Path(folder) / name, about["sha256"])
        missing += found == "missing"
        source = "" if found == "present" else f"  from {about['origin']} ({about['licence']})"
        print(f"{found:8} {name}{source}")
    print(f"{missing} of {len(catalogue())} files are missing." if missing else "All files are present.")
    return int(missing > 0)


def page() -> str:
    """The page of the guide; consecutive files of one source share a section."""
    out, described = [HEAD], ""
    for name, about in catalogue().items():
        what = about["what"][0].upper() + about["what"][1:]
        if what != described:
            out.append(
                f"## {name}\n\n{what}. Shape: {about['shape']}.\n\n- Source: `{about['origin']}`\n"
                f"- Licence stated there: {about['licence']}\n- Conversion: {about['made']}\n"
                f"- SHA-256: `{about['sha256']}`\n"
            )
        else:
            out[-1] += f"- SHA-256 of `{name}`: `{about['sha256']}`\n"
        described = what
    return "\n".join(out)


if __name__ == "__main__":
    if sys.argv[1:] == ["check"]:
        sys.exit(check(os.environ.get("SPARING_DATA")))
    if sys.argv[1:] == ["page"]:
        PAGE.write_text(page(), encoding="utf-8")
        sys.exit()
    sys.exit(__doc__)
