"""Displays of selection frequency, substitutes and numbers of components."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sparing import errors
from sparing.estimators.validation.alternatives import Alternatives
from sparing.estimators.validation.component_count import ComponentCount
from sparing.estimators.validation.stability import Stability
from sparing.show.plots._axes import COLOURS, SHOWN, axes_of, panels_of, plain


class StabilityDisplay:
    """How often features are chosen on half-samples; interchangeable features are grouped and share a colour.

    Parameters
    ----------
    stability : Stability

    Attributes
    ----------
    bars_ : matplotlib artist
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, stability: Stability) -> None:
        self.stability = stability

    @classmethod
    def from_stability(cls, stability: Stability, *, ax: Any = None) -> Self:
        """Draw the result of ``stability``.

        Parameters
        ----------
        stability : Stability
        ax : matplotlib axes, optional
        """
        if not isinstance(stability, Stability):
            raise errors.cannot_draw(stability, "frequency", "Stability, which stability(estimator, X) returns")
        return cls(stability).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        """
        found = self.stability
        group = {int(j): g for g, members in enumerate(found.groups) for j in members}
        together = {g: float(share) for g, share in enumerate(found.group_frequency)}
        often = np.flatnonzero(found.frequency > 0)

        def place(j: int) -> tuple[float, int, float]:
            """Sort groups by their total frequency, members by their own."""
            own = float(found.frequency[j])
            return (-together[group[j]], group[j], -own) if j in group else (-own, len(together) + j, -own)

        shown = sorted((int(j) for j in often), key=place)[:SHOWN]
        ax = axes_of(ax, (6.0, 0.5 + 0.28 * len(shown)))
        colours = [COLOURS[group[j] % (len(COLOURS) - 1)] if j in group else COLOURS[-1] for j in shown]
        self.bars_ = ax.barh(np.arange(len(shown)), found.frequency[shown], color=colours)
        ax.set_yticks(np.arange(len(shown)), [plain(found.feature_names[j]) for j in shown])
        ax.invert_yaxis()
        ax.axvline(0.5, color="0.5", linewidth=0.8, linestyle="--")
        ax.set(xlim=(0, 1), xlabel=f"chosen on this share of {len(found.supports)} half-samples")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class AlternativesDisplay:
    """Share that is kept with the best substitutes of each feature, and without one.

    Parameters
    ----------
    alternatives : Alternatives

    Attributes
    ----------
    ax_, figure_ : matplotlib axes and figure
        Available after plotting.
    """

    def __init__(self, alternatives: Alternatives) -> None:
        self.alternatives = alternatives

    @classmethod
    def from_alternatives(cls, alternatives: Alternatives, *, ax: Any = None) -> Self:
        """Draw the result of ``alternatives``.

        Parameters
        ----------
        alternatives : Alternatives
        ax : matplotlib axes, optional
        """
        if not isinstance(alternatives, Alternatives):
            raise errors.cannot_draw(alternatives, "substitutes", "Alternatives, which alternatives(model, X) returns")
        return cls(alternatives).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : matplotlib axes, optional
        """
        found, rows = self.alternatives, np.arange(min(len(self.alternatives.support), SHOWN))
        ax = axes_of(ax, (7.0, 0.6 + 0.32 * len(rows)))
        ax.plot(found.without[rows], rows, "x", color="0.5", label="nothing in its place")
        for rank in range(found.substitutes.shape[1]):
            there = rows[found.substitutes[rows, rank] >= 0]
            kept = found.variance_kept[there, rank]
            ax.plot(kept, there, "o", color=COLOURS[rank % len(COLOURS)], label=f"substitute {rank + 1}")
        for row in rows[found.substitutes[rows, 0] >= 0]:
            name = plain(found.feature_names[found.substitutes[row, 0]])
            ax.annotate(name, (found.variance_kept[row, 0], row), (4, 4), textcoords="offset points", fontsize=8)
        ax.axvline(found.kept, color="0.5", linewidth=0.8, linestyle="--", label="as fitted")
        ax.set_yticks(rows, [plain(found.feature_names[found.support[row]]) for row in rows])
        ax.invert_yaxis()
        ax.set(xlabel="share of PCA's variance that is kept")
        ax.legend(frameon=False)
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ComponentCountDisplay:
    """Held-out samples, parallel analysis and the spectrum, side by side.

    Parameters
    ----------
    counts : ComponentCount

    Attributes
    ----------
    axes_ : list of matplotlib axes
    ax_, figure_ : matplotlib axes and figure
        The first of them, and their figure.
    """

    def __init__(self, counts: ComponentCount) -> None:
        self.counts = counts

    @classmethod
    def from_counts(cls, counts: ComponentCount, *, ax: Any = None) -> Self:
        """Draw the result of ``component_count``.

        Parameters
        ----------
        counts : ComponentCount
        ax : sequence of three matplotlib axes, optional
        """
        if not isinstance(counts, ComponentCount):
            raise errors.cannot_draw(counts, "held_out_scores", "ComponentCount, which component_count(X) returns")
        return cls(counts).plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on ``ax``, or on new axes.

        Parameters
        ----------
        ax : sequence of three matplotlib axes, optional
        """
        found, k = self.counts, np.arange(1, len(self.counts.eigenvalues) + 1)
        self.axes_ = panels_of(ax, 3, (3.6, 3.2))
        first, second, third = self.axes_
        first.errorbar(k, found.held_out_scores, found.held_out_se, color=COLOURS[0], marker="o", markersize=4)
        second.plot(k, found.eigenvalues, "o-", color=COLOURS[0], markersize=4, label="data")
        second.plot(k, found.permuted, "--", color=COLOURS[4], label="permuted")
        second.set_yscale("log")
        second.legend(frameon=False)
        third.plot(k, found.eigenvalues, "o-", color=COLOURS[0], markersize=4)
        titles = ("held-out samples", "parallel analysis", "elbow by eye")
        for axes, title, answer in zip(self.axes_, titles, (found.held_out, found.parallel, found.elbow), strict=True):
            axes.axvline(answer, color="0.5", linewidth=0.8, linestyle="--")
            axes.set(title=f"{title}: {answer}", xlabel="components")
        first.set_ylabel("kept of unread features")
        second.set_ylabel("share of variance")
        self.ax_, self.figure_ = first, first.figure
        return self
