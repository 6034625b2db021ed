"""``passes="few"``: the usual answer where features are few, a sketch where they are many, exact losses always."""

from __future__ import annotations

import functools
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from counted_rows import CountedRows, factors
from laws import mostly_long
from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA, information_loss, open_data
from sparing.data.tracked import TrackedRows
from sparing.errors import SparingWarning
from sparing.estimators import inputs as module
from sparing.methods.encoders import Batch
from sparing.proof_limits import LIMITS
from sparing.search_limits import SEARCH

K, R = 3, 9
D = SEARCH.one_pass_features + 16
ANY = SparseEncoder(K, n_nonzero=R, passes="any", effort="quick", random_state=0)
FEW = SparseEncoder(K, n_nonzero=R, passes="few", effort="quick", random_state=0)


@pytest.fixture
def X(rng):
    """Few features, of which X'X is formed."""
    return factors(rng, 300, 60, 6) + 2.0


@pytest.fixture
def wide():
    """More features than that, and more than twice as many rows as a sketch of dense rows has."""
    return table("dense")


def counts(rng, n=1100, d=D):
    """Sparse, with more rows than a sketch of sparse rows has."""
    return sparse.csr_array(rng.poisson(0.5 * rng.gamma(0.5, 1.0, (n, 4)) @ rng.gamma(0.5, 1.0, (4, d))).astype(float))


SPARSE = counts(np.random.default_rng(20150225))
KINDS = ("dense", "sparse")


def table(kind):
    """Rows of many features in this storage, the same ones whenever they are asked for."""
    return factors(np.random.default_rng(20150225), 320, D, 6) + 2.0 if kind == "dense" else SPARSE.copy()


@functools.cache
def usual(kind):
    """What is learned from them by any number of passes."""
    return clone(ANY).fit(table(kind))


@functools.cache
def sketched(kind):
    """And by few."""
    return clone(FEW).fit(table(kind))


def close(found, wanted, X, sample_weight=None):
    """Not much worse (with so few features the usual fit searches on and on), and exactly as bad as it says."""
    excess = [model.loss_ / wanted.certificate_.pca_value - 1 for model in (found, wanted)]
    assert excess[0] <= 1.3 * excess[1] + 1e-9
    assert found.certificate_.recheck(X, sample_weight)
    assert found.certificate_.bound == pytest.approx(wanted.certificate_.bound, rel=1e-4)
    if sample_weight is None:
        config = {name: getattr(found, name) for name in ("center", "scale")}
        assert found.loss_ == pytest.approx(information_loss(found.components_, X, **config), rel=1e-9)


def same(found, wanted):
    np.testing.assert_array_equal(found.support_, wanted.support_)
    np.testing.assert_allclose(found.components_, wanted.components_, atol=1e-7)
    assert found.loss_ == pytest.approx(wanted.loss_, rel=1e-9)
    assert found.loss_ratio_ == pytest.approx(wanted.loss_ratio_, rel=1e-6)


# where nothing is lost


STORED = [(strategy, kind) for strategy in ("batch", "iterative", "joint") for kind in (np.asarray, sparse.csr_array)]


@pytest.mark.parametrize(("strategy", "kind"), mostly_long(STORED, *STORED[:2], *STORED[3:5]))
def test_few_features_give_the_usual_answer_in_two_readings(strategy, kind, X):
    X = kind(np.where(X > 2, X, 0.0))
    wanted = clone(ANY).set_params(strategy=strategy).fit(X)
    rows = CountedRows(X, 70)
    found = clone(FEW).set_params(strategy=strategy).fit(rows)
    same(found, wanted)
    assert found.n_passes_ == rows.readings == 2
    assert found.certificate_.recheck(X)


def test_proofs_that_read_the_rows_once_more_are_for_fewer_features():
    assert LIMITS.decomposed_features <= SEARCH.one_pass_features


def test_few_rows_are_kept(rng):
    for X in (factors(rng, 200, D), counts(rng, 1000)):
        rows = CountedRows(X, 9)
        found = clone(FEW).fit(rows)
        same(found, clone(ANY).fit(X))
        assert found.n_passes_ == rows.readings == 1


def test_more_rows_are_not(rng):
    for X, readings in ((factors(rng, 201, D), 3), (counts(rng, 1001), 5)):
        rows = CountedRows(X, 9)
        assert clone(FEW).fit(rows).n_passes_ == readings
        assert rows.readings == readings + rows.first_block


