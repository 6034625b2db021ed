"""Plain data that the parts of a fit exchange: problems, spectra, components, encoders, bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sparing.rules import NO_RULES, Rules

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

ZERO_LOSS = 1e-12
"""A loss below this share of the total counts as zero."""

PROVED = 1e-6
"""A gap below this counts as zero: rounding errors between an optimum and its proof."""


@dataclass(frozen=True)
class Reference:
    """The place in the literature that an algorithm comes from; ``key`` is an entry of docs/references.bib."""

    key: str
    where: str

    def __str__(self) -> str:
        return f"[{self.key}, {self.where}]"


@dataclass(frozen=True)
class Spectrum:
    """The leading principal components of a view, and PCA's loss.

    With T = X basis (n x k): ``cross`` = X'T = A basis and ``gram`` = T'T. It is the usual target of column selection.

    ``tail`` is PCA's loss ||X - X_k||^2 as computed. Ritz values are too small, so it may be too large by up to
    ``tail_error``: use ``tail - tail_error`` as a lower bound. ``exact`` tells whether the error is only rounding of a
    dense eigensolver, or the estimate of a converged iteration.
    """

    basis: Array
    values: Array
    cross: Array
    total: float
    tail: float
    tail_error: float
    exact: bool

    @property
    def rank(self) -> int:
        """Number of components: the requested number, or the rank of the data if that is less."""
        return len(self.values)

    @property
    def gram(self) -> Array:
        """T'T for the target T = X basis."""
        return np.diag(self.values)

    def leading(self, rank: int) -> Spectrum:
        """Only the first ``rank`` components; the variance of the others becomes loss."""
        if rank >= self.rank:
            return self
        tail = self.tail + float(self.values[rank:].sum())
        kept = self.basis[:, :rank], self.values[:rank], self.cross[:, :rank]
        return Spectrum(*kept, self.total, tail, self.tail_error, self.exact)

    @property
    def least_loss(self) -> float:
        """Lower bound of the loss of every encoder with this number of components."""
        return max(self.tail - self.tail_error, 0.0)

    @property
    def most_loss(self) -> float:
        """Upper bound of PCA's loss, the divisor of lower bounds of other losses."""
        return self.tail + self.tail_error

    @property
    def most_variance(self) -> float:
        """Upper bound of the variance of the same number of directions: the values plus their error.

        It is not the total minus the loss: if rounding gives a user's matrix negative eigenvalues, the total is too
        small.
        """
        return float(self.values.sum()) + self.tail_error

    @property
    def least_variance(self) -> float:
        """Lower bound of PCA's variance, the divisor of upper bounds of other variances."""
        return max(float(self.values.sum()) - self.tail_error, 0.0)

    @property
    def nothing(self) -> float:
        """A loss that counts as zero, at the level of rounding errors."""
        return max(ZERO_LOSS * self.total, 2 * self.tail_error if self.exact else 0.0)

    def variance_kept(self, loss: float) -> float:
        """Share of the variance of these components that remains after a loss; rounded down, at most 1."""
        explained = self.total - loss
        if explained >= float(self.values.sum()) - self.nothing:
            return 1.0
        return max(explained / self.most_variance, 0.0)

    def loss_ratio(self, loss: float) -> float:
        """A loss divided by PCA's, rounded up; if PCA loses nothing, 1 for no loss and otherwise inf."""
        if self.tail <= self.nothing:
            return 1.0 if loss <= self.nothing else float("inf")
        return max(loss / self.least_loss, 1.0) if self.least_loss > 0 else float("inf")


@dataclass(frozen=True)
class Enough:
    """Criterion for a loss: it keeps a share of PCA's variance, or is within a multiple of PCA's loss."""

    min_variance: float | None = None
    max_loss: float | None = None

    def loss(self, spectrum: Spectrum) -> float:
        """The largest loss that is small enough."""
        if self.max_loss is not None:
            none = spectrum.tail <= spectrum.nothing
            return spectrum.nothing if none else self.max_loss * float(spectrum.least_loss)
        assert self.min_variance is not None
        as_pca = spectrum.total - float(spectrum.values.sum()) + spectrum.nothing
        return max(spectrum.total - self.min_variance * spectrum.most_variance, as_pca)


@dataclass(frozen=True)
class Problem:
    """The problem that was solved: objective and feasible set, for which the claim of a certificate holds.

    ``n_nonzero`` counts the features of each component. With ``shared_support`` it counts those of all components
    together: for a loss the features used, for a variance the nonzero loadings. Disjoint components have no common
    feature. ``counts`` has the number of features of each component if they differ; ``n_nonzero`` is then the largest.
    ``rules`` define which features may be read by any component; no two components have a larger |cosine| than
    ``max_cosine``.
    """

    n_components: int
    n_nonzero: int
    n_features: int
    objective: str = "loss"
    shared_support: bool = True
    nonnegative: bool = False
    orthogonal: bool = False
    disjoint: bool = False
    counts: tuple[int, ...] = ()
    rules: Rules = NO_RULES
    max_cosine: float = 1.0

    @property
    def is_given(self) -> bool:
        """Whether all features are given, so that only loadings are optimised."""
        return self.shared_support and 0 < self.n_nonzero <= len(self.rules.required)

    @property
    def is_single(self) -> bool:
        """Whether it is about the variance of one component."""
        return self.objective == "variance" and self.n_components == 1

    @property
    def is_several(self) -> bool:
        """Whether it is about the variance of several components."""
        return self.objective == "variance" and self.n_components > 1

    @property
    def is_orthogonal(self) -> bool:
        """Whether components are orthogonal because they share no features."""
        return self.orthogonal or self.disjoint

    @property
    def sense(self) -> str:
        """``min`` for a loss, ``max`` for a variance."""
        return "min" if self.objective == "loss" else "max"


