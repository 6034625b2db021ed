"""Dask arrays: the same answer for any chunks, on threads and on a cluster, also when a worker dies."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA
from sparing.data import dask_rows
from sparing.data.dask_rows import DaskRows

da = pytest.importorskip("dask.array", reason="needs Dask: pip install 'sparing[dask]'")

MODELS = {
    "batch": SparseEncoder(2, n_nonzero=4, effort="quick", random_state=0),
    "iterative": SparseEncoder(2, n_nonzero=3, strategy="iterative", effort="quick", random_state=0),
    "joint": SparseEncoder(2, n_nonzero=3, strategy="joint", effort="quick", random_state=0),
    "variance": SparsePCA(2, n_nonzero=3, effort="quick", random_state=0),
    "nonnegative": NonnegativeSparsePCA(n_nonzero=3, effort="quick", random_state=0),
}


@pytest.fixture
def X(rng):
    return rng.standard_normal((203, 4)) @ rng.standard_normal((4, 12)) + 0.3 * rng.standard_normal((203, 12)) + 2.0


def same(found, wanted):
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_allclose(found.components_, wanted.components_, atol=1e-6)
    np.testing.assert_allclose(found.certificate_.value, wanted.certificate_.value, rtol=1e-9)
    np.testing.assert_allclose(found.certificate_.bound, wanted.certificate_.bound, rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "chunks"),
    [
        *((MODELS["batch"], chunks) for chunks in [(203, 12), (50, 12), (7, 12)]),
        *((model, (64, 5)) for model in MODELS.values()),
    ],
)
def test_any_chunks_give_the_answer_of_the_array(model, chunks, X):
    array = da.from_array(X, chunks=chunks)
    wanted, found = clone(model).fit(X), clone(model).fit(array)
    same(found, wanted)
    np.testing.assert_allclose(found.transform(array), found.transform(X), atol=1e-9)
    assert found.certificate_.recheck(X)


def test_sparse_chunks_stay_sparse(X):
    X = np.where(np.abs(X) < 2.5, 0.0, X)
    chunks = da.from_array(X, chunks=(40, 12)).map_blocks(sparse.csr_matrix)
    rows = DaskRows(chunks)
    assert not rows.is_dense
    assert all(sparse.issparse(block.matrix) for block in rows.blocks())
    same(clone(MODELS["batch"]).fit(chunks), clone(MODELS["batch"]).fit(X))


def test_weights_and_missing_values(X, rng):
    X[rng.random(X.shape) < 0.05] = np.nan
    weights = rng.integers(1, 3, len(X))
    model = SparsePCA(2, n_nonzero=3, missing="mean", random_state=0, effort="quick")
    wanted = model.fit(X, sample_weight=weights)
    found = SparsePCA(**model.get_params()).fit(da.from_array(X, chunks=(31, 12)), sample_weight=weights)
    same(found, wanted)


def test_nothing_gathers_the_rows(X, monkeypatch):
    """Chunks are never asked for here, and each pass has as many tasks as chunks, not more for larger ones."""
    monkeypatch.setattr(DaskRows, "blocks", lambda self: pytest.fail("the rows were gathered"))
    SparseEncoder(2, n_nonzero=4, random_state=0).fit(da.from_array(X, chunks=(20, 12)))


def test_what_cannot_be_read_gets_a_sentence(X):
    array = da.from_array(X, chunks=(50, 12))
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        SparsePCA(n_nonzero=2).fit(array[array[:, 0] > 0])
    with pytest.raises(ValueError, match="NaN"):
        SparsePCA(n_nonzero=2).fit(da.where(array > 6, np.nan, array))
    with pytest.raises(ValueError, match="dimension"):
        SparsePCA(n_nonzero=2).fit(array[:, 0])
    with pytest.raises(ValueError, match="complex"):
        SparsePCA(n_nonzero=2).fit(array.astype(complex))


def test_few_passes_are_chosen_for_tasks_elsewhere(X):
    """Each pass costs a round of tasks: products of all features in one of them, as passes='few' has it."""
    found = SparseEncoder(2, n_nonzero=4).fit(da.from_array(X, chunks=(50, 12)))
    few = SparseEncoder(2, n_nonzero=4, passes="few").fit(da.from_array(X, chunks=(50, 12)))
    often = SparseEncoder(2, n_nonzero=4, passes="any").fit(da.from_array(X, chunks=(50, 12)))
    assert found.n_passes_ == few.n_passes_ == 2 <= often.n_passes_
    same(found, SparseEncoder(2, n_nonzero=4).fit(X))


def test_a_chunk_that_no_worker_can_hold_gets_a_sentence(X, monkeypatch):
    class Client:
        def scheduler_info(self):
            return {"workers": {"a": {"memory_limit": 6000}, "b": {"memory_limit": 0}}}

    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_client=Client))
    with pytest.raises(ValueError, match=r"a chunk of 203 rows .* Use X.rechunk\(\(15, -1\)\)"):
        SparseEncoder(2).fit(da.from_array(X, chunks=(203, 12)))
    assert DaskRows(da.from_array(X, chunks=(50, 12))).shape == (203, 12)


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="needs distributed: pip install 'sparing[dask]'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with (
            distributed.LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
            ) as cluster,
            distributed.Client(cluster, timeout=60) as client,
        ):
            yield client
            client.wait_for_workers(2, timeout=60)  # a worker that is being started again holds up the end


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_processes_gives_the_same_answer(cluster, X):
    wanted = SparseEncoder(2, n_nonzero=4, random_state=0).fit(X)
    found = SparseEncoder(2, n_nonzero=4, random_state=0).fit(da.from_array(X, chunks=(25, 12)))
    same(found, wanted)


@pytest.mark.filterwarnings("ignore")
def test_a_worker_that_dies_costs_time_and_nothing_else(cluster, X, tmp_path):
    wanted = SparseEncoder(2, n_nonzero=4, random_state=0).fit(X)
    workers, mark = set(cluster.run(os.getpid).values()), tmp_path / "died"

    def fatal(block):  # defined here, so that workers need not import this module
        if len(os.listdir(mark.parent)) == 0 and os.getpid() in workers:
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return block

    array = da.from_array(X, chunks=(20, 12)).map_blocks(fatal, dtype=float)
    found = SparseEncoder(2, n_nonzero=4, random_state=0).fit(array)
    assert mark.exists()
    same(found, wanted)


def test_the_graph_of_thousands_of_chunks_is_small():
    """Three tasks for each chunk, one of them its own, and the arrays of the job once."""
    cloudpickle = pytest.importorskip("cloudpickle")
    mark = b"this is what the job carries, once"
    vectors = np.frombuffer(mark * 1000, np.uint8)  # 34 kB, in each of 6,000 tasks 200 MB
    chunked = da.zeros((6_000, 6), chunks=(2, 6))
    plan = DaskRows(chunked).planned(partial(_with, vectors), partial(_with, vectors))
    graph = dict(plan.__dask_graph__())
    assert len(graph) <= 3 * 3_000 + 1
    sent = cloudpickle.dumps(graph)
    assert sent.count(mark) == 1000
    assert len(sent) - len(vectors) < 400 * 3_000


def _with(vectors, *_):
    return vectors


def test_chunks_at_odd_addresses_are_moved(rng):
    """Chunks that have travelled between workers may not be aligned, and BLAS is many times slower on those."""
    values = rng.standard_normal((20, 6))
    room = np.zeros(values.nbytes + 1, dtype=np.uint8)
    odd = room[1:].view(np.float64).reshape(values.shape)
    odd[:] = values
    assert not odd.flags.aligned
    block = dask_rows._as_block(odd, 5)
    assert block.rows.flags.aligned
    np.testing.assert_array_equal(block.rows, values)