# a sketch


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("center", [True, False])
def test_close_to_the_usual_answer(scale, center):
    for kind, readings in (("dense", 3), ("sparse", 5)) if scale == center else (("dense", 3),):
        config, Z = {"scale": scale, "center": center}, table(kind)
        rows = CountedRows(Z, 30)
        found = clone(FEW).set_params(**config).fit(rows)
        wanted = usual(kind) if center and not scale else clone(ANY).set_params(**config).fit(Z)
        close(found, wanted, Z)
        assert found.n_passes_ == readings
        assert rows.readings == readings + rows.first_block
        assert f"chosen in {readings} passes over the data, from a sketch" in found.certificate_.details()


def test_the_same_seed_gives_the_same_answer(wide):
    model = clone(FEW).set_params(n_components=1, n_nonzero=3)
    first, second, other = (clone(model).set_params(random_state=seed).fit(wide) for seed in (3, 3, 4))
    np.testing.assert_array_equal(first.components_, second.components_)
    assert first.certificate_.value == second.certificate_.value
    assert other.loss_ == pytest.approx(first.loss_, rel=0.05)


def test_orthonormal_loadings(wide):
    X = wide
    plain, turned = sketched("dense"), clone(FEW).set_params(strategy=Batch(orthonormal=True)).fit(X)
    np.testing.assert_array_equal(plain.support_, turned.support_)
    np.testing.assert_allclose(turned.components_ @ turned.components_.T, np.eye(K), atol=1e-9)
    assert turned.loss_ == pytest.approx(plain.loss_)
    assert turned.certificate_.recheck(X)


def test_without_a_certificate(wide):
    without = clone(FEW).set_params(certify=False).fit(wide)
    assert without.loss_ == pytest.approx(sketched("dense").loss_)
    assert not hasattr(without, "certificate_")


# who decides


class Stored(CountedRows):
    """Sparse rows of a file of that many bytes."""

    def __init__(self, X, n_bytes):
        super().__init__(X)
        self.stamp = (n_bytes, 0)


def test_auto_means_few_for_large_rows_outside_of_memory():
    model, X = clone(FEW).set_params(passes="auto"), SPARSE
    assert "from a sketch" in model.fit(Stored(X, SEARCH.few_passes_bytes)).certificate_.details()
    assert "from a sketch" not in model.fit(X).certificate_.details()  # in memory
    assert "from a sketch" not in model.fit(Stored(X, SEARCH.few_passes_bytes - 1)).certificate_.details()


