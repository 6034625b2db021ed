"""What stress tests broke once, each with the smallest case that does."""

from __future__ import annotations

import subprocess
import sys
import threading
import warnings
from types import SimpleNamespace

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import io, sparse
from threadpoolctl import threadpool_info, threadpool_limits

import sparing
from sparing import (
    ColumnSelector,
    DoublySparseEncoder,
    NonnegativeSparsePCA,
    SparseEncoder,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
    certify,
    information_loss,
    open_data,
    polish,
)
from sparing.data import Preprocessing, as_view
from sparing.data.readers import base, parquet
from sparing.data.readers.base import read_ahead
from sparing.errors import SparingWarning, UnreadableError
from sparing.gram.transposed import Transposed
from sparing.linalg import single_threaded_blas, threads
from sparing.methods.encoders.elastic_net import ElasticNet
from stress.files import write_parquet, write_zarr
from stress.models import PUBLIC
from stress.tables import make_table

ESTIMATORS = [getattr(sparing, name) for name in sorted(PUBLIC)]

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 5))


def test_loadings_of_features_without_variance_are_certified():
    """KeyError: branch and bound knew only features that vary."""
    table = np.column_stack([X, np.full(20, 3.7)])
    for loadings in (np.eye(1, 6, 5), [[0, 0, 1, 0, 0, 1]]):
        certificate = certify(loadings, table, random_state=0)
        assert 0 <= certificate.gap <= 1
        assert certificate.recheck(table)


def test_loadings_of_features_without_variance_are_polished():
    """ZeroDivisionError, or rows that were not of unit length."""
    table = np.column_stack([X, np.zeros(20)])
    for loadings in (np.eye(1, 6, 5), [[0, 0, 1, 0, 0, 1.0]]):
        better = polish(loadings, table, objective="loss", swaps=True)
        np.testing.assert_allclose(np.linalg.norm(better, axis=1), 1)


def test_predictions_beyond_single_precision():
    """NumPy's warning of an overflow, and infinite predictions, for float32 X and y of 1e100."""
    y = 1e100 * X[:, 0]
    model = SparsePCARegressor(2, n_nonzero=2, random_state=0).fit(X.astype(np.float32), y)
    predicted = model.predict(X.astype(np.float32))
    assert np.isfinite(predicted).all()
    assert np.abs(predicted).max() > 1e90
    large = np.full((2, 5), 3e38, dtype=np.float32)
    assert np.isfinite(SparseEncoder(1, n_nonzero=5, random_state=0).fit(X).transform(large)).all()
    assert np.isfinite(SparseKMeans(2, n_features=2, random_state=0, effort="quick").fit(X).transform(large)).all()


