"""Joint encoders where counts are as small as they get."""

from __future__ import annotations

import numpy as np
import pytest

from sparing import SparseEncoder
from sparing.datasets import load_pitprops


@pytest.mark.parametrize(("counts", "ratio"), [([7, 4, 4, 1, 1, 1], 1.0925), ([7, 2, 1, 1, 1, 1], 1.2171), (1, 1.4948)])
def test_single_features_beside_others_cost_no_component(counts, ratio):
    """On a feature that is a component of its own, what others leave is singular, and rounding chose for it."""
    C = load_pitprops().correlation
    for strategy, limit in (("iterative", np.inf), ("joint", ratio)):
        model = SparseEncoder(6, n_nonzero=counts, strategy=strategy, precomputed=True, random_state=0).fit(C)
        assert len(model.components_) == 6
        assert model.loss_ratio_ <= limit
