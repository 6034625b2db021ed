"""Many directions at once: encoders built from selectors and solvers, which they hold as fields."""

from sparing.encoders.batch import Batch
from sparing.encoders.fewest import fewest_features, fewest_for_each
from sparing.encoders.iterative import Iterative
from sparing.encoders.joint import Joint

__all__ = ["Batch", "Iterative", "Joint", "fewest_features", "fewest_for_each"]