def test_columns_near_the_end_of_single_precision_are_selected():
    """NumPy's warning of inf - inf, from a sum over all numbers."""
    model = ColumnSelector(2, random_state=0).fit(X)
    large = np.full((4, 5), np.finfo(np.float32).max, dtype=np.float32) * np.array([1, -1, 1, -1, 1], dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.transform(large).shape == (4, 2)


def test_names_of_several_kinds_get_our_own_sentence():
    frame = pd.DataFrame(X, columns=["a", 1, "b", 2, "c"])
    with pytest.raises(TypeError, match=r"others are not, such as 1, 2\. .*only supported if all of them are text"):
        SparseEncoder().fit(frame)


def test_polars_frames_of_numbers_and_dates_name_the_dates():
    """DTypePromotionError of NumPy; or dates were taken for numbers."""
    days = pd.date_range("2020-01-01", periods=3, tz="Europe/Berlin")
    odd = pl.from_pandas(pd.DataFrame({"period": pd.period_range("2020-01", periods=3, freq="M"), "date": days}))
    number = pl.Series([1, 2, 3])
    frames = [pl.DataFrame({"n": number, "date": number.cast(kind)}) for kind in (pl.Date, pl.Datetime, pl.Duration)]
    for frame in (odd, *frames):
        with pytest.raises(TypeError, match=r"in columns .*'date'"):
            SparseEncoder().fit(frame)


@pytest.mark.filterwarnings("ignore:.*features are read, and there are")
@pytest.mark.parametrize("storage", ["csr", "csc", "coo", "csr with duplicates", "float64"])
@pytest.mark.parametrize("make", [DoublySparseEncoder, SparseEncoder])
def test_sparse_features_far_from_zero(make, storage):
    """Shares of variance that summed to more than 1, and a certificate that did not hold: means left too late."""
    for seed in range(3):
        table = make_table("large mean", storage, 2, 3, seed=seed).X
        model = make(1, random_state=0).fit(table)
        assert model.explained_variance_ratio_.sum() <= 1 + 1e-12
        assert model.loss_ < 1e-13  # two points are on a line
        assert model.certificate_.recheck(table)


def test_sparse_features_far_from_zero_beside_sparse_ones():
    """The view of sparse rows is that of dense ones, also where rows without weight have no entry."""
    table = rng.standard_normal((40, 6)) * (rng.random((40, 6)) < 0.4)
    table[:, :2] = 1e9 + rng.standard_normal((40, 2))
    weights = np.r_[np.zeros(5), np.ones(35)]
    table[:3, 0] = 0.0
    for scale in (False, True):
        dense, sparsely = (as_view(X, Preprocessing(True, scale), weights) for X in (table, sparse.csr_array(table)))
        np.testing.assert_allclose(sparsely.gram(), dense.gram(), rtol=1e-12, atol=1e-12 * dense.total)
        squares = (Transposed(view).gram_diagonal() for view in (dense, sparsely))
        np.testing.assert_allclose(*squares, rtol=1e-9)
        assert np.count_nonzero(sparsely.shift) == 2  # others stay sparse


@pytest.mark.parametrize("kind", [SparseKMeans, SparseHierarchicalClustering])
def test_dask_arrays_are_clustered(kind):
    """AttributeError: nobody could gather their rows."""
    da = pytest.importorskip("dask.array")
    model = kind(2, n_features=2, random_state=0)
    wanted = model.fit(X).labels_.copy()
    np.testing.assert_array_equal(model.fit(da.from_array(X, chunks=(7, 5))).labels_, wanted)


def test_covariances_of_features_that_are_hardly_there():
    """A share of variance above 1: of a variance of 1e-319 four digits are left."""
    row = make_table("unlike columns", "float64", 1, 8, scale=1e-150, seed=0).X
    C = row.T @ row
    model = SparseEncoder(1, n_nonzero=1, precomputed=True, random_state=0).fit(C)
    assert model.explained_variance_ratio_.sum() <= 1 + 1e-12
    assert model.certificate_.recheck(C)
    assert C[model.support_, model.support_] > np.finfo(float).tiny


def test_dask_arrays_may_be_covariances():
    da = pytest.importorskip("dask.array")
    C = np.cov(X, rowvar=False)
    model = SparsePCA(1, n_nonzero=2, precomputed=True, random_state=0)
    wanted = model.fit(C).components_
    np.testing.assert_array_equal(model.fit(da.from_array(C, chunks=(2, 5))).components_, wanted)


def test_dask_without_a_cluster_in_a_fresh_process():
    """KeyError: 'comm': a setting that was given back took all of distributed's with it."""
    pytest.importorskip("dask.array")
    program = (
        "import numpy as np, dask.array as da; from sparing import SparseEncoder\n"
        "X = np.random.default_rng(0).standard_normal((30, 5))\n"
        "print(len(SparseEncoder(1, n_nonzero=2).fit(da.from_array(X, chunks=(7, 5))).support_))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.returncode) == ("2\n", 0), done.stderr


HEAD = "%%MatrixMarket matrix {} real general\n%\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (HEAD.format("coordinate") + "2 2 2\n1 1 2\0\n2 2 1\n", "bytes that are not text"),  # a segmentation fault
        (HEAD.format("array") + "0 4\n1\n2\n", "none may be empty"),  # a division by zero, in C
        (HEAD.format("coordinate") + "2 2 999999999999\n1 1 2\n", "too short for them"),
        (HEAD.format("array") + "99999 99999\n1\n", "too short for them"),
        (HEAD.format("coordinate") + "2 9007199254740992 1\n1 1 2\n", "1 entries in a shape of"),  # MemoryError
    ],
)
def test_hostile_matrix_market(text, sentence, tmp_path):
    (tmp_path / "X.mtx").write_text(text)
    with pytest.raises(UnreadableError, match=sentence):
        open_data(tmp_path / "X.mtx")


