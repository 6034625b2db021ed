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
"""A loss below this share of the total is no loss at all."""

PROVED = 1e-6
"""A gap that counts as none: what rounding leaves between an optimum and its proof."""


@dataclass(frozen=True)
class Reference:
    """The place in the literature that an algorithm comes from; ``key`` is an entry of docs/references.bib."""

    key: str
    where: str

    def __str__(self) -> str:
        return f"[{self.key}, {self.where}]"


@dataclass(frozen=True)
class Spectrum:
    """The leading principal components of a view, and what they leave.

    With T = X basis (n x k): ``cross`` = X'T = A basis and ``gram`` = T'T. It is the usual target of column selection.

    ``tail`` is PCA's loss ||X - X_k||^2 as computed. Ritz values come from below, so it may overstate the truth by up
    to ``tail_error``: ``tail - tail_error`` is what may serve as a lower bound. ``exact`` says whether the error is
    mere rounding of a dense eigensolver or the estimate of a converged iteration.
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
        """Number of components held: as many as asked for, or the rank of the data if that is less."""
        return len(self.values)

    @property
    def gram(self) -> Array:
        """T'T for the target T = X basis."""
        return np.diag(self.values)

    def leading(self, rank: int) -> Spectrum:
        """The first ``rank`` components alone; what the others explain is lost."""
        if rank >= self.rank:
            return self
        tail = self.tail + float(self.values[rank:].sum())
        kept = self.basis[:, :rank], self.values[:rank], self.cross[:, :rank]
        return Spectrum(*kept, self.total, tail, self.tail_error, self.exact)

    @property
    def least_loss(self) -> float:
        """What no encoder with this many components can go below."""
        return max(self.tail - self.tail_error, 0.0)

    @property
    def most_loss(self) -> float:
        """What PCA loses at most: a lower bound of other losses is a share of this."""
        return self.tail + self.tail_error

    @property
    def most_variance(self) -> float:
        """What no as many directions can pass: the values with their error added.

        Not the total less the loss: where a matrix given by the user has negative eigenvalues, by rounding, the total
        is too small.
        """
        return float(self.values.sum()) + self.tail_error

    @property
    def least_variance(self) -> float:
        """What PCA has at least: an upper bound of other variances is a share of this."""
        return max(float(self.values.sum()) - self.tail_error, 0.0)

    @property
    def nothing(self) -> float:
        """A loss that counts as none: what rounding leaves."""
        return max(ZERO_LOSS * self.total, 2 * self.tail_error if self.exact else 0.0)

    def variance_kept(self, loss: float) -> float:
        """Share of the variance of these components that is left after a loss; rounded against us, 1 at most."""
        explained = self.total - loss
        if explained >= float(self.values.sum()) - self.nothing:
            return 1.0
        return max(explained / self.most_variance, 0.0)

    def loss_ratio(self, loss: float) -> float:
        """A loss divided by PCA's, rounded against us; where PCA loses nothing, 1 if we do not either, else inf."""
        if self.tail <= self.nothing:
            return 1.0 if loss <= self.nothing else float("inf")
        return max(loss / self.least_loss, 1.0) if self.least_loss > 0 else float("inf")


@dataclass(frozen=True)
class Enough:
    """When a loss is small enough: so that a share of PCA's variance is kept, or within a multiple of PCA's loss."""

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

    ``n_nonzero`` counts the features of each component. With ``shared_support`` it counts those of all together: for a
    loss the features used, for a variance the nonzero loadings. Disjoint components have no feature in common.
    ``counts`` has the features of each component in turn, where they differ; ``n_nonzero`` is then the largest.
    ``rules`` say which features may be read, by any component; no two components have a larger |cosine| than
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
        """Are all features given, so that only loadings were sought?"""
        return self.shared_support and 0 < self.n_nonzero <= len(self.rules.required)

    @property
    def is_single(self) -> bool:
        """Is it about the variance of one component?"""
        return self.objective == "variance" and self.n_components == 1

    @property
    def is_several(self) -> bool:
        """Is it about the variance of several components?"""
        return self.objective == "variance" and self.n_components > 1

    @property
    def is_orthogonal(self) -> bool:
        """Are components orthogonal? Without common features they are."""
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
        """``(Z rotation)'(Z rotation)``; with care where ``rotation`` is ill-conditioned."""
        if careful:
            W = self.images(rotation)
            return W.T @ W
        return rotation.T @ (self.gram_columns.T @ self.gram_columns) @ rotation

    def images(self, directions: Array) -> Array:
        """``Z directions``."""
        return self.gram_columns @ directions


@dataclass(frozen=True)
class Bound:
    """A number that no feasible result can pass, and what proves it.

    ``name`` is that of the registry ``sparing.proof.bounds.BOUNDS``, whose ``check`` computes the bound again from the
    data and the witness alone; ``method`` says it in words. ``supports`` are those of a feasible result that the proof
    came upon, one for each component or one for all: a fit takes it over where it is better. ``reached`` says that this
    result has the value of the bound, so that no bound can be better; ``nonnegative`` that it was proved for
    nonnegative directions alone.
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

    ``variance`` is x'Ax for the view it was found in, or x'Ax / x'Mx where a metric M was given; ``bound`` is what no
    direction with as many features has there, where the solver proved it.
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

    ``loadings`` (k x len(support)) live on the sorted ``support`` and have unit rows; ``decoder`` is k x d.
    ``captured`` is what each component adds to what the earlier ones explain, so ``loss = total - captured.sum()``.
    ``explained`` (d) is what the decoder explains of each feature; it sums to ``captured.sum()``.
    ``single_bounds`` has, for some numbers of features, what one direction alone cannot exceed: proved on the way.
    """

    support: Indices
    loadings: Array
    decoder: Array
    captured: Array
    loss: float
    explained: Array = field(default_factory=lambda: np.zeros(0), kw_only=True)
    single_bounds: Mapping[int, Bound] = field(default_factory=dict, kw_only=True)

    def including(self, features: Indices) -> Self:
        """The same with some features in its support, whether or not they have a loading."""
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
    """An encoder with sparse directions on the side of the data points: ``rows`` (k x n) has unit rows.

    Both sides are in order of discovery; one may have fewer directions than the other where nothing is left.
    """

    rows: Array


@dataclass(frozen=True)
class Guarantee:
    """A theorem's guarantee for this fit: ``measured <= limit``. It does not bound other results.

    Attributes
    ----------
    claim : str
        Of what.
    limit, measured : float
        Limit of the theorem, and measured value of the fit.
    strength : str
        ``always``, ``numerical`` if it depends on a converged iteration, ``in expectation``, or a probability.
    reference : Reference
        The theorem.
    """

    claim: str
    limit: float
    measured: float
    strength: str
    reference: Reference

    @property
    def holds(self) -> bool:
        """Does the fit satisfy the theorem?"""
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
    """Four digits, never fewer than the truth, as losses are rounded everywhere."""
    if not 0 < value < float("inf"):
        return f"{value:.4g}"
    unit = 10.0 ** (math.floor(math.log10(value)) - 3)
    return f"{math.ceil(value / unit - 1e-9) * unit:.4g}"
