"""Certificates: value, bound and proof, recomputed from data and result."""

from sparing.certificates.certificate import Certificate, Recheck
from sparing.certificates.loss import ReconstructionCertificate, certify_loss, certify_reconstruction
from sparing.certificates.regression import RegressionCertificate, certify_regression
from sparing.certificates.streamed import StreamCertificate, certify_stream
from sparing.certificates.variance import VarianceCertificate, certify_variance, variance_certificate
from sparing.results import Problem

__all__ = [
    "Certificate",
    "Problem",
    "Recheck",
    "ReconstructionCertificate",
    "RegressionCertificate",
    "StreamCertificate",
    "VarianceCertificate",
    "certify_loss",
    "certify_reconstruction",
    "certify_regression",
    "certify_stream",
    "certify_variance",
    "variance_certificate",
]
