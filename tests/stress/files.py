"""Small valid files of every format, and what hostile people or broken disks make of them."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import zarr
from hypothesis import strategies as st
from scipy import io, sparse

from sparing import SparseEncoder, save_model

X = np.random.default_rng(0).poisson(1.0, (12, 4)) + np.eye(12, 4)


def write_npy(folder: Path) -> Path:
    np.save(folder / "X.npy", X)
    return folder / "X.npy"


def write_npz(folder: Path) -> Path:
    np.savez_compressed(folder / "X.npz", X=X, y=X[:, 0])
    return folder / "X.npz"


def write_sparse_npz(folder: Path) -> Path:
    sparse.save_npz(folder / "X.npz", sparse.csr_array(X))
    return folder / "X.npz"


def write_stored_npz(folder: Path) -> Path:
    np.savez(folder / "X.npz", X=X)
    return folder / "X.npz"


def write_h5(folder: Path) -> Path:
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(5, 2), compression="gzip")
    return folder / "X.h5"


def write_plain_h5(folder: Path) -> Path:
    with h5py.File(folder / "X.h5", "w") as file:
        file["X"] = X
    return folder / "X.h5"


def h5ad(layout: str):
    def write(folder: Path) -> Path:
        S = sparse.csr_array(X).asformat(layout)
        with h5py.File(folder / "X.h5ad", "w") as file:
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{layout}_matrix", X.shape
            group["data"], group["indices"], group["indptr"] = S.data, S.indices, S.indptr
            names = file.create_group("var")
            names.attrs["_index"], names["gene"] = "gene", [b"a", b"b", b"c", b"d"]
        return folder / "X.h5ad"

    return write


def write_zarr(folder: Path) -> Path:
    zarr.save_array(str(folder / "X.zarr"), X)
    return folder / "X.zarr"


def write_parquet(folder: Path) -> Path:
    table = pd.DataFrame(X, columns=list("abcd")).assign(word="a", whole=range(len(X)))
    table.to_parquet(folder / "X.parquet", engine="pyarrow")
    return folder / "X.parquet"


def text(ending: str):
    def write(folder: Path) -> Path:
        separator = "," if ending == ".csv" else "\t"
        pd.DataFrame(X, columns=list("abcd")).assign(e="x").to_csv(folder / f"X{ending}", sep=separator, index=False)
        return folder / f"X{ending}"

    return write


def packed(ending: str, encoding: str = "utf-8"):
    def write(folder: Path) -> Path:
        import pyarrow as pa

        plain = pd.DataFrame(X + 0.5, columns=list("abcd")).to_csv(sep=";", decimal=",", index=False).encode(encoding)
        with pa.output_stream(
            str(folder / f"X{ending}"), compression={".gz": "gzip", "bz2": "bz2"}.get(ending[-3:], "zstd")
        ) as file:
            file.write(plain)
        return folder / f"X{ending}"

    return write


def write_parquet_folder(folder: Path) -> Path:
    (folder / "X").mkdir()
    for part in range(2):
        half = X[6 * part : 6 * part + 6]
        pd.DataFrame(half, columns=list("abcd")).to_parquet(folder / "X" / f"{part}.parquet", engine="pyarrow")
    return folder / "X"


def write_tenx(folder: Path) -> Path:
    (folder / "X").mkdir()
    io.mmwrite(folder / "X" / "matrix.mtx", sparse.coo_array(X.T))
    (folder / "X" / "features.tsv").write_text("".join(f"id{j}\t{name}\tGene\n" for j, name in enumerate("abcd")))
    (folder / "X" / "barcodes.tsv").write_text("".join(f"cell{i}\n" for i in range(len(X))))
    return folder / "X"


def write_tenx_h5(folder: Path) -> Path:
    S = sparse.csc_array(X.T)
    with h5py.File(folder / "X.h5", "w") as file:
        group = file.create_group("matrix")
        group["data"], group["indices"], group["indptr"], group["shape"] = S.data, S.indices, S.indptr, S.shape
        group["barcodes"], group["features/name"] = [b"c"] * len(X), [b"a", b"b", b"c", b"d"]
    return folder / "X.h5"


def write_sparse_zarr(folder: Path) -> Path:
    S = sparse.csr_array(X)
    group = zarr.open_group(str(folder / "X.zarr"), mode="w")
    inner = group.create_group("X")
    inner.attrs.update({"encoding-type": "csr_matrix", "shape": list(X.shape)})
    for name in ("data", "indices", "indptr"):
        inner.create_array(name, data=getattr(S, name))
    return folder / "X.zarr"


def write_mtx(folder: Path) -> Path:
    io.mmwrite(folder / "X.mtx", sparse.coo_array(X))
    return folder / "X.mtx"


def write_dense_mtx(folder: Path) -> Path:
    io.mmwrite(folder / "X.mtx", X)
    return folder / "X.mtx"


def write_bed(folder: Path) -> Path:
    from bed_reader import to_bed

    to_bed(folder / "X.bed", np.minimum(X, 2), properties={"sid": list("abcd")})
    return folder / "X.bed"


def write_model(folder: Path) -> Path:
    save_model(SparseEncoder(2, n_nonzero=3, random_state=0).fit(X), folder / "X.model")
    return folder / "X.model"


FORMATS = {
    "npy": write_npy,
    "npz": write_npz,
    "npz, stored": write_stored_npz,
    "npz, sparse": write_sparse_npz,
    "h5": write_h5,
    "h5, plain": write_plain_h5,
    "h5ad, csr": h5ad("csr"),
    "h5ad, csc": h5ad("csc"),
    "zarr": write_zarr,
    "parquet": write_parquet,
    "zarr, sparse": write_sparse_zarr,
    "parquet, folder": write_parquet_folder,
    "h5, Cell Ranger": write_tenx_h5,
    "mtx, Cell Ranger": write_tenx,
    "csv.zst": packed(".csv.zst"),
    "csv.bz2": packed(".csv.bz2"),
    "txt.gz": packed(".txt.gz", "utf-16"),
    "csv": text(".csv"),
    "tsv": text(".tsv"),
    "mtx": write_mtx,
    "mtx, dense": write_dense_mtx,
    "bed": write_bed,
    "model": write_model,
}

MISHAPS = ("flip", "cut", "number", "word", "swap", "insert", "repeat", "header of another")

ABSURD = (0, 1, -1, 2**15, 2**31 - 1, 2**32 - 1, 2**53, 2**62, 2**63 - 1)


@st.composite
def damage(draw: st.DrawFn, whole: bytes, others: list[bytes]) -> bytes:
    """The bytes of a file after one to three mishaps; where they are is told in shares of what there is."""

    def share_of(count: int) -> int:
        return draw(st.integers(0, 9999)) * count // 10_000

    for _ in range(draw(st.integers(1, 3))):
        kind, at = draw(st.sampled_from(MISHAPS)), share_of(len(whole))
        if kind == "flip":
            whole = (
                whole[:at] + bytes(byte ^ draw(st.integers(1, 255)) for byte in whole[at : at + 1]) + whole[at + 1 :]
            )
        elif kind == "cut":
            whole = whole[:at]
        elif kind == "number":  # one that is written in digits becomes an absurd one
            places, number = list(re.finditer(rb"\d+", whole)), str(draw(st.sampled_from(ABSURD))).encode()
            for place in places[(chosen := share_of(len(places))) : chosen + 1]:
                whole = whole[: place.start()] + number + whole[place.end() :]
        elif kind == "word":  # so does one written in bytes
            width = draw(st.sampled_from([2, 4, 8]))
            number = struct.pack("<Q", draw(st.sampled_from(ABSURD)) % 2**64)[:width]
            whole = whole[:at] + number + whole[at + width :]
        elif kind == "swap":
            to, size = share_of(len(whole)), draw(st.integers(1, 64))
            whole = whole[:to] + whole[at : at + size] + whole[to + size :]
        elif kind == "insert":
            whole = whole[:at] + draw(st.binary(min_size=1, max_size=16)) + whole[at:]
        elif kind == "repeat":
            whole = whole[:at] + whole[at : at + 64] * draw(st.integers(2, 40)) + whole[at:]
        else:
            whole = others[share_of(len(others))][: draw(st.integers(1, 256))] + whole[at:]
    return whole
