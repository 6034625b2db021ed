"""What a call with all defaults costs: every estimator on the real sets, fit and certificate, seconds of the processor.

Beside them the number of features in use and the share of PCA's variance that they keep, so that no second is saved
silently. ``min_variance`` is asked for as well: it searches for the number of features, the longest of all.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from shapes import DATA, genotypes, real_dense, real_sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from threadpoolctl import threadpool_limits

from sparing import ColumnSelector, DoublySparseEncoder, NonnegativeSparsePCA, SparseEncoder, SparsePCA

CALLS: dict[str, Callable[..., Any]] = {
    "SparsePCA()": SparsePCA,
    "SparsePCA(3)": lambda **config: SparsePCA(3, **config),
    "SparsePCA(min_variance=.9)": lambda **config: SparsePCA(min_variance=0.9, **config),
    "SparsePCA(3, min_variance=.9)": lambda **config: SparsePCA(3, min_variance=0.9, **config),
    "NonnegativeSparsePCA()": NonnegativeSparsePCA,
    "NonnegativeSparsePCA(3)": lambda **config: NonnegativeSparsePCA(3, **config),
    "NonnegativeSparsePCA(min_variance=.9)": lambda **config: NonnegativeSparsePCA(min_variance=0.9, **config),
    "NonnegativeSparsePCA(3, min_variance=.9)": lambda **config: NonnegativeSparsePCA(3, min_variance=0.9, **config),
    "SparseEncoder()": SparseEncoder,
    "ColumnSelector()": ColumnSelector,
    "DoublySparseEncoder()": DoublySparseEncoder,
}

MOST = 3.0
"""Seconds that a call with all defaults may take, certificate included."""


def logged(name: str) -> Callable[[], Any] | None:
    """Intensities on the scale on which they are compared."""
    read = real_dense(name)
    return None if read is None else lambda: np.log(np.maximum(read(), 1))


def sets() -> Iterator[tuple[str, Any]]:
    """Name and matrix, one at a time: small tables, genes, genotypes, faces, words."""
    readers: dict[str, Callable[[], Any] | None] = {
        "wine": lambda: load_wine().data,
        "breast_cancer": lambda: load_breast_cancer().data,
        "digits": lambda: load_digits().data,
        "cbcl": real_dense("cbcl_faces"),
        "lrs": real_dense("lrs"),
        "madelon": real_dense("madelon"),
        "colon": logged("colon_alon"),
        "lymphoma": real_dense("lymphoma_alizadeh62"),
        "nci60": real_dense("nci60"),
        "armstrong": real_dense("leukemia_armstrong"),
        "arcene": real_dense("arcene"),
        "genotypes": genotypes(),
        "pbmc": real_sparse("pbmc_facs"),
        "associated_press": real_sparse("associated_press"),
        "classic2": real_sparse("classic2_counts"),
        "tdt2": real_sparse("tdt2_all"),
    }
    for name, read in readers.items():
        if read is not None:
            yield name, read()


def timed(call: Callable[..., Any], X: Any, **config: Any) -> tuple[float, Any]:
    """Seconds of the processor, and the fitted model."""
    start = time.process_time()
    model = call(random_state=0, **config).fit(X)
    return time.process_time() - start, model


def kept(model: Any) -> str:
    """How many features are in use, and what they keep of PCA's variance where the model says so."""
    certificate = getattr(model, "certificate_", None)
    said = f"{np.size(model.get_support(indices=True)):5d} features"
    if certificate is None or getattr(certificate, "total", None) is None:
        return said
    value, whole = certificate.value, certificate.pca_value
    if certificate.sense == "min":  # losses
        value, whole = certificate.total - value, certificate.total - whole
    return f"{said} keep {value / whole:.4f}"


def main(names: tuple[str, ...] = (), calls: tuple[str, ...] = ()) -> None:
    print(f"Defaults: seconds of the processor, fit + certificate, one BLAS thread (at most {MOST:g} are allowed)")
    slow = []
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, X in sets():
            if names and name not in names:
                continue
            for title, call in CALLS.items():
                if calls and not any(part in title for part in calls):
                    continue
                certifies = "certify" in call().get_params()
                fit, model = timed(call, X, **({"certify": False} if certifies else {}))
                both, model = timed(call, X) if certifies else (fit, model)
                if both > MOST:
                    slow.append(f"{name} {title} {both:.1f}")
                print(
                    f"  {name:16s} {title:41s} {fit:6.2f} + {max(both - fit, 0.0):5.2f} s   {kept(model)}", flush=True
                )
    print(f"  {len(slow)} above {MOST:g} s{': ' + '; '.join(slow) if slow else ''}\n")


if __name__ == "__main__":
    if not DATA.exists():
        print("SPARING_DATA is not set: small tables only")
    main()
