"""Encoders of several components, built from selectors and solvers, which are their fields."""

from sparing.methods.encoders.batch import Batch
from sparing.methods.encoders.disjoint import Disjoint
from sparing.methods.encoders.doubly_sparse import DoublySparse
from sparing.methods.encoders.elastic_net import ElasticNet
from sparing.methods.encoders.few_passes import FewPasses
from sparing.methods.encoders.fewest import fewest_features, fewest_for_each, fewest_in_turn
from sparing.methods.encoders.iterative import Iterative
from sparing.methods.encoders.joint import Joint
from sparing.methods.encoders.joint_nonnegative import JointNonnegative
from sparing.methods.encoders.joint_variance import JointVariance
from sparing.methods.encoders.orthogonal_nonnegative import OrthogonalNonnegative
from sparing.methods.encoders.regression import Regression
from sparing.methods.encoders.sequential import Sequential
from sparing.methods.encoders.two_sided import TwoSided
from sparing.methods.encoders.varimax import Varimax

STRATEGIES: dict[str, type[Batch | Iterative | Joint]] = {"batch": Batch, "iterative": Iterative, "joint": Joint}
"""How the components of a ``SparseEncoder`` share features."""

__all__ = [
    "STRATEGIES",
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
