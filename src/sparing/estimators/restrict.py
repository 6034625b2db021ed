"""Models that need the features they use, and no others."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

WIDE = ("components_", "decoder_", "mean_", "scale_", "imputation_", "coef_", "feature_weights_", "cluster_centers_")
"""Fitted arrays whose last axis has one entry for each feature."""


def restricted_to(model: Any) -> Any:
    """The same model for data that hold the columns of ``support_`` alone, in this order; its scores are the same."""
    if not hasattr(model, "components_") or not hasattr(model, "transform"):
        raise TypeError(
            f"The model is a {type(model).__name__}, which has no components to make scores of. Scores come from "
            "SparseEncoder, SparsePCA, NonnegativeSparsePCA, DoublySparseEncoder and SparsePCARegressor."
        )
    narrow, used = copy(model), model.support_
    for name in (*WIDE, "feature_names_in_"):
        if hasattr(model, name):
            setattr(narrow, name, getattr(model, name)[..., used])
    if hasattr(model, "coding_"):
        narrow.coding_ = model.coding_.of(used)
    narrow.support_, narrow.n_features_in_ = np.arange(len(used)), len(used)
    return narrow
