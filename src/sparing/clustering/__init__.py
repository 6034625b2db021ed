"""Sparse clustering: feature weights from pairwise dissimilarities or from sums of squares between clusters."""

from sparing.clustering.dissimilarity import LINKAGES, Complement, Dissimilarity, SquaredDifferences, cut, tree_of
from sparing.clustering.elementwise import ElementwiseDissimilarity, absolute_difference
from sparing.clustering.gap import GapSearch, bound_for_count, bound_grid, permutation_gap
from sparing.clustering.kmeans import (
    Partition,
    best_clusters,
    cluster_path,
    means_of,
    pruned_clusters,
    weighted_squares,
)
from sparing.clustering.weights import (
    Weighting,
    alternate,
    best_weights,
    fewest_agreeing,
    pruned_weights,
    spread,
    uniform,
    weight_path,
)

__all__ = [
    "LINKAGES",
    "Complement",
    "Dissimilarity",
    "ElementwiseDissimilarity",
    "GapSearch",
    "Partition",
    "SquaredDifferences",
    "Weighting",
    "absolute_difference",
    "alternate",
    "best_clusters",
    "best_weights",
    "bound_for_count",
    "bound_grid",
    "cluster_path",
    "cut",
    "fewest_agreeing",
    "means_of",
    "permutation_gap",
    "pruned_clusters",
    "pruned_weights",
    "spread",
    "tree_of",
    "uniform",
    "weight_path",
    "weighted_squares",
]
