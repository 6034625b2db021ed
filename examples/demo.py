"""What `make demo` shows: few features, what they keep, and what is proved, on bundled data."""

from pathlib import Path

from sklearn.datasets import load_breast_cancer, load_wine

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.datasets import load_pitprops
from sparing.report import explore
from sparing.show.cli.text import loadings_table

pitprops = load_pitprops()
model = SparseEncoder(n_components=2, n_nonzero=5, precomputed=True).fit(pitprops.correlation)
print("Pit props (13 measurements of timber), 5 features:\n")
print(model.certificate_, end="\n\n")
print(loadings_table(model.components_, pitprops.feature_names), end="\n\n")
print("Checked again from the data:", model.certificate_.recheck(pitprops.correlation), end="\n\n")

cancer = load_breast_cancer()
model = SparseEncoder(n_components=3, scale=True).fit(cancer.data)
print("Breast cancer (30 measurements of cells), the fewest features found that keep 90% of PCA's variance:\n")
print(model.certificate_, end="\n\n")
print(loadings_table(model.components_, list(cancer.feature_names)))

model = SparsePCA(n_components=3, n_nonzero=5, scale=True, random_state=0).fit(load_wine().data)
print("\nWine (13 measurements), components of maximal variance with 5 features each:\n")
print(model.certificate_, end="\n\n")
print(loadings_table(model.components_, list(load_wine().feature_names)))

model = SparsePCA(n_nonzero=6, solver="exact", scale=True, random_state=0).fit(cancer.data)
print("\nBreast cancer, the best single component with 6 features of all 593,775 choices:\n")
print(model.certificate_)

model = NonnegativeSparsePCA(n_nonzero=10, precomputed=True, random_state=0).fit(pitprops.correlation)
print("\nPit props, the best component without negative loadings of at most 10 features:\n")
print(model.certificate_, end="\n\n")
print(loadings_table(model.components_, pitprops.feature_names))

wine = load_wine()
out = Path(__file__).resolve().parents[1] / "out"
out.mkdir(exist_ok=True)
page = explore(
    wine.data,
    out / "wine.html",
    scale=True,
    labels=wine.target_names[wine.target],
    feature_names=wine.feature_names,
    title="Wine: 13 measurements of three cultivars",
    random_state=0,
)
print(f"\nWine, every number of features: open {page} in a browser.")
