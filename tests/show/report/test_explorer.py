"""``explore``: any data in, one file out, whole or not at all."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sparing import open_data, sparsity_path
from sparing.datasets import make_spiked
from sparing.errors import SparingWarning
from sparing.report import explore
from sparing.show.report import explorer, page

X = make_spiked(60, 9, n_nonzero=3, random_state=0).X


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The contents of a page; without the script, which takes longer than all the rest."""
    monkeypatch.setattr(explorer, "chart_script", lambda: "")

    def write(X, **options):
        place = explore(X, tmp_path / "page.html", **{"random_state": 0, **options})
        text = place.read_text(encoding="utf-8")
        return json.loads(re.search(r'id="contents">(.*?)</script>', text, re.DOTALL).group(1)), text

    return write


@pytest.mark.parametrize(
    ("data", "options"),
    [
        (X[:, :1], {"n_components": 1}),
        (X[:, :2], {}),
        (X[:2], {}),
        (X, {"n_components": 1}),
        (X, {"n_components": 9}),
        (np.column_stack([X, np.ones(60), X[:, 0]]), {"n_components": 4}),
        (X, {"max_features": 1}),
        (X, {"scale": True, "center": False}),
    ],
    ids=["d=1", "d=2", "n=2", "k=1", "k=d", "constant and repeated", "r=1", "not centred"],
)
def test_odd_shapes(written, data, options):
    contents, _ = written(data, **options)
    steps = contents["steps"]
    assert [step["features"] for step in steps] == list(range(1, len(steps) + 1))
    assert 1 <= contents["start"] <= len(steps)
    for step in steps:
        assert len(step["loadings"]) == len(step["scores"]) == len(step["equations"]) <= contents["components"]
        assert all(len(component) == len(step["support"]) for component in step["loadings"])
        assert 0 <= step["kept"] <= step["most"] <= 1
        assert 0 <= step["explained"] <= 1


def test_without_any_time_left_the_page_says_less(written):
    with pytest.warns(SparingWarning) as caught:
        contents, _ = written(X, time_limit=1e-9)
    assert [str(each.message).split(";")[0].split(":")[0] for each in caught] == [
        "time_limit ended cross-validation",
        "time_limit ended before it was known how often features are chosen again",
    ]
    every, _ = written(X)
    assert [step["features"] for step in contents["steps"]] == [step["features"] for step in every["steps"]]
    assert {"heldSe", "again"} <= set(every["steps"][0]) - set(contents["steps"][0])


def test_every_storage_gives_the_same_page(written, tmp_path):
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(9)])
    frame.to_csv(tmp_path / "data.csv", index=False)
    names = list(frame.columns)
    wanted, _ = written(frame)
    assert list(wanted["names"].values()) == names
    with open_data(tmp_path / "data.csv") as rows:
        from_file, _ = written(rows)
    from_sparse, _ = written(sparse.csr_array(X), feature_names=names)
    for other in (from_file, from_sparse):
        assert other["names"] == wanted["names"]
        for step, again in zip(wanted["steps"], other["steps"], strict=True):
            assert again["support"] == step["support"]
            assert again["kept"] == pytest.approx(step["kept"], rel=1e-6)


def test_missing_values_count_as_means(written):
    holes, filled = X.copy(), X.copy()
    holes[3, 2] = np.nan
    filled[3, 2] = np.nanmean(holes[:, 2])
    (contents, _), (wanted, _) = (written(data, missing="mean") for data in (holes, filled))
    for step, again in zip(wanted["steps"], contents["steps"], strict=True):
        assert again["support"] == step["support"]
        assert again["kept"] == pytest.approx(step["kept"])


@pytest.mark.usefixtures("slow_reading")
def test_progress_changes_nothing_on_the_page(written, capsys):
    _, silent = written(X)
    assert capsys.readouterr().out == ""
    _, told = written(X, verbose=True)
    assert "[sparing] pass 1: 100% of 60 rows" in capsys.readouterr().out
    assert told == silent


