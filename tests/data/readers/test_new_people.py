"""PLINK files and fitted models: a person's numbers do not depend on who else is in the file."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sparing import (
    SparseEncoder,
    SparseHierarchicalClustering,
    SparseKMeans,
    SparsePCA,
    SparsePCARegressor,
    load_model,
    save_model,
)
from sparing.data.readers import open_data
from sparing.data.rows import ChosenColumns
from sparing.errors import ModelFileError
from sparing.show.cli.commands import sparing

bed_reader = pytest.importorskip("bed_reader")

PEOPLE, SNPS = 40, 8
NAMES = [f"rs{j}" for j in range(SNPS)]
FIRST, SECOND = list("ACGTACGT"), list("CATGGTCA")


@pytest.fixture(scope="module")
def values():
    """Genotypes of two groups, with gaps; person 3 has many of them, person 0 none."""
    rng = np.random.default_rng(5)
    share = np.where(np.arange(PEOPLE)[:, None] % 2, rng.random(SNPS), 0.2)
    values = rng.binomial(2, share).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    values[3, ::2], values[0] = np.nan, 1
    return values


@pytest.fixture
def write(tmp_path):
    """Write a PLINK file and return its path."""

    def to_file(name, values, names=NAMES, first=FIRST, second=SECOND):
        properties = {"sid": names, "allele_1": first, "allele_2": second, "chromosome": ["7"] * len(names)}
        properties["bp_position"] = 100 * np.arange(1, len(names) + 1)
        bed_reader.to_bed(tmp_path / f"{name}.bed", values, properties=properties)
        return tmp_path / f"{name}.bed"

    return to_file


def through_a_file(model, folder):
    save_model(model, folder / "a.model")
    return load_model(folder / "a.model")


USES = {
    "encoder": (SparseEncoder(2, n_nonzero=5, random_state=0), "transform"),
    "scaled encoder": (SparseEncoder(2, n_nonzero=5, scale=True, missing="mean", random_state=0), "transform"),
    "components": (SparsePCA(2, n_nonzero=4, random_state=0), "transform"),
    "regression": (SparsePCARegressor(2, n_nonzero=5, random_state=0), "predict"),
    "clusters": (SparseKMeans(2, weight_bound=2.0, random_state=0), "transform"),
}


@pytest.mark.parametrize("scaling", [None, "binomial"])
@pytest.mark.parametrize("use", USES)
def test_a_person_alone_has_the_scores_it_has_among_others(use, scaling, values, write, tmp_path):
    whole = open_data(write("all", values), scaling=scaling)
    model, verb = USES[use]
    model.fit(whole, np.nan_to_num(values[:, 0]))
    want = getattr(model, verb)(whole)
    assert np.ptp(want, axis=0).min() > 0.1
    for fitted in (model, through_a_file(model, tmp_path), pickle.loads(pickle.dumps(model))):
        for person in (0, 3):
            for opened in (None, "binomial"):
                alone = open_data(write("one", values[[person]]), scaling=opened)
                np.testing.assert_allclose(getattr(fitted, verb)(alone), want[[person]], rtol=1e-6, atol=1e-6)


def test_what_is_kept_are_means_factors_and_alleles(values, write):
    path = write("all", values)
    coding = SparseEncoder(1, n_nonzero=2, random_state=0).fit(open_data(path, scaling="binomial")).coding_
    means = np.nanmean(values, axis=0)
    np.testing.assert_allclose(coding.means, means, rtol=1e-6)
    np.testing.assert_allclose(coding.factors, 1 / np.sqrt(means * (1 - means / 2)), rtol=1e-6)
    assert (coding.counted.tolist(), coding.other.tolist()) == (FIRST, SECOND)
    half = open_data(write("half", values[:20])).with_coding(coding)
    np.testing.assert_array_equal(half.source, open_data(path, scaling="binomial").source[:20])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(half)).source, half.source)


def test_distances_and_scores_are_by_the_coding_of_the_fit(values, write):
    whole, part = open_data(write("all", values), scaling="binomial"), open_data(write("part", values[1:6]))
    clusters = SparseHierarchicalClustering(2, weight_bound=2.0, random_state=0).fit(whole)
    np.testing.assert_allclose(clusters.dissimilarity(part), clusters.dissimilarity(whole)[1:6, 1:6], atol=1e-5)
    encoder = SparseEncoder(2, n_nonzero=5, random_state=0).fit(whole)
    assert encoder.score(part) == pytest.approx(encoder.score(pd.DataFrame(whole.source[1:6], columns=NAMES)), abs=1e-6)


def test_batches_are_by_the_coding_of_the_first(values, write):
    first = open_data(write("first", values[:25]), scaling="binomial")
    second = open_data(write("second", values[25:]))
    batches = SparseEncoder(2, n_nonzero=5, random_state=0).partial_fit(first).partial_fit(second)
    together = open_data(write("all", values)).with_coding(first.coding).source
    np.testing.assert_allclose(batches.mean_, together.mean(axis=0, dtype=float), rtol=1e-6)


def test_a_fit_to_an_array_forgets_the_file(values, write):
    whole = open_data(write("all", values), scaling="binomial")
    model = SparseEncoder(1, n_nonzero=3, random_state=0).fit(whole)
    frame = pd.DataFrame(whole.source, columns=NAMES)  # as it was given to fit
    np.testing.assert_array_equal(model.transform(frame), model.transform(whole))
    assert not hasattr(model.fit(frame), "coding_")


def test_the_command_line_scores_by_the_coding_of_the_fit(values, write, tmp_path):
    whole = open_data(write("all", values), scaling="binomial")
    model = SparseEncoder(2, n_nonzero=4, random_state=0).fit(whole)
    save_model(model, tmp_path / "a.model")
    turned = model.support_[::-1]  # the SNPs that the model needs, in another order
    few = {"names": [NAMES[j] for j in turned], "first": [SECOND[j] for j in turned]}
    path = write("few", 2 - values[[3]][:, turned], **few, second=[FIRST[j] for j in turned])
    call = ["transform", tmp_path / "a.model", path, "-o", tmp_path / "scores.npy"]
    assert CliRunner().invoke(sparing, list(map(str, call))).exit_code == 0
    np.testing.assert_allclose(np.load(tmp_path / "scores.npy"), model.transform(whole)[[3]], rtol=1e-5)


def test_columns_that_were_dropped_have_no_coding(values, write):
    path, J = write("all", values), np.array([6, 1, 2, 5])
    kept = ChosenColumns(open_data(path, scaling="binomial"), J)
    model = SparseEncoder(1, n_nonzero=3, random_state=0).fit(kept)
    assert model.coding_.counted.tolist() == [FIRST[j] for j in J]
    alone = ChosenColumns(open_data(write("one", values[[3]])), J)
    np.testing.assert_allclose(model.transform(alone), model.transform(kept)[[3]], rtol=1e-6)
    twice = ChosenColumns(ChosenColumns(open_data(path), J), np.arange(4))
    np.testing.assert_array_equal(twice.with_coding(model.coding_).source, kept.source)


def test_exchanged_alleles_are_counted_as_at_fit(values, write):
    whole = open_data(write("all", values), scaling="binomial")
    model = SparseEncoder(2, n_nonzero=6, random_state=0).fit(whole)
    swap = np.arange(SNPS) % 2 == 0
    other = np.where(swap, 2 - values, values)
    first, second = np.where(swap, SECOND, FIRST).tolist(), np.where(swap, FIRST, SECOND).tolist()
    exchanged = open_data(write("exchanged", other, first=first, second=second))
    assert np.abs(exchanged.source - open_data(whole.path).source).max() == 2
    np.testing.assert_array_equal(model.transform(exchanged), model.transform(whole))


def test_an_allele_that_nobody_has_may_be_nameless(values, write):
    model = SparseEncoder(2, n_nonzero=6, random_state=0).fit(open_data(write("all", values)))
    person = np.zeros((1, SNPS))  # two copies of every second allele
    want = model.transform(open_data(write("named", person)))
    nameless = write("nameless", person, first=["0"] * SNPS)
    np.testing.assert_array_equal(model.transform(open_data(nameless)), want)
    turned = write("turned", 2 - person, first=SECOND, second=["0"] * SNPS)
    np.testing.assert_array_equal(model.transform(open_data(turned)), want)


def test_other_alleles_are_refused(values, write):
    model = SparseEncoder(2, n_nonzero=SNPS, random_state=0).fit(open_data(write("all", values)))
    other = open_data(write("other", values, second=[*SECOND[:3], "C", "C", *SECOND[5:]]))
    with pytest.raises(
        ValueError, match=r"'rs3' has the alleles T and C, .* fitted on T and G \(and 1 more SNPs differ"
    ):
        model.transform(other)
    with pytest.raises(ValueError, match="it has 8 numeric columns, and the model was fitted on 3"):
        other.with_coding(model.coding_.of(np.arange(3)))


def test_snps_without_a_name_are_named_by_place_and_alleles(values, write):
    names = [".", "rs1", "rs2", ".", "rs4", "rs1", "rs6", "rs7"]
    rows = open_data(write("all", values, names=names))
    assert rows.feature_names == ["7:100:A:C", "7:200:A:C", "rs2", "7:400:G:T", "rs4", "7:600:C:T", "rs6", "rs7"]
    exchanged = open_data(write("exchanged", 2 - values, names=names, first=SECOND, second=FIRST))
    model = SparseEncoder(2, n_nonzero=6, random_state=0).fit(rows)
    assert list(model.feature_names_in_) == rows.feature_names
    np.testing.assert_allclose(model.transform(exchanged), model.transform(rows), atol=1e-6)


@pytest.mark.parametrize("damage", ["short", "not finite", "no coding"])
def test_a_model_with_a_damaged_coding_is_refused(damage, values, write, tmp_path):
    model = SparseEncoder(1, n_nonzero=3, random_state=0).fit(open_data(write("all", values)))
    coding = model.coding_
    if damage == "short":
        model.coding_ = coding.of(np.arange(SNPS - 1))
    elif damage == "not finite":
        coding.means[2] = np.inf
    else:
        model.coding_ = [1.0, 2.0]
    save_model(model, tmp_path / "a.model")
    with pytest.raises(ModelFileError, match="its coding is not for its features"):
        load_model(tmp_path / "a.model")
