"""Task: the data, the problem and the start that an algorithm is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from sparing.gram import DataMatrix
from sparing.linalg.metric import Metric
from sparing.results import Array, Problem, Spectrum
from sparing.rules import NO_RULES, Rules


class Target(Protocol):
    """The target of column selection, T (n x k), given by its products. A ``Spectrum`` is one."""

    @property
    def basis(self) -> Array:
        """Orthonormal V (d x k) with T = X V."""

    @property
    def cross(self) -> Array:
        """X'T, shape (d, k)."""

    @property
    def gram(self) -> Array:
        """T'T, shape (k, k)."""


@dataclass(frozen=True)
class Task:
    """One problem on one view of the data; :class:`~sparing.run.Run` has the budget and effort.

    Attributes
    ----------
    gram : DataMatrix
        The data, given by their Gram matrix A.
    problem : Problem
        Objective and constraints.
    target : Target, optional
        The target to span: for encoders the leading principal components, a ``Spectrum``.
    metric : Metric, optional
        M of x'Ax / x'Mx, for one component in addition to others.
    start : ndarray of shape (d, m), optional
        Directions to start from; algorithms without starts ignore it.
    """

    gram: DataMatrix
    problem: Problem
    target: Target = None  # type: ignore[assignment]  # given to whatever spans something
    metric: Metric | None = None
    start: Array | None = None

    @classmethod
    def of_component(
        cls, gram: DataMatrix, n_nonzero: int, *, metric: Metric | None = None, start: Array | None = None
    ) -> Self:
        """Task for one direction of large variance."""
        return cls(gram, Problem(1, n_nonzero, gram.n_features, "variance"), metric=metric, start=start)

    @classmethod
    def of_columns(cls, gram: DataMatrix, n_columns: int, target: Target, rules: Rules = NO_RULES) -> Self:
        """Task for columns that span a target."""
        return cls(gram, Problem(target.basis.shape[1], n_columns, gram.n_features, rules=rules), target)

    @classmethod
    def of_components(
        cls, gram: DataMatrix, spectrum: Spectrum, n_nonzero: int | Sequence[int], **problem: bool | str | Rules
    ) -> Self:
        """Task for the components of a spectrum with these numbers of features; further arguments are those of the
        problem."""
        asked = Problem(spectrum.rank, 0, gram.n_features, **problem)  # type: ignore[arg-type]
        return cls(gram, asked, spectrum).counting(n_nonzero)

    def readable(self) -> Self:
        """The same problem on the allowed features, without a target.

        Variances, deflations and constraints depend on these features only, so results hold under the rules. Upper
        bounds for free choices also hold if some features are required.
        """
        problem, allowed = self.problem, self.rules.allowed
        if problem.objective != "variance" or allowed is None:
            return self
        kept = np.flatnonzero(allowed)
        required = np.searchsorted(kept, self.rules.required)
        most = len(kept) * (problem.n_components if problem.shared_support else 1)
        inside = replace(
            problem,
            n_features=len(kept),
            n_nonzero=min(problem.n_nonzero, most),
            counts=tuple(min(count, len(kept)) for count in problem.counts),
            rules=Rules(required=required),
        )
        return replace(self, gram=self.gram.narrowed(kept), problem=inside, target=None)  # type: ignore[arg-type]

    def counting(self, n_nonzero: int | Sequence[int]) -> Self:
        """The same task with another number of features, or one number per component."""
        if isinstance(n_nonzero, int):
            return replace(self, problem=replace(self.problem, n_nonzero=n_nonzero, counts=()))
        counts = tuple(int(count) for count in n_nonzero)
        return replace(self, problem=replace(self.problem, n_nonzero=max(counts), counts=counts))

    @property
    def n_nonzero(self) -> int:
        """The number of features that may be used."""
        return self.problem.n_nonzero

    @property
    def rules(self) -> Rules:
        """The rules on features."""
        return self.problem.rules

    @property
    def spectrum(self) -> Spectrum:
        """The principal components, if they are the target."""
        assert isinstance(self.target, Spectrum)
        return self.target

    @property
    def sizes(self) -> list[int]:
        """Number of features of each component."""
        rank = self.spectrum.rank
        return list(self.problem.counts)[:rank] if self.problem.counts else [self.n_nonzero] * rank
