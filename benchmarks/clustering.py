"""Sparse clustering: agreement with planted and real classes, time and memory. Seconds are of this machine, now."""

from __future__ import annotations

import os
import time
import tracemalloc
from pathlib import Path

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score

from sparing.clustering import ElementwiseDissimilarity, SquaredDifferences, absolute_difference, uniform
from sparing.data import as_rows
from sparing.data.values import read_table
from sparing.estimators.sparse_hierarchical_clustering import SparseHierarchicalClustering
from sparing.estimators.sparse_kmeans import SparseKMeans
from sparing.linalg.soft_threshold import l1_l2_maximiser


def planted(seed: int, n: int = 60, p: int = 500, informative: int = 25, shift: float = 1.2):
    """Three clusters, whose means differ by ``shift`` in each of a few features."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.standard_normal((n, p))
    X[:, :informative] += shift * (y - 1.0)[:, None]
    return X, y


def agreement() -> None:
    models = {
        "dense hierarchical": lambda s: AgglomerativeClustering(3, linkage="complete"),
        "sparse hierarchical, bound 5 (wanted .90)": lambda s: SparseHierarchicalClustering(3, weight_bound=5.0),
        "sparse hierarchical, 25 features": lambda s: SparseHierarchicalClustering(3, n_features=25),
        "sparse hierarchical, auto": lambda s: SparseHierarchicalClustering(3, random_state=s),
        "sparse hierarchical, fewest": lambda s: SparseHierarchicalClustering(3, weight_bound="fewest", random_state=s),
        "dense k-means": lambda s: KMeans(3, n_init=10, random_state=s),
        "sparse k-means, bound 5 (wanted .95)": lambda s: SparseKMeans(3, weight_bound=5.0, random_state=s),
        "sparse k-means, 25 features": lambda s: SparseKMeans(3, n_features=25, random_state=s),
        "sparse k-means, auto": lambda s: SparseKMeans(3, random_state=s),
        "sparse k-means, fewest": lambda s: SparseKMeans(3, weight_bound="fewest", random_state=s),
    }
    print("n=60, p=500, 25 informative, shift 1.2, three clusters: adjusted Rand index, mean of five seeds")
    for name, make in models.items():
        scores, used, start = [], [], time.process_time()
        for seed in range(5):
            X, y = planted(seed)
            model = make(seed).fit(X)
            scores.append(adjusted_rand_score(y, model.labels_))
            used.append(len(model.support_) if hasattr(model, "support_") else 500)
        seconds = (time.process_time() - start) / 5
        print(f"  {name:42s} {np.mean(scores):.3f}   {np.mean(used):5.0f} features   {seconds:.2f} s each")


def alternations(n: int, p: int, turns: int, kind: str) -> None:
    """Time and memory of plain alternations, without D'D and with it."""
    X = np.random.default_rng(0).standard_normal((n, p))
    for by_gram in [False, True] if kind == "squared" else [False]:
        tracemalloc.start()
        start = time.process_time()
        table = read_table(as_rows(X))
        if kind == "squared":
            D = SquaredDifferences(table)
            if by_gram and not D.is_quick:
                tracemalloc.stop()
                continue
            D._by_gram = by_gram
        else:
            D = ElementwiseDissimilarity(table, absolute_difference)
        w = uniform(p, 10.0)
        for _ in range(turns):
            w = l1_l2_maximiser(np.maximum(D.normal(w), 0.0), 10.0)
        seconds, peak = time.process_time() - start, tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        config = "by D'D" if by_gram else "by products"
        print(f"  n={n}, p={p}, {kind}, {config}: {turns} alternations {seconds:.2f} s, {peak:.0f} MiB above the data")


def real(folder: Path) -> None:
    files = {"Armstrong": "leukemia_armstrong", "NCI60": "nci60", "lymphoma": "lymphoma_alizadeh62"}
    for name, file in files.items():
        stored = np.load(folder / f"{file}.npz")
        X, y = stored["X"].astype(float), stored["y"]
        if name == "Armstrong":  # raw intensities; the others are logarithms
            X = np.log2(np.clip(X, 100, 16000))
        kinds, counts = np.unique(y, return_counts=True)
        keep = np.isin(y, kinds[counts >= 3])
        X, y = X[keep], y[keep]
        k = len(np.unique(y))
        print(f"{name}: {X.shape[0]} samples, {X.shape[1]} genes, {k} cancers: adjusted Rand index, genes, seconds")
        rows = []
        for linkage in ("complete", "average", "ward"):
            rows.append((f"dense, {linkage}", AgglomerativeClustering(k, linkage=linkage)))
            for bound in ("auto", "fewest", 12.0, 20.0):
                settings = {"weight_bound": bound, "linkage": linkage, "random_state": 0}
                rows.append((f"sparse, {linkage}, bound {bound}", SparseHierarchicalClustering(k, **settings)))
        rows.append(("dense k-means", KMeans(k, n_init=10, random_state=0)))
        for bound in ("auto", "fewest", 12.0, 20.0):
            rows.append((f"sparse k-means, bound {bound}", SparseKMeans(k, weight_bound=bound, random_state=0)))
        for what, model in rows:
            start = time.process_time()
            model.fit(X)
            seconds = time.process_time() - start
            used = len(getattr(model, "support_", X[0]))
            print(f"  {what:36s} {adjusted_rand_score(y, model.labels_):6.3f}  {used:5d}  {seconds:6.2f}", flush=True)


def main() -> None:
    agreement()
    print("Alternations (wanted: 20 under 3 s and 200 MiB at n=500, p=2000)")
    alternations(500, 2000, 20, "squared")
    alternations(500, 2000, 2, "absolute")
    alternations(2000, 5000, 2, "squared")
    folder = os.environ.get("SPARING_DATA")
    if folder:
        real(Path(folder))


if __name__ == "__main__":
    main()
