"""Greedy selection of columns that explain regression targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from sparing import errors
from sparing.gram import DataMatrix
from sparing.linalg.eigen import top_eigenpairs
from sparing.methods.selectors.greedy import TARGET_ROUNDING, Greedy
from sparing.results import Array, Reference, Selection, Spectrum
from sparing.run import Run
from sparing.task import Task

AIMS = ("pca", "targets")

UNEXPLAINED = 1e-24
"""A column that explains less than this share of the targets' squares explains rounding errors only."""


@dataclass(frozen=True, eq=False)
class ResponseTarget:
    """Targets Y of a regression (n x w), given by their products, with the principal components of X.

    ``cross`` = X'Y and ``gram`` = Y'Y. In general Y is not a combination of features; ``basis`` holds the principal
    directions, for selectors that use them.
    """

    spectrum: Spectrum
    cross: Array
    gram: Array

    @property
    def basis(self) -> Array:
        """Orthonormal principal directions V (d x k)."""
        return self.spectrum.basis


@dataclass(frozen=True)
class Response:
    """Choose the columns that best span the fit of a regression [boutsidis2011, Sec. 6].

    The paper's discussion asks for selectors that use the targets Y. Forward selection, swaps and perturbations of
    :class:`Greedy` run on the fit of PCA regression U_k U_k'Y, which keeps its regularisation, or on Y itself.

    Parameters
    ----------
    by : {"pca", "targets"}
        Span the fit of the regression on the principal components, or the targets.

    Notes
    -----
    **Guarantee.** None in terms of PCA's loss. By the triangle inequality ||Y - Pi_{C,k}(Y)|| is at most
    ||Y - U_k U_k'Y|| plus the part of U_k U_k'Y that the columns do not span, which ``pca`` makes small.
    **Differs from the paper.** It gives no algorithm.
    """

    by: str = "pca"

    reference: ClassVar = Reference("boutsidis2011", "Sec. 6")
    uses_targets: ClassVar = True

    def select(self, task: Task, run: Run) -> Selection:
        """At most ``n_columns`` columns; those of ``Greedy`` if nothing of the targets can be explained."""
        target = task.target
        if not isinstance(self.by, str) or self.by not in AIMS:
            raise errors.unknown_choice("by", self.by, AIMS)
        if not isinstance(target, ResponseTarget):
            raise needs_targets("selector='response'")
        aim = _pca_fit(target) if self.by == "pca" else leading_targets(target)
        explains = explains_something(task.gram, aim, target)
        return Greedy().select(replace(task, target=aim if explains else target.spectrum), run)


@dataclass(frozen=True)
class TargetResponse(Response):
    """Like :class:`Response`, for the targets themselves: forward selection and swaps [boutsidis2011, Sec. 6].

    It does not keep PCA's regularisation, and no theorem applies. Best with many samples.
    """

    by: str = "targets"


def needs_targets(who: str) -> ValueError:
    """The error for a selector that needs targets, in a model without targets."""
    return ValueError(
        f"{who} chooses features for given targets y, but this model has none. Use it in SparsePCARegressor, or choose "
        "features for X itself: selector='greedy'."
    )


def explains_something(view: DataMatrix, aim: ResponseTarget, target: ResponseTarget) -> bool:
    """Whether the best single column explains more of the targets than rounding errors."""
    floor = max(TARGET_ROUNDING * float(np.trace(aim.gram)), UNEXPLAINED * float(np.trace(target.gram)))
    squares, gains = view.gram_diagonal(), np.einsum("ij,ij->i", aim.cross, aim.cross)
    return float(np.divide(gains, squares, out=np.zeros_like(gains), where=squares > 0).max()) > floor


def _scores_of_targets(target: ResponseTarget) -> Array:
    """U_k'Y (k x w): how much of each target lies along each principal component."""
    spectrum = target.spectrum
    return spectrum.basis.T @ target.cross / np.sqrt(spectrum.values)[:, None]


def _pca_fit(target: ResponseTarget) -> ResponseTarget:
    """T = U_k U_k'Y, rotated so that it has at most ``rank`` columns: X'T = A V S^-1 (U_k'Y)."""
    spectrum = target.spectrum
    left, values, _ = np.linalg.svd(_scores_of_targets(target), full_matrices=False)
    scores = left * values
    cross = spectrum.cross @ (scores / np.sqrt(spectrum.values)[:, None])
    return replace(target, cross=cross, gram=scores.T @ scores)


def leading_targets(target: ResponseTarget) -> ResponseTarget:
    """T = Y W: all targets, or their k principal combinations if there are more than k.

    ||Y - Pi_{C,k}(Y)||^2 <= ||Y - Y_k||^2 + ||Y_k - CC^+Y_k||^2, as for the principal components of X.
    """
    k = target.spectrum.rank
    if len(target.gram) <= k:
        return target
    values, W = top_eigenpairs(target.gram, k)
    return replace(target, cross=target.cross @ W, gram=np.diag(np.maximum(values, 0.0)))
