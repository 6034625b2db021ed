"""What no result can pass: one file per bound."""

from sparing.bounds.loss_tree import LossTree
from sparing.bounds.pca_loss import PcaLoss

__all__ = ["LossTree", "PcaLoss"]
