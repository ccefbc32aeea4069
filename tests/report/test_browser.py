"""The reports in a real browser: Debian's chromium, headless, through playwright."""

from __future__ import annotations

import json
import shutil
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import DualNetRegressor
from maskrank.cli import app
from maskrank.datasets import make_nonlinear_regression, make_xor
from maskrank.report import RankingSection, ranking_report
from tests.report.pages import NASTY, fitted, section
from tests.report.test_explanations import explanation
from tests.report.test_explanations import page as page_of

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine: apt install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


class Opened:
    """A page, with what it said and what it asked for."""

    def __init__(self, browser: Any, file: Path, **options: Any) -> None:
        self.page = browser.new_page(accept_downloads=True, **options)
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append(dialog.message), dialog.dismiss()))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(file.as_uri())
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def names(self) -> list[str]:
        return self.page.locator(".all-features tbody td.name").all_text_contents()


@pytest.fixture(scope="module")
def xor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with xor.csv, and the report and the JSON that rank made of it."""
    folder = tmp_path_factory.mktemp("xor")
    X, y, _ = make_xor(512, random_state=0)
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(10)]).assign(kind=y)
    frame.to_csv(folder / "xor.csv", index=False)
    asked = ["rank", str(folder / "xor.csv"), "--target", "kind", "--size", "5", "-q"]
    outputs = ["--report", str(folder / "xor.html"), "--json", str(folder / "xor.json"), "--csv", str(folder / "x.csv")]
    done = CliRunner().invoke(app, [*asked, *outputs])
    assert done.exit_code == 0, done.output
    return folder


def test_the_report_opens_without_an_error_or_a_request(browser: Any, xor: Path) -> None:
    opened = Opened(browser, xor / "xor.html")
    assert opened.said == []
    assert [url for url in opened.asked if not url.startswith(("data:", "blob:"))] == [(xor / "xor.html").as_uri()]
    assert opened.page.locator(".bars tbody tr td.name").first.text_content() in ("x0", "x1", "x2")
    assert "the same nets" in (opened.page.text_content("main") or "")


def test_search_and_sort(browser: Any, xor: Path) -> None:
    opened = Opened(browser, xor / "xor.html")
    page = opened.page
    assert opened.names() == pd.read_csv(xor / "x.csv")["feature"].tolist()  # the order of the ranking
    page.fill("input[type=search]", "X7")
    assert opened.names() == ["x7"]
    page.fill("input[type=search]", "nothing like it")
    assert opened.names() == []
    assert "0 of 0 shown" in page.text_content(".count")
    page.fill("input[type=search]", "")
    page.focus("th[data-key=name] button")
    page.keyboard.press("Enter")  # by the keyboard alone
    assert opened.names() == [f"x{i}" for i in range(10)]
    assert page.get_attribute("th[data-key=name]", "aria-sort") == "ascending"
    page.click("th[data-key=name] button")
    assert opened.names() == [f"x{i}" for i in range(9, -1, -1)]
    page.click("th[data-key=score] button")
    shown = page.locator(".all-features tbody td:nth-child(3)").all_text_contents()
    scores = [float(text.replace("\u2212", "-")) for text in shown]
    assert scores == sorted(scores, reverse=True)
    page.click("th[data-key=evidence] button")
    shown = page.locator(".all-features tbody td:nth-child(4)").all_text_contents()
    evidence = [float(text.replace("\u2212", "-")) for text in shown]
    assert evidence == sorted(evidence, reverse=True)
    assert opened.said == []


@pytest.mark.parametrize(("button", "file"), [("Download JSON", "xor.json"), ("Download CSV", "x.csv")])
def test_downloads_equal_what_the_command_line_wrote(browser: Any, xor: Path, button: str, file: str) -> None:
    opened = Opened(browser, xor / "xor.html")
    with opened.page.expect_download() as waiting:
        opened.page.click(f"text={button}")
    assert Path(waiting.value.path()).read_bytes() == (xor / file).read_bytes()


def test_five_thousand_features_can_be_searched_and_cut_to_the_first_ones(browser: Any, tmp_path: Path) -> None:
    names = tuple(f"gene {i}" for i in range(5_000))
    part = replace(section(names[:3]), model=fitted(names, 500), X=None, y=None)
    (tmp_path / "wide.html").write_text(ranking_report("wide", [part], command="maskrank rank"), encoding="utf-8")
    opened = Opened(browser, tmp_path / "wide.html")
    opened.page.fill("input[type=search]", "gene 4999")
    assert opened.names() == ["gene 4999"]
    assert opened.page.locator(".bars tbody tr:visible").count() == 25
    opened.page.select_option("select.top", label="the first 100")
    assert opened.page.locator(".bars tbody tr:visible").count() == 100


def test_no_hostile_name_runs_or_changes(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "nasty.html").write_text(ranking_report(NASTY[0], [section(NASTY, 29)], command=NASTY[1]), "utf-8")
    opened = Opened(browser, tmp_path / "nasty.html")
    opened.page.click(".all-features .more")
    assert opened.said == []
    assert opened.page.evaluate("window.broken") is None
    assert sorted(opened.names()) == sorted(NASTY)
    drawn = opened.page.locator(".bars tbody td.name").all_text_contents()
    assert sorted(drawn) == sorted(NASTY[:29])
    assert opened.page.title() == NASTY[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_both_schemes(browser: Any, xor: Path, scheme: str) -> None:
    """WCAG's AA: every text at least 4.5 to 1 against what is behind it."""
    opened = Opened(browser, xor / "xor.html", color_scheme=scheme)
    for element in opened.page.locator("details").all():
        element.evaluate("node => { node.open = true; }")
    contrasts = opened.page.evaluate(_CONTRASTS)
    assert len(contrasts) > 50
    assert [entry for entry in contrasts if entry["ratio"] < 4.5] == []


