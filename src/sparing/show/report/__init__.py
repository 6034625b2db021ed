"""Pages to explore and to share: one HTML file that needs nothing else."""

from sparing.show.report.explorer import explore

__all__ = ["explore"]
