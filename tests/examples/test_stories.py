"""What the pages of the guide quote is what their stories print; what they show, they draw."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import pytest
from sklearn.datasets import load_wine

import sparing
import sparing.datasets
import sparing.show.plots

mpl.use("Agg")
from matplotlib import pyplot as plt

ROOT = Path(__file__).parents[2]
SMALL = 60_000
STORIES = {
    "genes.md": ("story_genes.py", "pbmc_facs.npz"),
    "panel.md": ("story_panel.py", "pbmc_facs.npz"),
    "sensors.md": ("story_sensors.py", "cbcl_faces.npz"),
    "text.md": ("story_text.py", "classic2_counts.npz"),
    "nonnegative.md": ("story_faces.py", "cbcl_faces.npz"),
    "genotypes.md": ("story_genotypes.py", "genotypes/hapmap3_957.bed"),
    "pictures.md": ("story_pictures.py", None),
    "migrate.md": ("beside_scikit_learn.py", None),
}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def blocks(page: str, language: str) -> list[str]:
    """Fenced blocks of a page; those without a language are output."""
    fenced = re.findall(r"^```(\w*)\n(.*?)^```$", (ROOT / "docs" / page).read_text(), re.DOTALL | re.MULTILINE)
    return [text for name, text in fenced if name == language]


def lines(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "page", [page if STORIES[page][1] is None else pytest.param(page, marks=pytest.mark.long) for page in STORIES]
)
def test_a_page_quotes_what_its_story_prints(page, shared_path, tmp_path, monkeypatch):
    script, data = STORIES[page]
    if not (ROOT / "examples" / script).exists():
        pytest.skip("examples are not part of this copy")
    if data is not None:
        shared_path(data)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    main = runpy.run_path(str(ROOT / "examples" / script))["main"]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        main(tmp_path) if inspect.signature(main).parameters else main()
    assert lines(printed.getvalue()) == lines("".join(blocks(page, "")))
    text = (ROOT / "docs" / page).read_text()
    assert all(f"images/{picture.name}" in text for picture in tmp_path.iterdir())


@pytest.mark.long
def test_the_picture_of_the_readme_is_drawn_by_its_story(tmp_path, monkeypatch):
    if not (ROOT / "examples" / "story_cells.py").exists():
        pytest.skip("examples are not part of this copy")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    runpy.run_path(str(ROOT / "examples" / "story_cells.py"))["main"](tmp_path)
    assert [picture.name for picture in tmp_path.iterdir()] == ["readme.png"]
    for page in ("README.md", "docs/index.md"):
        assert "images/readme.png" in (ROOT / page).read_text()


def test_the_code_for_those_who_come_from_elsewhere_runs():
    wine, pitprops = load_wine().data, sparing.datasets.load_pitprops().correlation
    known = {"X": wine, "x": wine, "pitprops": pitprops}
    exec(compile("".join(blocks("migrate.md", "python")), "migrate.md", "exec"), known)
    assert known["tree"].labels_.shape == (178,)


@pytest.mark.parametrize("page", ["genes.md", "text.md", "pictures.md"])
def test_the_code_of_a_story_runs_as_it_stands(page):
    """On a stand-in for the story's data: every name is imported or made on the page itself."""
    known = {"X": sparing.datasets.make_spiked(60, 20, n_nonzero=4, random_state=0).X}
    exec(compile("".join(blocks(page, "python")), page, "exec"), known)


def test_the_first_page_says_what_sparse_means():
    assert "Sparse loadings are not PCA of sparse matrices" in (ROOT / "docs" / "index.md").read_text()


def test_pictures_are_small():
    pictures = list((ROOT / "docs" / "images").iterdir())
    assert pictures
    assert {picture.name: size for picture in pictures if (size := picture.stat().st_size) > SMALL} == {}


def test_the_reference_has_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text()
    described = set(re.findall(r"^::: sparing\.(\S+)$", text, re.MULTILINE))
    public = {name for name in sparing.__all__ if name != "__version__"}
    public |= {f"plots.{name}" for name in sparing.show.plots.__all__}
    public |= {f"datasets.{name}" for name in sparing.datasets.__all__}
    assert public <= described


def test_no_page_is_left_out_of_the_guide():
    config = ROOT / "mkdocs.yml"
    if not config.exists():
        pytest.skip("the guide's settings are not part of this copy")
    listed = set(re.findall(r"(\S+\.md)$", config.read_text(), re.MULTILINE))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}
