"""What to say where nothing holds on new samples."""

from __future__ import annotations

import warnings

from sparing import errors

NOTHING_TRANSFERS = "Nothing transfers: new samples are rebuilt no better than by their means"


def warn_nothing_transfers(kept: float, stacklevel: int = 3) -> None:
    """Say so where a cross-validated estimate is not above zero."""
    if not kept > 0:
        message = (
            f"{NOTHING_TRANSFERS} (kept: {kept:.1%}, cross-validated). The features say nothing about one another that "
            "holds beyond these samples: use more samples, fewer features, or noise_variance='auto'."
        )
        warnings.warn(message, errors.SparingWarning, stacklevel=stacklevel)
