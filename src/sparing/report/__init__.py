"""Pages to explore and to share: one HTML file that needs nothing else."""

from sparing.report.explorer import explore

__all__ = ["explore"]
