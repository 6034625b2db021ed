"""The explorer page: one HTML file that shows which features are chosen, for every number of them."""

from sparing.show.report.explorer import explore

__all__ = ["explore"]
