"""PLINK files: missing genotypes are means, and blocks of people are those of the whole."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from sparing import SparseEncoder
from sparing.data.readers import open_data

bed_reader = pytest.importorskip("bed_reader")


COMPANIONS = {"iid": ".fam", "sid": ".bim"}


@pytest.fixture
def small(tmp_path):
    """A file of 23 people and 9 SNPs, and its values."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 3, (23, 9)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[:, 4] = np.nan
    values[:, 5] = 2
    bed_reader.to_bed(tmp_path / "g.bed", values, properties={"sid": [f"rs{j}" for j in range(9)]})
    return tmp_path / "g.bed", values


def genotypes(path):
    """All of a file; with both counts the package reads no names, which older versions leave open."""
    counts = {f"{kind}_count": len(path.with_suffix(end).read_text().splitlines()) for kind, end in COMPANIONS.items()}
    with bed_reader.open_bed(path, **counts) as file:
        return file.read(dtype="float64")


def imputed(values):
    counted = np.maximum((~np.isnan(values)).sum(axis=0), 1)
    means = np.nansum(values, axis=0) / counted
    return np.where(np.isnan(values), means, values), means


@pytest.mark.parametrize("block_bytes", [9 * 4 * 5, 2**26])
def test_missing_genotypes_are_the_mean(small, block_bytes):
    path, values = small
    rows = open_data(path, block_bytes=block_bytes)
    want, means = imputed(values)
    assert (rows.shape, rows.dtype, rows.feature_names) == ((23, 9), np.float32, [f"rs{j}" for j in range(9)])
    assert len(list(rows.blocks())) == (5 if block_bytes < 1000 else 1)
    np.testing.assert_allclose(rows.source, want, rtol=1e-6)
    p = means / 2
    deviation = np.sqrt(2 * p * (1 - p))
    scaled = open_data(path, block_bytes=block_bytes, scaling="binomial")
    np.testing.assert_allclose(scaled.source, want / np.where(deviation > 0, deviation, 1), rtol=1e-6)
    with rows:
        assert len(list(rows.blocks())) > 0


def test_people_and_file_must_agree(small):
    path, _ = small
    with pytest.raises(ValueError, match="scaling="):
        open_data(path, scaling="normal")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match=r"23 people in .fam and 9 SNPs in .bim make"):
        open_data(path)
    path.write_bytes(b"PK" + whole[2:])
    with pytest.raises(ValueError, match="not a PLINK file"):
        open_data(path)
    path.write_bytes(whole)
    path.with_suffix(".bim").unlink()
    with pytest.raises(ValueError, match=r"its companion file 'g.bim' is missing"):
        open_data(path)


@pytest.mark.long
def test_hapmap_from_the_file_is_hapmap_in_memory(shared_path):
    path = shared_path("genotypes/hapmap3_957.bed")
    rows = open_data(path, block_bytes=2**24)  # genotypes stay in memory, blocks of 148 people
    want, _ = imputed(genotypes(path))
    np.testing.assert_allclose(rows.source, want, rtol=1e-6)
    assert len(rows.feature_names) == 14079


def test_a_fit_of_2000_snps_from_the_file(tmp_path, shared_path):
    source = shared_path("genotypes/hapmap3_957.bed")
    n, few = 957, 2000
    (tmp_path / "few.bed").write_bytes(source.read_bytes()[: 3 + few * -(-n // 4)])
    shutil.copy(source.with_suffix(".fam"), tmp_path / "few.fam")
    lines = source.with_suffix(".bim").read_text().splitlines(keepends=True)[:few]
    (tmp_path / "few.bim").write_text("".join(lines))
    rows = open_data(tmp_path / "few.bed", block_bytes=2**20)  # in a temporary file, blocks of 65 people
    want, _ = imputed(genotypes(tmp_path / "few.bed"))
    encoder = SparseEncoder(2, n_nonzero=10, random_state=0)
    inside = encoder.fit(want.astype(np.float32)).components_
    np.testing.assert_allclose(encoder.fit(rows).components_, inside, atol=1e-8)
