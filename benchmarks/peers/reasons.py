"""The words of the page: what is compared, and why a peer is ahead where it is."""

from __future__ import annotations

INTRODUCTION = """# Benchmarks: other packages

`make peers` runs this library beside what else there is on PyPI, on the same data with the same number of features, and
writes this page. Versions: {versions}. scikit-matter accepts no later scikit-learn, so all run in an environment
of their own.

Everybody gets the same matrix, and may use as many features per component. scikit-learn has a penalty instead of a
number: its `alpha` is the largest found, by bisection, that leaves every component enough features, and the largest
entries are kept. sparsepca has penalties too: of ten, the one whose largest entries lose least. *Seconds* are of the
last fit alone; *search* is what it took to find the penalty (`python benchmarks/peers/tune.py`, kept in
`penalties.json`), for which a user waits as well. abess returns loadings of 1 where features outnumber rows; there it
gets the covariance, with 1e-10 of the mean variance added to its diagonal. No peer reads sparse data: each gets a dense
copy, which counts as its memory.

Seconds are CPU time on one BLAS thread, the least of a few fits after a small one; MiB is the peak beyond the data and
what is imported. Every cell is a process of its own, given up after 60 seconds or 4 GiB. Our fits make no certificate,
since no other package has any.

The *loss ratio* is the information loss over PCA's: what the best linear decoder cannot rebuild from the scores.
Variances are percent of the total, [by name](choose.md#which-variance); *basis* is not shown because its total is that
of *symmetric*. For columns that all components share, the loss is that of the best encoder that reads them.
"""

VERDICT = """
A peer is ahead in a cell if it is ahead of *all* our methods on this data set, in the digits shown: in seconds and MiB
of all that lose no more, and, a second reading, of all that have no less symmetric variance; by 20% of the time or
8 MiB at least, since what is closer is noise. Such cells are bold in the tables below, and these are all of them:
"""

ONE_PASS = (
    "it stops at the first optimum that splicing from one start reaches, in compiled code and from a covariance in "
    "memory; ours start from several points and exchange features of all components, in NumPy, for more variance and "
    "less loss. A difference of a tenth of a second at most"
)
NO_VARIANCE = (
    "farthest points need one distance per feature and step and no spectrum; what the features tell of the principal "
    "components is never asked, and the loss shows it. All of ours compute the principal components first"
)
ONE_VECTOR = (
    "one leading vector at a time of a matrix this small is a matter of milliseconds, as is our fit, which checks the "
    "data, computes the principal components and makes a decoder"
)
FEW_STEPS = (
    "a few proximal steps on a small Gram matrix, with a penalty that was found before and is not counted (search); "
    "ours finds exact counts by itself"
)
TUNED = (
    "the penalty was found before and is not counted (search); the fit itself is one regression path per component. "
    "Ours that lose no more search for features, and find more variance or less loss"
)
ADJUSTED = (
    "adjusted variance rewards scores that happen to be little correlated, and depends on the order; nothing here "
    'optimises it over all components. Ours nearest to it is `deflation="schur"`, the best for each component in turn'
)
NO_SEARCH = (
    "it keeps no Gram columns and no principal components of the whole; ours keeps those of the features that it "
    "tries, a few MiB"
)

REASONS: dict[tuple[str, str], str] = {
    ("abess SparsePCA", "seconds"): ONE_PASS,
    ("abess SparsePCA", "adjusted"): ADJUSTED,
    ("abess SparsePCA", "memory"): NO_SEARCH,
    ("sparsepca spca", "seconds"): FEW_STEPS,
    ("sparsepca spca", "adjusted"): ADJUSTED,
    ("sparsepca spca", "memory"): NO_SEARCH,
    ("scikit-learn SparsePCA", "seconds"): TUNED,
    ("scikit-learn SparsePCA", "adjusted"): ADJUSTED,
    ("scikit-learn SparsePCA", "memory"): NO_SEARCH,
    ("scikit-learn MiniBatchSparsePCA", "seconds"): TUNED,
    ("scikit-learn MiniBatchSparsePCA", "adjusted"): ADJUSTED,
    ("scikit-learn MiniBatchSparsePCA", "memory"): NO_SEARCH,
    ("scikit-matter FPS", "seconds"): NO_VARIANCE,
    ("scikit-matter FPS", "memory"): NO_SEARCH,
    ("scikit-matter CUR", "seconds"): ONE_VECTOR,
    ("scikit-matter CUR", "memory"): NO_SEARCH,
    ("scikit-matter CUR, k vectors", "seconds"): ONE_VECTOR,
    ("scikit-matter CUR, k vectors", "memory"): NO_SEARCH,
}
"""By method and column; loss and symmetric variance have no excuse."""

PANELS = """## Panels and sensors: new samples

Which few features predict all others on samples that nobody has seen? `make peers ONLY=panels` runs this section. It
compares PySensors (sensors by pivoted QR, `CCQR` with costs, `GQR` with a region), scikit-matter (CUR and FPS) and
the PCA selection of spapros with `SparseEncoder`: with `n_components=None`, every feature is predicted from all chosen
ones; with k, through k scores.

The error is the share of the squares of held-out rows, about the means of the fit, that the prediction leaves: four
fifths of the rows choose features and fit the decoder, the other fifth is predicted, over at least 2,000 rows in all.
*Least squares* is one decoder for everybody, from all chosen features; *own decoder* is what the package predicts: for
PySensors the one of its two ways that is better on the rows of the fit. CUR, farthest points and spapros predict
nothing. *Rows of the fit* is the error of least squares there.

Everybody gets the same number of features. QR ranks as many sensors as there are modes and shuffles the others, so it
is run with k modes and with as many as sensors. CCQR knows weights and no budget: costs get the smallest weight with
which its sensors fit into the budget, which is halfway between the cheapest features and those that QR takes without a
look at costs. Every choice is checked against its rule. `pbmc` are the 1,000 most variable genes: CUR needs a
dense table, and time. Free choices on the spectra are close to
a tie: with one round of folds instead of four, CUR was ahead.
"""

PANEL_REASONS: dict[str, str] = {}
"""By method, where it is ahead on new samples."""