@pytest.mark.parametrize("end", ["", " ", "\t", "\n", " \n"])
def test_matrix_market_without_a_last_line_end(end, tmp_path):
    """A valid file that ends in a blank ended the process."""
    (tmp_path / "X.mtx").write_text(HEAD.format("array") + "2 2\n1\n2\n3\n4" + end)
    np.testing.assert_array_equal(open_data(tmp_path / "X.mtx").source, [[1, 3], [2, 4]])


def test_sparse_shapes_that_are_a_lie(tmp_path):
    sparse.save_npz(tmp_path / "X.npz", sparse.csr_array(([1.0], ([0], [0])), shape=(2, 2**40)))
    with pytest.raises(UnreadableError, match="1 entries in a shape of"):
        open_data(tmp_path / "X.npz")
    io.mmwrite(tmp_path / "X.mtx", sparse.coo_array(([1.0, 2.0], ([0, 1], [0, 9])), shape=(2, 10**6)))
    assert open_data(tmp_path / "X.mtx").shape == (2, 10**6)  # wide, but not absurd


def test_dense_shapes_that_are_a_lie(tmp_path):
    """A file of one KB was read for hours."""
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", shape=(2**50, 4), chunks=(5, 2), dtype=np.float64)
    header = write_zarr(tmp_path) / "zarr.json"
    header.write_text(header.read_text().replace("12,", "2147483647,", 1))
    for name in ("X.h5", "X.zarr"):
        with pytest.raises(UnreadableError, match="bytes are stored of"):
            open_data(tmp_path / name)


@pytest.mark.filterwarnings("ignore:.* left out, because not numeric:sparing.errors.SparingWarning")
def test_a_file_with_other_rows_than_it_claims(tmp_path, monkeypatch):
    """Rows that were missing, without a word."""
    rows = open_data(write_parquet(tmp_path))
    for n in (11, 13):
        monkeypatch.setattr(rows, "shape", (n, rows.shape[1]))
        with pytest.raises(UnreadableError, match=f"does not have the {n} rows it claims"):
            list(rows.blocks())


def test_not_enough_memory_for_a_file_is_a_sentence(tmp_path):
    def read():
        with base.readable(tmp_path / "X.npz", "a file"):
            raise MemoryError

    with pytest.raises(UnreadableError, match="its declared size does not fit in memory"):
        read()


def test_components_that_are_rounding_are_not_sought():
    """NumPy's sentence about shapes: the fewest features were counted for more components than there are."""
    for shape, k, seed in (((3, 10), 3, 3), ((2, 2), 2, 2)):
        table = make_table("one huge", "float64", *shape, seed=seed).X
        model = SparsePCA(k, min_variance=0.9, center=False, scale=True, random_state=0, effort="quick")
        with pytest.warns(SparingWarning, match="are returned"):
            model.fit(table)
        assert model.certificate_.recheck(table)
    model = SparseEncoder(2, strategy="joint", center=False, scale=True, random_state=0)
    with pytest.warns(SparingWarning, match="are returned"):
        model.fit(table)
    assert model.loss_ratio_ == 1
    assert model.certificate_.recheck(table)


