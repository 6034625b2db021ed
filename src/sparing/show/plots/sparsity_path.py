"""Loss against the number of features, with what is proved."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sparing import errors
from sparing.estimators.sparsity_path import SparsityPath
from sparing.results import PROVED
from sparing.show.plots._axes import COLOURS, axes_of


class SparsityPathDisplay:
    """What each number of features loses, and where the best possible lies.

    The best choice of as many features lies in the shaded band: below the loss found, above what is proved. Filled
    points are proved optimal.

    Parameters
    ----------
    path : SparsityPath
    max_loss : float, optional
        A loss that can be borne; the fewest features that keep it are marked.

    Attributes
    ----------
    line_, band_ : matplotlib artists
        The losses, and the band.
    ax_, figure_ : matplotlib axes and figure
        Once it is drawn.
    """

    def __init__(self, path: SparsityPath, max_loss: float | None = None) -> None:
        self.path, self.max_loss = path, max_loss

    @classmethod
    def from_path(cls, path: SparsityPath, *, max_loss: float | None = None, ax: Any = None, **style: Any) -> Self:
        """Draw what ``sparsity_path`` returned.

        Parameters
        ----------
        path : SparsityPath
        max_loss : float, optional
            A loss that can be borne; the fewest features that keep it are marked.
        ax : matplotlib axes, optional
        **style
            For the line of ``Axes.plot``.
        """
        if not isinstance(path, SparsityPath):
            raise errors.cannot_draw(path, "loss_ratio", "SparsityPath, which sparsity_path(X) returns")
        return cls(path, max_loss).plot(ax=ax, **style)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw, on ``ax`` or on axes of its own.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **style
            For the line of ``Axes.plot``.

        Returns
        -------
        self
        """
        fewest = None if self.max_loss is None else self.path.smallest(self.max_loss)
        ax = axes_of(ax, (6.0, 4.0))
        counts, found, bound = self.path.n_features, self.path.loss_ratio, self.path.bound
        shown = np.isfinite(found)
        proved = shown & (bound >= found * (1 - PROVED))
        settings = {"color": COLOURS[0], "marker": "o", "markersize": 4, "markerfacecolor": "white", **style}
        (self.line_,) = ax.plot(counts[shown], found[shown], label="found", **settings)
        colour = self.line_.get_color()
        open_label = "the best lies here" if (shown & ~proved).any() else None
        self.band_ = ax.fill_between(
            counts[shown], bound[shown], found[shown], color=colour, alpha=0.2, linewidth=0, label=open_label
        )
        if proved.any():
            ax.plot(counts[proved], found[proved], "o", color=colour, markersize=4, label="proved optimal")
        ax.axhline(1.0, color="0.5", linewidth=0.8, linestyle="--", label="PCA, all features")
        if fewest is not None:
            at = int(np.searchsorted(counts, fewest))
            ax.plot(fewest, found[at], "D", color=COLOURS[4], markersize=8, label=f"{fewest} within {self.max_loss:g}")
        ax.set(xlabel="number of features", ylabel="loss / PCA's loss")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self
