"""Genotypes in PLINK files: 957 people x 14,079 SNPs against the same in memory, and 2,500 x 500,000 made ones."""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from measured import alone

PEOPLE, SNPS = 2_500, 500_000


def from_file(path: str, passes: str) -> dict[str, Any]:
    from sparing import SparseEncoder, open_data

    began = time.perf_counter()
    model = SparseEncoder(5, n_nonzero=40, passes=passes, random_state=0).fit(open_data(path))
    return {
        "fit": time.perf_counter() - began,
        "passes": model.n_passes_,
        "ratio": model.loss_ratio_,
        "components": model.components_,
    }


def in_memory(path: str) -> dict[str, Any]:
    from bed_reader import open_bed

    from sparing import SparseEncoder

    with open_bed(path) as file:
        X = file.read(dtype="float32").astype(np.float64)
    model = SparseEncoder(5, n_nonzero=40, missing="mean", random_state=0).fit(X)
    return {"components": model.components_, "ratio": model.loss_ratio_}


def write_made(path: Path) -> None:
    """Three populations with allele frequencies of their own, packed as PLINK does, SNP by SNP."""
    rng = np.random.default_rng(0)
    code = np.array([0b00, 0b10, 0b11], dtype=np.uint8)  # two, one and no copies of the first allele
    population = np.sort(rng.integers(0, 3, PEOPLE))
    with path.open("wb") as file:
        file.write(bytes([0x6C, 0x1B, 0x01]))
        for _ in range(0, SNPS, 5_000):
            base = rng.uniform(0.05, 0.5, (5_000, 1))
            frequency = np.clip(base + 0.08 * rng.standard_normal((5_000, 3)), 0.02, 0.98)[:, population]
            copies = rng.binomial(2, frequency).astype(np.uint8)
            quads = code[copies].reshape(5_000, PEOPLE // 4, 4)
            packed = quads[..., 0] | quads[..., 1] << 2 | quads[..., 2] << 4 | quads[..., 3] << 6
            file.write(packed.tobytes())
    path.with_suffix(".fam").write_text("".join(f"f{i} p{i} 0 0 0 -9\n" for i in range(PEOPLE)))
    path.with_suffix(".bim").write_text("".join(f"1 rs{j} 0 {j} A G\n" for j in range(SNPS)))


def main() -> None:
    shared = os.environ.get("SPARING_DATA")
    if shared:
        path = str(Path(shared) / "genotypes" / "hapmap3_957.bed")
        file, memory = alone(from_file, path, "any"), alone(in_memory, path)
        apart = np.abs(file["components"] - memory["components"]).max()
        print(f"Genotypes: 957 x 14,079 from the file and in memory: components differ by {apart:.1e} at most")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made.bed"
        write_made(path)
        found = alone(from_file, str(path), "few")
    print(
        f"Genotypes: made .bed of {PEOPLE:,} x {SNPS:,}: {found['passes']} passes, {found['fit']:.0f} s, peak of the "
        f"process {found['peak_mib'] / 1024:.2f} GiB (wanted: below 1.5), loss {found['ratio']:.4f} times PCA's\n"
    )


if __name__ == "__main__":
    main()
