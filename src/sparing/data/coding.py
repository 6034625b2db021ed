"""How raw records become numbers, kept with a fit so that new rows are read the same way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from sparing.results import Indices


class Coding(ABC):
    """What a reader learns of each feature before its records are numbers: fills, factors, which category counts.

    Numbers of a new row must not depend on the other rows of its file, so that a fit keeps the coding of its own rows
    (``coding_``) and asks those of new files to use it. Codings are frozen dataclasses of arrays, one entry for each
    feature, and are saved with a model as such.
    """

    @abstractmethod
    def of(self, J: Indices) -> Self:
        """That of the features J."""

    @abstractmethod
    def replaced(self, J: Indices, part: Self) -> Self:
        """The same with another one for the features J."""

    @abstractmethod
    def is_for(self, n_features: int) -> bool:
        """Has it, whoever wrote it, what it takes for so many features?"""