def test_no_figure_of_a_regression_is_wider_than_a_telephone(browser: Any, tmp_path: Path) -> None:
    names = tuple(f"the measurement of row {i}" for i in range(12))
    X, y, _ = make_nonlinear_regression(60, random_state=0)
    model = DualNetRegressor(4, max_batches=16, phase1_batches=8, refit=False, n_repeats=2, random_state=0)
    model.fit(pd.DataFrame(np.hstack([X, X[:, :2] ** 2]), columns=names), 1e6 * y)
    of_all = {name: replace(figure, value=0.3 if name == "r2" else 1e12) for name, figure in model.figures_.items()}
    part = RankingSection("t", model, [("data", "d")], 1.0, np.hstack([X, X[:, :2] ** 2]), y, all_features=of_all)
    (tmp_path / "page.html").write_text(ranking_report("t", [part], command="c"), encoding="utf-8")
    opened = Opened(browser, tmp_path / "page.html", viewport={"width": 390, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_answer_is_the_first_thing_and_the_same_as_in_the_json(browser: Any, xor: Path) -> None:
    opened = Opened(browser, xor / "xor.html")
    answer = opened.page.locator(".answer")
    assert " ".join(answer.inner_text().split()) == json.loads((xor / "xor.json").read_text(encoding="utf-8"))["answer"]
    tops = [
        box["y"] for box in (each.bounding_box() for each in opened.page.locator("main h3, main table").all()) if box
    ]
    assert answer.bounding_box()["y"] < min(tops)
    assert opened.page.title() == "Five columns that predict kind"


@pytest.mark.parametrize("file", ["ranking.png", "ranking.svg"])
def test_the_picture_is_saved_without_a_request_and_shows_the_answer(
    browser: Any, xor: Path, tmp_path: Path, file: str
) -> None:
    opened = Opened(browser, xor / "xor.html")
    with opened.page.expect_download() as waiting:
        opened.page.click(f"button[data-name='{file}']")
    content = Path(waiting.value.path()).read_bytes()
    assert [url for url in opened.asked if not url.startswith(("data:", "blob:"))] == [(xor / "xor.html").as_uri()]
    assert opened.said == []
    if file.endswith("png"):
        width, height = struct.unpack(">II", content[16:24])
        assert content.startswith(b"\x89PNG")
        assert (width, height > 800) == (2400, True)
        return
    texts = [element.text for element in ElementTree.fromstring(content).iter("{http://www.w3.org/2000/svg}text")]
    answer = json.loads((xor / "xor.json").read_text(encoding="utf-8"))["answer"]
    assert answer in " ".join(map(str, texts))
    assert {"x0", "x1", "x2"} <= set(texts)


def test_a_picture_of_hostile_names_is_sound(browser: Any, tmp_path: Path) -> None:
    part = replace(section((*NASTY, "\x00\x1b[31m"), 29), target=NASTY[0])
    (tmp_path / "nasty.html").write_text(ranking_report("t", [part], command="c"), "utf-8")
    opened = Opened(browser, tmp_path / "nasty.html")
    for kind in ("png", "svg"):
        with opened.page.expect_download() as waiting:
            opened.page.click(f"button[data-name='ranking.{kind}']")
        content = Path(waiting.value.path()).read_bytes()
        assert content[:4] == b"\x89PNG" if kind == "png" else ElementTree.fromstring(content).find("script") is None
    assert opened.said == []


def test_a_table_that_scrolls_says_so_and_only_then(browser: Any, xor: Path) -> None:
    opened = Opened(browser, xor / "xor.html", viewport={"width": 320, "height": 800})
    page = opened.page
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.wait_for_timeout(200)  # until the sizes are observed
    boxes = page.evaluate(_SCROLLING)
    assert any(box["wider"] for box in boxes)
    assert all(box["wider"] == box["hinted"] == box["focusable"] for box in boxes)
    page.set_viewport_size({"width": 1600, "height": 800})
    page.wait_for_timeout(200)
    assert not any(box["hinted"] or box["focusable"] for box in page.evaluate(_SCROLLING))


_SCROLLING = """() => [...document.querySelectorAll(".wide")].filter((box) => box.offsetParent).map((box) => ({
  wider: box.scrollWidth > box.clientWidth + 1, focusable: box.tabIndex === 0,
  hinted: !box.previousElementSibling.hidden && box.previousElementSibling.className.includes("hint"),
}))"""


def test_rows_are_explained_and_a_feature_tells_its_effect_on_demand(browser: Any, xor: Path) -> None:
    opened = Opened(browser, xor / "xor.html")
    page = opened.page
    dots = page.locator("svg.beeswarm path.dots").first.get_attribute("d")
    assert dots.count("M") > 3
    assert page.locator("svg.beeswarm").first.is_visible()
    first = page.locator("details.feature").first
    assert not first.locator("svg polyline").first.is_visible()
    page.locator("details.feature > summary").first.focus()
    page.keyboard.press("Enter")  # by the keyboard alone
    assert first.locator("svg").nth(1).is_visible() or first.locator("table").first.is_visible()
    assert "missing" in first.inner_text()


def test_nothing_is_wider_than_a_telephone(browser: Any, xor: Path) -> None:
    opened = Opened(browser, xor / "xor.html", viewport={"width": 390, "height": 800})
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390
    opened.page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_printed_page_fits_the_paper_and_names_each_feature(browser: Any, xor: Path) -> None:
    page = Opened(browser, xor / "xor.html", viewport={"width": 720, "height": 1000}).page
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("document.documentElement.scrollWidth") <= 720  # A4 without its margins
    names = page.locator("details.feature > summary .name")
    assert names.count() == 5
    assert all(names.nth(i).is_visible() for i in range(5))
    assert page.locator("details.feature > summary").first.bounding_box()["height"] > 10


def test_the_axis_of_a_beeswarm_is_not_cut_off(browser: Any, tmp_path: Path) -> None:
    plain = explanation(("a", "b"))
    large = replace(plain, values=3e5 * plain.values)
    (tmp_path / "page.html").write_text(page_of(large), encoding="utf-8")
    opened = Opened(browser, tmp_path / "page.html")
    assert opened.page.evaluate(_CUT_OFF) == 0


_CUT_OFF = """() => {
  const box = document.querySelector("svg.beeswarm").getBoundingClientRect();
  const inside = (text) => text.left >= box.left - 1 && text.right <= box.right + 1;
  return [...document.querySelectorAll("svg.beeswarm text")].filter((at) => !inside(at.getBoundingClientRect())).length;
}"""


_CONTRASTS = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.length === 3 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const node of document.querySelectorAll("h1,h2,h3,p,td,th,dt,dd,li,summary,button,label,code,text,option")) {
    if (!node.textContent.trim() || node.closest("[hidden]")) continue;
    const style = getComputedStyle(node);
    const ink = light(parse(node.tagName === "text" ? style.fill : style.color)), ground = light(behind(node));
    const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    found.push({ ratio, tag: node.tagName, text: node.textContent.trim().slice(0, 30) });
  }
  return found;
}"""


def test_a_study_and_a_comparison_open_without_an_error(browser: Any, tmp_path: Path) -> None:
    from maskrank.findings import comparison_finding, sweep_finding
    from maskrank.report import comparison_report, study_report, sweep_report

    r = np.random.default_rng(0)
    fits = pd.DataFrame(
        [
            {"method": m, "size": s, "fold": f, "metric": "accuracy", "score": r.uniform(0.6, 0.9), "seconds": 1.0}
            for m in ("dualnet", "rf")
            for s in (1, 2, 5)
            for f in range(3)
        ]
    ).assign(selected=[[0, 1]] * 18)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "tables.md").write_text("# Title\n\n| a | b |\n|---|---|\n| <b>1</b> | 2 |\n", "utf-8")
    pages = {
        "compare": comparison_report(
            comparison_finding(fits, NASTY[0]), fits, NASTY, [("data", NASTY[1])], command="c", csv="a,b\n"
        ),
        "sweep": sweep_report(
            sweep_finding(fits, NASTY[0], 9), fits, 2, [("data", NASTY[1])], command="c", csv="a,b\n"
        ),
        "study": study_report("t", [tmp_path / "study"], command="c"),
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.html").write_text(text, encoding="utf-8")
        opened = Opened(browser, tmp_path / f"{name}.html")
        assert opened.said == []
        assert opened.page.locator("td").count() >= 2
        assert opened.page.locator("header .answer").inner_text()
        opened.page.set_viewport_size({"width": 390, "height": 800})
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390  # a telephone
