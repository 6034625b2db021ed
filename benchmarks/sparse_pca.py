"""SparsePCA: variance against reference numbers, deflations, and speed beside scikit-learn in one run."""

from __future__ import annotations

import warnings

import numpy as np
from shapes import DATA
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.decomposition import PCA
from sklearn.decomposition import SparsePCA as Theirs
from speed import side_by_side
from threadpoolctl import threadpool_limits

from sparing import SparsePCA, explained_variance
from sparing.datasets import load_pitprops
from sparing.methods.solvers import SOLVERS

SETS = {  # data, settings, components, features each, best of twenty packages
    "wine": (load_wine().data, {"scale": True}, 3, 5, 0.922),
    "breast_cancer": (load_breast_cancer().data, {"scale": True}, 3, 10, 0.874),
    "digits": (load_digits().data, {}, 5, 16, 0.910),
    "pitprops": (load_pitprops().correlation, {"precomputed": True}, 6, 5, 0.962),
}
PROVED = {"normCommunities": {5: 4.860548, 10: 8.823616, 20: 14.326952}, "normArrhythmia": {5: 4.233204, 10: 7.539385}}
GENES = {"colon_alon": 0.45, "leukemia_armstrong": 0.4}
"""Gene data, and the penalty of scikit-learn's SparsePCA (data scaled to a largest singular value of sqrt(n))."""


def variance() -> None:
    print("SparsePCA: symmetric variance over that of as many principal components (best of 20 packages)")
    for name, (X, config, k, r, peer) in SETS.items():
        fits = {
            "free": SparsePCA(k, n_nonzero=r, random_state=0, **config),
            "orthogonal": SparsePCA(k, n_nonzero=r, constraint="orthogonal", random_state=0, **config),
            "total": SparsePCA(k, n_nonzero_total=k * r, random_state=0, **config),
        }
        shares = {kind: model.fit(X).certificate_ for kind, model in fits.items()}
        bound = shares["free"].bound / shares["free"].pca_value
        said = "  ".join(f"{kind} {certificate.ratio:.4f}" for kind, certificate in shares.items())
        print(f"  {name:14s} k={k} r={r:2d}  {said}  ({peer})  no components can pass {bound:.4f}")
    X, config, k, r, _ = SETS["pitprops"]
    print("SparsePCA: deflations, pit props, 6 components of 5 features, cumulative basis variance in %")
    found = {}
    for name in ("hotelling", "projection", "schur", "orthogonalized", "generalized"):
        H = SparsePCA(k, n_nonzero=r, deflation=name, random_state=0, **config).fit(X).components_
        found[name] = 100 * explained_variance(H, X, definition="basis", precomputed=True)[-1]
    print("  " + "  ".join(f"{name} {value:.2f}" for name, value in found.items()))


def solvers() -> None:
    print("SparsePCA: variance of one component over the proved optimum")
    A = load_pitprops().correlation
    problems = [("pitprops", A, 3, 2.475331), ("pitprops", A, 5, 3.406155), ("pitprops", A, 10, 4.172638)]
    path = DATA / "bcp_covariances.npz"
    if path.exists():
        for name, values in PROVED.items():
            problems += [(name, np.nan_to_num(np.load(path)[name]), r, value) for r, value in values.items()]
    print("  " + " " * 24 + "  ".join(f"{name[:12]:>12s}" for name in SOLVERS))
    for name, C, r, value in problems:
        reached = [
            SparsePCA(n_nonzero=r, solver=solver, precomputed=True, certify=False, random_state=0).fit(C).variance_[0]
            for solver in SOLVERS
        ]
        print(f"  {name:16s} r={r:3d}   " + "  ".join(f"{found / value:12.4f}" for found in reached))


def speed() -> None:
    print("SparsePCA: 3 components of 20 features beside scikit-learn, ms (one BLAS thread), taking turns")
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, alpha in GENES.items():
            if not (DATA / f"{name}.npz").exists():
                print(f"  {name:22s} skipped: SPARING_DATA is not set")
                continue
            X = np.load(DATA / f"{name}.npz")["X"].astype(float)
            X = X / np.linalg.norm(X - X.mean(axis=0), 2) * np.sqrt(len(X))
            mine, pca = side_by_side(
                lambda X=X: SparsePCA(3, n_nonzero=20, random_state=0).fit(X), lambda X=X: PCA(3).fit(X)
            )
            theirs = Theirs(3, alpha=alpha, random_state=0, max_iter=100)
            seconds = side_by_side(lambda X=X, model=theirs: model.fit(X))[0]
            counts = np.maximum(np.count_nonzero(theirs.components_, axis=1), 1)
            ours = SparsePCA(3, n_nonzero=[int(count) for count in counts], random_state=0)
            same = side_by_side(lambda X=X, model=ours: model.fit(X))[0]
            share = [
                explained_variance(H, X, definition="symmetric")[-1] for H in (ours.components_, theirs.components_)
            ]
            print(
                f"  {name:20s} {X.shape}  {1e3 * mine:6.1f} / PCA {1e3 * pca:6.1f} = {mine / pca:4.1f};  at counts "
                f"{counts}: {1e3 * same:6.1f} / SparsePCA {1e3 * seconds:7.1f} = 1/{seconds / same:.0f}, "
                f"variance {share[0]:.3f} / {share[1]:.3f}"
            )


def main() -> None:
    variance()
    solvers()
    speed()
    print()


if __name__ == "__main__":
    main()
