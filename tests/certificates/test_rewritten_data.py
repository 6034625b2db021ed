"""A certificate is about data, not about their last digits: it holds for the same data written with eight of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.datasets import load_pitprops

QUICK = {"precomputed": True, "effort": "quick", "random_state": 0}
FITS = {
    "one": SparsePCA(1, n_nonzero=5, **QUICK),
    "exact": SparsePCA(1, n_nonzero=6, solver="exact", **QUICK),
    "free": SparsePCA(2, n_nonzero=4, **QUICK),
    "orthogonal": SparsePCA(2, n_nonzero=3, constraint="orthogonal", **QUICK),
    "disjoint": SparsePCA(2, n_nonzero=3, deflation="disjoint", **QUICK),
    "nonnegative": NonnegativeSparsePCA(1, n_nonzero=5, **QUICK),
    "encoder": SparseEncoder(2, n_nonzero=6, **QUICK),
    "joint": SparseEncoder(2, n_nonzero=3, strategy="joint", **QUICK),
}


def written(C, digits):
    """As a file with so many digits holds it; PitProps has three."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal(C.shape) * 10.0**-digits
    return C * (1 + np.triu(noise, 1) + np.triu(noise, 1).T)


@pytest.mark.parametrize("fit", FITS)
def test_it_holds_for_data_with_eight_digits(fit):
    C = load_pitprops().correlation
    certificate = FITS[fit].fit(written(C, 2)).certificate_
    C = written(C, 2)
    for digits in (8, 9):
        assert certificate.recheck(written(C, digits)), str(certificate.recheck(written(C, digits)))
    assert not certificate.recheck(written(C, 4))


def test_what_is_said_to_be_reached_is_looked_at():
    C = load_pitprops().correlation
    for fit in ("exact", "encoder", "orthogonal"):
        certificate = FITS[fit].fit(C).certificate_
        assert certificate.witness.reached
        assert certificate.recheck(C)
        others = tuple((support + 1) % 13 for support in certificate.witness.supports)
        for supports in ((), others, ("x",)):
            again = replace(certificate, witness=replace(certificate.witness, supports=supports)).recheck(C)
            assert not again
            assert "a result attains its bound" in str(again)
