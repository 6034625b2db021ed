"""The words of the page: what is compared, and why a peer is ahead where it is."""

from __future__ import annotations

INTRODUCTION = """<!-- executed -->
# Benchmarks: other packages

*Is another package better, faster or smaller on the same data?*

After this page you know where other packages on PyPI are ahead and why, and you can judge the loadings of any package
on your own data:

```python
import sparing
from sklearn.datasets import load_wine
from sklearn.decomposition import SparsePCA
from sklearn.preprocessing import scale

X = scale(load_wine().data)  # 178 wines, 13 measurements each
theirs = SparsePCA(3, alpha=2, random_state=0).fit(X).components_
counts = [int((row != 0).sum()) for row in theirs]
ours = sparing.SparsePCA(3, n_nonzero=counts).fit(X)
print(sparing.certify(theirs, X, objective="variance"))
print(ours.certificate_)
```

```
```

`make peers` runs the comparison and writes this page. Versions: {versions}. All packages run in one separate
environment, because scikit-matter does not accept newer versions of scikit-learn.

{count}

![Excess loss against seconds, all data sets](images/peers/loss_against_seconds.png)

## How the packages are compared

- **Same data, same number of features.** Every method gets the same matrix and the same number of features per
  component.
- **Penalties.** scikit-learn has a penalty instead of a count: bisection finds the largest `alpha` that leaves every
  component enough features, and the largest entries are kept. For sparsepca the best of ten penalties is used.
  *Seconds* is the time of the last fit. *Search* is the time to find the penalty (`python benchmarks/peers/tune.py`,
  stored in `penalties.json`), which a user needs as well.
- **abess** returns loadings of 1 if features outnumber rows. It then gets the covariance, with 1e-10 of the mean
  variance added to the diagonal.
- **Sparse data.** No other package reads them. Each gets a dense copy, which counts as its memory.
- **Time and memory.** Seconds are CPU time on one BLAS thread, the minimum of a few fits after a small one. MiB is
  the peak beyond data and imports. Every cell runs in a separate process, which is stopped after 60 seconds or 4 GiB.
  `sparing` computes no certificate here, because no other package has one.
- **Quality.** The *loss ratio* is the information loss divided by PCA's: the part that the best linear decoder cannot
  rebuild from the scores. Variances are percent of the total, [by definition](choose.md#which-variance); *basis* has
  the same total as *symmetric* and is not shown. If all components share their columns, the loss is that of the best
  encoder on these columns.
"""

VERDICT = """
A peer is ahead in a cell if it is ahead of *all* methods of `sparing` on this data set, in the digits shown. In
seconds and MiB it is compared with the methods that lose no more, and again with those that have at least the same
symmetric variance; differences below 20% of the time or 8 MiB are ignored as noise. These cells are bold in the
tables below. The list is complete:
"""

ONE_PASS = (
    "it stops at the first optimum that splicing from one start reaches, in compiled code and from a covariance in "
    "memory; `sparing` starts from several points and swaps features of all components, in NumPy, for more variance "
    "and less loss"
)
NO_VARIANCE = (
    "farthest point sampling needs one distance per feature and step and no spectrum; it ignores the principal "
    "components, and its loss is higher. All methods of `sparing` compute the principal components first"
)
ONE_VECTOR = (
    "one leading vector at a time of a matrix this small takes milliseconds, as does our fit, which also checks the "
    "data, computes the principal components and fits a decoder"
)
FEW_STEPS = (
    "a few proximal steps on a small Gram matrix; the time to find the penalty is not counted (search), while "
    "`sparing` finds exact counts in the fit"
)
TUNED = (
    "the time to find the penalty is not counted (search); the fit itself is one regression path per component. "
    "The methods of `sparing` that lose no more search for features, and find more variance or less loss"
)
ADJUSTED = (
    "adjusted variance is large for scores with little correlation and depends on the order; no method here "
    'optimises it over all components. `deflation="schur"` comes closest: it is the best for each component in turn'
)
NO_SEARCH = (
    "it stores no Gram columns and no principal components; `sparing` stores those of the features that it tries"
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

Which few features predict all others on new samples? `make peers ONLY=panels` runs this section. It compares
PySensors (sensors by pivoted QR, `CCQR` with costs, `GQR` with a region), scikit-matter (CUR and FPS) and the PCA
selection of spapros with `SparseEncoder`. With `n_components=None` every feature is predicted from all chosen ones,
with k through k scores.

- **Error.** The sum of squares of held-out rows that the prediction leaves, as a share of the sum of squares about
  the means of the fit. Four fifths of the rows choose the features and fit the decoder, the other fifth is predicted,
  over at least 2,000 rows in total.
- **Columns.** *Least squares* uses the same decoder for every method, from all chosen features. *Own decoder* is the
  prediction of the package; for PySensors the better of its two on the rows of the fit. CUR, FPS and spapros do not
  predict. *Rows of the fit* is the least-squares error on the rows that chose the features.
- **Same number of features.** QR ranks only as many sensors as there are modes and shuffles the others, so it runs
  with k modes and with one mode per sensor.
- **Rules.** CCQR has weights on costs and no budget: it gets the smallest weight with which its sensors stay within
  the budget. The budget is halfway between the cheapest features and those that QR chooses without costs. Every
  choice is checked against its rule.
- **Data.** `pbmc` has the 1,000 most variable genes, because CUR needs a dense table and much time.
- Free choices on the spectra are close to a tie; with fewer rounds of folds CUR was ahead.
"""

PANEL_REASONS: dict[str, str] = {}
"""By method, where it is ahead on new samples."""
