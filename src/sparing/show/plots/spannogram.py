"""How the best features of two directions change with the angle between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sparing import errors
from sparing.certificates.variance import covariance_unit
from sparing.data import as_view
from sparing.estimators.parameters import feature_count, generator_of, preprocessing_of
from sparing.proof.sphere.spannogram import LowRank, Optimum, leading_factors
from sparing.results import Array
from sparing.run import Budget
from sparing.show.plots._axes import COLOURS, axes_of, fitted_with, names_of

ANGLES = 1441
"""Number of angles at which curves are drawn."""

NAMED = 8
"""Maximum number of named features of the optimum."""

UNPREPARED_SETS = 200_000
"""With fewer pairs of features the search needs no preparation."""


class SpannogramDisplay:
    """The spannogram of two directions: which features are the largest, and how large, at every angle.

    The curve of feature j is the j-th entry of v(phi) = V c(phi), c(phi) = (sin phi, cos phi), for a matrix VV' of
    rank 2 [asteris2014, Sec. 4.1]; its absolute value for components of any sign. At each angle the r largest are a
    candidate for the support of the best component, and the sum of their squares is its variance, so the best angle
    gives the best component of VV'. Curves are drawn where they are among the r largest, those of the best component in
    colour; the black line is the r-th largest.

    Parameters
    ----------
    factors : ndarray of shape (n_features, 2)
        V.
    n_nonzero : int
        r.
    feature_names : sequence of str
    nonnegative : bool
        Nonnegative loadings: v itself is drawn, for the full circle, instead of its absolute values.

    Attributes
    ----------
    optimum_ : Optimum
        The best component of VV': ``support``, ``loadings``, ``value``.
    angle_ : float
        The angle of the optimum.
    angles_, threshold_ : ndarray
        Angles, and the r-th largest entry at each (at least 0).
    curves_ : dict
        From features to the lines that show them.
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, factors: Array, n_nonzero: int, feature_names: Sequence[str], nonnegative: bool = True) -> None:
        self.factors, self.n_nonzero, self.feature_names = factors, n_nonzero, feature_names
        self.nonnegative = nonnegative

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        n_nonzero: int | None = None,
        feature_names: Sequence[object] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the two leading directions of the data that an estimator was fitted to.

        Parameters
        ----------
        estimator : fitted SparsePCA or NonnegativeSparsePCA
            Defines the preprocessing of X, and whether loadings may be negative.
        X : the data of the fit
        n_nonzero : int, optional
            Number of features; by default that of the first component of the estimator.
        feature_names : sequence, optional
            By default the names of the fit.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.plot`` for the curves.
        """
        fitted_with(estimator, ["components_", "variance_"], "SparsePCA or NonnegativeSparsePCA")
        view = as_view(X, preprocessing_of(estimator))
        if view.n_features != estimator.n_features_in_:
            raise errors.wrong_n_features(view.n_features, estimator.n_features_in_, "SpannogramDisplay")
        asked = int(np.count_nonzero(estimator.components_[0])) if n_nonzero is None else n_nonzero
        size = feature_count("n_nonzero", asked, view.n_features)
        factors, _ = leading_factors(view, 2, generator_of(0))
        if factors.shape[1] < 2:
            raise ValueError(
                "A spannogram shows the two leading directions of the data, and these data have rank "
                f"{factors.shape[1]}: there is no angle to draw. The best component reads the largest entries of the "
                "one direction."
            )
        nonnegative = bool(getattr(estimator, "_nonnegative", False))
        names = names_of(estimator, feature_names)
        return cls(factors * covariance_unit(view) ** 0.5, size, names, nonnegative).plot(ax=ax, **style)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.plot`` for the curves.

        Returns
        -------
        self
        """
        self.optimum_ = best_component(self.factors, self.n_nonzero, self.nonnegative)
        best = self._angle_of(self.optimum_.direction)
        half = np.pi if self.nonnegative else np.pi / 2
        self.angle_, self.angles_ = best, np.union1d(np.linspace(-half, half, ANGLES), [best])
        entries = self._entries(self.angles_)
        self.threshold_ = np.maximum(np.sort(entries, axis=0)[-self.n_nonzero], 0.0)
        ax = axes_of(ax, (7.0, 4.0))
        self.curves_ = self._draw_curves(ax, entries, style)
        ax.plot(
            self.angles_, self.threshold_, color="black", linewidth=1.4, label=f"entry no. {self.n_nonzero} by size"
        )
        ax.axvline(best, color="0.3", linewidth=0.9, linestyle="--")
        support = self.optimum_.support
        there = self._entries(np.array([best]))[support, 0]
        ax.plot(np.full(len(support), best), there, "o", color="black", markersize=4, label="the best component")
        self._finish(ax, half)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_curves(self, ax: Any, entries: Array, style: dict[str, Any]) -> dict[int, Any]:
        """Draw each curve where it is among the largest: those of the optimum in colour and named, the others grey."""
        kept = np.where((entries >= self.threshold_) & (entries > 0), entries, np.nan)
        support = self.optimum_.support
        by_size = support[np.argsort(-self.optimum_.loadings, kind="stable")]
        curves = {}
        for j in np.flatnonzero(np.isfinite(kept).any(axis=1)):
            if j not in support:
                (curves[int(j)],) = ax.plot(self.angles_, kept[j], **{"color": "0.75", "linewidth": 0.9, **style})
        for i, j in enumerate(by_size):
            look = {
                "color": COLOURS[i % len(COLOURS)],
                "linewidth": 1.8,
                "linestyle": "-" if i < NAMED else ":",
                **style,
            }
            (curves[int(j)],) = ax.plot(self.angles_, kept[j], **look)
        self._named = [(curves[int(j)], self.feature_names[j]) for j in by_size[:NAMED]]
        return curves

    def _finish(self, ax: Any, half: float) -> None:
        ax.set_xlim(-half, half)
        places = np.linspace(-half, half, 5)
        names = {-1.0: "−π", -0.5: "−π/2", -0.25: "−π/4", 0.0: "0", 0.25: "π/4", 0.5: "π/2", 1.0: "π"}
        ax.set_xticks(places, [names[round(float(place / np.pi), 2)] for place in places])
        ax.set_ylim(bottom=0.0)
        ax.set(xlabel="angle", ylabel="entry of v" if self.nonnegative else "size of the entry of v")
        drawn, labels = ax.get_legend_handles_labels()
        lines, names_ = [line for line, _ in self._named], [name for _, name in self._named]
        best = len(self.optimum_.support)
        some = "" if best == len(lines) else f", {len(lines)} named"
        title = f"the best {best} of {len(self.factors)}{some}"
        ax.legend(
            [*drawn, *lines],
            [*labels, *names_],
            title=title,
            frameon=False,
            fontsize="small",
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
        )

    def _angle_of(self, direction: Array) -> float:
        sine, cosine = direction
        if not self.nonnegative and (cosine < 0 or (cosine == 0 and sine < 0)):  # v and -v are the same there
            sine, cosine = -sine, -cosine
        return float(np.arctan2(sine, cosine))

    def _entries(self, angles: Array) -> Array:
        """Entries of v(phi), one row for each feature; absolute values if signs are free."""
        entries: Array = self.factors @ np.stack([np.sin(angles), np.cos(angles)])
        return entries if self.nonnegative else np.abs(entries)


def best_component(V: Array, size: int, nonnegative: bool) -> Optimum:
    """The best component of VV' for V with two columns; loadings of any sign are positive ones of V and -V."""
    problem = LowRank.of(V if nonnegative else np.vstack([V, -V]), size)
    budget = Budget()
    if problem.n_sets > UNPREPARED_SETS:
        problem = problem.narrowed(budget)
    found = problem.solve(budget)
    if nonnegative:
        return found
    rows = found.support % len(V)
    order = np.argsort(rows)
    return Optimum(rows[order], found.loadings[order], found.direction, found.value, found.complete)
