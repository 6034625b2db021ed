"""Loadings by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from sparing.results import Array
from sparing.show.plots._axes import COLOURS, SHOWN, chosen_components, fitted_with, names_of, panels_of


class LoadingsDisplay:
    """The loadings of each component, largest first; features that it does not use are left out.

    Parameters
    ----------
    loadings : ndarray of shape (n_components, n_features)
    feature_names : sequence of str
    titles : sequence of str, optional
        One for each component.

    Attributes
    ----------
    axes_ : list of matplotlib axes
        One for each component; ``ax_`` is the first of them.
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, loadings: Array, feature_names: Sequence[str], titles: Sequence[str] | None = None) -> None:
        self.loadings, self.feature_names = loadings, feature_names
        self.titles = [f"component {i + 1}" for i in range(len(loadings))] if titles is None else titles

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        components: Sequence[int] | None = None,
        feature_names: Sequence[object] | None = None,
        n_shown: int = SHOWN,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the components of a fitted estimator, one panel each.

        Parameters
        ----------
        estimator : fitted estimator with ``components_``
            Such as ``SparseEncoder`` and ``SparsePCA``.
        components : sequence of int, optional
            Components to draw, counted from 0; by default all.
        feature_names : sequence, optional
            By default the names of the fit.
        n_shown : int
            Maximum number of features drawn per component; the title gives the total.
        ax : matplotlib axes, or a sequence of one for each component, optional
        **style
            Arguments of ``Axes.barh``.
        """
        fitted_with(estimator, ["components_"], "estimator of components, such as SparseEncoder or SparsePCA")
        which = chosen_components(components, len(estimator.components_))
        names = names_of(estimator, feature_names)
        drawn = cls(estimator.components_[which], names, [f"component {i + 1}" for i in which])
        return drawn.plot(n_shown=n_shown, ax=ax, **style)

    def plot(self, *, n_shown: int = SHOWN, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        n_shown : int
            Features of each component at most.
        ax : matplotlib axes, or a sequence of one for each component, optional
        **style
            Arguments of ``Axes.barh``.

        Returns
        -------
        self
        """
        longest = min(n_shown, int(np.count_nonzero(self.loadings, axis=1).max(initial=1)))
        self.axes_ = panels_of(ax, len(self.loadings), (3.4, max(1.8, 0.9 + 0.22 * longest)))
        for panel, loadings, title in zip(self.axes_, self.loadings, self.titles, strict=True):
            self._panel(panel, loadings, title, n_shown, style)
        self.ax_, self.figure_ = self.axes_[0], self.axes_[0].figure
        return self

    def _panel(self, ax: Any, loadings: Array, title: str, n_shown: int, style: dict[str, Any]) -> None:
        used = int(np.count_nonzero(loadings))
        order = np.argsort(-np.abs(loadings), kind="stable")[: min(n_shown, used)]
        places = np.arange(len(order))
        colours = [COLOURS[0] if loadings[j] > 0 else COLOURS[1] for j in order]
        ax.barh(places, loadings[order], **{"color": colours, **style})
        ax.set_yticks(places, [self.feature_names[j] for j in order])
        ax.invert_yaxis()
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        more = "" if len(order) == used else f", {len(order)} shown"
        ax.set_title(f"{title}: {used} feature{'' if used == 1 else 's'}{more}", fontsize="medium")
        ax.set_xlabel("loading")