@dataclass(frozen=True)
class Selection:
    """Chosen columns J, in the order of choice, with their Gram columns Z = A[:, J]."""

    columns: Indices
    gram_columns: Array

    def inside(self) -> Array:
        """``A[J, J]``."""
        return self.gram_columns[self.columns]

    def squares(self, rotation: Array, *, careful: bool = False) -> Array:
        """``(Z rotation)'(Z rotation)``, also accurate for an ill-conditioned ``rotation``."""
        if careful:
            W = self.images(rotation)
            return W.T @ W
        return rotation.T @ (self.gram_columns.T @ self.gram_columns) @ rotation

    def images(self, directions: Array) -> Array:
        """``Z directions``."""
        return self.gram_columns @ directions


@dataclass(frozen=True)
class Bound:
    """A bound for all feasible results, and its proof.

    ``name`` is that of the registry ``sparing.proof.bounds.BOUNDS``, whose ``check`` computes the bound again from the
    data and the witness only; ``method`` describes it in words. ``supports`` are those of a feasible result that the
    proof found, one for each component or one for all; a fit uses it if it is better. ``reached`` tells that this
    result has the value of the bound, so no bound can be tighter; ``nonnegative`` that the bound holds for nonnegative
    directions only.
    """

    value: float
    name: str
    method: str
    strength: str
    witness: Any = None
    reached: bool = False
    nonnegative: bool = False
    supports: tuple[Indices, ...] = ()


@dataclass(frozen=True)
class Component:
    """One sparse direction x: unit loadings on its sorted support.

    ``variance`` is x'Ax for the view in which it was found, or x'Ax / x'Mx with a metric M; ``bound``, if the solver
    proved one, is an upper bound for all directions with this number of features.
    """

    support: Indices
    loadings: Array
    variance: float
    bound: Bound | None = None

    def vector(self, n_features: int) -> Array:
        """The direction with its zeros."""
        full = np.zeros(n_features)
        full[self.support] = self.loadings
        return full


@dataclass(frozen=True)
class Encoder:
    """k sparse directions with their best linear decoder.

    ``loadings`` (k x len(support)) refer to the sorted ``support`` and have unit rows; ``decoder`` is k x d.
    ``captured`` is the variance that each component explains in addition to earlier ones, so ``loss = total -
    captured.sum()``. ``explained`` (d) is the variance of each feature that the decoder explains; it sums to
    ``captured.sum()``. ``single_bounds`` has, for some numbers of features, upper bounds for a single direction from
    the proof.
    """

    support: Indices
    loadings: Array
    decoder: Array
    captured: Array
    loss: float
    explained: Array = field(default_factory=lambda: np.zeros(0), kw_only=True)
    single_bounds: Mapping[int, Bound] = field(default_factory=dict, kw_only=True)

    def including(self, features: Indices) -> Self:
        """Return the encoder with these features added to its support, even if their loadings are zero."""
        support = np.union1d(self.support, features)
        if len(support) == len(self.support):
            return self
        loadings = np.zeros((len(self.loadings), len(support)))
        loadings[:, np.searchsorted(support, self.support)] = self.loadings
        return replace(self, support=support, loadings=loadings)

    @property
    def components(self) -> Array:
        """The encoder as a k x d matrix with zeros."""
        full = np.zeros((len(self.loadings), self.decoder.shape[1]))
        full[:, self.support] = self.loadings
        return full


@dataclass(frozen=True)
class TwoSidedEncoder(Encoder):
    """An encoder with sparse directions of the samples as well: ``rows`` (k x n) has unit rows.

    Both sides are in order of discovery; one may have fewer directions than the other if no variance is left.
    """

    rows: Array


@dataclass(frozen=True)
class Premise:
    """What a fit did that a theorem is about: an algorithm by its name there, and the number that it depends on.

    That is the rank of a surrogate, the number of rows of a sketch, or that of the data points that a decoder is from.
    """

    algorithm: str
    number: int = 0


@dataclass(frozen=True)
class Guarantee:
    """A theorem's guarantee for this fit: ``measured <= limit``. It does not bound other results.

    Attributes
    ----------
    claim : str
        The limited quantity.
    limit, measured : float
        Limit of the theorem, and measured value of the fit.
    strength : str
        ``always``, ``numerical`` if it depends on a converged iteration, ``in expectation``, or a probability.
    reference : Reference
        The theorem.
    premise : Premise, optional
        Its hypothesis, which the fit kept.
    """

    claim: str
    limit: float
    measured: float
    strength: str
    reference: Reference
    premise: Premise | None = None

    @property
    def holds(self) -> bool:
        """Whether the fit satisfies the theorem."""
        return self.measured <= self.limit

    def __str__(self) -> str:
        return self.sentence(_rounded_up(self.measured))

    def sentence(self, measured: str) -> str:
        """Limit and measured value in words; ``measured`` is already formatted."""
        missed = "exceeded by this draw" if self.strength == "in expectation" else "FAILS"
        verdict = "holds" if self.holds else missed
        numbers = f"at most {_rounded_up(self.limit)}, measured {measured}"
        return f"{self.claim}: {numbers}; {verdict} ({self.strength}) {self.reference}"


def _rounded_up(value: float) -> str:
    """Four digits, rounded up, like all losses."""
    if not 0 < value < float("inf"):
        return f"{value:.4g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.ceil(value / unit - 1e-9) * unit:.4g}"
