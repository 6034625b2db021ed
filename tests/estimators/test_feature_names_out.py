"""Scores that are called after the features that they read."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparing import (
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseEncoderCV,
    SparsePCA,
    load_model,
    save_model,
)

NAMES = [f"gene {j} " + "x" * (50 if j == 0 else 1) for j in range(8)]

MODELS = {
    "encoder": SparseEncoder(2, n_nonzero=4),
    "cross-validated": SparseEncoderCV((1, 2), n_nonzero=3, noise_variance=None, cv=2),
    "components": SparsePCA(2, n_nonzero=2),
    "nonnegative": NonnegativeSparsePCA(2, n_nonzero=1),
    "doubly sparse": DoublySparseEncoder(2, n_nonzero=2, n_rows=30),
}


def table(rng):
    return rng.standard_normal((40, 2)) @ rng.standard_normal((2, 8)) + 0.3 * rng.standard_normal((40, 8))


def leading(components, names):
    """At most three names by falling loadings; spelled out again, with sorted pairs."""
    out = []
    for loadings in components:
        pairs = sorted(((-abs(value), j) for j, value in enumerate(loadings) if value), key=lambda pair: pair[0])
        cut = [names[j] if len(names[j]) <= 40 else names[j][:39] + "…" for _, j in pairs[:3]]
        name = "+".join(cut)
        out.append(name if name not in out else f"{name}-1")
    return out


@pytest.mark.parametrize("kind", MODELS)
def test_scores_are_called_after_their_features(kind, rng, tmp_path):
    X = table(rng)
    frame = pd.DataFrame(X, columns=NAMES)
    model = clone(MODELS[kind]).set_params(feature_names_out="leading", effort="quick", certify=False)
    fitted = clone(model).set_output(transform="pandas").fit(frame)
    wanted = leading(fitted.components_, NAMES)
    assert fitted.transform(frame).columns.to_list() == wanted
    piped = make_pipeline(StandardScaler(), clone(model)).set_output(transform="polars")
    polars = piped.fit_transform(pl.DataFrame(X, schema=NAMES)).columns
    assert polars == leading(piped[-1].components_, NAMES) == list(piped.get_feature_names_out())
    save_model(fitted, tmp_path / "model")
    assert list(load_model(tmp_path / "model").get_feature_names_out()) == wanted
    bare = clone(model).fit(X)
    assert list(bare.get_feature_names_out()) == leading(bare.components_, [f"x{j}" for j in range(8)])
    assert list(bare.get_feature_names_out(NAMES)) == wanted
    prefix = type(model).__name__.lower()
    assert fitted.set_params(feature_names_out="numbered").get_feature_names_out()[0] == f"{prefix}0"


def test_names_are_unique_and_others_refused(rng):
    X = np.outer(rng.standard_normal(40), [3.0, 2.0, 1.0, 0.1]) + 1e-3 * rng.standard_normal((40, 4))
    fitted = SparsePCA(2, n_nonzero=1, constraint=None, feature_names_out="leading").fit(X)
    fitted.components_[1] = fitted.components_[0]
    assert list(fitted.get_feature_names_out()) == ["x0", "x0-1"]
    with pytest.raises(ValueError, match="feature_names_out='first' is not known"):
        SparseEncoder(feature_names_out="first").fit(X)
    with pytest.raises(ValueError, match="input_features"):
        fitted.get_feature_names_out(["a", "b"])
