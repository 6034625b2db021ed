"""Rules on features as options: names, files, patterns; and the saved model on a table of the panel alone."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from sklearn.datasets import load_wine

from sparing import SparseEncoder, sparsity_path

WINE = load_wine()
NAMES = WINE.feature_names


def chosen(result):
    assert result.exit_code == 0, result.output
    return [entry["name"] for entry in json.loads(result.stdout)["support"]]


def fitted(**rules):
    model = SparseEncoder(2, n_nonzero=4, scale=True, effort="quick", **rules).fit(WINE.data)
    return [NAMES[j] for j in model.support_]


QUICK = ("wine.csv", "-k", "2", "--scale", "--effort", "quick", "--json")


def test_names_files_and_patterns_say_what_is_read(run, folder):
    (folder / "panel.txt").write_text("ash\n\nhue\n")
    by_option = chosen(run("fit", *QUICK, "-r", 4, "--include", "@panel.txt", "--exclude", "proline, alcohol"))
    assert by_option == fitted(include=[2, 10], exclude=[0, 12])
    again = ("--include", "ash", "--include", "hue", "--exclude-matching", "^(alcohol|proline|hue)$")
    assert chosen(run("fit", *QUICK, "-r", 4, *again)) == by_option  # what is included stays
    unmatched = run("fit", *QUICK, "-r", 4, "--exclude-matching", "^RP[SL]")
    assert "matches no feature" in unmatched.stderr


def test_a_name_with_a_comma_is_one_name(run, folder):
    with (folder / "odd.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["a, b", "c", "d"], *np.random.default_rng(0).normal(size=(9, 3)).tolist()])
    assert chosen(run("fit", "odd.csv", "-k", "1", "-r", "1", "--include", "a, b", "--json")) == ["a, b"]


def test_costs_and_groups_come_from_files(run, folder):
    costs, groups = np.arange(13) % 4, ["odd" if j % 2 else "even" for j in range(13)]
    (folder / "costs.csv").write_text(
        "feature,cost\n" + "".join(f"{name},{cost}\n" for name, cost in zip(NAMES, costs, strict=True)) + "other,3\n"
    )
    (folder / "groups.csv").write_text("".join(f"{name},{group}\n" for name, group in zip(NAMES, groups, strict=True)))
    limits = ("--costs", "costs.csv", "--max-cost", "3", "--groups", "groups.csv", "--max-per-group", "2")
    rules = {"costs": costs, "max_cost": 3, "groups": groups, "max_per_group": 2}
    assert chosen(run("fit", *QUICK, "-r", 4, *limits)) == fitted(**rules)
    steps = json.loads(run("path", *QUICK, *limits).stdout)["steps"]
    path = sparsity_path(WINE.data, 2, scale=True, effort="quick", **rules)
    assert [step["variance_kept"] for step in steps] == pytest.approx(path.variance_kept)


def test_groups_may_be_a_column_of_anndata(run, folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "wine.h5ad", "w") as file:
        file["X"] = WINE.data
        file.create_group("var").attrs["_index"] = "_index"
        file["var/_index"] = NAMES
        file["var/kind/categories"] = ["a", "b"]
        file["var/kind/codes"] = [-1 if j == 12 else j % 2 for j in range(13)]
    limits = ("--groups", "kind", "--max-per-group", "1", "-r", "3")
    found = chosen(run("fit", "wine.h5ad", *QUICK[1:], *limits))
    assert sorted("ab"[NAMES.index(name) % 2] for name in found if name != "proline") == ["a", "b"]
    assert "proline" in found  # it has no group
    assert "neither a file nor a column" in run("fit", "wine.h5ad", *limits[2:], "--groups", "sort").output


def test_own_columns_are_used_as_they_are(run):
    assert chosen(run("fit", *QUICK, "--columns", "hue,ash", "--columns", "alcohol")) == ["alcohol", "ash", "hue"]


@pytest.mark.parametrize("method", ["pca", "nonnegative"])
def test_components_of_maximal_variance_keep_rules(run, method):
    found = chosen(
        run("fit", *QUICK, "--method", method, "-r", 3, "--include", "ash", "--exclude-matching", "^(fl|pro)")
    )
    assert "ash" in found
    assert not {"flavanoids", "proline", "proanthocyanins"} & set(found)


def test_a_path_begins_with_what_is_included(run):
    steps = json.loads(run("path", *QUICK, "--include", "ash,hue", "--max-features", "4").stdout)["steps"]
    assert [step["n_features"] for step in steps] == [2, 3, 4]
    reached = run("path", *QUICK[:-1], "--include", "ash,hue", "--min-variance", "0.8").stdout
    assert f"3 of 13 features keep {100 * steps[1]['variance_kept']:.1f}"[:-1] in reached


def test_the_saved_model_needs_only_the_panel(run, folder):
    options = ("--include", "ash", "--exclude-matching", "^pro", "--save", "panel.model")
    panel = chosen(run("fit", *QUICK, "-r", 4, *options))
    with (folder / "panel.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(panel[::-1])
        writer.writerows(WINE.data[:5, [NAMES.index(name) for name in panel[::-1]]].tolist())
    alone = run("transform", "panel.model", "panel.csv").stdout.splitlines()
    assert alone == run("transform", "panel.model", "wine.csv").stdout.splitlines()[:6]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--include", "nope"], "--include names 'nope', which the data do not have. Their features"),
        (["--columns", "nope"], "--columns names 'nope', which the data do not have. Their features"),
        (["--include", "ash", "--exclude", "ash"], "--include and --exclude both name 'ash'"),
        (["--include", "ash,hue", "-r", "1"], "-r allows 1 in all. Raise -r, or shorten --include"),
        (["--include", "@nowhere.txt"], "nowhere.txt"),
        (["--exclude-matching", "["], "is not a regular expression"),
        (["--exclude-matching", "."], "leave no feature to read"),
        (["--costs", "wine.csv"], "--costs needs --max-cost"),
        (["--max-per-group", "2"], "--max-per-group needs --groups"),
        (["--costs", "wine.csv", "--max-cost", "3"], "row 1 has 14 cells; two are needed"),
        (["--columns", "ash", "-r", "3"], "-r and --columns both say how many features"),
        (["--method", "pca", "--max-cost", "3"], "--max-cost is for --method encoder"),
    ],
)
def test_rules_that_cannot_be_kept_get_a_sentence(run, options, said):
    result = run("fit", "wine.csv", *options)
    assert result.exit_code in (1, 2)
    assert said in result.output
    assert "Traceback" not in result.output
