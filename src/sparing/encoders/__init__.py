"""Many directions at once: encoders built from selectors and solvers, which they hold as fields."""

from sparing.encoders.batch import Batch
from sparing.encoders.doubly_sparse import DoublySparse
from sparing.encoders.fewest import fewest_features, fewest_for_each
from sparing.encoders.iterative import Iterative
from sparing.encoders.joint import Joint
from sparing.encoders.regression import Regression

__all__ = ["Batch", "DoublySparse", "Iterative", "Joint", "Regression", "fewest_features", "fewest_for_each"]
