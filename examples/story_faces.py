"""Parts of faces: the numbers and pictures of docs/nonnegative.md.

SPARING_DATA=... python examples/story_faces.py [folder]
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.decomposition import PCA
from story_data import IMAGES, save, shared

from sparing import NonnegativeSparsePCA
from sparing.plots import ImagePartsDisplay

mpl.use("Agg")


def main(folder: Path) -> None:
    """Fit, print, draw."""
    faces = np.load(shared("cbcl_faces.npz"))["X"].astype(float)
    model = NonnegativeSparsePCA(6, n_nonzero=40, constraint="orthogonal", random_state=0).fit(faces)
    print(model.certificate_)

    pca = PCA(6, svd_solver="full").fit(faces)
    most, rebuilt = pca.explained_variance_ratio_.sum(), model.explained_variance_ratio_.sum()
    print(f"\nOf six scores PCA rebuilds {most:.1%} of the variance, the parts {rebuilt:.1%}")

    one = NonnegativeSparsePCA(1, n_nonzero=40, solver="exact", random_state=0).fit(faces)
    print(f"\n{one.certificate_}")
    save(ImagePartsDisplay.from_estimator(model, (19, 19), on_mean=True), folder / "parts.png")
    save(ImagePartsDisplay(pca.components_.reshape(6, 19, 19)).plot(), folder / "eigenfaces.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else IMAGES)
