"""The page in a real Chromium: what it shows is what the library says, and names stay names."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from laws import mostly_long
from sparing import SparseEncoder, alternatives, certify, sparsity_path
from sparing.certificates.sentences import percent, percent_kept
from sparing.data import as_view
from sparing.datasets import make_spiked
from sparing.linalg import encoder_on, top_spectrum
from sparing.report import explore
from sparing.results import Selection
from sparing.show.report.contents import oriented, upright
from sparing.show.report.page import Source
from sparing.show.wording import equation, shown

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright to drive a browser")

HOSTILE = [
    "<script>window.hacked = 1</script>",
    "\"double\" and 'single' & co",
    "🎉 👩‍👩‍👧",
    "שלום עולם",
    "=SUM(A1:A9)",
    "$$x^2$$",
    "</script><!--",
    "<img src=x onerror='window.hacked = 1'>",
    "y" * 400,
    "${title}",
    "dup",
    "dup",
]
LABELS = ["<b>bold</b>", "مرحبا", None]
X = make_spiked(90, 12, n_nonzero=4, random_state=5).X
K = 2


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return explore(
        X,
        tmp_path_factory.mktemp("page") / "page.html",
        n_components=K,
        feature_names=HOSTILE,
        labels=[LABELS[i % 3] for i in range(90)],
        sample_names=[f"<i>{i}</i>" for i in range(90)],
        title=HOSTILE[0],
        random_state=0,
    )


@pytest.fixture
def opened(browser, place):
    """Opens the page in a window of its own; at the end nothing may have complained or been asked for."""
    contexts, complaints, requests, asked = [], [], [], set()

    def open_page(width=1280, scheme="light", file=place):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        asked.add(file.as_uri())
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for context in contexts:
        assert context.pages[0].evaluate("window.hacked") is None
        context.close()
    assert complaints == []
    assert {url for url in requests if not url.startswith("blob:")} == asked


def written(file, **config):
    """A page of other contents: how it is drawn does not depend on proofs and on new samples."""
    return explore(X, file, effort="quick", cv=None, random_state=0, **config)


def cells(page, table):
    return page.eval_on_selector_all(
        f"#{table} tbody tr", "rows => rows.map(row => [...row.cells].map(cell => cell.textContent))"
    )


def drawn(page, number):
    """Wait until the bars of this many features are drawn."""
    sync_api.expect(page.locator("#loadings-chart .mark-rect.role-mark path")).to_have_count(number)


def test_the_slider_moves_every_number(opened):
    page = opened()
    path = sparsity_path(X, K, random_state=0)
    view = as_view(X)
    spectrum = top_spectrum(view, K, np.random.default_rng(0))
    assert [row[:3] for row in cells(page, "kept-table")] == [
        [str(r), percent_kept(kept), percent(most)]
        for r, kept, most in zip(path.n_features, path.variance_kept, path.variance_kept_bound, strict=True)
    ]
    page.locator("#scores-details summary").click()
    page.locator("#features").focus()
    page.keyboard.press("Home")
    encoders = [encoder_on(Selection(each, view.gram_columns(each)), K, view.total) for each in path.supports]
    as_pca = [oriented(found.loadings, spectrum.cross[found.support]) for found in encoders]
    signs = upright(as_pca, K)
    for r in range(1, 6):
        support, found = path.supports[r - 1], encoders[r - 1]
        sentence = str(certify(found.components, X, random_state=0)).splitlines()
        assert page.locator("#count").inner_text() == str(r)
        if r >= K:  # below, certify speaks of as many components as there are
            assert page.locator("#sentence p").all_inner_texts() == sentence
            assert page.locator("#features").get_attribute("aria-valuetext").endswith(sentence[0])
        told_apart = [name if name != "dup" else f"dup (feature {j})" for j, name in enumerate(HOSTILE)]
        shortened = [name if len(name) < 120 else name[:119] + "…" for name in told_apart]
        loadings = {row[0]: [float(cell) for cell in row[1:]] for row in cells(page, "loadings-table")}
        assert set(loadings) == {shown(shortened[j]) for j in support}
        turned = as_pca[r - 1] * signs[: len(found.loadings), None]
        np.testing.assert_allclose([loadings[shown(shortened[j])] for j in support], turned.T, atol=6e-5)
        H = np.zeros((len(turned), 12))
        H[:, support] = turned
        assert page.locator("#equations li").all_text_contents() == [
            equation(f"component {i + 1}", row, shortened) for i, row in enumerate(H)
        ]
        scores = np.array([row[2:] for row in cells(page, "scores-table")], dtype=float)
        np.testing.assert_allclose(scores, (X - X.mean(axis=0)) @ H.T, atol=2e-3)
        predicted = {row[0]: float(row[2]) for row in cells(page, "r2-table")}
        r2 = found.explained / view.gram_diagonal()
        np.testing.assert_allclose([predicted[shown(name)] for name in shortened], r2, atol=1e-3)
        drawn(page, r * len(found.loadings))
        page.keyboard.press("ArrowRight")
    sync_api.expect(page.locator("#announced")).to_contain_text("6 of 12 features")


def test_hovering_shows_values_and_clicking_moves_the_slider(opened):
    page = opened()
    path = sparsity_path(X, K, random_state=0)
    tooltip = page.locator("#vg-tooltip-element")
    page.locator("#kept-chart .role-mark.mark-rule").last.locator("line").nth(8).hover(force=True)
    assert percent_kept(path.variance_kept[8]) in tooltip.inner_text()
    page.locator("#kept-chart .role-mark.mark-rule").last.locator("line").nth(11).click(force=True)
    assert page.locator("#count").inner_text() == "12"
    drawn(page, 12 * K)
    page.locator("#scores-chart .role-mark.mark-symbol path").first.hover(force=True)
    assert "<i>0</i>" in tooltip.inner_text()
    assert "<b>bold</b>" in tooltip.inner_text()
    labels = page.locator("#loadings-chart .role-axis-label text").all_text_contents()
    assert HOSTILE[0][:15] in " ".join(labels)
    assert shown(HOSTILE[3]) in labels


def test_search_and_download_keep_names_as_they_are(opened):
    page = opened()
    page.locator("#features").fill("12")
    page.locator("#search").fill("DUP")
    assert page.locator("#found li").count() == 2
    assert "2 features found." in page.locator("#found").inner_text()
    marked = page.locator("#loadings-table tr[aria-current] th").all_text_contents()
    assert sorted(marked) == ["dup (feature 10)", "dup (feature 11)"]
    with page.expect_download() as download:
        page.locator("#download").click()
    assert download.value.suggested_filename == "loadings-12-features.csv"
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == ["feature", "component 1", "component 2"]
    saved = {row[0]: [float(value) for value in row[1:]] for row in rows}
    assert {HOSTILE[0], HOSTILE[1], HOSTILE[2], HOSTILE[3], "'" + HOSTILE[4], HOSTILE[6]} < set(saved)
    in_table = {row[0]: [float(cell) for cell in row[1:]] for row in cells(page, "loadings-table")}
    np.testing.assert_allclose(saved[HOSTILE[0]], in_table[HOSTILE[0]], atol=6e-5)
    assert page.title() == page.locator("h1").inner_text() == HOSTILE[0]


@pytest.mark.parametrize("width", [1280, 400])
def test_everything_fits_the_window(opened, width):
    page = opened(width)
    page.locator("#features").fill("12")
    drawn(page, 12 * K)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    names = ("kept", "pca", "scores", "loadings", "r2")
    boxes = {name: page.locator(f"#{name}-chart svg").bounding_box() for name in names}
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes.values())
    assert boxes["pca"]["y"] >= boxes["kept"]["y"] + boxes["kept"]["height"]
    for left, right in (("pca", "scores"), ("loadings", "r2")):  # beside one another, or one below the other
        assert (boxes[right]["x"] > boxes[left]["x"] + boxes[left]["width"] / 2) == (width == 1280)


def test_light_dark_and_print(opened):
    colours = """() => [getComputedStyle(document.documentElement).backgroundColor,
        getComputedStyle(document.querySelector('#kept-chart svg text')).fill]"""
    assert opened(scheme="light").evaluate(colours) == ["rgb(251, 251, 250)", "rgb(27, 31, 36)"]
    page = opened(scheme="dark")
    assert page.evaluate(colours) == ["rgb(16, 19, 23)", "rgb(232, 235, 239)"]
    page.emulate_media(media="print")
    assert page.evaluate(colours) == ["rgb(255, 255, 255)", "rgb(0, 0, 0)"]
    assert not page.locator("#features").is_visible()
    assert page.locator("#sentence").is_visible()
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1


@pytest.mark.parametrize("number", [10, 20])
def test_a_page_of_many_features_prints_on_one_sheet(opened, tmp_path, number):
    cancer = load_breast_cancer()
    file = explore(
        cancer.data[:200],
        tmp_path / "cancer.html",
        n_components=3,
        max_features=20,
        scale=True,
        feature_names=cancer.feature_names,
        labels=cancer.target[:200],
        effort="quick",
    )
    page = opened(file=file)
    page.locator("#features").fill(str(number))
    page.emulate_media(media="print")
    assert page.locator("#substitutes-table").is_visible()
    assert page.pdf(format="A4").count(b"/Type /Page\n") == 1


def test_pca_beside_the_chosen_features_with_linked_hover(opened):
    page = opened()
    points = {name: page.locator(f"#{name}-chart .role-mark.mark-symbol path") for name in ("pca", "scores")}
    assert points["pca"].count() == points["scores"].count() == 90
    points["scores"].nth(7).hover(force=True)
    lit = "#pca-chart .role-mark.mark-symbol path[stroke='#d1253b']"
    sync_api.expect(page.locator(lit)).to_have_count(1)
    assert page.locator(lit).evaluate("node => [...node.parentNode.children].indexOf(node)") == 7


@pytest.mark.parametrize("numbers", mostly_long([[2, 3, 5, 8, 12], range(2, 13)], [2, 3, 5, 8, 12]), ids=str)
def test_points_move_smoothly_and_keep_their_side(opened, numbers):
    page = opened()
    page.locator("#features").fill("2")
    drawn(page, 2 * K)
    moves = """async (number) => {
        const slider = document.getElementById("features"), seen = [];
        const points = () => [...document.querySelectorAll("#scores-chart .role-mark.mark-symbol path")];
        slider.value = number;
        slider.dispatchEvent(new Event("input"));
        for (let frame = 0; frame < 40; frame++) {
            await new Promise(requestAnimationFrame);
            seen.push(points().map((node) => Number(node.getAttribute("transform").match(/-?[0-9.]+/)[0])));
        }
        return seen;
    }"""
    before = None
    for number in numbers:
        seen = page.evaluate(moves, number)
        if before is not None:
            assert np.corrcoef(before, seen[-1])[0, 1] > 0.5
            assert len({place[0] for place in seen}) > 3 or np.allclose(before, seen[-1], atol=1)
        before = seen[-1]


def test_components_and_colours_are_chosen(opened, tmp_path):
    page = opened(file=written(tmp_path / "three.html", n_components=3, labels=list("abc") * 30))
    assert [option.inner_text() for option in page.locator("#up option").all()] == [f"component {i}" for i in (1, 2, 3)]
    page.locator("#features").fill("6")
    page.locator("#up").select_option(label="component 3")
    for chart in ("scores", "pca"):
        sync_api.expect(page.locator(f"#{chart}-chart .role-axis-title text").last).to_have_text("component 3")
    page.locator("#colour").select_option(label="x2")
    sync_api.expect(page.locator("#scores-chart .role-legend-title text")).to_have_text("x2")
    assert "up=2" in page.evaluate("location.hash")


def test_substitutes_are_those_of_the_library(opened):
    page = opened()
    page.locator("#features").fill("3")
    found = alternatives(SparseEncoder(K, n_nonzero=3, random_state=0).fit(X), X, n_alternatives=3)
    plain = lambda text: text.strip("\u2068\u2069")  # noqa: E731
    lines = page.locator("#substitutes-table tbody tr").all()
    shares = {
        plain(line.locator("th").inner_text().split("\n")[0]): line.locator(".share-kept").all_inner_texts()
        for line in lines
    }
    wanted = [[percent_kept(kept) for kept in row] for row in found.variance_kept]
    assert sorted(shares.values()) == sorted(wanted)
    assert "chosen again" in lines[0].inner_text()


def test_the_address_holds_the_view(opened, place):
    page = opened()
    page.locator("#features").fill("5")
    page.locator("#colour").select_option(label="none")
    page.locator("#chips .toggle").first.click()
    link = page.evaluate("location.href")
    again = opened()
    again.goto(link)
    again.reload()
    again.wait_for_selector("body[data-ready]")
    assert again.locator("#count").inner_text() == "5"
    assert again.locator("#colour").input_value() == ""
    assert again.locator("#chips .toggle[aria-pressed='true']").count() == 1
    again.evaluate("location.hash = '#features=9999&pin=77.x&ban=-1&colour=%3Cb%3E'")  # nonsense changes nothing
    sync_api.expect(again.locator("#chips .toggle[aria-pressed='true']")).to_have_count(0)
    assert again.locator("#count").inner_text() == "5"


def test_pins_and_bans_name_computed_panels_and_the_command(opened):
    page = opened()
    page.locator("#features").fill("4")
    page.locator("#chips li").first.get_by_title("Ban").click()
    banned = page.locator("#chips bdi").first.inner_text()
    assert "without" in page.locator("#rules").inner_text()
    assert "--exclude" in page.locator("#command").inner_text()
    assert banned.strip("\u2068\u2069") in page.locator("#python").inner_text().replace('\\"', '"')
    page.get_by_role("button", name="Clear rule").click()
    assert page.locator("#rules").inner_text() == ""
    assert page.locator("#command").inner_text() == "sparing fit data.csv -k 2 -r 4"


def test_the_best_computed_panel_under_a_rule_is_that_of_the_library(opened, tmp_path):
    names = [f"x{j}" for j in range(12)]
    page = opened(file=written(tmp_path / "plain.html", feature_names=names))
    page.locator("#features").fill("4")
    found = alternatives(SparseEncoder(K, n_nonzero=4, random_state=0).fit(X), X, n_alternatives=3)
    chosen, best, kept = found.support[0], found.substitutes[0][0], found.variance_kept[0][0]
    page.get_by_label(f"Ban {names[chosen]}", exact=True).click()
    said = page.locator("#rules").inner_text()
    assert f"keeps {percent_kept(kept)}." in said
    assert names[best] in said
    assert "Only computed panels are compared" in said
    page.get_by_role("button", name="Clear rule").click()
    page.locator("#search").fill(names[best])
    page.get_by_label(f"Pin {names[best]}", exact=True).first.click()
    assert "Best computed panel" in page.locator("#rules").inner_text()
    assert page.locator("#command").inner_text().endswith(f"--include {names[best]}")


def test_the_copied_python_fits_the_panel_of_the_page(opened, tmp_path):
    names = [f"x{j}" for j in range(12)]
    data = tmp_path / "data.csv"
    np.savetxt(data, X, delimiter=",", header=",".join(names), comments="")
    page = opened(file=written(tmp_path / "plain.html", feature_names=names, source=Source(str(data), opening=())))
    page.locator("#features").fill("4")
    page.get_by_label("Ban", exact=False).first.click()
    known = {}
    exec(page.locator("#python").inner_text(), known)
    model, banned = known["model"], page.locator("#chips bdi").first.inner_text()
    assert len(model.support_) == 4
    assert names.index(banned) not in model.support_


def test_copies_are_what_is_shown(opened, browser):
    page = opened()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    starts = {
        "command": "sparing fit",
        "sentence": "2 components on",
        "equations": "component 1 = ",
        "python": "from sparing import SparseEncoder",
        "link": "file://",
    }
    for what, wanted in starts.items():
        page.locator(f"[data-copies={what}]").first.evaluate("node => node.click()")
        sync_api.expect(page.locator("#copied")).to_have_text("Copied.")
        assert page.evaluate("navigator.clipboard.readText()").startswith(wanted)


@pytest.mark.parametrize(
    ("scheme", "width"), mostly_long(product(("light", "dark"), (1280, 400)), ("light", 1280), ("dark", 400))
)
def test_no_violation_of_accessibility_rules(opened, scheme, width):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    page = opened(width, scheme)
    page.eval_on_selector_all("details", "all => all.forEach((details) => { details.open = true; })")
    page.locator("#chips .toggle").first.click()  # with a rule, too
    page.locator("#search").fill("dup")
    found = axe.Axe().run(page).response["violations"]
    assert [(flaw["id"], [node["html"] for node in flaw["nodes"]]) for flaw in found] == []


def test_the_slider_opens_at_a_suggestion_with_a_reason(opened):
    page = opened()
    kept = sparsity_path(X, K, random_state=0).variance_kept
    fewest = {share: 1 + int(np.flatnonzero(kept >= share)[0]) for share in (0.9, 0.95)}
    assert page.locator("#count").inner_text() == str(fewest[0.9])
    buttons = page.locator("#suggestions button")
    assert buttons.all_inner_texts()[:2] == [f"{fewest[share]}: fewest that keep {share:.0%}" for share in fewest]
    labels = page.locator("#kept-chart .role-mark.mark-text text").all_text_contents()
    assert "fewest that keep 90%" in labels
    page.locator("#features").fill("12")
    buttons.first.click()
    assert page.locator("#count").inner_text() == str(fewest[0.9])
    assert buttons.first.get_attribute("aria-current") == "true"


def test_new_samples_have_a_curve_where_they_were_computed(opened, tmp_path):
    page = opened()
    bands = "#kept-chart .role-mark.mark-area path[fill='#8560c0']"
    page.locator("#features").fill("4")
    assert page.locator("#held-out").inner_text().endswith("on new samples.")
    assert page.locator(bands).count() == 1
    assert "on new samples" in page.locator("#kept-legend").inner_text()
    page.locator("#features").fill("12")
    assert page.locator("#held-out").inner_text() == "New samples: not computed."
    without = opened(file=written(tmp_path / "without.html"))
    assert "Add --cv 5" in without.locator("#held-note").inner_text()
    assert without.locator(bands).count() == 0
    noise = np.random.default_rng(0).standard_normal((60, 30))
    nothing = opened(file=explore(noise, tmp_path / "noise.html", max_features=4))
    assert "nothing transfers" in nothing.locator("#held-out").inner_text()


def test_long_equations_are_folded_and_short_ones_shown(opened, tmp_path):
    file = written(tmp_path / "short.html", feature_names=list("abcdefghijkl"))
    assert opened(file=file).locator("#equations").is_visible()
    assert not opened(400, file=file).locator("#equations").is_visible()
    long = written(tmp_path / "long.html", feature_names=[letter * 90 for letter in "abcdefghijkl"])
    assert not opened(file=long).locator("#equations").is_visible()


def test_cards_fill_the_width_of_the_page(opened):
    page = opened(1280)
    rows = {}
    for card in page.locator(".card:visible").all():
        box = card.bounding_box()
        rows.setdefault(round(box["y"]), []).append(box)
    left = min(box["x"] for row in rows.values() for box in row)
    right = max(box["x"] + box["width"] for row in rows.values() for box in row)
    for row in rows.values():
        assert min(box["x"] for box in row) == pytest.approx(left, abs=1)
        assert max(box["x"] + box["width"] for box in row) == pytest.approx(right, abs=1)
        assert max(box["height"] for box in row) == pytest.approx(min(box["height"] for box in row), abs=1)


def test_samples_without_a_number_are_drawn_too(opened, tmp_path):
    numbers = np.where(np.arange(90) % 3 == 0, np.nan, np.arange(90.0))
    page = opened(file=written(tmp_path / "numbers.html", n_components=1, labels=numbers))
    points = "#scores-chart .role-mark.mark-symbol path"
    assert page.locator(points).count() == 90
    assert page.locator(f"{points}[fill='#6f7a86']").count() == 30
    assert "label (missing: grey)" in page.locator("#scores-chart").text_content()


@pytest.mark.parametrize("width", mostly_long([1280, 400], 400))
def test_long_names_that_begin_alike_are_told_apart(opened, tmp_path, width):
    names = [f"a_rather_long_name_of_a_gene_number_{j}" for j in range(12)]
    page = opened(width, file=written(tmp_path / "long.html", n_components=1, feature_names=names))
    page.locator("#features").fill("12")
    drawn(page, 12)
    labels = page.locator("#loadings-chart .role-axis-label text").all_text_contents()
    shown_names = [label for label in labels if "…" in label]
    assert len(shown_names) == len(set(shown_names)) == 12
