"""scikit-learn's SparsePCA and ours on the same data: the numbers of docs/migrate.md.

python examples/beside_scikit_learn.py
"""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_wine
from sklearn.decomposition import SparsePCA as PenalisedPCA
from sklearn.preprocessing import scale

from sparing import SparsePCA, certify, polish


def counts(components: np.ndarray) -> str:
    """Features of each component."""
    return " ".join(str(count) for count in np.count_nonzero(components, axis=1))


def read_by_first_score(model: object, X: np.ndarray) -> int:
    """Features that change the first score when they change."""
    before = model.transform(X)[:, 0]
    after = [model.transform(X + 1e-3 * step)[:, 0] for step in np.eye(X.shape[1])]
    return sum(bool((np.abs(changed - before) > 1e-9).any()) for changed in after)


def main() -> None:
    """Fit, print."""
    X = scale(load_wine().data)
    print(f"{'features of each of three components':38} {'scikit-learn, alpha=2':24} sparing, n_nonzero=5")
    fitted = []
    for what, data in (("wine, standardised", X), ("the same, times 10", 10 * X), ("every tenth wine", X[::10])):
        theirs = PenalisedPCA(3, alpha=2, random_state=0).fit(data)
        ours = SparsePCA(3, n_nonzero=5, certify=False, random_state=0).fit(data)
        fitted.append((theirs, ours))
        print(f"{what:38} {counts(theirs.components_):24} {counts(ours.components_)}")
    reads = [read_by_first_score(model, X) for model in fitted[0]]
    print(f"{'features that the first score reads':38} {reads[0]:<24} {reads[1]}")
    nothing = PenalisedPCA(3, alpha=100, random_state=0).fit(X)
    print(f"{'wine, standardised, alpha=100':38} {counts(nothing.components_)}")
    print()
    theirs = fitted[0][0]
    same_counts = np.count_nonzero(theirs.components_, axis=1).tolist()
    same = SparsePCA(3, n_nonzero=same_counts, certify=False, random_state=0).fit(X)
    for components in (theirs.components_, polish(theirs.components_, X), same.components_):
        print(str(certify(components, X, objective="variance", effort="quick", random_state=0)).splitlines()[0])


if __name__ == "__main__":
    main()
