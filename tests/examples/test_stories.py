"""What the pages of the guide quote is what their stories print; what they show, they draw."""

from __future__ import annotations

import contextlib
import inspect
import io
import re
import runpy
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from bed_reader import to_bed
from sklearn.datasets import load_wine

import sparing
import sparing.datasets
import sparing.plots
from laws import mostly_long

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
    "clustering.md": ("leukemia_clusters.py", "leukemia_armstrong.npz"),
    "pictures.md": ("story_pictures.py", None),
    "migrate.md": ("beside_scikit_learn.py", None),
}
WITH_DATA = [page for page in STORIES if page != "migrate.md"]


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


@pytest.mark.parametrize("page", mostly_long(STORIES, "pictures.md"))
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
@pytest.mark.parametrize(
    ("script", "picture", "pages"),
    [
        ("story_cells.py", "readme.png", ("README.md", "docs/index.md", "docs/kept.md")),
        ("story_pipelines.py", "pipelines.png", ("docs/pipelines.md",)),
        ("story_search.py", "search.png", ("docs/search.md",)),
        ("story_explorer.py", "explorer.png", ("docs/index.md",)),
    ],
)
def test_a_picture_of_an_executed_page_is_drawn_by_its_story(script, picture, pages, tmp_path, monkeypatch):
    if not (ROOT / "examples" / script).exists():
        pytest.skip("examples are not part of this copy")
    if script == "story_explorer.py":
        pytest.importorskip("playwright.sync_api")
        if not (shutil.which("chromium") or shutil.which("google-chrome")):
            pytest.skip("needs Chromium: apt-get install chromium")
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    runpy.run_path(str(ROOT / "examples" / script))["main"](tmp_path)
    assert [drawn.name for drawn in tmp_path.iterdir()] == [picture]
    for page in pages:
        assert f"images/{picture}" in (ROOT / page).read_text()


def test_the_code_for_those_who_come_from_elsewhere_runs():
    wine, pitprops = load_wine().data, sparing.datasets.load_pitprops().correlation
    known = {"X": wine, "x": wine, "pitprops": pitprops}
    exec(compile("".join(blocks("migrate.md", "python")), "migrate.md", "exec"), known)
    assert known["tree"].labels_.shape == (178,)


def stand_ins(folder: Path) -> dict[str, object]:
    """Small data under the names, and in the files, that the pages use."""
    rng = np.random.default_rng(0)
    X = sparing.datasets.make_spiked(60, 90, n_nonzero=4, random_state=0).X
    faces = rng.random((30, 3)) @ rng.random((3, 361)) + 0.1 * rng.random((30, 361))
    np.savez(folder / "cbcl_faces.npz", X=faces)
    np.savez(folder / "leukemia_armstrong.npz", X=np.exp2(10 + 0.5 * X))
    for name, people in (("hapmap3_957.bed", 40), ("patient.bed", 1)):
        counts, snps = rng.integers(0, 3, (people, 100)).astype(np.float32), [f"rs{j}" for j in range(100)]
        to_bed(folder / name, counts, properties={"sid": snps, "allele_1": ["A"] * 100, "allele_2": ["G"] * 100})
    at = np.arange(90)
    return {
        "X": X,
        "markers": at < 3,
        "ribosomal": at > 85,
        "faces": X,
        "costs": 1 + at % 2,
        "zones": at % 16,
        "variance": 0.1,
    }


@pytest.mark.filterwarnings("ignore::sparing.errors.SparingWarning")  # small data for so many features
@pytest.mark.parametrize(
    "page", mostly_long(WITH_DATA, *[page for page in WITH_DATA if page not in ("nonnegative.md", "clustering.md")])
)
def test_the_code_of_a_story_runs_as_it_stands(page, tmp_path, monkeypatch):
    """On a stand-in for the story's data: every other name is imported or made on the page itself."""
    monkeypatch.chdir(tmp_path)
    medoids = SimpleNamespace(labels=None, medoids=None)
    monkeypatch.setitem(sys.modules, "kmedoids", SimpleNamespace(fasterpam=lambda D, k, random_state: medoids))
    exec(compile("".join(blocks(page, "python")), page, "exec"), stand_ins(tmp_path))


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
    public |= {f"plots.{name}" for name in sparing.plots.__all__}
    public |= {f"datasets.{name}" for name in sparing.datasets.__all__}
    assert public <= described


def test_no_page_is_left_out_of_the_guide():
    config = ROOT / "mkdocs.yml"
    if not config.exists():
        pytest.skip("the guide's settings are not part of this copy")
    listed = set(re.findall(r"(\S+\.md)$", config.read_text(), re.MULTILINE))
    assert listed == {page.name for page in (ROOT / "docs").glob("*.md")}
