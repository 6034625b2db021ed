"""Pictures, by scikit-learn's convention for displays: ``from_estimator``, ``ax=``, ``figure_`` and ``ax_``."""

from sparing.plots.clustering import DendrogramDisplay, FeatureWeightsDisplay

__all__ = ["DendrogramDisplay", "FeatureWeightsDisplay"]
