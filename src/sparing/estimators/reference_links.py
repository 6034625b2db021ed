"""Links from the HTML representation of an estimator, as in notebooks, to its entry in the reference."""

from __future__ import annotations

from importlib import metadata


def guide_address() -> str:
    """Where the guide is published, by ``Documentation`` in the package's ``[project.urls]``; empty if nowhere."""
    try:
        urls = metadata.metadata("sparing").get_all("Project-URL") or []
    except metadata.PackageNotFoundError:
        return ""
    addresses: dict[str, str] = dict(url.split(", ", 1) for url in urls)
    return addresses.get("Documentation", "").rstrip("/")


class LinksToReference:
    """What scikit-learn asks an estimator of another package for; without an address there is no link."""

    _doc_link_module = "sparing"

    @property
    def _doc_link_template(self) -> str:
        address = guide_address()
        return f"{address}/api.html#sparing.{{estimator_name}}" if address else ""
