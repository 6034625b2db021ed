"""What notebooks show: certificates and paths as escaped HTML, estimators as scikit-learn shows them."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

from sparing import (
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparsePCA,
    SparsePCARegressor,
    certificates,
    sparsity_path,
)

X = np.random.default_rng(0).standard_normal((40, 6)) * np.arange(1, 7)


@pytest.fixture(scope="module")
def fitted():
    models = [
        SparseEncoder(2, n_nonzero=3),
        SparsePCA(2, n_nonzero=2, effort="quick"),
        NonnegativeSparsePCA(2, n_nonzero=2, effort="quick"),
        DoublySparseEncoder(2, n_nonzero=3, n_rows=8),
        SparsePCARegressor(2, n_nonzero=3),
    ]
    return [*(model.fit(X, X[:, 0]) for model in models), SparseEncoder(2, n_nonzero=3).partial_fit(X)]


def test_certificates_of_every_kind_are_shown_as_their_sentences(fitted):
    kinds = {getattr(certificates, name) for name in certificates.__all__ if name.endswith("Certificate")}
    assert {type(model.certificate_) for model in fitted} == kinds
    for model in fitted:
        html = model.certificate_._repr_html_()
        assert set(re.findall(r"<[^>]*>", html)) == {"<div>", "</div>", "<p>", "</p>", "<strong>", "</strong>"}
        text = unescape(re.sub(r"<[^>]*>", "\n", html))
        assert [line for line in text.splitlines() if line] == str(model.certificate_).splitlines()


def test_estimators_are_shown_as_scikit_learn_does(fitted):
    assert all("sk-top-container" in model._repr_html_() for model in fitted)


def test_names_in_paths_are_text():
    pd = pytest.importorskip("pandas")
    names = ["<script>alert(1)</script>", '"quoted" & more', "é🎉", "שלום", "e", "f"]
    html = sparsity_path(pd.DataFrame(X, columns=names), 2, random_state=0)._repr_html_()
    assert set(re.findall(r"</?(\w+)", html)) == {"table", "thead", "tbody", "tr", "th", "td"}
    assert names[0] in unescape(html)
