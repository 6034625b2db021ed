"""What was reached, what nobody can pass, and how we know: recomputed from data and result."""

from sparing.certificates.certificate import Certificate, Problem, Recheck
from sparing.certificates.loss import certify_loss

__all__ = ["Certificate", "Problem", "Recheck", "certify_loss"]
