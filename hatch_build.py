"""The long description of the built package: README.md with links that work on a package index.

Links in README.md are relative, which is right in the repository and broken on a package index. Here they become
absolute by ``Documentation`` and ``Source`` in ``[project.urls]``. Without an address a link becomes its text,
and a picture is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

CODE = r"(?s:```.*?```)|`[^`]*`"
LINK = re.compile(rf"(?P<code>{CODE})|(?P<image>!?)\[(?P<label>[^\]]*)\]\((?![a-z]+:)(?P<target>[^)\s]+)\)")
INSTALL = re.compile(r"pip install '\.(\[\w+\])'.*")


def long_description(readme: str, urls: Mapping[str, str]) -> str:
    """Return the README as a package index should show it."""

    def replacement(link: re.Match[str]) -> str:
        if link["code"]:
            return INSTALL.sub(r"pip install 'sparing\1'", link["code"])
        address = absolute(link["target"], image=bool(link["image"]), urls=urls)
        if address:
            return f"{link['image']}[{link['label']}]({address})"
        return "" if link["image"] else link["label"]

    return re.sub(r"\n{3,}", "\n\n", LINK.sub(replacement, readme))


def absolute(target: str, *, image: bool, urls: Mapping[str, str]) -> str:
    """The address of a file of the repository; empty if there is none."""
    documentation, source = (urls.get(name, "").rstrip("/") for name in ("Documentation", "Source"))
    if documentation and target.startswith("docs/"):
        return f"{documentation}/{re.sub(r'[.]md(?=#|$)', '.html', target.removeprefix('docs/'))}"
    return f"{source}/{'raw' if image else 'blob'}/HEAD/{target}" if source else ""


class LongDescription(MetadataHookInterface):
    """Set ``readme`` of the package's metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling with the ``[project]`` table."""
        text = (Path(self.root) / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": long_description(text, metadata.get("urls", {}))}
