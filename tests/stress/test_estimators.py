"""Every estimator under stress: a model that is what it says, or a sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparing import SparseEncoder, SparsePCA, certify, explained_variance, information_loss, polish, sparsity_path
from stress.files import FORMATS
from stress.models import (
    MODELS,
    PUBLIC,
    assert_components_sound,
    assert_reads_only_its_own,
    assert_sound,
    dense,
)
from stress.outcomes import IS_STRESS, examples_of, outcome
from stress.tables import KINDS, LARGEST_OF_ALL, STORAGES, Weather, tables

GUIDE = Path(__file__).parents[2] / "docs" / "robustness.md"
every_model = pytest.mark.parametrize("name", MODELS)


def test_every_public_estimator_is_here():
    assert {name.split()[-1] for name in MODELS} == PUBLIC


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of this copy")
def test_the_guide_counts_what_there_is():
    counts = (
        f"{len(MODELS)} kinds of models",
        f"tables of {len(KINDS)} kinds",
        f"1 to {LARGEST_OF_ALL} rows",
        f"in {len(STORAGES)} storages",
        f"valid files of {len(FORMATS) - 1} kinds and a saved model",
    )
    text = GUIDE.read_text()
    assert [count for count in counts if count not in text] == []


def targets(table: Weather) -> np.ndarray:
    """One or two, of any size."""
    rng = np.random.default_rng(table.seed)
    Y = rng.standard_normal((table.n, 1 + table.seed % 3)) * table.scale
    return Y[:, 0] if table.seed % 3 == 0 else Y


@every_model
@examples_of(8)
@given(data=st.data())
def test_a_sound_model_or_a_sentence(name, data):
    model, table = data.draw(MODELS[name]), data.draw(tables())
    if name == "SparsePCARegressor":
        y = targets(table)
        fitted = outcome(lambda: model.fit(table.X, y))
        if fitted is not None:
            assert outcome(lambda: model.predict(table.X)) is not None
            assert model.certificate_.recheck(table.X, y)
    else:
        fitted = outcome(lambda: model.fit(table.X))
    if fitted is None:
        return
    assert_sound(model, table.X)
    if hasattr(model, "components_") and name != "SparsePCARegressor":
        assert_components_sound(model, table.X)
    if hasattr(model, "components_"):
        outcome(lambda: assert_reads_only_its_own(model, dense(table.X)))
    elif hasattr(model, "transform"):
        assert np.isfinite(dense(outcome(lambda: model.transform(table.X)))).all()


@examples_of(12)
@given(table=tables(largest=20), k=st.integers(1, 3), r=st.integers(1, 8), scale=st.booleans(), pca=st.booleans())
def test_covariances(table, k, r, scale, pca):
    X = dense(table.X)
    with np.errstate(all="ignore"):
        C = X.T @ X
    make = SparsePCA if pca else SparseEncoder
    model = make(k, n_nonzero=r, precomputed=True, scale=scale, random_state=0)
    if outcome(lambda: model.fit(C)) is not None:
        assert_sound(model, C)
        assert_components_sound(model, C)


@examples_of(5)
@given(table=tables(largest=25), k=st.integers(1, 3), density=st.floats(0.05, 1), scale=st.booleans())
def test_foreign_loadings(table, k, density, scale):
    rng = np.random.default_rng(table.seed)
    H = np.where(rng.random((k, table.d)) < density, rng.standard_normal((k, table.d)), 0.0) * 10.0 ** rng.integers(
        -9, 9
    )
    for objective in ("loss", "variance"):
        certificate = outcome(lambda o=objective: certify(H, table.X, objective=o, scale=scale, random_state=0))
        if certificate is not None:
            assert 0 <= certificate.gap <= 1
            assert certificate.recheck(table.X), str(certificate.recheck(table.X))
        for swaps in (False, True):
            better = outcome(lambda o=objective, s=swaps: polish(H, table.X, objective=o, swaps=s, scale=scale))
            if better is not None:
                np.testing.assert_allclose(np.linalg.norm(better, axis=1), 1, atol=1e-9)
                assert np.all(np.count_nonzero(better, axis=1) <= np.count_nonzero(H, axis=1))
    lost = outcome(lambda: information_loss(H, table.X, scale=scale))
    assert lost is None or 0 <= lost < np.inf
    for definition in ("information", "symmetric", "basis", "adjusted"):
        shares = outcome(lambda d=definition: explained_variance(H, table.X, definition=d, scale=scale))
        assert shares is None or (np.isfinite(shares).all() and shares.max() <= 1 and shares.min() >= -1e-6)


@examples_of(8)
@given(table=tables(largest=25 if IS_STRESS else 12), k=st.integers(1, 3), improve=st.booleans(), scale=st.booleans())
def test_paths(table, k, improve, scale):
    path = outcome(lambda: sparsity_path(table.X, k, improve=improve, scale=scale, random_state=0))
    if path is not None:
        assert np.all(path.loss_ratio >= 1)
        assert not np.isnan(path.bound).any()
        assert np.all(path.bound <= path.loss_ratio * (1 + 1e-9))
        assert [len(support) for support in path.supports] == list(path.n_features)
        assert all(np.all(np.diff(support) > 0) for support in path.supports)


COLUMNS = {
    "numbers": lambda n: np.arange(n) + 0.5,
    "words": lambda n: ["a", "b"] * (n // 2) + ["a"] * (n % 2),
    "categories": lambda n: pd.Categorical(["a", "b"] * (n // 2) + ["a"] * (n % 2)),
    "whole and missing": lambda n: pd.array([1, None] * (n // 2) + [2] * (n % 2), dtype="Int64"),
    "whole": lambda n: pd.array(range(n), dtype="UInt8"),
    "true or missing": lambda n: pd.array([True, None] * (n // 2) + [False] * (n % 2), dtype="boolean"),
    "dates": lambda n: pd.date_range("2020-01-01", periods=n),
    "dates and zones": lambda n: pd.date_range("2020-01-01", periods=n, tz="Europe/Berlin"),
    "durations": lambda n: pd.to_timedelta(np.arange(n), unit="h"),
    "periods": lambda n: pd.period_range("2020-01", periods=n, freq="M"),
    "intervals": lambda n: pd.interval_range(0, n),
    "complex": lambda n: np.arange(n) * 1j,
    "lists": lambda n: [[1, 2]] * n,
    "none": lambda n: [None] * n,
    "huge whole": lambda n: [10**400] * n,
    "sparse": lambda n: pd.arrays.SparseArray(np.arange(n) % 2),
    "numbers as words": lambda n: [str(i) for i in range(n)],
}


@examples_of(25)
@given(
    kinds=st.lists(st.sampled_from(tuple(COLUMNS)), min_size=1, max_size=5),
    n=st.integers(2, 12),
    names=st.sampled_from(["words", "numbers", "both", "equal", "levels"]),
    in_polars=st.booleans(),
    name=st.sampled_from(tuple(MODELS)),
    data=st.data(),
)
def test_mixed_frames(kinds, n, names, in_polars, name, data):
    model = data.draw(MODELS[name])
    frame = pd.DataFrame({j: COLUMNS[kind](n) for j, kind in enumerate(kinds)})
    if names == "words":
        frame.columns = [f"f{j}" for j in range(len(kinds))]
    elif names == "both":
        frame.columns = [f"f{j}" if j % 2 else j for j in range(len(kinds))]
    elif names == "equal":
        frame.columns = ["same"] * len(kinds)
    elif names == "levels":
        frame.columns = pd.MultiIndex.from_tuples([("a", j) for j in range(len(kinds))])
    X = frame
    if in_polars and names == "words":
        import polars as pl

        try:
            X = pl.from_pandas(frame)
        except Exception:  # polars has no such columns
            return
    fitted = outcome(lambda: model.fit(X, np.arange(n)) if name == "SparsePCARegressor" else model.fit(X))
    if fitted is not None:
        assert_sound(model, X)
