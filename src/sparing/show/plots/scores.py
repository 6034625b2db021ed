"""Samples by two of their scores, with or without arrows for features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sparing import errors
from sparing.results import Array, Indices
from sparing.show.plots._axes import (
    COLOURS,
    MARKERS,
    axes_of,
    axis_title,
    chosen_components,
    fitted_with,
    names_of,
    plain,
)

ENCODER = "estimator of components, such as SparseEncoder or SparsePCA"

GROUPS = 24
"""Numeric labels with more distinct values than this form a scale, not groups."""


class ScoresDisplay:
    """Samples by two of their scores, coloured by labels.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, 2)
    labels : sequence, optional
        Labels of the samples: a few distinct values are groups with a colour and a marker each, many numbers are a
        scale.
    titles : pair of str, optional
        Titles of the axes.

    Attributes
    ----------
    points_ : list of matplotlib collections
        One for each group.
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(
        self, scores: Array, labels: Any = None, titles: Sequence[str] = ("component 1", "component 2")
    ) -> None:
        self.scores, self.labels, self.titles = scores, labels, titles

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        labels: Any = None,
        components: Sequence[int] | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the scores of X.

        Parameters
        ----------
        estimator : fitted estimator with ``components_`` and ``transform``
        X : array-like or sparse matrix of shape (n_samples, n_features)
        labels : sequence, optional
            Label of each sample.
        components : pair of int, optional
            The two components to draw, counted from 0; by default the first two.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.scatter``.
        """
        fitted_with(estimator, ["components_", "transform"], ENCODER)
        which = chosen_components(components, len(estimator.components_), 2)
        scores = np.asarray(estimator.transform(X))[:, which]
        return cls(scores, labels, [axis_title(estimator, i) for i in which]).plot(ax=ax, **style)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.scatter``.

        Returns
        -------
        self
        """
        labels = None if self.labels is None else checked_labels(self.labels, len(self.scores))
        ax = axes_of(ax, (6.0, 4.5))
        self.points_ = scatter(ax, self.scores, labels, style)
        ax.set(xlabel=self.titles[0], ylabel=self.titles[1])
        self.ax_, self.figure_ = ax, ax.figure
        return self


