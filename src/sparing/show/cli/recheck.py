"""A saved model on the data that it is about: does its certificate hold?"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from sparing import errors, load_model
from sparing.certificates import Recheck, RegressionCertificate
from sparing.errors import listed
from sparing.estimators.saving import HEADER
from sparing.show.cli.opening import Table


def is_model(path: str) -> bool:
    """Is this a file that ``save_model`` wrote, whatever its ending?"""
    place = Path(path).expanduser()
    if not place.exists():
        raise errors.no_such_file(path)
    try:
        with zipfile.ZipFile(place) as archive:
            return HEADER in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False


def certified(path: str) -> Any:
    """The model in a file, if it has a certificate that data alone can confirm."""
    model = load_model(path)
    certificate = getattr(model, "certificate_", None)
    if certificate is None or isinstance(certificate, RegressionCertificate):
        raise ValueError(
            f"Cannot check {str(path)!r}: it holds a {type(model).__name__} without a certificate of its components. "
            "Pass a SparseEncoder, SparsePCA, NonnegativeSparsePCA or DoublySparseEncoder that was fitted with "
            "certify=True, or loadings."
        )
    return model


def rechecked(model: Any, table: Table) -> Recheck:
    """The certificate again, from these data; features are found by name where both have names."""
    names = getattr(model, "feature_names_in_", None)
    if names is not None and table.feature_names is not None and list(names) != table.feature_names:
        place = {name: j for j, name in enumerate(table.feature_names)}
        absent = [str(name) for name in names if name not in place]
        if absent:
            raise ValueError(
                f"Cannot use {str(table.path)!r}: the certificate is about data with the features {listed(absent)}, "
                "which are not among its columns of numbers. Pass the data of the fit, with all features."
            )
        table = table.restricted(np.array([place[name] for name in names], dtype=np.intp))
    rows = table.rows.with_coding(getattr(model, "coding_", None))
    checked: Recheck = model.certificate_.recheck(rows)
    return checked