MODELS = [ColumnSelector(2), SparseEncoder(), SparsePCA(), NonnegativeSparsePCA(), SparseKMeans(n_features=2)]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_a_fit_that_fails_changes_nothing(model):
    """Certificate and number of features were those of neither fit; an unfitted model passed for a fitted one."""
    broken = X[:, :4].copy()
    broken[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(broken)
    assert not hasattr(model, "n_features_in_")
    before = dict(vars(model.set_params(random_state=0).fit(X)))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(broken)
    assert vars(model) == before


@pytest.mark.parametrize("where", ["_enter", "_leave"])
def test_an_interruption_while_threads_are_capped_or_freed(where, monkeypatch):
    """The cap stayed for the rest of the process."""
    with threadpool_limits(limits=2, user_api="blas"):  # with one thread there is nothing to cap
        before = [pool["num_threads"] for pool in threadpool_info()]
        interrupted_once(where, monkeypatch)
        assert [pool["num_threads"] for pool in threadpool_info()] == before
    assert threads._inside == 0


def interrupted_once(where, monkeypatch):
    real = threads._aside
    struck = []

    def aside(work, stay):
        real(work, stay)
        if work.__name__ == where and not struck:
            struck.append(True)
            raise KeyboardInterrupt

    monkeypatch.setattr(threads, "_aside", aside)
    with pytest.raises(KeyboardInterrupt), single_threaded_blas():
        pass


def test_blocks_that_another_thread_still_reads_are_closed_after_it():
    """ValueError: generator already executing, in place of the KeyboardInterrupt."""
    entered, go_on = threading.Event(), threading.Event()

    def blocks():
        entered.set()
        go_on.wait(60)
        yield 1

    reading = blocks()
    loose = threading.Thread(target=next, args=(reading,))

    def work():
        with read_ahead(reading):
            loose.start()
            entered.wait(60)
            threading.Timer(0.05, go_on.set).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    loose.join(60)
    assert not loose.is_alive()


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (
            SparsePCA(constraint=[]),
            r"constraint=\[\] is not known\. Choose one of 'None', 'orthogonal', 'uncorrelated'",
        ),
        (NonnegativeSparsePCA(constraint=np.zeros(2)), "constraint=.* is not known"),
        (SparsePCA(np.array([1, 2])), "Pass an integer of at least 1"),
        (SparseEncoder(strategy=np.zeros(2)), "strategy=.* is not known"),
        (SparseEncoder(missing=np.zeros(2)), "missing=.* is not known"),
        (SparseEncoder(certify=np.zeros(2)), "certify=.* must be True or False, not a ndarray"),
        (SparsePCARegressor(certify="x"), "certify='x' must be True or False"),
        *((kind(verbose="x"), "verbose='x' must be True or False, not a str") for kind in ESTIMATORS),
    ],
    ids=str,
)
def test_parameters_that_are_nonsense(model, sentence):
    """TypeError: unhashable; ValueError: the truth value of an array is ambiguous."""
    with pytest.raises((TypeError, ValueError), match=sentence):
        model.fit(X, X[:, 0])


@pytest.mark.parametrize("l1", ["a", b"a", [], ["a"], -1, [1, -1], np.nan, int, {}])
def test_penalties_that_are_none(l1):
    with pytest.raises(ValueError, match="must be a number of at least 0"):
        ElasticNet(l1=l1)
    with pytest.raises(ValueError, match="must be a positive number"):
        ElasticNet(ridge=l1)


def test_a_limit_in_single_precision():
    """NumPy's warning of an overflow."""
    assert SparseEncoder(1, max_loss=np.float32(1.5), random_state=0).fit(X).loss_ratio_ <= 1.5


@pytest.mark.parametrize("strategy", ["iterative", "joint"])
@pytest.mark.parametrize(("seed", "factor"), [(1, 1e3), (9, 1e5), (33, 1e6)])
def test_one_feature_is_much_larger_than_the_others(strategy, seed, factor):
    """Refused as ill-conditioned: what rounding left of a removed feature was taken for a feature."""
    rng = np.random.default_rng(seed)
    table = rng.standard_normal((30, 8)) @ rng.standard_normal((8, 8))
    table[:, 0] *= factor
    model = SparseEncoder(3, n_nonzero=3, strategy=strategy, random_state=0).fit(table)
    assert model.components_.shape == (3, 8)
    assert model.certificate_.recheck(table)


