"""Many directions at once: encoders built from selectors and solvers, which they hold as fields."""

from sparing.encoders.batch import Batch
from sparing.encoders.disjoint import Disjoint
from sparing.encoders.doubly_sparse import DoublySparse
from sparing.encoders.elastic_net import ElasticNet
from sparing.encoders.few_passes import FewPasses
from sparing.encoders.fewest import fewest_features, fewest_for_each, fewest_in_turn
from sparing.encoders.iterative import Iterative
from sparing.encoders.joint import Joint
from sparing.encoders.joint_nonnegative import JointNonnegative
from sparing.encoders.joint_variance import JointVariance
from sparing.encoders.orthogonal_nonnegative import OrthogonalNonnegative
from sparing.encoders.regression import Regression
from sparing.encoders.sequential import Sequential
from sparing.encoders.two_sided import TwoSided
from sparing.encoders.varimax import Varimax

__all__ = [
    "Batch",
    "Disjoint",
    "DoublySparse",
    "ElasticNet",
    "FewPasses",
    "Iterative",
    "Joint",
    "JointNonnegative",
    "JointVariance",
    "OrthogonalNonnegative",
    "Regression",
    "Sequential",
    "TwoSided",
    "Varimax",
    "fewest_features",
    "fewest_for_each",
    "fewest_in_turn",
]
