"""What is kept of new samples: halves of four sets of gene expression, held-out curves, and planted answers."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np

from sparing import (
    SparseEncoder,
    SparseEncoderCV,
    component_count,
    cross_validated,
    sparsity_path,
    stability,
)
from sparing.estimators.sparse_encoder_cv import CHOICES
from sparing.scoring import unread_variance

DATA = Path(os.environ.get("SPARING_DATA", "data"))
GENES = {"colon": "colon_alon", "nci60": "nci60", "armstrong": "leukemia_armstrong", "lymphoma": "lymphoma_alizadeh62"}
FLOORS = {"colon": 1.0, "armstrong": 20.0}
"""Raw intensities below these are noise; the logarithm is taken of them."""

OTHERS = {"arcene": "arcene", "spectra": "lrs", "libras": "movement_libras", "faces": "cbcl_faces"}
"""Sets on which no rule of choice was tried before it was settled."""

QUICK = {"certify": False, "effort": "quick"}
PICTURE = Path(__file__).parents[1] / "docs" / "images" / "new-samples.png"
SEEDS = 20


def expression(name: str) -> np.ndarray:
    X = np.load(DATA / f"{GENES[name]}.npz")["X"].astype(float)
    return np.log(np.maximum(X, FLOORS[name])) if name in FLOORS else X


def halves(X: np.ndarray, seed: int, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """A random half of at most so many samples, the others, and of both the 1,200 genes that vary most in the first."""
    order = np.random.default_rng(seed).permutation(len(X))
    n = min(len(X) // 2, most or len(X))
    train, new = X[order[:n]], X[order[n:]]
    genes = np.sort(np.argsort(-train.var(axis=0))[:1200])
    return train[:, genes], new[:, genes]


def pca_share(train: np.ndarray, new: np.ndarray, k: int) -> float:
    mean = train.mean(axis=0)
    V = np.linalg.svd(train - mean, full_matrices=False)[2][:k]
    return 1 - np.square((new - mean) - (new - mean) @ V.T @ V).sum() / np.square(new - mean).sum()


def on_halves() -> None:
    """Plain fits of 3 components, chosen ones by the default rule, and their own estimates beside the truth."""
    print("Share of the variance of new samples that is kept: training on one half, three splits, 1,200 genes")
    print(f"{'data':10} {'r':>3} {'plain k=3':>10} {'chosen':>7} {'PCA k=3':>8}  chosen: components/noise")
    inside = cells = worse = 0
    for name in GENES:
        X = expression(name)
        splits = [halves(X, seed) for seed in range(3)]
        for r in (10, 20):
            rows, chosen = [], []
            for train, new in splits:
                plain = SparseEncoder(3, n_nonzero=r, **QUICK).fit(train).score(new)
                model = SparseEncoderCV(n_nonzero=r, **QUICK).fit(train)
                rows.append([plain, model.score(new), pca_share(train, new, 3)])
                truth = unread_variance(model, new)
                cells += 1
                inside += abs(model.held_out_ - truth) <= 2 * model.held_out_se_
                worse += rows[-1][1] < max(plain - 0.01, 0.0)
                multiple = model.noise_variance_ / train.var(axis=0).mean()
                chosen.append(f"{model.n_components_}/{multiple:.2g}")
            plain, kept, pca = np.mean(rows, axis=0)
            print(f"{name:10} {r:3} {plain:10.3f} {kept:7.3f} {pca:8.3f}  {', '.join(chosen)}")
    print(f"its own estimate within two standard errors of the truth: {inside} of {cells} cells")
    print(f"worse than the plain fit by more than .01, or negative: {worse} of {cells} cells\n")


def by_rule() -> None:
    """Numbers of features that both rules choose, and what they keep; the rule was settled on the sets of genes."""
    print("Features chosen among 1 ... 40, and the share of the variance of new samples that they keep: 40 samples")
    print(f"{'data':10} {'one_se':>13} {'best':>13} {'PCA k=3':>8}")
    for name in (*GENES, *OTHERS):
        X = expression(name) if name in GENES else np.load(DATA / f"{OTHERS[name]}.npz")["X"].astype(float)
        rows = []
        for train, new in (halves(X, seed, 40) for seed in range(3)):
            models = [SparseEncoderCV(n_nonzero=range(1, 41), rule=rule, **QUICK).fit(train) for rule in CHOICES]
            rows.append([*((m.n_nonzero_, m.score(new)) for m in models), (3, pca_share(train, new, 3))])
        (fewer, kept), (more, best), (_, pca) = np.mean(rows, axis=0)
        print(f"{name:10} {fewer:5.0f}: {kept:6.3f} {more:5.0f}: {best:6.3f} {pca:8.3f}")
    print()


def spiked(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.normal(size=(500, 4)))[0].T
    return (rng.normal(size=(100, 4)) * [18.0, 16.0, 14.0, 12.0]) @ V + rng.normal(size=(100, 500))


def with_copies(seed: int) -> np.ndarray:
    """Five factors, each read by a feature of its own, the first by four copies; twenty others follow with noise."""
    rng = np.random.default_rng(seed)
    X, Z = 0.5 * rng.normal(size=(120, 40)), rng.normal(size=(120, 5)) * [4.0, 3.5, 3.0, 2.7, 2.4]
    X[:, 1:5] = Z[:, 1:]
    for j in (0, 10, 11, 12):
        X[:, j] = Z[:, 0] + 0.3 * rng.normal(size=120)
    X[:, 20:] += 0.8 * Z[:, np.arange(20) % 5] + 0.6 * rng.normal(size=(120, 20))
    return X


def planted() -> None:
    """Numbers of components, groups of copies and planted features; pure noise."""
    counts = [component_count(spiked(seed)) for seed in range(SEEDS)]
    found = [sum(getattr(count, name) == 4 for count in counts) for name in ("held_out", "parallel", "elbow")]
    told = f"held-out {found[0]}, parallel analysis {found[1]}, elbow {found[2]}"
    print(f"planted k = 4, n = 100, d = 500: {told} of {SEEDS}")
    encoder = SparseEncoder(5, n_nonzero=5, **QUICK)
    again = [stability(encoder, with_copies(seed)) for seed in range(SEEDS)]
    one_group = sum(any(set(group) == {0, 10, 11, 12} for group in each.groups) for each in again)
    often = sum(bool((each.frequency[1:5] > 0.9).all()) for each in again)
    print(f"copies one interchangeable group: {one_group} of {SEEDS}; planted features above .9: {often} of {SEEDS}")
    noise = np.random.default_rng(0).normal(size=(60, 3000))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        SparseEncoderCV(**QUICK).fit(noise)
    transfers = not any("Nothing transfers" in str(each.message) for each in said)
    print(f"noise 60 x 3000: {'something' if transfers else 'nothing'} transfers\n")


def curves() -> None:
    """In-sample and held-out curves of genes and faces."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    faces = np.load(DATA / "cbcl_faces.npz")["X"].astype(float)
    figure, axes = plt.subplots(1, 2, figsize=(9.0, 3.6), layout="constrained", sharey=True)
    for ax, (title, X, k) in zip(axes, (("genes", expression("colon"), 3), ("faces", faces, 20)), strict=True):
        path = sparsity_path(X, k, max_features=60, cv=5, improve=False, certify=False)
        total = np.square(X - X.mean(axis=0)).sum()
        values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:k]
        explained = path.variance_kept * np.square(values).sum() / total
        ax.plot(path.n_features, explained, label="these samples, all features")
        ax.plot(path.n_features, path.held_out, label="new samples, features not read")
        low, high = path.held_out - path.held_out_se, path.held_out + path.held_out_se
        ax.fill_between(path.n_features, low, high, alpha=0.2, color="C1", linewidth=0)
        ax.set(title=f"{title}, n = {len(X):,}, {k} components", xlabel="number of features", ylim=(0, 1))
        at = [10, 20, 40, 60]
        told = ", ".join(f"{r}: {explained[r - 1]:.3f} / {path.held_out[r - 1]:.3f}" for r in at)
        print(f"{title} (n = {len(X):,}), kept of these / of new samples by r features: {told}")
    axes[0].set_ylabel("share of the variance")
    axes[0].legend(frameon=False, loc="lower right")
    figure.savefig(PICTURE, dpi=90)
    held_out = cross_validated(SparseEncoder(3, n_nonzero=20, **QUICK), expression("colon"))
    print(held_out)


def main() -> None:
    warnings.simplefilter("ignore")
    on_halves()
    by_rule()
    planted()
    curves()


if __name__ == "__main__":
    main()
