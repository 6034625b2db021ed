"""Components that read few features, with a decoder built on few samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import linalg

from sparing.gram import DataMatrix
from sparing.linalg.rounding import EPS, orientations
from sparing.linalg.span import independent_columns
from sparing.linalg.theorem_bounds import doubly_sparse_factor
from sparing.methods.selectors import Selector
from sparing.methods.selectors.subspace import Subspace
from sparing.results import Array, Encoder, Indices, Reference, Selection, Spectrum
from sparing.run import Run
from sparing.task import Task

WORTHWHILE = 1e-6
"""Sweeps stop if the loss decreases by less than this share."""

NO_EXCESS = 1 + 1e-9
"""A loss ratio that cannot be improved noticeably."""


@dataclass(frozen=True)
class RowEncoder(Encoder):
    """An encoder whose decoder is ``row_weights`` (k x len(rows)) times the centred, scaled samples ``rows``.

    ``loss`` and ``captured`` are those of this decoder; no other decoder on these samples has a smaller loss.
    """

    rows: Indices
    row_weights: Array


@dataclass(frozen=True)
class DoublySparse:
    """Few features C, few samples R, and the best rank-k matrix between them [magdonismail2015, Theorem 6, comment 5].

    With C = Q_C R_C and R' = Q_R R_R the best middle is Phi = R_C^-1 (Q_C'X Q_R)_k R_R^-T, in closed form. Samples are
    chosen as columns of X'. First both sides are chosen to span the principal components. Then each is chosen again to
    span the part that the other one keeps, and the better choice is kept.

    Parameters
    ----------
    selector : Selector
        Selector of features.
    n_rows : int
        Number of samples that the decoder is built on.
    row_selector : Selector, optional
        Selector of samples; by default that of features.
    safeguard : Selector, optional
        Also run on both sides if the loss exceeds the bound from two applications of Theorem 6(i), so that the bound
        always holds, and if fewer features or samples than requested were found although they lose more than PCA.
    sweeps : int
        Maximum number of times that each side is chosen again.

    Notes
    -----
    **Guarantee.** With dual set selection on both sides, or as a safeguard, the loss is at most
    2 + 1/(1 - sqrt(k/c))^2 + 1/(1 - sqrt(k/r))^2 times PCA's for c > k features and r > k samples, always.
    **Differs from the paper.** Its encoder is the orthonormal left factor of Phi, whose scores are correlated and
    unordered; R_C^-1 U_k uses the same features with the same loss, and its scores are uncorrelated and ordered. Rows
    are scaled to unit norm with fixed signs. Choices are deterministic; the paper samples.
    """

    selector: Selector
    n_rows: int
    row_selector: Selector | None = None
    safeguard: Selector | None = None
    sweeps: int = 2

    reference: ClassVar = Reference("magdonismail2015", "Theorem 6, comment 5")

    def encode(self, task: Task, run: Run) -> RowEncoder:
        """Return the auto-encoder with the smallest loss on the selected features and samples."""
        spectrum, n_nonzero = task.spectrum, task.n_nonzero
        sides = Sides(task.gram, spectrum, n_nonzero, self.n_rows, run)
        row_selector = self.row_selector or self.selector
        best = sides.chosen_for_pca(self.selector, row_selector)
        for _ in range(self.sweeps):
            before = best.loss
            if run.budget.expired or spectrum.loss_ratio(before) <= NO_EXCESS:
                break
            best = _better(best, sides.rows_for(best, row_selector))
            best = _better(best, sides.columns_for(best, self.selector))
            if best.loss > (1 - WORTHWHILE) * before:
                break
        ratio = spectrum.loss_ratio(best.loss)
        run.budget.say(
            f"{len(best.columns.columns)} features, {len(best.rows.columns)} samples: loss ratio {ratio:.4f}"
        )
        complete = len(best.columns.columns) == n_nonzero and len(best.rows.columns) == self.n_rows
        promised = ratio <= doubly_sparse_factor(spectrum.rank, n_nonzero, self.n_rows)
        if self.safeguard is not None and not (promised and (complete or ratio <= NO_EXCESS)):
            best = _better(best, sides.chosen_for_pca(self.safeguard, self.safeguard))
        return best.encoder()


@dataclass(frozen=True)
class Middle:
    """Chosen features and samples (columns of X'), and the best rank-k matrix between them.

    ``left`` and ``right`` combine them into orthonormal P = X[:, features] left and S = X[points]' right, so that
    P diag(values) S' is the reconstruction of X.
    """

    columns: Selection
    rows: Selection
    row_data: Array
    left: Array
    right: Array
    values: Array
    loss: float

    def encoder(self) -> RowEncoder:
        """Unit loadings, and weights of the samples that undo their scale, without unused features and samples."""
        lengths = np.linalg.norm(self.left, axis=0) * orientations(self.left)
        loadings, weights = self.left / lengths, self.right * (self.values * lengths)
        rebuilt = (self.row_data.T @ self.right) * self.values  # of each feature, by orthonormal scores P
        wanted = self.columns.gram_columns @ self.left  # X'P
        features, points = _used(self.columns.columns, self.left), _used(self.rows.columns, self.right)
        return RowEncoder(
            support=self.columns.columns[features],
            loadings=loadings[features].T,
            decoder=weights[points].T @ self.row_data[points],
            captured=np.square(self.values),
            loss=self.loss,
            explained=np.sum(rebuilt * (2 * wanted - rebuilt), axis=1),
            rows=self.rows.columns[points],
            row_weights=weights[points].T,
        )


class Sides:
    """X and X', for choices of features and of samples that are evaluated together."""

    def __init__(self, view: DataMatrix, spectrum: Spectrum, n_columns: int, n_rows: int, run: Run) -> None:
        self.view, self.turned = view, view.transposed()
        self.spectrum = spectrum
        self.n_columns, self.n_rows = n_columns, n_rows
        self.run = run

    def chosen_for_pca(self, selector: Selector, row_selector: Selector) -> Middle:
        """Columns and rows, both chosen to span the principal components."""
        spectrum, values = self.spectrum, self.spectrum.values
        columns = selector.select(Task.of_columns(self.view, self.n_columns, spectrum), self.run.share(0.3))
        U = self.view.matmat(spectrum.basis) / np.sqrt(values)
        turned = Spectrum(
            U, values, U * values, spectrum.total, spectrum.tail, spectrum.tail_error, exact=spectrum.exact
        )
        return self._between(
            columns,
            row_selector.select(Task.of_columns(self.turned, self.n_rows, turned), self.run.share(0.5)),
        )

    def rows_for(self, found: Middle, selector: Selector) -> Middle:
        """Samples chosen to span the part that the features keep."""
        scores = self.view.columns(found.columns.columns) @ found.left
        rows = selector.select(Task.of_columns(self.turned, self.n_rows, Subspace.of(self.turned, scores)), self.run)
        return self._between(found.columns, rows)

    def columns_for(self, found: Middle, selector: Selector) -> Middle:
        """Features chosen to span the part that the samples keep."""
        directions = found.row_data.T @ found.right
        columns = selector.select(
            Task.of_columns(self.view, self.n_columns, Subspace.of(self.view, directions)), self.run
        )
        return self._between(columns, found.rows)

    def _between(self, columns: Selection, rows: Selection) -> Middle:
        """The best rank-k matrix between the choices, from the singular values of Q_C'X Q_R."""
        rotation, row_turn = _orthonormal(columns), _orthonormal(rows)
        row_data = self.turned.columns(rows.columns).T
        core = (columns.gram_columns @ rotation).T @ (row_data.T @ row_turn)  # Q_C'X = (A[:, J] R_C^-1)'
        U, values, Vt = np.linalg.svd(core, full_matrices=False)
        rank = min(self.spectrum.rank, max(int(np.sum(values > max(core.shape) * EPS * values[0])), 1))
        values = values[:rank]
        loss = max(self.spectrum.total - float(np.square(values).sum()), 0.0)
        return Middle(columns, rows, row_data, rotation @ U[:, :rank], row_turn @ Vt[:rank].T, values, loss)


def _orthonormal(selection: Selection) -> Array:
    """The matrix ``turn`` for which Q = C turn is orthonormal, with C the selected columns; zero rows for dependent
    columns."""
    J, Z = selection.columns, selection.gram_columns
    kept, R = independent_columns(Z[J])
    rotation = np.zeros((len(J), len(kept)))
    rotation[kept] = linalg.solve_triangular(R, np.eye(len(R))) / np.sqrt(Z[J[kept], kept])[:, None]
    return rotation


def _used(chosen: Indices, coefficients: Array) -> Indices:
    """Positions with nonzero coefficients, sorted by the chosen index."""
    used = np.flatnonzero(coefficients.any(axis=1))
    return used[np.argsort(chosen[used])]


def _better(first: Middle, second: Middle) -> Middle:
    return second if second.loss < first.loss else first
