"""Print the lowest declared version of every dependency, as pip's constraints: for `make test-versions`."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from pathlib import Path

PINNED = re.compile(r"(?P<name>[A-Za-z0-9_.-]+)(\[[^]]*\])?>=(?P<version>[0-9.]+)")


def lowest(project: dict) -> list[str]:
    """One line for each requirement of the core and of the extras; what only runs the tests may be of any version."""
    core = project["project"]["dependencies"]
    extras = chain.from_iterable(project["project"]["optional-dependencies"].values())
    floors: dict[str, tuple[tuple[int, ...], str]] = {}
    for requirement in chain(core, extras):
        if (found := PINNED.match(requirement)) is not None:
            version = found["version"]
            known = tuple(int(part) for part in version.split(".")), version
            floors[found["name"]] = max(floors.get(found["name"], known), known)
    return [f"{name}=={version}" for name, (_, version) in sorted(floors.items())]


if __name__ == "__main__":
    print("\n".join(lowest(tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text()))))
