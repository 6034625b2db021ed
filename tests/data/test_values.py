"""What is read is what was passed, shifted and scaled; what is not known or not a number is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sparing.data import as_rows
from sparing.data.values import read_table
from sparing.errors import NotFiniteError

STORAGES = pytest.mark.parametrize("storage", [np.asarray, sparse.csc_array], ids=["dense", "sparse"])


def read(X, **settings):
    """The table of X; what is sparse stays sparse."""
    return read_table(as_rows(X), dense_entries=0, **settings)


def data(rng):
    X = np.round(rng.standard_normal((12, 6)), 2) * (rng.random((12, 6)) < 0.7)
    X[:, 2], X[:, 4] = 7.0, 0.0
    return X


@STORAGES
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("scale", [False, True])
def test_values_moments_and_constants(storage, missing, scale, rng):
    X = data(rng)
    if missing:
        X[0, 0] = X[3, 1] = X[2, 2] = X[5, 5] = np.nan
    table = read(storage(X), scale=scale, missing=True)
    dense = table.columns(slice(None))
    expected = (X - table.center) / table.scale * table.unit
    expected[:, [2, 4]] = 0.0
    np.testing.assert_allclose(dense, np.nan_to_num(expected), atol=1e-14)
    assert np.count_nonzero(table.varying) == 4
    if missing:
        np.testing.assert_array_equal(np.isnan(X), table.missing if storage is np.asarray else table.missing.toarray())
    if scale:
        varying = [0, 1, 3, 5]
        np.testing.assert_allclose(table.scale[varying], np.nanstd(X, axis=0, ddof=1)[varying])


@STORAGES
def test_permuting_moves_values_within_their_feature_and_what_is_missing_with_them(storage, rng):
    X = data(rng)
    X[0, 0] = X[3, 1] = np.nan
    table = read(storage(X), missing=True)
    with table.permuted(rng) as other:
        before, after = table.columns(slice(None)), other.columns(slice(None))
        gone = [part.missing if storage is np.asarray else part.missing.toarray() for part in (table, other)]
    assert not np.array_equal(before, after)
    np.testing.assert_array_equal(np.sort(before, axis=0), np.sort(after, axis=0))
    np.testing.assert_array_equal(gone[0].sum(axis=0), gone[1].sum(axis=0))
    assert not after[gone[1] > 0].any()


@STORAGES
def test_permutations_of_features_are_independent(storage, rng):
    X = np.arange(1.0, 201.0)[:, None] * np.ones(3)
    with read(storage(X)).permuted(rng) as other:
        assert np.abs(np.corrcoef(other.columns(slice(None)).T) - np.eye(3)).max() < 0.3


@pytest.mark.parametrize("block_entries", [1, 100, 2**20])
def test_values_are_moved_back_after_a_permutation_and_the_next_one_is_another(block_entries, rng):
    table = read(rng.standard_normal((30, 7)), block_entries=block_entries)
    before, seen = table.columns(slice(None)).copy(), []
    for _ in range(2):
        with table.permuted(rng) as other:
            seen.append(other.columns(slice(None)).copy())
            np.testing.assert_array_equal(np.sort(seen[-1], axis=0), np.sort(before, axis=0))
        np.testing.assert_array_equal(table.columns(slice(None)), before)
    assert not np.array_equal(seen[0], seen[1])
    assert not np.array_equal(seen[0], before)


@STORAGES
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_flaws_are_located(storage, value, rng):
    X = data(rng)
    X[7, 3] = X[8, 1] = value
    for missing in [False] if np.isnan(value) else [False, True]:
        with pytest.raises(NotFiniteError) as flaw:
            read(storage(X), missing=missing)
        assert (flaw.value.row, flaw.value.column) == (7, 3)


@pytest.mark.parametrize("size", [1e-145, 1e150])
def test_units_out_of_range_get_a_sentence(size, rng):
    with pytest.raises(ValueError, match="Change the unit of the data"):
        read(data(rng) * size)
