"""What no result can pass: one file per bound."""

from sparing.bounds.largest_diagonals import LargestDiagonals
from sparing.bounds.leading_variance import LeadingVariance
from sparing.bounds.loss_tree import LossTree
from sparing.bounds.pca_loss import PcaLoss
from sparing.bounds.row_squares import RowSquares
from sparing.bounds.row_sums import RowSums
from sparing.bounds.semidefinite_dual import SemidefiniteDual

__all__ = [
    "LargestDiagonals",
    "LeadingVariance",
    "LossTree",
    "PcaLoss",
    "RowSquares",
    "RowSums",
    "SemidefiniteDual",
]
