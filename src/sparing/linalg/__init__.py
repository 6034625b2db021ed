"""Linear algebra on views: takes views, returns small dense arrays, and fixes signs and order."""

from sparing.linalg.eigen import top_spectrum
from sparing.linalg.loss import additional_variance, information_loss_of
from sparing.linalg.span import encoder_on
from sparing.linalg.threads import single_threaded_blas

__all__ = ["additional_variance", "encoder_on", "information_loss_of", "single_threaded_blas", "top_spectrum"]
