"""Pictures, by scikit-learn's convention for displays: ``from_estimator``, ``ax=``, ``figure_`` and ``ax_``."""

from sparing.plots.clustering import DendrogramDisplay, FeatureWeightsDisplay, WeightedDendrogramDisplay
from sparing.plots.image_parts import ImagePartsDisplay
from sparing.plots.loadings import LoadingsDisplay
from sparing.plots.scores import BiplotDisplay, ScoresDisplay
from sparing.plots.spannogram import SpannogramDisplay
from sparing.plots.sparsity_path import SparsityPathDisplay

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
