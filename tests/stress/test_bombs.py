"""Small files that say, or unpack, to hold more than any memory: a sentence, before memory is taken."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import struct
import zipfile

import h5py
import numpy as np
import pytest
import zarr
from scipy import sparse

from sparing import load_model, open_data
from sparing.data.readers import base as room
from sparing.data.readers.text_format import LONGEST_LINE
from sparing.errors import ModelFileError, UnreadableError
from stress.files import X, h5ad, write_model, write_npz, write_parquet, write_sparse_npz

NO_ROOM = "its declared size does not fit in memory"


def array(shape, content=b"", descr="<f8") -> bytes:
    """A NumPy array whose header claims any shape."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": descr})
    return file.getvalue() + content


def replaced(path, name, content) -> None:
    """Another content for a part of an archive."""
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()} | {name: content}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, data in parts.items():
            archive.writestr(part, data)


@pytest.fixture
def little(monkeypatch):
    """A system that has 1 MB left."""
    monkeypatch.setattr(room, "available", lambda: 1e6)


def refused(path, sentence) -> None:
    with pytest.raises(UnreadableError, match=sentence):
        open_data(path)


def test_archives_that_claim_more_than_they_hold(tmp_path):
    path = write_npz(tmp_path)
    replaced(path, "X.npy", array((2**40, 4), b"123"))
    refused(path, r"3 bytes of 35184372088832 in 'X'")
    path = write_sparse_npz(tmp_path)
    replaced(path, "data.npy", array((2**40,), b"1"))
    refused(path, r"1 bytes of 8796093022208 in 'data'")


def test_archives_that_unpack_to_more_than_there_is(tmp_path, little):
    path = write_npz(tmp_path)
    replaced(path, "X.npy", array((2**18, 1), bytes(2**21)))
    assert path.stat().st_size < 5000
    refused(path, NO_ROOM)
    path = write_sparse_npz(tmp_path)
    replaced(path, "data.npy", array((2**18,), bytes(2**21)))
    refused(path, NO_ROOM)


def test_headers_that_are_endless(tmp_path):
    """Two GB were unpacked to look for a shape."""
    header = b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31 - 1)
    path = write_npz(tmp_path)
    replaced(path, "X.npy", header + bytes(2**20))
    refused(path, "EOF: reading array header")
    (tmp_path / "X.npy").write_bytes(header + bytes(2**10))
    refused(tmp_path / "X.npy", "EOF: reading array header")


@pytest.mark.parametrize("shape", [(2**50, 2**10), (-5, -2), (0, 3), (2**62, 2**62)])
def test_arrays_of_absurd_shapes(shape, tmp_path):
    (tmp_path / "X.npy").write_bytes(array(shape, b"1" * 1000))
    refused(tmp_path / "X.npy", r"bytes of|its shape is")


def test_a_single_array_named_as_an_archive_is_not_read(tmp_path):
    (tmp_path / "X.npz").write_bytes(array((2**40, 4), b"123"))
    refused(tmp_path / "X.npz", "it is a single array")


def test_pointers_and_names_that_are_not_stored(tmp_path):
    """An HDF5 file of a few KB took as much memory as its data sets claimed to be long."""
    path = h5ad("csr")(tmp_path)
    with h5py.File(path, "a") as file:
        del file["X/indptr"]
        file.create_dataset("X/indptr", shape=(2**45,), chunks=(100,), dtype=np.int64)
    refused(path, "its pointers do not fit its shape")
    path = h5ad("csr")(tmp_path)
    with h5py.File(path, "a") as file:
        del file["var/gene"]
        file.create_dataset("var/gene", shape=(2**45,), chunks=(100,), dtype="S8")
    refused(path, NO_ROOM)


def test_entries_that_are_not_stored(tmp_path):
    """Read for hours: zeros, all of them."""
    path = h5ad("csr")(tmp_path)
    with h5py.File(path, "a") as file:
        for name in ("data", "indices"):
            del file[f"X/{name}"]
            file.create_dataset(f"X/{name}", shape=(2**50,), chunks=(100,), dtype=np.int64)
        del file["X/indptr"]
        file["X/indptr"] = np.linspace(0, 2**50, 13).astype(np.int64)
    refused(path, "0 bytes are stored of")


def test_chunks_that_have_no_room(tmp_path, little):
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", data=np.zeros((2**18, 1)), chunks=(2**18, 1), compression="gzip")
    zarr.create_array(str(tmp_path / "X.zarr"), data=np.zeros((2**18, 1)), chunks=(2**18, 1))
    for name in ("X.h5", "X.zarr"):
        refused(tmp_path / name, NO_ROOM)


