"""AnnData in HDF5 and Zarr, and the files of Cell Ranger: the right table with its names, or a question."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
from scipy import io, sparse

from sparing import SparseEncoder, open_data
from sparing.data.readers.text_columns import sample_names
from sparing.errors import SparingWarning, UnreadableError

X = np.random.default_rng(0).poisson(1.0, (60, 7)).astype(float)
GENES = [f"gene {j}" for j in range(7)]
SCORES = np.random.default_rng(1).standard_normal((60, 3))


def h5ad(path):
    h5py = pytest.importorskip("h5py")
    return h5py.File(path / "X.h5ad", "w"), path / "X.h5ad"


def zarr_group(path, zarr_format):
    zarr = pytest.importorskip("zarr", minversion="3")
    return zarr.open_group(str(path / "X.zarr"), mode="w", zarr_format=zarr_format), path / "X.zarr"


STORES = {"h5ad": h5ad, "zarr 2": lambda path: zarr_group(path, 2), "zarr 3": lambda path: zarr_group(path, 3)}


pytestmark = pytest.mark.filterwarnings("ignore:The codec `vlen-utf8`:UserWarning")  # Zarr 3.1.0, of its own texts


def put(group, key, values):
    """An array, or a sparse matrix as AnnData writes it."""
    if sparse.issparse(values):
        inner = group.create_group(key)
        inner.attrs.update({"encoding-type": f"{values.format}_matrix", "shape": list(values.shape)})
        for name in ("data", "indices", "indptr"):
            put(inner, name, getattr(values, name))
    elif hasattr(group, "create_dataset") and not hasattr(group, "create_array"):
        group[key] = values
    else:
        group.create_array(key, data=np.asarray(values))


def annotated(store, path, matrix):
    """AnnData with X (unless None), a layer, raw counts and scores of PCA."""
    top, place = STORES[store](path)
    top.attrs.update({"encoding-type": "anndata", "encoding-version": "0.1.0"})
    for key, names in (("obs", [f"cell {i}" for i in range(60)]), ("var", GENES)):
        table = top.create_group(key)
        table.attrs.update({"_index": "_index", "encoding-type": "dataframe"})
        put(table, "_index", names if store == "h5ad" else np.array(names, dtype=np.dtypes.StringDType()))
    if matrix is not None:
        put(top, "X", matrix)
    put(top.create_group("layers"), "counts", sparse.csr_array(2 * X))
    put(top.create_group("obsm"), "X_pca", SCORES)
    if hasattr(top, "close"):
        top.close()
    return place


@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("matrix", [sparse.csr_array, sparse.csc_array, np.asarray], ids=["csr", "csc", "dense"])
def test_x_is_read_with_its_names(store, matrix, tmp_path):
    place = annotated(store, tmp_path, matrix(X))
    for block_bytes in (300, 2**26):
        rows = open_data(place, block_bytes=block_bytes)
        assert rows.feature_names == GENES
        assert rows.is_dense == (matrix is np.asarray)
        read = rows.source
        np.testing.assert_array_equal(read if rows.is_dense else read.toarray(), X)
    layer = open_data(place, key="layers/counts")
    np.testing.assert_array_equal(layer.source.toarray(), 2 * X)
    assert layer.feature_names == GENES
    scores = open_data(place, key="obsm/X_pca")
    assert (scores.shape, scores.feature_names) == ((60, 3), None)
    model = SparseEncoder(1, n_nonzero=2, random_state=0)
    np.testing.assert_allclose(model.fit(rows).components_, model.fit(X).components_, atol=1e-9)
    assert sample_names(place)[:2] == ["cell 0", "cell 1"]


@pytest.mark.parametrize("store", STORES)
def test_another_table_is_never_taken_for_x(store, tmp_path):
    place = annotated(store, tmp_path, None)
    with pytest.raises(UnreadableError, match=r"AnnData without X; it holds 'layers/counts', 'obsm/X_pca'. Choose one"):
        open_data(place)
    assert open_data(place, key="obsm/X_pca").shape == (60, 3)


@pytest.mark.parametrize("store", STORES)
def test_a_single_table_that_is_not_anndata_needs_no_key(store, tmp_path):
    """The control: it is AnnData, and nothing else, that makes a single table doubtful."""
    top, place = STORES[store](tmp_path)
    put(top.create_group("deep"), "table", X)
    if hasattr(top, "close"):
        top.close()
    assert open_data(place).shape == X.shape


@pytest.mark.parametrize("store", STORES)
def test_an_x_that_cannot_be_read_is_no_reason_to_take_another(store, tmp_path):
    top, place = STORES[store](tmp_path)
    put(top.create_group("X"), "something", SCORES)
    put(top, "other", SCORES)
    if hasattr(top, "close"):
        top.close()
    with pytest.raises(UnreadableError, match="no table 'X'"):
        open_data(place)


def test_pickles_in_names_are_not_run(tmp_path):
    numcodecs = pytest.importorskip("numcodecs")
    place = annotated("zarr 2", tmp_path, sparse.csr_array(X))
    text = (place / "var" / "_index" / ".zarray").read_text()
    import json

    described = json.loads(text)
    described["filters"], described["dtype"] = [numcodecs.Pickle().get_config()], "|O"
    (place / "var" / "_index" / ".zarray").write_text(json.dumps(described))
    (place / ".zmetadata").unlink(missing_ok=True)
    with pytest.raises(UnreadableError):
        open_data(place)


TWICE = ["A", "B", "A", "C", "D", "E", "F"]
UNIQUE = ["A", "B", "A-1", "C", "D", "E", "F"]


def tenx_folder(path, *, packed):
    path.mkdir()
    io.mmwrite(path / "matrix.mtx", sparse.coo_array(X.T))
    (path / "features.tsv").write_text("".join(f"ENS{j}\t{name}\tGene Expression\n" for j, name in enumerate(TWICE)))
    (path / "barcodes.tsv").write_text("".join(f"AAAC-{i}\n" for i in range(60)))
    if packed:
        for file in list(path.iterdir()):
            (path / f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_of_cell_ranger(packed, tmp_path):
    place = tenx_folder(tmp_path / "filtered", packed=packed)
    with pytest.warns(SparingWarning, match="several features are named 'A'"):
        rows = open_data(place)
    assert rows.feature_names == UNIQUE
    np.testing.assert_array_equal(rows.source.toarray(), X)
    assert sample_names(place)[1] == "AAAC-1"
    matrix = next(place.glob("matrix.mtx*"))
    with pytest.warns(SparingWarning, match="the gene list next to it"):
        assert open_data(matrix).shape == X.T.shape
    np.testing.assert_array_equal(open_data(matrix, transpose=True).source.toarray(), X)


def test_folders_that_are_not_whole_or_no_table(tmp_path):
    place = tenx_folder(tmp_path / "raw", packed=False)
    (place / "barcodes.tsv").write_text("one\n")
    with pytest.raises(UnreadableError, match=r"7 genes and 1 cells are listed for a matrix of \(7, 60\)"):
        open_data(place)
    (place / "barcodes.tsv").unlink()
    with pytest.raises(UnreadableError, match=r"features.tsv or barcodes.tsv .* is missing next to its matrix"):
        open_data(place)
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableError, match="it is a folder; a file is expected"):
        open_data(tmp_path / "empty")


@pytest.mark.parametrize("version", [2, 3])
def test_files_of_cell_ranger(version, tmp_path):
    h5py = pytest.importorskip("h5py")
    S = sparse.csc_array(X.T)
    with h5py.File(tmp_path / "X.h5", "w") as file:
        group = file.create_group("matrix" if version == 3 else "GRCh38")
        group["data"], group["indices"], group["indptr"], group["shape"] = S.data, S.indices, S.indptr, S.shape
        group["barcodes"] = [f"AAAC-{i}" for i in range(60)]
        names = "features/name" if version == 3 else "gene_names"
        group[names] = TWICE
    with pytest.warns(SparingWarning, match="several features are named 'A'"):
        rows = open_data(tmp_path / "X.h5", block_bytes=300)
    assert rows.feature_names == UNIQUE
    np.testing.assert_array_equal(rows.source.toarray(), X)


def test_a_folder_of_parquet_files(tmp_path):
    pd, _ = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    place = tmp_path / "parts"
    (place / "day=1").mkdir(parents=True)
    frame = pd.DataFrame(X + 0.5, columns=GENES)
    frame[:20].to_parquet(place / "day=1" / "a.parquet")
    assert open_data(place / "day=1").shape[0] == 20
    with pytest.warns(SparingWarning, match="'day=1'"):
        assert open_data(place).shape[0] == 20  # no file but inside the folder of a value
    frame[20:].astype(np.float32).to_parquet(place / "b.parquet")
    (place / "_metadata.parquet").write_text("no rows")
    with pytest.warns(SparingWarning, match="folder names 'day=1' are ignored"):
        rows = open_data(place, block_bytes=300)
    order = [file.name for file in rows.files]
    assert order == ["b.parquet", "a.parquet"]
    np.testing.assert_array_equal(rows.source, np.concatenate([X[20:], X[:20]]) + 0.5)
    frame.assign(more=1).to_parquet(place / "c.parquet")
    with pytest.raises(UnreadableError, match=r"'.\.parquet' has other columns than '.\.parquet' \('more'\)"):
        open_data(place)
    frame[GENES[::-1]].to_parquet(place / "c.parquet")
    with pytest.raises(UnreadableError, match=r"'c\.parquet' has its columns in another order than 'b\.parquet'"):
        open_data(place)
