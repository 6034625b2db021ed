"""Components of images, drawn as images."""

from __future__ import annotations

import math
import operator
from typing import Any, Self

import numpy as np

from sparing.estimators.parameters import count as checked_count
from sparing.results import Array
from sparing.show.plots._axes import axes_of, fitted_with

GAP = 1
"""Pixels between two images."""


class ImagePartsDisplay:
    """Components of images as images in a grid, each scaled from zero to its largest loading.

    Parameters
    ----------
    images : ndarray of shape (n_components, height, width)
    background : ndarray of shape (height, width), optional
        A grey image behind each of them, such as the mean, visible in pixels that a component does not use.
    n_columns : int, optional

    Attributes
    ----------
    image_ : matplotlib image
        One image of all components, masked where nothing is drawn.
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, images: Array, background: Array | None = None, n_columns: int | None = None) -> None:
        self.images, self.background, self.n_columns = images, background, n_columns

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        shape: tuple[int, int],
        *,
        on_mean: bool = False,
        n_columns: int | None = None,
        ax: Any = None,
        **style: Any,
    ) -> Self:
        """Draw the components of an estimator fitted to images, one per row of X.

        Parameters
        ----------
        estimator : fitted estimator with ``components_``
            Such as ``NonnegativeSparsePCA``.
        shape : (height, width)
            Shape of an image.
        on_mean : bool
            Draw the components on the mean of the images.
        n_columns : int, optional
            Number of columns of the grid; by default one row for up to eight images, otherwise nearly square.
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.imshow``.
        """
        needed = ["components_", "mean_"] if on_mean else ["components_"]
        fitted_with(estimator, needed, "estimator of components, such as NonnegativeSparsePCA")
        n_features = estimator.components_.shape[1]
        try:
            height, width = (operator.index(side) for side in shape)
        except (TypeError, ValueError):
            height = width = 0
        if height < 1 or height * width != n_features:
            raise ValueError(
                f"shape={shape!r} does not match images of {n_features} pixels, one for each feature. Pass (height, "
                "width) with height times width equal to the number of features."
            )
        background = np.reshape(estimator.mean_, (height, width)) if on_mean else None
        return cls(estimator.components_.reshape(-1, height, width), background, n_columns).plot(ax=ax, **style)

    def plot(self, *, ax: Any = None, **style: Any) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        **style
            Arguments of ``Axes.imshow``.

        Returns
        -------
        self
        """
        count, height, width = self.images.shape
        columns = count if count <= 8 else math.ceil(math.sqrt(count))
        if self.n_columns is not None:
            columns = checked_count("n_columns", self.n_columns)
        rows = math.ceil(count / columns)
        ax = axes_of(ax, (1.2 * columns, 1.2 * rows * height / width))
        largest = np.abs(self.images).max(axis=(1, 2), keepdims=True)
        parts = self.images / np.where(largest > 0, largest, 1.0)
        signed = bool((parts < 0).any())
        settings = {"cmap": "PuOr_r" if signed else "magma", "vmin": -1.0 if signed else 0.0, "vmax": 1.0, **style}
        if self.background is not None:
            behind = _grid(np.broadcast_to(self.background, parts.shape), rows, columns)
            ax.imshow(behind, cmap="gray", interpolation="nearest")
            parts = np.where(parts == 0, np.nan, parts)
            settings = {"alpha": 0.85, **settings}
        self.image_ = ax.imshow(_grid(parts, rows, columns), interpolation="nearest", **settings)
        ax.set_axis_off()
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _grid(images: Array, rows: int, columns: int) -> Any:
    """The grid of images; gaps and empty places are masked."""
    _, height, width = images.shape
    whole = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP), np.nan)
    for i, image in enumerate(images):
        top, left = (i // columns) * (height + GAP), (i % columns) * (width + GAP)
        whole[top : top + height, left : left + width] = image
    return np.ma.masked_invalid(whole)