def test_loadings_do_not_get_worse_where_one_feature_is_much_larger():
    """Judged by squares of A, which have no digits left for a loss of a millionth, they got up to 7 times worse."""
    changed = 0
    for seed in range(80, 110):
        rng = np.random.default_rng(seed)
        table = rng.standard_normal((30, 6))
        table[:, 0] *= 1e5
        H = rng.standard_normal((2, 6)) * (rng.random((2, 6)) < 0.6)
        if H.any(axis=1).all():
            before, after = information_loss(H, table), information_loss(polish(H, table, objective="loss"), table)
            assert after <= before * (1 + 1e-9)
            changed += after < before * (1 - 1e-3)
    assert changed > 5


@pytest.mark.parametrize(("k", "r", "scale"), [(1, 1, True), (2, 1, True), (3, 18, False)])
def test_ties_are_not_broken_by_the_order_of_memory(k, r, scale):
    """Variances of standardised features are equal; rounding, which storage decides, chose among them."""
    for seed in range(1 if r > 1 else 3):
        rng = np.random.default_rng(seed)
        table = rng.standard_normal((60, 3)) @ rng.standard_normal((3, 20)) + 0.3 * rng.standard_normal((60, 20))
        model = SparsePCA(k, n_nonzero=r, scale=scale, random_state=0, effort="quick", certify=False)
        same = [table, np.asfortranarray(table), table[::-1], sparse.csr_array(table)]
        supports = [model.fit(rows).components_ != 0 for rows in same]
        for other in supports[1:]:
            np.testing.assert_array_equal(other, supports[0])


def test_a_table_of_huge_numbers_is_refused_by_its_true_size():
    """ "X holds values of size inf"."""
    with pytest.raises(ValueError, match=r"size \d\.\d+e\+15\d"):
        SparsePCA(1, n_nonzero=1).fit(np.random.default_rng(0).standard_normal((5, 3)) * 1e155)


@pytest.mark.filterwarnings("ignore:.* left out, because not numeric:sparing.errors.SparingWarning")
def test_only_summaries_of_whole_numbers_are_looked_at(tmp_path):
    """A look at a damaged summary, as of a column of text that nobody needs, ended the process."""
    path = tmp_path / "X.parquet"
    pd.DataFrame({"word": ["a"] * 3, "real": np.ones(3), "whole": [1, 2, 3]}).to_parquet(path)

    def column(c):
        assert c == 2
        return metadata.row_group(0).column(c)

    metadata = parquet.opened(path).metadata
    group = SimpleNamespace(column=column, num_columns=3)
    watched = SimpleNamespace(row_group=lambda _: group, num_row_groups=1, num_columns=3, schema=metadata.schema)
    assert parquet._with_nulls(watched, {"whole"}) == set()
    assert open_data(path).feature_names == ["real", "whole"]


def test_a_damaged_summary_of_whole_numbers_is_met_by_reading(tmp_path):
    """The type of a column in its summary is not that of the schema: a look at it ended the process."""
    path = tmp_path / "X.parquet"
    pd.DataFrame({"whole": [1, 2, 3]}).to_parquet(path)
    raw = path.read_bytes()
    assert raw.count(b"\x15\x04\x195") == 1  # a type, 64 bit, and then the list of its encodings
    path.write_bytes(raw.replace(b"\x15\x04\x195", b"\x15\x00\x195"))
    with pytest.raises(UnreadableError, match="does not match"):
        open_data(path)


def test_a_heap_of_texts_without_an_end(tmp_path):
    """The HDF5 library went around it for ever, beyond the reach of Ctrl-C."""
    path = tmp_path / "X.h5ad"
    with h5py.File(path, "w") as file:
        file["X"] = X
        file.create_group("var").attrs["_index"] = "gene"
        file["var/gene"] = [f"gene {j}" for j in range(5)]
    assert open_data(path).feature_names == [f"gene {j}" for j in range(5)]
    raw = bytearray(path.read_bytes())
    place = raw.index(b"GCOL") + 16
    while raw[place : place + 2] != b"\0\0":  # object by object, to the free space at the end
        place += 16 + (int.from_bytes(raw[place + 8 : place + 16], "little") + 7) // 8 * 8
    raw[place + 8 : place + 16] = bytes(8)
    path.write_bytes(raw)
    with pytest.raises(UnreadableError, match="one of its text heaps is circular"):
        open_data(path)
