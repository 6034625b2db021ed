"""Display of the share that is kept and its bound against the number of features."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sparing import errors
from sparing.estimators.sparsity_path import SparsityPath
from sparing.results import PROVED
from sparing.show.plots._axes import COLOURS, axes_of


class SparsityPathDisplay:
    """Share of PCA's variance that each number of features keeps, and its upper bound.

    The best choice of each number of features lies in the shaded band, between the result and the bound. Filled
    points are proved optimal.

    Parameters
    ----------
    path : SparsityPath
    min_variance : float, optional
        A share of PCA's variance; the fewest features that keep it are marked.
    max_loss : float, optional
        Largest acceptable loss, as a multiple of PCA's; the fewest features that reach it are marked.

    Attributes
    ----------
    line_, band_ : matplotlib artists
        The curve of the kept share, and the band up to its bound.
    held_out_ : matplotlib artist
        With ``cv``, the share that is kept on new samples: ``held_out`` divided by ``held_out_pca``, both of the
        features that are not read. The axis ends at 0.
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, path: SparsityPath, max_loss: float | None = None, *, min_variance: float | None = None) -> None:
        self.path, self.max_loss, self.min_variance = path, max_loss, min_variance

    @classmethod
    def from_path(
        cls,
        path: SparsityPath,
        *,
        min_variance: float | None = None,
        max_loss: float | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the result of ``sparsity_path``.

        Parameters
        ----------
        path : SparsityPath
        min_variance, max_loss : float, optional
            Share to keep, or largest loss; the fewest features that reach it are marked.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.plot`` for the line.
        """
        if not isinstance(path, SparsityPath):
            raise errors.cannot_draw(path, "loss_ratio", "SparsityPath, which sparsity_path(X) returns")
        return cls(path, max_loss, min_variance=min_variance).plot(ax=ax, **style)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.plot`` for the line.

        Returns
        -------
        self
        """
        marked = self.max_loss is not None or self.min_variance is not None
        fewest = self.path.smallest(self.max_loss, min_variance=self.min_variance) if marked else None
        ax = axes_of(ax, (6.0, 4.0))
        counts, found, bound = self.path.n_features, self.path.variance_kept, self.path.variance_kept_bound
        proved = self.path.bound >= self.path.loss_ratio * (1 - PROVED)
        settings = {"color": COLOURS[0], "marker": "o", "markersize": 4, "markerfacecolor": "white", **style}
        (self.line_,) = ax.plot(
            counts, found, label="kept on these samples" if self.path.held_out is not None else "kept", **settings
        )
        colour = self.line_.get_color()
        open_label = None if proved.all() else "gap to the upper bound"
        self.band_ = ax.fill_between(counts, found, bound, color=colour, alpha=0.2, linewidth=0, label=open_label)
        if proved.any():
            ax.plot(counts[proved], found[proved], "o", color=colour, markersize=4, label="proved optimal")
        held_out = (self.path.held_out, self.path.held_out_se, self.path.held_out_pca)
        if all(curve is not None for curve in held_out):
            self._draw_held_out(ax, *held_out)
        ax.axhline(1.0, color="0.5", linewidth=0.8, linestyle="--", label="PCA, all features")
        if fewest is not None:
            at = int(np.searchsorted(counts, fewest))
            reached = "" if self.min_variance is None else f" keep {self.min_variance:.0%}"
            ax.plot(fewest, found[at], "D", color=COLOURS[4], markersize=8, label=f"{fewest} features{reached}")
        ax.set(xlabel="number of features", ylabel="share of PCA's variance that is kept")
        ax.yaxis.set_major_formatter("{x:.0%}")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_ylim(bottom=max(ax.get_ylim()[0], 0.0))  # where nothing transfers, new samples are far below
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_held_out(self, ax: Any, kept: Any, error: Any, pca: Any) -> None:
        """The share kept on new samples, where PCA keeps any, with a band of one standard error."""
        counts, pca = self.path.n_features, np.where(pca > 0, pca, np.nan)
        kept, error = kept / pca, error / pca
        (self.held_out_,) = ax.plot(counts, kept, color=COLOURS[1], label="kept on new samples, ± 1 standard error")
        ax.fill_between(counts, kept - error, kept + error, color=COLOURS[1], alpha=0.2, linewidth=0)
