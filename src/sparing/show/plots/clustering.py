"""Weights of features, and the tree of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from scipy.cluster.hierarchy import dendrogram

from sparing import errors
from sparing.results import Array
from sparing.show.plots._axes import COLOURS, SHOWN, axes_of, fitted_with, names_of, panels_of, plain, pyplot

ROOM = 60
"""Maximum number of samples for which the leaves of a tree are named."""


class FeatureWeightsDisplay:
    """The features that separate the clusters, largest weight first.

    Parameters
    ----------
    weights : ndarray of shape (n_features,)
    feature_names : sequence of str

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, weights: Array, feature_names: Sequence[str]) -> None:
        self.weights, self.feature_names = weights, feature_names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Sequence[object] | None = None,
        n_shown: int = SHOWN,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the weights of a fitted ``SparseHierarchicalClustering`` or ``SparseKMeans``.

        Parameters
        ----------
        estimator : fitted estimator with ``feature_weights_``
        feature_names : sequence, optional
            By default the names of the fit.
        n_shown : int
            Maximum number of features drawn; the title gives the total.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.barh``.
        """
        fitted_with(estimator, ["feature_weights_"], "SparseHierarchicalClustering or SparseKMeans")
        names = names_of(estimator, feature_names)
        return cls(estimator.feature_weights_, names).plot(n_shown=n_shown, ax=ax, **style)

    def plot(self, *, n_shown: int = SHOWN, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        n_shown : int
            Maximum number of features.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.barh``.

        Returns
        -------
        self
        """
        order = np.argsort(-self.weights, kind="stable")
        used = int(np.count_nonzero(self.weights))
        shown = order[: min(n_shown, used)]
        ax = axes_of(ax, (5.0, 0.6 + 0.22 * max(len(shown), 1)))
        places = np.arange(len(shown))
        ax.barh(places, self.weights[shown], **{"color": COLOURS[0], **style})
        ax.set_yticks(places, [self.feature_names[j] for j in shown])
        ax.invert_yaxis()
        more = "" if len(shown) == used else f", {len(shown)} shown"
        ax.set(xlabel="weight", title=f"{used} of {len(self.weights)} features{more}")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class DendrogramDisplay:
    """The tree of a hierarchical clustering.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_samples - 1, 4)
        As SciPy has it.
    height : float
        Height at which the tree is cut, for the line and the colours.
    sample_names : sequence of str, optional
        Names of the leaves; without names, leaves are numbered if there are few.

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, linkage_matrix: Array, height: float, sample_names: Sequence[str] | None = None) -> None:
        self.linkage_matrix, self.height, self.sample_names = linkage_matrix, height, sample_names

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, sample_names: Sequence[object] | None = None, ax: Any = None, **style: Any
    ) -> Self:
        """Draw the tree of a fitted ``SparseHierarchicalClustering``.

        Parameters
        ----------
        estimator : fitted estimator with ``linkage_matrix_``
        sample_names : sequence, optional
            One for each sample of the fit.
        ax : matplotlib axes, optional
        **style
            Arguments of ``scipy.cluster.hierarchy.dendrogram``.
        """
        fitted_with(estimator, ["linkage_matrix_"], "SparseHierarchicalClustering")
        tree, k = estimator.linkage_matrix_, estimator.n_clusters_
        if sample_names is not None and len(sample_names) != len(tree) + 1:
            raise errors.wrong_number_of_names(len(sample_names), len(tree) + 1, "samples")
        names = None if sample_names is None else [plain(name) for name in sample_names]
        heights = np.concatenate([[0.0], tree[:, 2], [1.1 * tree[-1, 2]]])
        cut = len(tree) + 1 - k  # merges that are kept
        return cls(tree, float(heights[cut : cut + 2].mean()), names).plot(ax=ax, **style)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **style
            Arguments of ``scipy.cluster.hierarchy.dendrogram``.

        Returns
        -------
        self
        """
        n = len(self.linkage_matrix) + 1
        ax = axes_of(ax, (min(max(5.0, 0.12 * n), 14.0), 4.0))
        crowded = self.sample_names is None and n > ROOM
        settings = {"color_threshold": self.height, "no_labels": crowded, "labels": self.sample_names, **style}
        plt = pyplot()
        with plt.rc_context({"axes.prop_cycle": plt.cycler(color=COLOURS)}):
            dendrogram(self.linkage_matrix, ax=ax, **settings)
            for links in ax.collections:  # SciPy names colours C1, C2, ..., which would be resolved again when drawn
                links.set_color(links.get_color())
        ax.axhline(self.height, color="0.6", linewidth=0.8, linestyle="--")
        ax.set(ylabel="weighted dissimilarity")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class WeightedDendrogramDisplay:
    """The tree of a hierarchical clustering next to the weights of its features.

    Parameters
    ----------
    tree : DendrogramDisplay
    weights : FeatureWeightsDisplay
        Both drawn.

    Attributes
    ----------
    axes_ : list of two matplotlib axes
        That of the tree, which is ``ax_``, and that of the weights.
    ax_, figure_ : matplotlib axes and figure
    """

    def __init__(self, tree: DendrogramDisplay, weights: FeatureWeightsDisplay) -> None:
        self.tree, self.weights = tree, weights
        self.axes_, self.ax_, self.figure_ = [tree.ax_, weights.ax_], tree.ax_, tree.figure_

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        sample_names: Sequence[object] | None = None,
        feature_names: Sequence[object] | None = None,
        n_shown: int = SHOWN,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw tree and weights of a fitted ``SparseHierarchicalClustering``.

        Parameters
        ----------
        estimator : fitted estimator with ``linkage_matrix_`` and ``feature_weights_``
        sample_names, feature_names, n_shown
            As in ``DendrogramDisplay`` and ``FeatureWeightsDisplay``.
        ax : sequence of two matplotlib axes, optional
        **style
            Arguments of ``scipy.cluster.hierarchy.dendrogram``.
        """
        fitted_with(estimator, ["linkage_matrix_", "feature_weights_"], "SparseHierarchicalClustering")
        shown = min(n_shown, int(np.count_nonzero(estimator.feature_weights_)))
        if ax is None:
            size = (11.0, max(4.0, 0.6 + 0.22 * shown))
            ax = pyplot().subplots(1, 2, figsize=size, width_ratios=[2.2, 1], layout="constrained")[1]
        left, right = panels_of(ax, 2, (5.0, 4.0))
        tree = DendrogramDisplay.from_estimator(estimator, sample_names=sample_names, ax=left, **style)
        weights = FeatureWeightsDisplay.from_estimator(
            estimator, feature_names=feature_names, n_shown=n_shown, ax=right
        )
        return cls(tree, weights)