@pytest.mark.parametrize(("fewer", "few"), [(0, True), (1, False)])
def test_the_size_of_dense_rows_is_that_of_their_numbers(fewer, few):
    d = SEARCH.one_pass_features
    rows = CountedRows(np.broadcast_to(0.0, (SEARCH.few_passes_bytes // (8 * d) - fewer, d)))
    assert module.gram_or_rows(rows, passes="auto", precomputed=False).gram == few


def test_auto_never_refuses(rng):
    X, dual = counts(rng, 100), clone(ANY).set_params(selector="dual_set")
    with pytest.raises(ValueError, match="passes='any'"):
        clone(dual).set_params(passes="few").fit(X)
    same(clone(dual).set_params(passes="auto").fit(Stored(X, SEARCH.few_passes_bytes)), dual.fit(X))


@pytest.mark.parametrize(
    "other",
    [{"strategy": "joint", "n_nonzero": None}, {"selector": "dual_set"}, {"strategy": Batch(sketch=30)}],
)
def test_methods_without_a_few_pass_form_get_a_sentence(other, wide):
    with pytest.raises(ValueError, match=r"passes='few' with more than 1024 features .* or passes='any'"):
        clone(FEW).set_params(**other).fit(wide)


@pytest.mark.parametrize("passes", ["several", 3, None, True])
def test_unknown_passes_get_a_sentence(passes, X):
    for Z, precomputed in ((X, False), (np.cov(X, rowvar=False), True)):
        with pytest.raises(ValueError, match=r"passes.*'any'"):
            clone(FEW).set_params(passes=passes, precomputed=precomputed).fit(Z)


def test_covariances_are_read_once_whatever_is_said(wide):
    C = np.cov(wide, rowvar=False)
    config = {"precomputed": True, "strategy": "joint"}
    same(clone(FEW).set_params(**config).fit(C), clone(ANY).set_params(**config).fit(C))


# weights, missing values, types


def test_whole_weights_are_copies_of_rows(X, rng):
    weights = rng.integers(0, 3, len(X))
    weighted = clone(FEW).fit(CountedRows(X), sample_weight=weights)
    same(weighted, clone(FEW).fit(np.repeat(X, weights, axis=0)))


def test_weights_in_a_sketch(wide, rng):
    for Z in (wide, SPARSE):
        weights = rng.integers(0, 3, Z.shape[0])
        weights[:100] = 0  # the whole first block
        dense = Z.toarray() if sparse.issparse(Z) else Z
        repeated = np.repeat(dense, weights, axis=0)
        found = clone(FEW).fit(CountedRows(Z), sample_weight=weights)
        assert found.loss_ == pytest.approx(information_loss(found.components_, repeated), rel=1e-9)
        close(found, clone(ANY).fit(Z, sample_weight=weights), Z, weights)


def test_missing_values_need_one_reading_more(wide, rng):
    X = wide
    X[rng.random(X.shape) < 0.02] = np.nan
    rows = CountedRows(X, 30)
    found = clone(FEW).set_params(missing="mean").fit(rows)
    wanted = clone(ANY).set_params(missing="mean").fit(X)
    assert found.n_passes_ == 4
    assert rows.readings == 4 + rows.first_block
    np.testing.assert_allclose(found.imputation_, wanted.imputation_)
    assert found.certificate_.recheck(X)
    assert found.loss_ / found.certificate_.pca_value - 1 <= 1.3 * (wanted.loss_ratio_ - 1)
    few_rows = CountedRows(X[:70], 30)
    assert clone(FEW).set_params(missing="mean").fit(few_rows).n_passes_ == few_rows.readings == 1
    with pytest.raises(ValueError, match="NaN"):
        clone(FEW).fit(CountedRows(X))


@pytest.mark.parametrize("row", [5, 250])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_is_named(row, value, wide):
    stored = SPARSE.toarray()
    wide[row, 7] = stored[row, 7] = value
    for Z in (wide, sparse.csr_array(stored)):
        with pytest.raises(ValueError, match=f"first at row {row}, feature 7"):
            clone(FEW).fit(CountedRows(Z, 60))


MODELS = {
    "any": ANY,
    "few": FEW,
    "variance": SparsePCA(2, n_nonzero=5, effort="quick", random_state=0),
    "nonnegative": NonnegativeSparsePCA(2, n_nonzero=5, effort="quick", random_state=0),
}


SINGLE = [(name, kind) for kind in KINDS for name in MODELS]


@pytest.mark.parametrize(("name", "stored"), mostly_long(SINGLE, *SINGLE[:6]))
def test_single_precision_gives_the_answer_of_double(name, stored, X, wide, rng):
    if name == "few":
        Z = wide + 300.0 if stored == "dense" else SPARSE
    else:
        Z = X + 300.0 if stored == "dense" else counts(rng, 300, 60)
    single, double = (clone(MODELS[name]).fit(Z.astype(kind)) for kind in (np.float32, np.float64))
    ratios = [found.certificate_.value / found.certificate_.pca_value for found in (single, double)]
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-4)


def test_units_do_not_matter(wide):
    wide[:50] = 2.0  # and the first rows say nothing of them
    for Z in (wide, SPARSE):
        plain = clone(FEW).fit(CountedRows(Z, 50))
        for size in (1e-120, 1e60) if sparse.issparse(Z) else (1e-120, 1e120):
            other = clone(FEW).fit(CountedRows(Z * size, 50))
            np.testing.assert_array_equal(plain.support_, other.support_)
            assert other.loss_ratio_ == pytest.approx(plain.loss_ratio_, rel=1e-6)
            assert other.loss_ / size / size == pytest.approx(plain.loss_, rel=1e-6)
            assert other.n_passes_ == plain.n_passes_


def test_first_rows_that_mislead_get_a_sentence(wide):
    X = wide
    X[:60] *= 1e-60
    with pytest.raises(ValueError, match="first rows of X are of another order of magnitude"):
        clone(FEW).fit(CountedRows(X, 60))
    X[:60] *= 1e50  # what single precision covers
    close(clone(FEW).fit(CountedRows(X, 60)), clone(ANY).fit(X), X)


def test_features_that_say_nothing_or_the_same(wide):
    parts = [wide, wide[:, :20], np.full((320, 5), 3.0), np.zeros((320, 5)), 1e-9 * wide[:, 5:9]]
    X = np.concatenate(parts, axis=1)
    for scale in (True, False):
        found, wanted = (clone(model).set_params(scale=scale).fit(X) for model in (FEW, ANY))
        close(found, wanted, X)
        used = found.support_
        assert not np.isin(used, np.arange(D + 20, D + 30)).any()
        assert len(set(np.where((used >= D) & (used < D + 20), used - D, used))) == len(used)


@pytest.mark.parametrize(("k", "r", "said"), [(5, 2, "n_nonzero=2 shared"), (4, 30, "rank 3"), (1, 1, None)])
def test_counts_at_their_limits(k, r, said, wide, rng):
    X = rng.standard_normal((300, 3)) @ rng.standard_normal((3, D)) if said == "rank 3" else wide
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SparingWarning)
        found = clone(FEW).set_params(n_components=k, n_nonzero=r).fit(X)
    assert [said in str(warning.message) for warning in caught] == [True] * (said is not None)
    assert found.certificate_.recheck(X)
    assert len(found.support_) <= r
    if said == "rank 3":
        assert found.loss_ratio_ == 1.0
        assert len(found.components_) == 3


@pytest.mark.filterwarnings("ignore:.*features are read, and there are")
def test_all_features(wide):
    found = clone(FEW).set_params(n_nonzero=D).fit(wide)
    assert found.loss_ratio_ == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("center", [True, False])
def test_next_to_nothing(center):
    """Five entries: the components are features, three of which tie, and found exactly."""
    X = sparse.csr_array((np.ones(5), ([0, 70, 150, 200, 299], [3, 3, 7, 9, 40])), shape=(1100, D))
    for Z in (X, X.toarray()):
        found = clone(FEW).set_params(center=center).fit(CountedRows(Z))
        assert set(found.support_) <= {3, 7, 9, 40}
        assert len(found.components_) == 3
        assert found.loss_ratio_ == pytest.approx(1.0)
        assert found.certificate_.recheck(Z)


def test_no_variance_gets_a_sentence():
    for X in (np.ones((300, D)), np.zeros((300, D)), sparse.csr_array((1100, D))):
        with pytest.raises(ValueError, match="no variance"):
            clone(FEW).fit(CountedRows(X))


def test_max_loss(wide):
    found = clone(FEW).set_params(n_nonzero=None, max_loss=1.05).fit(CountedRows(wide))
    wanted = clone(ANY).set_params(n_nonzero=None, max_loss=1.05).fit(wide)
    assert found.loss_ratio_ <= 1.05
    assert len(found.support_) <= len(wanted.support_) + 1
    assert found.n_passes_ == 3
    with pytest.warns(SparingWarning, match=r"max_loss=1 was not reached.*passes='any'"):
        clone(FEW).set_params(n_nonzero=None, max_loss=1.0).fit(np.random.default_rng(0).standard_normal((320, D)))


# where rows come from


def test_memory_maps_files_and_chunks(wide, tmp_path):
    X = wide
    stored = np.memmap(tmp_path / "X.bin", dtype=float, mode="w+", shape=X.shape)
    stored[:] = X
    np.save(tmp_path / "X.npy", X)
    wanted = sketched("dense")
    sources = [stored, open_data(tmp_path / "X.npy", block_bytes=8 * D * 50)]
    for source in sources:
        found = clone(FEW).fit(source)
        close(found, wanted, X)
        assert 3 <= found.n_passes_ <= 4  # one more where everything is one block


def test_annotated_data(tmp_path):
    h5py = pytest.importorskip("h5py")
    X = SPARSE
    with h5py.File(tmp_path / "X.h5ad", "w") as file:
        group = file.create_group("X")
        group.attrs.update({"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": X.shape})
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(X, part)
    found = clone(FEW).fit(open_data(tmp_path / "X.h5ad", block_bytes=8 * D * 40))
    close(found, sketched("sparse"), X)
    assert 5 <= found.n_passes_ <= 6


@pytest.mark.parametrize("kind", KINDS)
def test_dask_chunks_stay_where_they_are(kind, wide, monkeypatch):
    da = pytest.importorskip("dask.array")
    from sparing.data.dask_rows import DaskRows

    monkeypatch.setattr(DaskRows, "blocks", lambda self: pytest.fail("the rows were gathered"))
    Z = table(kind)
    chunks = da.from_array(wide if kind == "dense" else Z.toarray(), chunks=(len(wide) // 8, D))
    chunks = chunks if kind == "dense" else chunks.map_blocks(sparse.csr_matrix)
    found, wanted = clone(FEW).fit(chunks), sketched(kind)
    close(found, wanted, Z)
    assert found.n_passes_ == wanted.n_passes_


def test_one_huge_block(wide):
    rows = CountedRows(wide, [])
    found = clone(FEW).fit(rows)
    close(found, sketched("dense"), wide)
    assert found.n_passes_ == rows.readings == 4


class Killed(Exception):
    pass


@pytest.mark.parametrize(("kind", "survived"), [("dense", 1), ("dense", 2), ("sparse", 2)])
def test_a_killed_fit_goes_on(kind, survived, tmp_path, monkeypatch):
    X = table(kind)
    wanted = clone(FEW).fit(CountedRows(X, 50))
    real, done = TrackedRows._read, []

    def read(self, work, merge):
        if len(done) == survived:
            raise Killed
        done.append(1)
        return real(self, work, merge)

    model = clone(FEW).set_params(checkpoint=tmp_path / "passes")
    monkeypatch.setattr(TrackedRows, "_read", read)
    with pytest.raises(Killed):
        model.fit(CountedRows(X, 50))
    monkeypatch.setattr(TrackedRows, "_read", real)
    rows = CountedRows(X, 50)
    found = clone(model).fit(rows)
    np.testing.assert_array_equal(found.components_, wanted.components_)
    assert found.certificate_.value == wanted.certificate_.value
    assert rows.readings == wanted.n_passes_ - survived + 2 * rows.first_block  # to recognise X, and for its sizes
    assert not (tmp_path / "passes").exists()


@pytest.mark.parametrize("kind", [SparsePCA, NonnegativeSparsePCA])
def test_components_of_few_features_in_two_readings(kind, X):
    rows = CountedRows(X, 50)
    model = kind(2, n_nonzero=5, effort="quick", random_state=0)
    few = clone(model).set_params(passes="few").fit(rows)
    usual = model.fit(X)
    assert few.n_passes_ == 2
    np.testing.assert_allclose(few.components_, usual.components_, atol=1e-10)
    assert few.certificate_.recheck(X)


OWN = [(strategy, kind) for strategy in ("iterative", "joint") for kind in KINDS]
READINGS = {"dense": 3, "sparse": 5}


@pytest.mark.parametrize(("strategy", "kind"), mostly_long(OWN, *OWN[:3]))
def test_components_with_features_of_their_own(strategy, kind):
    """A strategy chooses among candidates beside what stands for the others: nearly as well, and exactly as said."""
    config, Z, readings = {"strategy": strategy, "n_nonzero": [4, 3, 2]}, table(kind), READINGS[kind]
    rows = CountedRows(Z, 30)
    found, wanted = (clone(model).set_params(**config) for model in (FEW, ANY))
    close(found.fit(rows), wanted.fit(Z), Z)
    assert found.n_passes_ == rows.readings - rows.first_block == readings
    assert sorted(np.count_nonzero(found.components_, axis=1)) == [2, 3, 4]
    assert f"chosen in {readings} passes over the data, from a sketch" in found.certificate_.details()
    if kind == "dense":
        refused, wanted = found.support_[:2], next(j for j in range(D) if j not in found.support_)
        support = clone(found).set_params(include=[wanted], exclude=refused).fit(Z).support_
        assert wanted in support
        assert not set(refused) & set(support)


WIDE = {
    "free": SparsePCA(3, n_nonzero=6, effort="quick"),
    "orthogonal": SparsePCA(3, n_nonzero_total=9, constraint="orthogonal", effort="quick"),
    "nonnegative": NonnegativeSparsePCA(2, effort="quick"),
}


MANY = [(name, kind) for kind in KINDS for name in WIDE]


@pytest.mark.parametrize(("name", "kind"), mostly_long(MANY, *MANY[:4]))
def test_components_of_many_features(name, kind):
    model, Z, readings = WIDE[name], table(kind), READINGS[kind]
    rows = CountedRows(Z, 30)
    found, wanted = clone(model).set_params(passes="few").fit(rows), clone(model).set_params(passes="any").fit(Z)
    assert found.n_passes_ == rows.readings - rows.first_block == readings
    assert found.certificate_.value >= 0.98 * wanted.certificate_.value
    assert found.certificate_.recheck(Z)
    assert "the variance of the components is exact" in found.certificate_.details()
    if name == "orthogonal":
        np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(3), atol=1e-9)
    if (name, kind) == ("free", "dense"):
        wanted = next(j for j in range(D - 1, 0, -1) if j not in found.support_)
        assert wanted in clone(model).set_params(passes="few", include=[wanted]).fit(Z).support_


@pytest.mark.parametrize("other", [{"exclude": [0]}, {"n_rows": 9}, {"n_nonzero": None, "min_variance": 0.3}])
def test_components_that_need_any_number(other, wide):
    with pytest.raises(ValueError, match="passes='any'"):
        SparsePCA(2, n_nonzero=5, passes="few").set_params(**other).fit(wide)
