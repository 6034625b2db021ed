"""Many directions at once: encoders built from selectors and solvers, which they hold as fields."""

from sparing.encoders.batch import Batch
from sparing.encoders.fewest import fewest_features

__all__ = ["Batch", "fewest_features"]
