"""Where the data of a page come from, for the command and the Python lines that search the same number of features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparing.data import Preprocessing
from sparing.show.report.labels import readable


@dataclass(frozen=True)
class Source:
    """A file, and how the command line and ``open_data`` are asked to read it.

    ``opening`` holds the arguments of ``open_data`` after the path; None where ``open_data`` is not how it was read.
    """

    file: str
    options: tuple[str, ...] = ()
    opening: tuple[str, ...] | None = None

    def repeated(self, preprocessing: Preprocessing, effort: str, random_state: Any) -> dict[str, Any]:
        """What the commands of the page say about data and fit: file, options of the command line, Python."""
        seed = random_state if isinstance(random_state, (int, np.integer)) else 0
        missing = preprocessing.missing
        said = (
            (preprocessing.scale, "--scale", "scale=True"),
            (not preprocessing.center, "--no-center", "center=False"),
            (missing != "error", f"--missing {missing}", f'missing="{missing}"'),
            (effort != "default", f"--effort {effort}", f'effort="{effort}"'),
            (seed != 0, f"--seed {seed}", f"random_state={seed}"),
        )
        chosen = [(option, setting) for is_set, option, setting in said if is_set]
        return {
            "file": readable(self.file),
            "options": [*self.options, *(option for option, _ in chosen)],
            "settings": [setting for _, setting in chosen],
            "opening": None if self.opening is None else list(self.opening),
        }
