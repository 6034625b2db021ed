"""Codings, such as that of genotypes: how raw records become numbers, kept with a fit for new rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

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


UNKNOWN = "0"
"""PLINK's name of an allele that nobody in a file has."""


@dataclass(frozen=True, eq=False)
class GenotypeCoding(Coding):
    """What is done to the genotypes of each SNP.

    Attributes
    ----------
    means : ndarray of float32
        Takes the place of a missing genotype.
    factors : ndarray of float32
        What a count is multiplied by.
    counted, other : ndarray of str
        The allele whose copies are counted, and the one whose copies are not.
    """

    means: Any
    factors: Any
    counted: Any
    other: Any

    def of(self, J: Indices) -> GenotypeCoding:
        """That of the SNPs J."""
        return GenotypeCoding(self.means[J], self.factors[J], self.counted[J], self.other[J])

    def replaced(self, J: Indices, part: GenotypeCoding) -> GenotypeCoding:
        """The same with another one for the SNPs J."""
        arrays = {}
        for field in fields(self):
            arrays[field.name] = getattr(self, field.name).copy()
            arrays[field.name][J] = getattr(part, field.name)
        return GenotypeCoding(**arrays)

    def exchanged(self, counted: Any, other: Any) -> tuple[Indices, Indices]:
        """SNPs of a file that counts this coding's other allele, and SNPs that have different alleles altogether."""
        same = _match(self.counted, counted) & _match(self.other, other)
        swapped = _match(self.counted, other) & _match(self.other, counted)
        return np.flatnonzero(swapped & ~same), np.flatnonzero(~swapped & ~same)

    def is_for(self, n_features: int) -> bool:
        """Has it, whoever wrote it, what it takes for so many SNPs?"""
        numbers, names = (self.means, self.factors), (self.counted, self.other)
        arrays = [array for array in (*numbers, *names) if isinstance(array, np.ndarray)]
        return (
            len(arrays) == 4
            and all(array.shape == (n_features,) for array in arrays)
            and all(array.dtype == np.float32 and np.isfinite(array).all() for array in numbers)
            and all(array.dtype == object for array in names)
        )


def _match(mine: Any, theirs: Any) -> Any:
    """Are they the same allele, as far as both are known?"""
    return np.asarray((mine == theirs) | (mine == UNKNOWN) | (theirs == UNKNOWN), dtype=bool)
