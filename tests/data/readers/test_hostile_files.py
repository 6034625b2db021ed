"""A file that is no table of numbers gets a sentence, never a traceback of another package, never its pickles run."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import io, sparse

from sparing.data.readers import READERS, open_data
from sparing.errors import UnreadableError

FILES = sorted(set(READERS) - {".zarr"})
X = np.random.default_rng(0).standard_normal((30, 4))


class Bomb:
    def __reduce__(self):
        return (sys.exit, ("unpickled",))


@pytest.mark.parametrize("junk", [b"", b"\x00" * 64, b"PK\x03\x04 junk", bytes(range(256)), b"no table\n", b"a\n"])
@pytest.mark.parametrize("ending", FILES)
def test_junk(ending, junk, tmp_path):
    file = tmp_path / f"junk{ending}"
    file.write_bytes(junk)
    if ending in {".h5", ".hdf5", ".h5ad"}:
        pytest.importorskip("h5py")
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
    if ending == ".bed":
        pytest.importorskip("bed_reader")
    for companion in (".bim", ".fam"):
        file.with_suffix(companion).write_bytes(junk)
    with pytest.raises(UnreadableError, match=r"Cannot read .*junk"):
        open_data(file)


@pytest.mark.parametrize("ending", READERS)
def test_absent_and_misplaced(ending, tmp_path):
    path = tmp_path / f"X{ending}"
    with pytest.raises(FileNotFoundError, match=r"there is no such file. Check the path"):
        open_data(path)
    if ending == ".zarr":
        path.write_text("")
    else:
        path.mkdir()
    with pytest.raises(UnreadableError, match="is expected"):
        open_data(path)


def test_arguments(tmp_path):
    np.save(tmp_path / "X.npy", X)
    with pytest.raises(TypeError, match=r"was given a ndarray; the path of a file is needed"):
        open_data(X)
    for nothing in (None, b"X.npy", 3):
        with pytest.raises(TypeError, match="the path of a file is needed"):
            open_data(nothing)
    with pytest.raises(UnreadableError, match=r"is not supported. Supported are .npy, .npz"):
        open_data(tmp_path / "X.xlsx")
    with pytest.raises(UnreadableError, match=r"holds a single table. Leave key out"):
        open_data(tmp_path / "X.npy", key="X")
    with pytest.raises(UnreadableError, match="only to genotypes"):
        open_data(tmp_path / "X.npy", scaling="binomial")
    for bad in (0, -1, 1.5, True, "64MB"):
        with pytest.raises((ValueError, TypeError), match="block_bytes"):
            open_data(tmp_path / "X.npy", block_bytes=bad)


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (X[0], r"shape is \(4,\); two dimensions"),
        (X[None], "two dimensions"),
        (np.empty((0, 3)), "none may be empty"),
        (X + 1j, "type complex128; real numbers"),
        (np.array([["a"]]), "type <U1"),
        (np.array([["2020-01-01"]], dtype="datetime64[D]"), "datetime64"),
        (np.array([[Bomb()]], dtype=object), "never unpickled"),
    ],
)
def test_arrays_that_are_no_tables(array, sentence, tmp_path):
    np.save(tmp_path / "X.npy", array)
    np.savez(tmp_path / "X.npz", X=array)
    for file in ("X.npy", "X.npz"):
        with pytest.raises(UnreadableError, match=sentence):
            open_data(tmp_path / file)


def test_files_cut_short(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.savez(tmp_path / "X.npz", X=X)
    io.mmwrite(tmp_path / "X.mtx", sparse.coo_array(X))
    paths = [tmp_path / "X.npy", tmp_path / "X.npz", tmp_path / "X.mtx"]
    try:
        import h5py
        import pandas as pd

        with h5py.File(tmp_path / "X.h5", "w") as file:
            file["X"] = X
        pd.DataFrame(X, columns=list("abcd")).to_parquet(tmp_path / "X.parquet", engine="pyarrow")
        paths += [tmp_path / "X.h5", tmp_path / "X.parquet"]
    except ImportError:
        pass
    for path in paths:
        whole = path.read_bytes()
        for share in (0.02, 0.5, 0.97):
            path.write_bytes(whole[: int(share * len(whole))])
            with pytest.raises(UnreadableError, match="damaged, truncated or not"):
                open_data(path)


def test_a_file_written_again_is_noticed(tmp_path):
    np.save(tmp_path / "X.npy", X)
    rows = open_data(tmp_path / "X.npy")
    np.save(tmp_path / "X.npy", X[:7])
    with pytest.raises(UnreadableError, match=r"has changed since it was opened.* Call open_data again"):
        next(rows.blocks())
    (tmp_path / "X.npy").unlink()
    with pytest.raises(FileNotFoundError, match="no such file"):
        next(rows.blocks())


def test_archives_without_or_with_several_tables(tmp_path):
    np.savez(tmp_path / "two.npz", a=X, b=X)
    with pytest.raises(UnreadableError, match=r"several tables, .*a.*b.*key='a'"):
        open_data(tmp_path / "two.npz")
    with pytest.raises(UnreadableError, match=r"no table 'c'; it holds"):
        open_data(tmp_path / "two.npz", key="c")
    np.savez(tmp_path / "none.npz", a=X[0], y=X[1])
    with pytest.raises(UnreadableError, match="no two-dimensional table"):
        open_data(tmp_path / "none.npz")
    np.savez(tmp_path / "bomb.npz", X=X, extra=np.array([Bomb()], dtype=object))
    assert open_data(tmp_path / "bomb.npz").shape == X.shape


def test_sparse_archives_with_indices_outside(tmp_path):
    good = sparse.csr_array(X)
    bad = {"format": b"csr", "shape": (30, 2), "data": good.data, "indices": good.indices, "indptr": good.indptr}
    np.savez(tmp_path / "X.npz", **bad)
    with pytest.raises(UnreadableError, match="damaged"):
        open_data(tmp_path / "X.npz")


@pytest.mark.parametrize("flaw", ["outside", "negative", "short", "backwards", "shape", "missing"])
@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_broken_sparse_groups(layout, flaw, tmp_path):
    h5py = pytest.importorskip("h5py")
    S = sparse.csr_array(X).asformat(layout)
    indices, indptr, shape = S.indices.copy(), S.indptr.copy(), [30, 4]
    if flaw == "outside":
        indices[3] = 1000
    elif flaw == "negative":
        indices[3] = -1
    elif flaw == "short":
        indptr[-1] += 10
    elif flaw == "backwards":
        indptr[2] = 0
    elif flaw == "shape":
        shape = [29, 3]
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = f"{layout}_matrix"
        if flaw != "missing":
            group.attrs["shape"] = shape
        group["data"], group["indices"], group["indptr"] = S.data, indices, indptr
    with pytest.raises(UnreadableError, match="damaged"):
        list(open_data(tmp_path / "X.h5ad").blocks())


def test_hdf5_keys_and_kinds(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file["a"], file["b/c"], file["line"], file["words"] = X, X, X[0], [["a", "b"]]
        file["both"] = X + 1j
        file.create_group("empty")
    with pytest.raises(UnreadableError, match=r"several tables"):
        open_data(tmp_path / "X.h5")
    for key in ("nothing", "empty", "b"):
        with pytest.raises(UnreadableError, match=rf"no table '{key}'; it holds"):
            open_data(tmp_path / "X.h5", key=key)
    for key, sentence in {"line": "two dimensions", "words": "real numbers", "both": "real numbers"}.items():
        with pytest.raises(UnreadableError, match=sentence):
            open_data(tmp_path / "X.h5", key=key)
    assert open_data(tmp_path / "X.h5", key="b/c").shape == (30, 4)


def test_zarr_folders(tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    (tmp_path / "junk.zarr").mkdir()
    with pytest.raises((UnreadableError, FileNotFoundError), match="Cannot read"):
        open_data(tmp_path / "junk.zarr")
    group = zarr.create_group(str(tmp_path / "group.zarr"))
    with pytest.raises(UnreadableError, match="no two-dimensional table"):
        open_data(tmp_path / "group.zarr")
    group.create_array("a", data=X)
    group.create_array("b", data=X)
    with pytest.raises(UnreadableError, match="several tables"):
        open_data(tmp_path / "group.zarr")
    with pytest.raises(UnreadableError, match="no table 'c'"):
        open_data(tmp_path / "group.zarr", key="c")
    zarr.save_array(str(tmp_path / "line.zarr"), X[0])
    with pytest.raises(UnreadableError, match="two dimensions"):
        open_data(tmp_path / "line.zarr")
    chunks = [file for file in (tmp_path / "group.zarr" / "a" / "c").rglob("*") if file.is_file()]
    chunks[0].write_bytes(b"junk")
    with pytest.raises(UnreadableError, match="damaged"):
        list(open_data(tmp_path / "group.zarr", key="a").blocks())


@pytest.mark.parametrize(
    ("ending", "module", "package"),
    [(".h5", "h5py", "h5py"), (".parquet", "pyarrow.parquet", "pyarrow"), (".bed", "bed_reader", "bed-reader")],
)
def test_packages_that_are_not_there(ending, module, package, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    for end in (ending, ".bim", ".fam"):
        (tmp_path / f"X{end}").write_bytes(b"\x6c\x1b\x01")
    with pytest.raises(ModuleNotFoundError, match=rf"needs {package}: .*sparing\[io\]"):
        open_data(tmp_path / f"X{ending}")


def test_zarr_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    (tmp_path / "X.zarr").mkdir()
    with pytest.raises(ModuleNotFoundError, match=r"needs zarr: "):
        open_data(tmp_path / "X.zarr")
