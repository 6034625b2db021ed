"""`sparing fit`: a file in, an answer out, one sentence for anything else."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import sparse
from scipy.io import mmwrite
from sklearn.datasets import load_wine

from sparing import NonnegativeSparsePCA, SparseEncoder, SparsePCA, load_model
from sparing.certificates.sentences import percent_kept
from sparing.datasets import make_spiked
from sparing.show.wording import shown

X = np.round(make_spiked(40, 6, n_components=1, n_nonzero=3, random_state=0).X, 6)
NAMES = ("a", "b", 'c "quoted"', "<b>d</b>", "é🎉", "f")


def table(names=NAMES, delimiter=",", label=None):
    quoted = ['"' + name.replace('"', '""') + '"' for name in names]
    rows = [delimiter.join(quoted + (["kind"] if label else []))]
    rows += [delimiter.join([*map(repr, map(float, row)), *([label] if label else [])]) for row in X]
    return "\n".join(rows) + "\n"


@pytest.fixture
def fit(run, folder):
    def call(text, *options, name="data.csv"):
        (folder / name).write_text(text, encoding="utf-8")
        return run("fit", name, *options)

    return call


def test_prints_the_certificate_and_named_loadings(fit):
    result = fit(table(label="spruce"), "-k", "1", "-r", "3")
    assert result.exit_code == 0
    model = SparseEncoder(1, n_nonzero=3, random_state=0).fit(X)
    assert result.stdout.startswith(str(model.certificate_))
    for j in model.support_:
        assert f"{NAMES[j]} " in result.stdout
        assert f"{model.components_[0, j]:.4f}" in result.stdout
        assert f"{abs(model.components_[0, j]):.3g} {NAMES[j]}" in result.stdout
    assert "Not used as features (not numeric): kind." in result.stderr
    order = np.argsort(model.feature_r2_, kind="stable")
    worst = ", ".join(f"{shown(NAMES[j])} {percent_kept(model.feature_r2_[j])}" for j in order)
    assert f"Predicted worst (share of variance): {worst}." in result.stdout


def test_tabs_and_max_loss_and_scale(fit):
    result = fit(table(delimiter="\t"), "--max-loss", "1.5", "--scale", name="data.tsv")
    assert result.exit_code == 0
    model = SparseEncoder(2, max_loss=1.5, scale=True, random_state=0).fit(X)
    assert str(model.certificate_) in result.stdout


@pytest.mark.parametrize(
    ("options", "model"),
    [
        (("--method", "pca", "-r", 3), SparsePCA(2, n_nonzero=3, random_state=0)),
        (("--method", "pca", "--min-variance", 0.7), SparsePCA(2, min_variance=0.7, random_state=0)),
        (
            ("--method", "pca", "-r", 3, "--max-cosine", 0.2),
            SparsePCA(2, n_nonzero=3, max_cosine=0.2, random_state=0),
        ),
        (("--method", "nonnegative", "-r", 3, "-k", 1), NonnegativeSparsePCA(1, n_nonzero=3, random_state=0)),
        (("--strategy", "joint", "-r", 2), SparseEncoder(2, n_nonzero=2, strategy="joint", random_state=0)),
        (("--no-center", "-r", 2), SparseEncoder(2, n_nonzero=2, center=False, random_state=0)),
    ],
)
def test_every_method(fit, options, model):
    result = fit(table(), *options, "--effort", "quick")
    assert result.exit_code == 0
    assert result.stdout.startswith(str(model.set_params(effort="quick").fit(X).certificate_))


def test_json_holds_everything(run):
    result = run("fit", "wine.csv", "-k", 2, "-r", 5, "--scale", "--json", "--drop", "ash")
    answer = json.loads(result.stdout)
    wine = load_wine()
    names = [name for name in wine.feature_names if name != "ash"]
    kept = np.array([j for j, name in enumerate(wine.feature_names) if name != "ash"])
    model = SparseEncoder(2, n_nonzero=5, scale=True, random_state=0).fit(wine.data[:, kept])
    assert [(part["feature"], part["name"]) for part in answer["support"]] == [(j, names[j]) for j in model.support_]
    for component, row in zip(answer["components"], model.components_, strict=True):
        loadings = np.zeros(len(names))
        for part in component["loadings"]:
            assert names[part["feature"]] == part["name"]
            loadings[part["feature"]] = part["loading"]
        np.testing.assert_allclose(loadings, row, atol=1e-12)
        sizes = [abs(part["loading"]) for part in component["loadings"]]
        assert sizes == sorted(sizes, reverse=True)
    certificate = model.certificate_
    assert answer["sentence"] == answer["certificate"]["sentence"] == str(certificate)
    assert answer["loss_ratio"] == pytest.approx(model.loss_ratio_)
    for name in ("value", "bound", "pca_value", "total", "gap", "ratio"):
        assert answer["certificate"][name] == pytest.approx(getattr(certificate, name))
    assert answer["certificate"]["problem"]["n_nonzero"] == 5
    assert answer["data"]["left_out"] == {"not_numeric": ["cultivar"], "dropped": ["ash"]}


def test_every_format_gives_the_same_answer(run, folder):
    wine = load_wine().data
    np.save("wine.npy", wine)
    np.savez("wine.npz", first=wine[:20], X=wine)
    mmwrite("wine.mtx", sparse.coo_array(wine))
    said = {name: run("fit", name, "-r", 4, "--scale").stdout for name in ("wine.npy", "wine.npz", "wine.mtx")}
    want = str(SparseEncoder(2, n_nonzero=4, scale=True, random_state=0).fit(wine).certificate_)
    assert all(text.startswith(want) for text in said.values())
    assert run("fit", "wine.npz", "--key", "first", "-r", 4).stdout != said["wine.npz"]
    assert "x6" in said["wine.npy"]


def test_missing_values(fit):
    holes = table().replace(repr(float(X[3, 1])), "", 1)
    refused = fit(holes, "-r", 2)
    assert refused.exit_code == 1
    assert "NaN (first at row 3, feature 'b')" in refused.stderr
    assert fit(holes, "-r", 2, "--missing", "mean").exit_code == 0


def test_label_and_drop_leave_columns_out(run):
    result = run("fit", "wine.csv", "-r", 3, "--label", "cultivar", "--drop", "proline", "--drop", "magnesium")
    assert result.exit_code == 0
    assert result.stderr == "Not used as features (as requested): cultivar, proline, magnesium.\n"
    assert "proline" not in result.stdout
    nope = run("fit", "wine.csv", "--drop", "no such")
    assert nope.exit_code == 1
    assert "no column 'no such'" in nope.stderr


def test_dropping_everything_is_refused(fit):
    result = fit("a,b\n1,2\n2,1\n", "--drop", "a", "--drop", "b")
    assert result.exit_code == 1
    assert "Keep at least one" in result.stderr


def test_saved_models_are_those_of_the_library(run):
    assert run("fit", "wine.csv", "-r", 4, "--save", "wine.model").exit_code == 0
    model = load_model("wine.model")
    wine = load_wine()
    same = SparseEncoder(2, n_nonzero=4, random_state=0).fit(wine.data)
    np.testing.assert_array_equal(model.support_, same.support_)
    assert list(model.feature_names_in_) == wine.feature_names


def test_a_file_is_replaced_only_by_force(run, folder):
    (folder / "m").write_text("precious")
    result = run("fit", "wine.csv", "-r", 4, "--save", "m")
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert (folder / "m").read_text() == "precious"
    assert run("fit", "wine.csv", "-r", 4, "--save", "m", "--force").exit_code == 0
    assert load_model("m").n_components == 2
    assert "no folder" in run("fit", "wine.csv", "--save", "nowhere/m").stderr
    assert "folder" in run("fit", "wine.csv", "--save", folder).stderr


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        ("", (), "a header and at least one row"),
        ("a,b\n", (), "a header and at least one row"),
        ("a,b\n1,2\n3\n", (), "line 3 has 1 cells, the header has 2"),
        ("a,b\nx,y\n", (), "no column holds only numbers"),
        ("a,b\n1_0,1_1\n2_0,2_5\n", (), "no column holds only numbers"),
        ("a,b;c\n1,2;3\n4,5;7\n", (), "separated by ',' or by ';'. Choose one with --delimiter ,"),
        ("1,2\n3,4\n5,7\n", (), "its first row holds numbers only"),
        ("a,b\n1,2\n\n\n3\n", (), "line 5 has 1 cells"),
        ("a,b\n1,2\n3,12%\n4,7\n", (), "row 1 (line 3) of column 'b' holds '12%'"),
        ("a,b\n1,2\n3,\n4,7\n", (), "The data contain NaN (first at row 1, feature 'b')"),
        ("a,b\n1,2\n1,2\n", (), "every feature is constant"),
        ("a,b\n1,2\n2,1\n5,1\n", ("-r", "3"), "-r 3 is outside [1, 2]"),
        ("a,b\n1,2\n2,1\n5,1\n", ("-k", "3"), "-k 3, but the data have 2 features"),
        ("a,b\n1,2\n2,1\n5,1\n", ("--key", "X"), "holds a single table"),
    ],
)
def test_bad_files_get_one_sentence_and_a_code(fit, text, options, sentence):
    result = fit(text, *options)
    assert result.exit_code == 1
    assert sentence in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    "options",
    [
        ("-r", "1", "--max-loss", "1.1"),
        ("--method", "pca", "--max-loss", "1.1"),
        ("--method", "nonnegative", "--strategy", "joint"),
        ("--method", "nonnegative", "--max-cosine", "0.3"),
        ("-r", "2", "--min-variance", "0.9"),
        ("--method", "pca", "-r", "2", "--min-variance", "0.9"),
        ("-k", "0"),
        ("--time-limit", "0"),
        ("--method", "none"),
    ],
)
def test_options_that_make_no_sense_are_misunderstandings(run, options):
    result = run("fit", "wine.csv", *options)
    assert result.exit_code == 2
    assert "Error: " in result.stderr


def test_a_limit_on_cosines_is_refused_in_the_words_of_the_command_line(run):
    result = run("fit", "wine.csv", "--method", "pca", "-r", "3", "--max-cosine", "1.5")
    assert result.exit_code == 1
    assert "--max-cosine 1.5 must be a number from 0 to 1" in result.stderr
    both = run("fit", "wine.csv", "--method", "pca", "--min-variance", "0.9", "--max-cosine", "0.3")
    assert "Leave --min-variance at its default, or --max-cosine at 1." in both.stderr


def test_missing_binary_and_directory(run, folder):
    for path, why in ((folder / "none.csv", "no such file"), (folder, "it is a folder; a file is expected")):
        result = run("fit", path)
        assert result.exit_code == 1
        assert why in result.stderr
    (folder / "bin.csv").write_bytes(bytes(range(256)))
    assert "not a text table" in run("fit", folder / "bin.csv").stderr


def test_notes_go_to_the_error_stream_and_control_characters_are_not_printed(fit):
    result = fit(table(names=("a", "b\x1b[31m", "c\u202e", "d\x07", "e\x9b2J", "f\r")), "-k", "5", "-r", "6")
    assert result.exit_code == 0
    assert not {"\x1b", "\u202e", "\x07", "\x9b", "\r"} & set(result.stdout)
    assert "b?[31m" in result.stdout
    few = fit(table(), "-k", "5", "-r", "2")
    assert few.stderr.startswith("Note: -k 5 was requested")
    assert len(few.stderr.splitlines()) == 1


def test_shares_of_components_say_what_they_are_shares_of(run):
    said = run("fit", "wine.csv", "--method", "pca", "-k", 2, "-r", 4, "--scale").stdout
    shares = SparsePCA(2, n_nonzero=4, scale=True, random_state=0).fit(load_wine().data).explained_variance_ratio_
    each = ", ".join(f"{share:.1%}" for share in shares)
    assert f"% of the total variance, by component: {each}.\n" in said
    assert "adds:" not in run("fit", "wine.csv", "-k", 1, "-r", 4).stdout


def test_help_says_what_is_counted_and_kept(run):
    said = " ".join(run("fit", "--help").stdout.split())
    assert "in total (encoder with --strategy batch, the default), or per component (all others)." in said
    assert "of each component, or of their total if they are searched together" in said


def test_a_sparse_archive_has_no_tables_to_choose_from(run):
    sparse.save_npz("wine.npz", sparse.csr_array(load_wine().data))
    result = run("fit", "wine.npz", "--key", "X")
    assert result.exit_code == 1
    assert "it holds one sparse matrix. Leave --key out." in result.stderr
