"""How far from the best possible every kind of answer can be: the gap of its certificate, in one table.

Each row is one fit at its default effort, with CPU seconds of search and proof; rows with a time limit say so. Beside
them is what the literature reports for the same problem, where it reports anything.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from efforts import DATA, SETS, real

from sparing import DoublySparseEncoder, NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.errors import SparingWarning

CONE_RELAXATION = {("PitProps", 2): 3.12, ("PitProps", 3): 5.49, ("wine", 2): 3.98}
"""Gap in % of a published semidefinite relaxation with cones, 5 features each: rebuilt, and run on these data."""

MATRICES: dict[str, Callable[[], np.ndarray]] = {
    "normCommunities": real("bcp_covariances", "normCommunities"),
    "Eisen 2": real("eisen_cov", "eisen2"),
}
SCALED = ("wine", "breast_cancer")


class Row(NamedTuple):
    """One fit of the table."""

    kind: type
    data: str
    n_components: int
    n_nonzero: int
    settings: dict[str, Any] = {}  # noqa: RUF012  (of a tuple: nobody changes it)


ORTHOGONAL, UNCORRELATED = {"constraint": "orthogonal"}, {"constraint": "uncorrelated"}
SMALL = (("PitProps", 5), ("wine", 5), ("breast_cancer", 10))
ROWS = (
    *(Row(SparseEncoder, data, 2, r) for data, r in (("PitProps", 4), ("wine", 4), ("breast_cancer", 6))),
    *(Row(SparseEncoder, "breast_cancer", 3, r) for r in (6, 10)),
    Row(SparseEncoder, "ionosphere", 3, 8),
    Row(SparseEncoder, "digits", 5, 10),
    *(
        Row(SparseEncoder, data, k, 3, {"strategy": strategy})
        for strategy in ("joint", "iterative")
        for data, k in (("wine", 2), ("wine", 3), ("PitProps", 2), ("breast_cancer", 2))
    ),
    Row(DoublySparseEncoder, "wine", 2, 5, {"n_rows": 20}),
    *(Row(SparsePCA, data, 1, r) for data, r in SMALL),
    *(Row(SparsePCA, data, k, r, ORTHOGONAL) for data, r in SMALL for k in (2, 3)),
    *(Row(SparsePCA, data, 3, 5, ORTHOGONAL | {"solver": "exact"}) for data in ("PitProps", "wine")),
    *(Row(SparsePCA, "ionosphere", 3, r, ORTHOGONAL) for r in (5, 10)),
    *(Row(SparsePCA, data, 3, 10, ORTHOGONAL) for data in ("normCommunities", "Eisen 2", "digits")),
    *(Row(SparsePCA, data, k, 3, {"deflation": "disjoint"}) for data in ("PitProps", "wine") for k in (2, 3)),
    *(Row(SparsePCA, data, k, r) for data, r in (*SMALL, ("digits", 10)) for k in (2, 3)),
    *(Row(SparsePCA, data, k, r, {"max_cosine": 0.3}) for data, r in SMALL for k in (2, 3)),
    *(Row(SparsePCA, data, k, r, UNCORRELATED) for data, r in SMALL for k in (2, 3)),
    *(Row(NonnegativeSparsePCA, data, k, r) for data, r in SMALL for k in (1, 2, 3)),
    *(Row(SparseEncoder, data, 3, r) for data in ("colon_alon", "nci60") for r in (10, 50)),
)


def loaded(name: str) -> np.ndarray:
    return (MATRICES | SETS)[name]()


def fitted(row: Row, X: np.ndarray, **more: Any) -> tuple[float, Any]:
    """CPU seconds and the model."""
    square = X.shape[0] == X.shape[1]
    settings = {"random_state": 0, "precomputed": True} if square else {"random_state": 0, "scale": row.data in SCALED}
    start = time.process_time()
    model = row.kind(n_components=row.n_components, n_nonzero=row.n_nonzero, **settings, **row.settings, **more).fit(X)
    return time.process_time() - start, model


def reported(row: Row) -> str:
    """What others have for the same problem."""
    if row.kind is SparsePCA and "orthogonal" in row.settings.values():
        gap = CONE_RELAXATION.get((row.data, row.n_components)) if row.n_nonzero == 5 else None
        return "about 3% on average" if gap is None else f"{gap:.2f}%"
    one = row.n_components == 1 and row.kind is SparsePCA
    return "proved" if one else "nothing" if row.kind is not SparseEncoder else "PCA's loss"


def said(row: Row) -> str:
    """The settings in words."""
    values = row.settings.items()
    return " ".join(f"{name}={value}" if isinstance(value, int | float) else str(value) for name, value in values)


def line(*cells: Any) -> str:
    return "{:<21}{:<17}{:>3}{:>4} {:<16}{:>5}{:>8}{:>8}  {:>7}  {:<46} {}".format(*cells)


def main() -> None:
    print(line("estimator", "", "k", "r", "data", "d", "fit, s", "all, s", "gap", "proof", "literature"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SparingWarning)
        fitted(ROWS[0], loaded("PitProps"))  # what is imported once belongs to no row
        for row in ROWS:
            if not DATA.exists() and row.data not in ("PitProps", "wine", "breast_cancer", "digits"):
                print(f"{row.data:<16} needs SPARING_DATA")
                continue
            X = loaded(row.data)
            alone, _ = fitted(row, X, certify=False)
            seconds, model = fitted(row, X)
            gap, how = model.certificate_.gap, model.certificate_.witness.method
            proved = "proved" if gap < 1e-6 else f"{gap:.2%}"
            cells = row.kind.__name__, said(row), row.n_components, row.n_nonzero, row.data, X.shape[1]
            print(line(*cells, f"{alone:.2f}", f"{seconds:.2f}", proved, how, reported(row)), flush=True)


if __name__ == "__main__":
    main()
