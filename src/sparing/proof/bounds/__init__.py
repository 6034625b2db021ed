"""Bounds that no result can pass, one class each. A new one is registered here and nowhere else."""

from sparing.proof.bounds.base import BoundMethod
from sparing.proof.bounds.branch_and_bound import BranchAndBound, NonnegativeBranchAndBound
from sparing.proof.bounds.deletion_trees import AllSupports, EigenvalueTree, LossTree
from sparing.proof.bounds.direct_optimality import DirectOptimality
from sparing.proof.bounds.disjoint_supports import DisjointSupports
from sparing.proof.bounds.each_alone import EachAlone
from sparing.proof.bounds.largest_diagonals import LargestDiagonals
from sparing.proof.bounds.limited_cosine import LimitedCosine
from sparing.proof.bounds.nonnegative_optimality import NonnegativeOptimality
from sparing.proof.bounds.orthogonal_dual import OrthogonalDual
from sparing.proof.bounds.orthogonal_lists import OrthogonalLists
from sparing.proof.bounds.principal_components import LeadingVariance, PcaLoss
from sparing.proof.bounds.row_norms import RowSquares, RowSums
from sparing.proof.bounds.semidefinite_dual import DoublyNonnegativeDual, SemidefiniteDual, SharperDual
from sparing.proof.bounds.shared_part import SharedPart
from sparing.proof.bounds.shifted_low_rank import ShiftedLowRank

BOUNDS: dict[str, type[BoundMethod]] = {
    "pca_loss": PcaLoss,
    "all_supports": AllSupports,
    "loss_tree": LossTree,
    "leading_variance": LeadingVariance,
    "largest_diagonals": LargestDiagonals,
    "row_sums": RowSums,
    "row_squares": RowSquares,
    "branch_and_bound": BranchAndBound,
    "direct_optimality": DirectOptimality,
    "shifted_low_rank": ShiftedLowRank,
    "semidefinite_dual": SemidefiniteDual,
    "sharper_dual": SharperDual,
    "nonnegative_branch_and_bound": NonnegativeBranchAndBound,
    "doubly_nonnegative_dual": DoublyNonnegativeDual,
    "nonnegative_optimality": NonnegativeOptimality,
    "disjoint_supports": DisjointSupports,
    "each_alone": EachAlone,
    "eigenvalue_tree": EigenvalueTree,
    "shared_part": SharedPart,
    "limited_cosine": LimitedCosine,
    "orthogonal_dual": OrthogonalDual,
    "orthogonal_lists": OrthogonalLists,
}
"""By name, as certificates refer to them; of equal bounds the first is quoted."""

__all__ = [
    "BOUNDS",
    "AllSupports",
    "BoundMethod",
    "BranchAndBound",
    "DirectOptimality",
    "DisjointSupports",
    "DoublyNonnegativeDual",
    "EachAlone",
    "EigenvalueTree",
    "LargestDiagonals",
    "LeadingVariance",
    "LimitedCosine",
    "LossTree",
    "NonnegativeBranchAndBound",
    "NonnegativeOptimality",
    "OrthogonalDual",
    "OrthogonalLists",
    "PcaLoss",
    "RowSquares",
    "RowSums",
    "SemidefiniteDual",
    "SharedPart",
    "SharperDual",
    "ShiftedLowRank",
]