def test_half_samples_choose_features_again(written):
    noise = np.random.default_rng(0).standard_normal((60, 9))
    planted = noise + 5 * np.outer(noise[:, 8], np.arange(9) < 3)
    (clear, _), (noise, _) = written(planted, n_components=1), written(noise, n_components=1)
    assert clear["steps"][2]["again"] == [clear["halves"]] * 3
    assert max(noise["steps"][2]["again"]) < noise["halves"]
    assert "again" not in clear["steps"][8]  # all of them, always


def test_names_and_numbers_of_samples_are_told(written):
    contents, text = written(X, labels=np.arange(60), sample_names=[f"<{i}>" for i in range(60)], title="<i>t</i>")
    assert contents["samples"][7] == "<7>"
    assert contents["labels"]["kind"] == "scale"
    assert contents["names"]["8"] == "x8"
    assert "<title>&lt;i&gt;t&lt;/i&gt;</title>" in text
    assert "drawn for" not in text
    contents, text = written(make_spiked(2100, 9, n_nonzero=3, random_state=0).X)
    assert len(contents["samples"]) == 2000
    assert "Scores are drawn for 2,000 samples, chosen at random" in text


def test_a_thousand_features_stay_below_five_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    wide = rng.standard_normal((3000, 5)) @ rng.standard_normal((5, 1000)) + rng.standard_normal((3000, 1000))
    names = [f"a gene with quite a long name, number {j}" for j in range(1000)]
    place = explore(wide, tmp_path / "wide.html", n_components=3, feature_names=names, effort="quick", random_state=0)
    assert 1e6 < place.stat().st_size < 5e6


@pytest.mark.parametrize(
    ("data", "options", "sentence"),
    [
        (X, {"n_components": 10}, "n_components=10, but X has n_features=9"),
        (X, {"max_features": 0}, "max_features=0 must be at least 1"),
        (X, {"scale": "yes"}, "scale='yes' must be True or False"),
        (X, {"missing": "drop"}, "missing='drop'"),
        (X, {"feature_names": ["a"]}, "1 names were given for 9 features"),
        (X, {"labels": ["a"]}, r"labels has shape \(1,\)"),
        (np.ones((5, 3)), {}, "no variance"),
        (np.where(np.eye(9) > 0, np.nan, X[:9]), {"feature_names": list("abcdefghi")}, "feature 'a'"),
    ],
)
def test_mistakes_get_a_sentence_and_leave_what_was_there(written, tmp_path, data, options, sentence):
    (tmp_path / "page.html").write_text("earlier")
    with pytest.raises((ValueError, TypeError), match=sentence):
        written(data, **options)
    assert (tmp_path / "page.html").read_text() == "earlier"


def test_a_page_that_cannot_be_finished_leaves_the_earlier_one(written, tmp_path, monkeypatch):
    (tmp_path / "page.html").write_text("earlier")

    def fails(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(explorer, "html_page", fails)
    with pytest.raises(OSError, match=r"Cannot write .*no space left on device"):
        written(X)
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert (tmp_path / "page.html").read_text() == "earlier"


def test_the_template_is_shipped():
    for name in ("page.html", "page.css", "page.js", "charts.json"):
        assert page._part(name)


def test_new_samples_are_on_the_page_where_that_is_quick(written):
    contents, _ = written(X)
    path = sparsity_path(X, 2, cv=5, random_state=0)
    held = {step["features"]: step["held"] for step in contents["steps"] if "held" in step}
    assert set(held) == set(range(1, 5))  # at least half of the nine are left to predict
    for r, share in held.items():
        assert share == pytest.approx(path.held_out[r - 1] / path.held_out_pca[r - 1], abs=1e-6)
    reasons = [one["reason"] for one in contents["suggestions"]]
    assert "one-standard-error rule" in reasons
    assert not any("held" in step for step in written(X, cv=None)[0]["steps"])
    assert not any("held" in step for step in written(X[:10])[0]["steps"])