def test_tables_whose_row_has_no_room(tmp_path, little):
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", shape=(2, 2**18), chunks=(1, 100), dtype=np.float64)
    refused(tmp_path / "X.h5", NO_ROOM)


def number(value: int) -> bytes:
    """A whole number of 64 bits as a field of Parquet's header has it."""
    digits = [2 * value >> shift & 127 for shift in range(0, (2 * value).bit_length(), 7)]
    return b"\x16" + bytes([digit | 128 for digit in digits[:-1]] + digits[-1:])


@pytest.mark.filterwarnings("ignore:.* left out, because not numeric:sparing.errors.SparingWarning")
def test_parquet_of_rows_that_are_not_stored(tmp_path):
    """A run of one value may be of any length."""
    path = write_parquet(tmp_path)
    assert open_data(path).shape == (len(X), X.shape[1] + 1)
    content = path.read_bytes()
    body, header = content[: -8 - int.from_bytes(content[-8:-4], "little")], content[:-8]
    header = header[len(body) :].replace(number(len(X)), number(2**29), 1)
    path.write_bytes(body + header + struct.pack("<I", len(header)) + b"PAR1")
    refused(path, f"{path.stat().st_size} bytes are stored of {2**29 * 8 * (X.shape[1] + 1)}")


def test_lines_that_are_endless(tmp_path):
    for name, content in {"X.tsv": "a\tb\n1\t", "Y.csv": "x"}.items():
        with (tmp_path / name).open("wb") as file:  # zeros that take no room
            file.write(content.encode())
            file.truncate(LONGEST_LINE + len(content))
        refused(tmp_path / name, f"a line of it has more than {LONGEST_LINE} characters")
    (tmp_path / "X.mtx").write_text("%%MatrixMarket matrix array real general\n%" + "x" * 2**22 + "\n1 1\n1\n")
    refused(tmp_path / "X.mtx", "a line has more than")


def test_matrix_market_that_unpacks_to_more_than_there_is(tmp_path, little):
    content = "%%MatrixMarket matrix array real general\n40000 1\n" + "0\n" * 40000
    (tmp_path / "X.mtx.gz").write_bytes(gzip.compress(content.encode()))
    refused(tmp_path / "X.mtx.gz", NO_ROOM)


@pytest.mark.parametrize(("filters", "compressor"), [([{"id": "pickle"}], None), (None, {"id": "pickle"})])
def test_codecs_that_would_run_code(filters, compressor, tmp_path):
    folder = tmp_path / "X.zarr"
    folder.mkdir()
    metadata = {"zarr_format": 2, "shape": [4, 2], "chunks": [4, 2], "dtype": "<f8", "fill_value": 0, "order": "C"}
    (folder / ".zarray").write_text(json.dumps(metadata | {"filters": filters, "compressor": compressor}))

    class Hostile:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "run"),)

    (folder / "0.0").write_bytes(pickle.dumps(Hostile()))
    refused(folder, "Cannot read")
    assert not (tmp_path / "run").exists()


def test_genotypes_of_other_sizes_than_their_lists(tmp_path):
    from stress.files import write_bed

    path = write_bed(tmp_path)
    for size in (0, 3, 10**6):
        path.write_bytes(path.read_bytes()[:3].ljust(size, b"\0")[:size])
        refused(path, "its first bytes are not|bytes, but 12 people")


def test_an_array_of_a_model_is_read_once(tmp_path):
    """A model of a few MB that named its array a million times took all memory."""
    path = write_model(tmp_path)
    with zipfile.ZipFile(path) as archive:
        header = json.loads(archive.read("model.json"))
        parts = {name: archive.read(name) for name in archive.namelist()}
    header["fitted"]["extra_"] = [{"~array": "0.npy"}] * 1000
    parts["model.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError, match=r"'0\.npy'"):
        load_model(path)


def test_room_is_what_the_system_says(tmp_path):
    memory, container = files = tmp_path / "meminfo", tmp_path / "max"
    assert room.available(*files) > 2**20  # of another system, or of none
    memory.write_text("MemTotal:       64 kB\n")  # of an old one
    assert room.available(*files) > 2**20
    memory.write_text("MemTotal:       64 kB\nMemAvailable:       32 kB\n")
    assert room.available(*files) == 32 * 1024
    container.write_text("max\n")
    assert room.available(*files) == 32 * 1024
    container.write_text("1000\n")
    assert room.available(*files) == 1000


def test_valid_files_are_read_as_before(tmp_path):
    assert open_data(write_npz(tmp_path)).shape == X.shape
    np.testing.assert_array_equal(open_data(write_sparse_npz(tmp_path)).source.toarray(), sparse.csr_array(X).toarray())
