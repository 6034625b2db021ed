"""Regression on a few features instead of principal components."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy import linalg

from sparing import errors
from sparing.gram import DataMatrix
from sparing.linalg.rounding import orientations
from sparing.linalg.span import independent_columns
from sparing.linalg.theorem_bounds import dual_set_factor
from sparing.methods.selectors import Selector
from sparing.methods.selectors.response import ResponseTarget
from sparing.results import Array, Indices, Reference
from sparing.run import Run
from sparing.task import Task


@dataclass(frozen=True, eq=False)
class SparseRegression:
    """A linear fit of rank at most k to targets Y (n x w) that reads only the features of ``support``.

    ``coefficients`` (w x len(support)) and the eigenfeatures' ``loadings`` (m x len(support), unit rows, m <= k) refer
    to the sorted support. ``residual`` is ||Y - X W||, the in-sample error.
    """

    support: Indices
    coefficients: Array
    loadings: Array
    residual: float

    def including(self, features: Indices) -> SparseRegression:
        """Return the fit with these features added to its support, even if their coefficients are zero."""
        support = np.union1d(self.support, features)
        if len(support) == len(self.support):
            return self
        places = np.searchsorted(support, self.support)
        wide = [np.zeros((len(part), len(support))) for part in (self.coefficients, self.loadings)]
        for full, part in zip(wide, (self.coefficients, self.loadings), strict=True):
            full[:, places] = part
        return replace(self, support=support, coefficients=wide[0], loadings=wide[1])


@dataclass(frozen=True)
class Regression:
    """Choose columns C, then the best fit of rank k to the targets within their span [boutsidis2011, Sec. 2].

    Parameters
    ----------
    selector : Selector
        If it has ``uses_targets``, such as ``Response``, it gets the targets; otherwise only the principal components.
    safeguard : Selector, optional
        Also run if the residual exceeds the limit of Theorem 1 (dual set selection), so that the theorem always holds.

    Notes
    -----
    With at most k targets the fit is least squares on the chosen columns.
    **Differs from the paper.** Its features V_hat = X^+ F are dense if X has dependent columns, and their scores are
    correlated. With C = QR and Q'Y = U S W' the features R^-1 U_k have the same span and fit and are zero outside the
    chosen columns. Their scores are uncorrelated and sorted by the part of Y that they explain.
    """

    selector: Selector
    safeguard: Selector | None = None

    reference: ClassVar = Reference("boutsidis2011", "Sec. 2")

    def encode(self, task: Task, targets: Array, run: Run, *, on: DataMatrix | None = None) -> SparseRegression:
        """Return the best fit of the targets on the selected features.

        ``on`` is the view for the regression, if it differs from the view whose components guide the selection: the
        same rows with another centring.
        """
        if not task.gram.has_rows:
            raise errors.needs_rows("Regression", task.gram.n_features)
        fitted = task.gram if on is None else on
        found = self._fit_by(self.selector, task, fitted, targets, run)
        run.budget.say(f"{len(found.support)} features: residual {found.residual:.4g} of {np.linalg.norm(targets):.4g}")
        if self.safeguard is None or on is not None or task.rules:
            return found
        if found.residual <= _promised_residual(task, targets):
            return found
        other = self._fit_by(self.safeguard, task, fitted, targets, run)
        return other if other.residual < found.residual else found

    @staticmethod
    def _fit_by(selector: Selector, task: Task, fitted: DataMatrix, targets: Array, run: Run) -> SparseRegression:
        spectrum = task.spectrum
        if getattr(selector, "uses_targets", False):
            task = replace(task, target=ResponseTarget(spectrum, task.gram.rmatmat(targets), targets.T @ targets))
        found = regression_on(fitted, selector.select(task, run).columns, targets, spectrum.rank)
        return found.including(task.rules.required)


def regression_on(view: DataMatrix, columns: Indices, targets: Array, rank: int) -> SparseRegression:
    """The best approximation of Y of rank at most ``rank`` within the span of some columns.

    Pi_{C,k}(Y) = Q (Q'Y)_k and Psi = C^+ Pi = R^-1 (Q'Y)_k with C = QR, from the columns themselves, because normal
    equations would square their condition number.
    """
    J = np.sort(columns)
    C = view.columns(J)
    kept = np.sort(independent_columns(C.T @ C)[0])
    if len(kept) == 0:
        raise ValueError(
            f"With center=False the n_nonzero={len(J)} feature(s) chosen are constant, which an intercept explains "
            "already. Pass center=True, fit_intercept=False, or a larger n_nonzero."
        )
    C = C[:, kept]
    Q, R = np.linalg.qr(C)
    U, values, W = np.linalg.svd(Q.T @ targets, full_matrices=False)
    noise = max(targets.shape) * np.finfo(float).eps * float(np.linalg.norm(targets))
    m = max(min(rank, int(np.sum(values > noise))), 1)
    features = linalg.solve_triangular(R, U[:, :m])
    coefficients = (features * values[:m]) @ W[:m]
    lengths = np.linalg.norm(features, axis=0) * orientations(features)
    return SparseRegression(
        support=J[kept],
        coefficients=coefficients.T,
        loadings=(features / lengths).T,
        residual=float(np.linalg.norm(targets - C @ coefficients)),
    )


def _promised_residual(task: Task, targets: Array) -> float:
    """Theorem 1 with the corrected factor 1 / (1 - sqrt(k/r)); infinite if it does not apply (r <= k)."""
    spectrum = task.spectrum
    if task.n_nonzero <= spectrum.rank:
        return math.inf
    factor = math.sqrt(dual_set_factor(spectrum.rank, task.n_nonzero) - 1.0)
    scores = np.linalg.qr(task.gram.matmat(spectrum.basis))[0]
    by_pca = float(np.linalg.norm(targets - scores @ (scores.T @ targets)))
    spread = math.sqrt(spectrum.tail / float(spectrum.values[-1]))  # ||X - X_k|| / sigma_k
    return by_pca + factor * spread * float(np.linalg.norm(targets, 2))
