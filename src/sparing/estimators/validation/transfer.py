"""What to say where nothing holds on new samples."""

from __future__ import annotations

import math
import warnings

from sparing import errors

NOTHING_TRANSFERS = "Nothing transfers: the share kept on new samples is less than two standard errors above zero"


def transfers(kept: float, error: float) -> bool:
    """Is what is kept of new samples above zero, by more than two standard errors of its estimate?"""
    return kept > (2 * error if error > 0 else 0.0)


def with_error(kept: float, error: float) -> str:
    """A share and its standard error, which one fold alone does not have."""
    return f"{kept:.1%}" if math.isnan(error) else f"{kept:.1%} +- {error:.1%}"


def warn_nothing_transfers(kept: float, error: float, stacklevel: int = 3) -> None:
    """Say so where a cross-validated estimate is not above zero."""
    if transfers(kept, error):
        return
    message = (
        f"{NOTHING_TRANSFERS} (kept: {with_error(kept, error)}, cross-validated). As far as these samples tell, the "
        f"features do not predict one another: use more samples, fewer features, or noise_variance='auto'."
    )
    warnings.warn(message, errors.SparingWarning, stacklevel=stacklevel)
