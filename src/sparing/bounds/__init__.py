"""What no result can pass: one file per bound."""

from sparing.bounds.block_split import BlockSplit
from sparing.bounds.branch_and_bound import BranchAndBound
from sparing.bounds.direct_optimality import DirectOptimality
from sparing.bounds.disjoint_supports import DisjointSupports
from sparing.bounds.doubly_nonnegative_dual import DoublyNonnegativeDual
from sparing.bounds.each_alone import EachAlone
from sparing.bounds.largest_diagonals import LargestDiagonals
from sparing.bounds.leading_variance import LeadingVariance
from sparing.bounds.loss_tree import LossTree
from sparing.bounds.nonnegative_branch_and_bound import NonnegativeBranchAndBound
from sparing.bounds.nonnegative_optimality import NonnegativeOptimality
from sparing.bounds.orthogonal_dual import OrthogonalDual
from sparing.bounds.pca_loss import PcaLoss
from sparing.bounds.row_squares import RowSquares
from sparing.bounds.row_sums import RowSums
from sparing.bounds.semidefinite_dual import SemidefiniteDual
from sparing.bounds.shared_part import SharedPart
from sparing.bounds.sharper_dual import SharperDual
from sparing.bounds.shifted_low_rank import ShiftedLowRank

__all__ = [
    "BlockSplit",
    "BranchAndBound",
    "DirectOptimality",
    "DisjointSupports",
    "DoublyNonnegativeDual",
    "EachAlone",
    "LargestDiagonals",
    "LeadingVariance",
    "LossTree",
    "NonnegativeBranchAndBound",
    "NonnegativeOptimality",
    "OrthogonalDual",
    "PcaLoss",
    "RowSquares",
    "RowSums",
    "SemidefiniteDual",
    "SharedPart",
    "SharperDual",
    "ShiftedLowRank",
]