class BiplotDisplay:
    """Biplot: samples as points and the used features as arrows, whose inner products are the reconstructed data.

    Point i is the pair of scores of sample i, divided by a number s; the arrow of feature j is the column of the
    decoder that belongs to it, times s. The inner product of the two is then the part of x_ij, centred and scaled as in
    the fit, that the two components reconstruct. To read it, project a point on an arrow and multiply by the arrow's
    length. Only features that the components use have an arrow. s makes the longest arrow reach the farthest point.
    Both axes have the same unit; otherwise angles would be meaningless.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
    arrows : ndarray of shape (n_used, 2)
    feature_names : sequence of str
        Names of the features that have an arrow.
    labels : sequence, optional
        Labels of the samples, as in ``ScoresDisplay``.
    titles : pair of str, optional

    Attributes
    ----------
    scale_ : float
        s.
    support_ : ndarray of int
        The features that have an arrow.
    points_, arrows_ : lists of matplotlib artists
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    scale_: float
    support_: Indices

    def __init__(
        self,
        points: Array,
        arrows: Array,
        feature_names: Sequence[str],
        labels: Any = None,
        titles: Sequence[str] = ("component 1", "component 2"),
    ) -> None:
        self.points, self.arrows, self.feature_names = points, arrows, feature_names
        self.labels, self.titles = labels, titles

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        labels: Any = None,
        components: Sequence[int] | None = None,
        feature_names: Sequence[object] | None = None,
        n_named: int = 12,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the scores of X and the features that they read.

        Parameters
        ----------
        estimator : fitted estimator with ``components_``, ``decoder_`` and ``transform``
        X : array-like or sparse matrix of shape (n_samples, n_features)
        labels : sequence, optional
            Label of each sample.
        components : pair of int, optional
            The two components to draw, counted from 0; by default the first two.
        feature_names : sequence, optional
            By default the names of the fit.
        n_named : int
            Number of the longest arrows that are named.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.scatter`` for the points.
        """
        fitted_with(estimator, ["components_", "decoder_", "transform"], ENCODER)
        which = chosen_components(components, len(estimator.components_), 2)
        names = names_of(estimator, feature_names)
        support = np.flatnonzero(estimator.components_[which].any(axis=0))
        scores, arrows = np.asarray(estimator.transform(X))[:, which], estimator.decoder_[which][:, support].T
        farthest, longest = (float(np.linalg.norm(M, axis=1).max(initial=0.0)) for M in (scores, arrows))
        scale = (farthest / longest) ** 0.5 if farthest > 0 and longest > 0 else 1.0
        titles = [axis_title(estimator, i) for i in which]
        drawn = cls(scores / scale, arrows * scale, [names[j] for j in support], labels, titles)
        drawn.scale_, drawn.support_ = scale, support
        return drawn.plot(n_named=n_named, ax=ax, **style)

    def plot(self, *, n_named: int = 12, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        n_named : int
            Number of the longest arrows that are named.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.scatter`` for the points.

        Returns
        -------
        self
        """
        labels = None if self.labels is None else checked_labels(self.labels, len(self.points))
        ax = axes_of(ax, (6.4, 5.0))
        self.points_ = scatter(ax, self.points, labels, {"alpha": 0.5, **style})
        order = np.argsort(-np.linalg.norm(self.arrows, axis=1), kind="stable")
        look = {"arrowstyle": "-|>", "color": "0.15", "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
        self.arrows_ = [ax.annotate("", xy=self.arrows[j], xytext=(0.0, 0.0), arrowprops=look) for j in order]
        ax.update_datalim(np.vstack([self.arrows * 1.15, np.zeros((1, 2))]))
        ax.autoscale_view()
        ax.set(xlabel=self.titles[0], ylabel=self.titles[1])
        ax.set_aspect("equal", adjustable="datalim")
        self._name_arrows(ax, order[:n_named])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _name_arrows(self, ax: Any, which: Indices) -> None:
        """Names beyond the tips, moved up or down to avoid overlaps."""
        from matplotlib.patheffects import withStroke

        ax.figure.draw_without_rendering()
        taken: list[Any] = []
        for j in which:
            x, y = self.arrows[j]
            outward = {"ha": "left" if x >= 0 else "right", "va": "bottom" if y >= 0 else "top"}
            text = ax.annotate(
                self.feature_names[j],
                (x, y),
                (3 if x >= 0 else -3, 2 if y >= 0 else -2),
                textcoords="offset points",
                fontsize="small",
                path_effects=[withStroke(linewidth=2.5, foreground="white", alpha=0.8)],
                **outward,
            )
            for _ in range(40):
                box = text.get_window_extent()
                if not any(box.overlaps(other) for other in taken):
                    break
                text.set_position((text.get_position()[0], text.get_position()[1] + (3 if y >= 0 else -3)))
            taken.append(text.get_window_extent())


def checked_labels(labels: Any, n_samples: int) -> Any:
    """One label for each sample, as an array."""
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) != n_samples:
        raise errors.wrong_number_of_names(len(values) if values.ndim else 1, n_samples, "samples")
    return values


def scatter(ax: Any, points: Array, labels: Any, style: dict[str, Any]) -> list[Any]:
    """Points in one colour, by group with a legend, or by a scale with a bar."""
    look = {"s": 14, "linewidths": 0, "alpha": 0.8, **style}
    if labels is None:
        return [ax.scatter(*points.T, **{"color": COLOURS[0], **look})]
    numeric = labels.dtype.kind in "iuf"
    groups, member = np.unique(labels if numeric else labels.astype(str), return_inverse=True)
    if numeric and len(groups) > GROUPS:
        drawn = ax.scatter(*points.T, c=labels, **{"cmap": "viridis", **look})
        ax.figure.colorbar(drawn, ax=ax)
        return [drawn]
    out = []
    for i in range(len(groups)):
        looks = {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)], **look}
        out.append(ax.scatter(*points[member == i].T, **looks))
    beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)} if len(groups) > 5 else {}
    legend = ax.legend(out, [f"group {i}" for i in range(len(out))], frameon=False, fontsize="small", **beside)
    for text, group in zip(legend.get_texts(), groups, strict=True):
        text.set_text(plain(group))  # matplotlib leaves out labels that start with _
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
        handle.set_sizes([25.0])
    return out
