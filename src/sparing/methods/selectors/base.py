"""The verb of this folder."""

from __future__ import annotations

from typing import Protocol

from sparing.results import Selection
from sparing.run import Run
from sparing.task import Task


class Selector(Protocol):
    """A frozen dataclass whose fields are its settings."""

    def select(self, task: Task, run: Run) -> Selection:
        """At most ``task.n_nonzero`` columns; fewer only where no further column would add anything."""
