"""Displays of fitted models, as in scikit-learn: ``from_...`` draws, ``ax_`` and ``figure_`` hold the result."""

from sparing.show.plots import (
    AlternativesDisplay,
    BiplotDisplay,
    ComponentCountDisplay,
    DendrogramDisplay,
    FeatureWeightsDisplay,
    ImagePartsDisplay,
    LoadingsDisplay,
    ScoresDisplay,
    SpannogramDisplay,
    SparsityPathDisplay,
    StabilityDisplay,
    WeightedDendrogramDisplay,
)

__all__ = [
    "AlternativesDisplay",
    "BiplotDisplay",
    "ComponentCountDisplay",
    "DendrogramDisplay",
    "FeatureWeightsDisplay",
    "ImagePartsDisplay",
    "LoadingsDisplay",
    "ScoresDisplay",
    "SpannogramDisplay",
    "SparsityPathDisplay",
    "StabilityDisplay",
    "WeightedDendrogramDisplay",
]
