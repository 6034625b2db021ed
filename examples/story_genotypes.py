"""Where people's ancestors lived, by a few of 14,079 SNPs: the numbers and pictures of docs/genotypes.md.

SPARING_DATA=... python examples/story_genotypes.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from story_data import IMAGES, save, shared

from sparing import SparseEncoder, open_data
from sparing.data import as_matrix
from sparing.plots import ScoresDisplay

mpl.use("Agg")
from matplotlib import pyplot as plt

REGIONS = {
    "African or African American": ("ASW", "LWK", "MKK", "YRI"),
    "European": ("CEU", "TSI"),
    "East Asian": ("CHB", "CHD", "JPT"),
    "Gujarati": ("GIH",),
    "Mexican American": ("MEX",),
}
SIZES = (10, 20, 40, 80)


def read() -> tuple[object, np.ndarray]:
    """Genotypes of a PLINK file, to be read in blocks, and the region of each person's ancestors."""
    lines = shared("genotypes/hapmap3_957.pop.txt").read_text().splitlines()
    region_of = {population: region for region, populations in REGIONS.items() for population in populations}
    regions = np.array([region_of[line.split()[1]] for line in lines])
    return open_data(shared("genotypes/hapmap3_957.bed"), scaling="binomial"), regions


def known(scores: np.ndarray, regions: np.ndarray) -> float:
    """Share of people whose 15 nearest neighbours, of other fifths of the data, are mostly of their region."""
    return float(cross_val_score(KNeighborsClassifier(15), scores, regions, cv=5).mean())


def row(n_snps: int, kept: float, known_share: float, chance: float | None = None) -> str:
    """A line of the table."""
    by_chance = "" if chance is None else f"  {chance:21.1%}"
    return f"{n_snps:7d}  {kept:17.1%}  {known_share:12.1%}{by_chance}"


def main(folder: Path) -> None:
    """Fit, print, draw."""
    snps, regions = read()
    X = np.asarray(as_matrix(snps))  # small enough for PCA by scikit-learn; sparing reads the file
    pca = PCA(2, svd_solver="arpack", random_state=0).fit(X)
    most, rng = pca.explained_variance_ratio_.sum(), np.random.default_rng(0)
    print(f"{X.shape[0]} people, {X.shape[1]} SNPs; two principal components have {most:.1%} of the variance")
    print("   SNPs  of PCA's variance  region known  same number at random")
    print(row(X.shape[1], 1.0, known(pca.transform(X), regions)))
    panels = {r: SparseEncoder(2, n_nonzero=r, certify=r == 80, random_state=0).fit(snps) for r in SIZES}
    for r, panel in panels.items():
        some = [rng.choice(X.shape[1], r, replace=False) for _ in range(5)]
        chance = float(np.mean([known(PCA(2).fit_transform(X[:, J]), regions) for J in some]))
        print(row(r, panel.variance_kept_, known(panel.transform(snps), regions), chance))
    print(f"\n{panels[80].certificate_}")

    half = np.arange(len(X)) % 2 == 0
    panel = SparseEncoder(2, n_nonzero=80, certify=False, random_state=0).fit(X[half])
    neighbours = KNeighborsClassifier(15).fit(panel.transform(X[half]), regions[half])
    others = neighbours.score(panel.transform(X[~half]), regions[~half])
    print(f"80 SNPs chosen from every second person tell the region of {others:.1%} of the others")

    _, (left, right) = plt.subplots(1, 2, figsize=(10.0, 4.2), layout="constrained")
    ScoresDisplay(pca.transform(X), regions).plot(ax=left, s=8).ax_.set_title(f"PCA, {X.shape[1]} SNPs")
    drawn = ScoresDisplay.from_estimator(panels[80], snps, labels=regions, ax=right, s=8)
    right.set_title("80 SNPs")
    right.get_legend().remove()
    save(drawn, folder / "genotypes.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
