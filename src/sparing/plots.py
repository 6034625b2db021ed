"""Displays of fitted models, as in scikit-learn: ``from_...`` draws, ``ax_`` and ``figure_`` hold the result."""

from sparing.show.plots import (
    BiplotDisplay,
    DendrogramDisplay,
    FeatureWeightsDisplay,
    ImagePartsDisplay,
    LoadingsDisplay,
    ScoresDisplay,
    SpannogramDisplay,
    SparsityPathDisplay,
    WeightedDendrogramDisplay,
)

__all__ = [
    "BiplotDisplay",
    "DendrogramDisplay",
    "FeatureWeightsDisplay",
    "ImagePartsDisplay",
    "LoadingsDisplay",
    "ScoresDisplay",
    "SpannogramDisplay",
    "SparsityPathDisplay",
    "WeightedDendrogramDisplay",
]
