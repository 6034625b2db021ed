"""Displays of fitted models, as in scikit-learn: ``from_...`` draws, ``ax_`` and ``figure_`` hold the result."""

from sparing.show.plots.clustering import DendrogramDisplay, FeatureWeightsDisplay, WeightedDendrogramDisplay
from sparing.show.plots.image_parts import ImagePartsDisplay
from sparing.show.plots.loadings import LoadingsDisplay
from sparing.show.plots.new_samples import AlternativesDisplay, ComponentCountDisplay, StabilityDisplay
from sparing.show.plots.scores import BiplotDisplay, ScoresDisplay
from sparing.show.plots.spannogram import SpannogramDisplay
from sparing.show.plots.sparsity_path import SparsityPathDisplay

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
