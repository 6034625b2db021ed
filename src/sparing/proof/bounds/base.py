"""The verbs of this folder."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

from sparing.results import Bound, Encoder, Reference
from sparing.run import Run
from sparing.task import Task


class BoundMethod(Protocol):
    """A frozen dataclass whose fields are its settings; all of them have defaults, with which ``check`` is run.

    ``objective`` is what it is about: ``loss`` or ``variance``. ``witnesses``, where it is there, are the records that
    its witness is made of; ``iterates``, where it is there and true, says that a check rests on an iteration where the
    spectrum is not exact; ``scales``, likewise, that it takes a share of its steps where the effort has only that.
    """

    name: ClassVar[str]
    objective: ClassVar[str]
    reference: ClassVar[Reference]

    def applies(self, task: Task) -> bool:
        """Is its hypothesis met, and is it the one to ask?"""

    def cost(self, task: Task) -> float:
        """Seconds of one slow core, roughly: only the order of magnitude matters."""

    def bound(self, task: Task, incumbent: Encoder, run: Run) -> Bound | None:
        """The bound with its witness; nothing where it cannot help."""

    def check(self, task: Task, witness: Any) -> float:
        """The bound again from the data and the witness alone; infinite where the witness proves nothing."""
