from __future__ import annotations

import base64
import gzip
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from maskrank.estimators.stability import Stability
from maskrank.report import ranking_report
from maskrank.results import ranking_csv, ranking_json
from tests.report.pages import NASTY, fitted, section


class Reader(HTMLParser):
    """Collects the tags, their attributes and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def page(names: tuple[str, ...], size: int = 2) -> str:
    return ranking_report("title", [section(names, size)], command="maskrank rank x.csv")


def packed_texts(html: str) -> dict[str, str]:
    """What the page carries for its downloads, by element."""
    found = re.findall(r'<script type="text/plain" id="([a-z0-9-]+)">([^<]*)</script>', html)
    return {name: gzip.decompress(base64.b64decode(text)).decode() for name, text in found}


def test_names_of_the_user_are_shown_as_text() -> None:
    plain, nasty = Reader(page(tuple(f"name{i}" for i in range(30)), 29)), Reader(page(NASTY, 29))
    assert nasty.tags == plain.tags  # no name opened a tag
    assert not [(tag, name) for tag, name, _ in nasty.attributes if name.startswith("on")]
    for name in NASTY[:29]:
        assert name in nasty.text


def test_the_page_carries_the_very_files_that_the_command_line_writes() -> None:
    html = page(NASTY)
    model = fitted(NASTY)
    assert packed_texts(html) == {"json-1": ranking_json(model, seconds=1.5), "csv-1": ranking_csv(model.result_)}


def test_the_page_asks_for_nothing_from_outside() -> None:
    reader = Reader(page(("a", "b", "c")))
    assert not set(reader.tags) & {"iframe", "object", "embed", "form"}
    addresses = [value for _, name, value in reader.attributes if name in ("src", "href", "srcset", "action")]
    assert all(value is not None and value.startswith("data:") for value in addresses)
    assert "default-src 'none'" in page(("a", "b", "c"))
    assert not re.search(r"url\(|@import", page(("a", "b", "c")))


def test_a_hundred_thousand_features_stay_under_six_megabytes() -> None:
    names = tuple(f"ENSG{i:011d}" for i in range(100_000))
    html = ranking_report("wide", [replace(section(names[:3]), model=fitted(names, 500), X=None, y=None)], command="")
    assert len(html) < 6_000_000


def test_the_figures_stand_beside_those_of_no_feature_and_of_all() -> None:
    text = Reader(page(("a", "b", "c"))).text
    for shown in ("without any feature", "0.5", "the 2 chosen", "0.91", "all 3, the same nets", "0.93"):
        assert shown in text
    without = ranking_report("t", [replace(section(("a", "b", "c")), all_features=None)], command="")
    assert "the same nets" not in Reader(without).text


def test_a_fit_without_signal_is_marked() -> None:
    part = section(("a", "b", "c"))
    assert "No signal found" not in ranking_report("t", [part], command="")
    part.model.signal_ = False
    assert "No signal found" in ranking_report("t", [part], command="")


def test_classes_are_counted_the_largest_first() -> None:
    part = replace(section(("a", "b", "c")), y=np.repeat(["rare", "common"], [10, 30]))
    text = Reader(ranking_report("t", [part], command="")).text
    assert text.index("common") < text.index("rare")
    assert "75.0 %" in text


def test_the_correlations_are_those_of_the_chosen_columns() -> None:
    part = section(("a", "b", "c"), 2)
    X = part.X.copy()
    X[:, 1] = -2 * X[:, 0] + 5
    text = Reader(ranking_report("t", [replace(part, X=X)], command="")).text
    assert "−1.00" in text


@pytest.mark.parametrize("labels", [2, 10])
def test_images_have_a_map_alone_and_one_over_the_mean_of_each_class(labels: int) -> None:
    names = tuple(f"p{i}" for i in range(12))
    part = replace(section(names, 3), image_shape=(3, 4), y=np.arange(40) % labels)
    reader = Reader(ranking_report("t", [part], command=""))
    images = [value for tag, name, value in reader.attributes if tag == "img" and name == "src"]
    assert len(images) == 1 + labels
    assert all(str(value).startswith("data:image/png;base64,") for value in images)


def test_repeats_are_shown_in_the_order_of_the_consensus() -> None:
    part = section(("a", "b", "c"), 2)
    assert "How stable is that?" not in ranking_report("t", [part], command="")
    ranks = np.array([[1, 2, 3], [2, 3, 1], [1, 3, 2], [1, 3, 2]])
    part.model.stability_ = Stability.of(("a", "b", "c"), ranks, -ranks / 10)
    text = " ".join(Reader(ranking_report("t", [part], command="")).text.split())
    assert "4 refits" in text
    table = text[text.index("How stable") : text.index("Blue: chosen in the main fit")]
    assert table.index("a100 %") < table.index("c75 %") < table.index("b25 %")


def test_the_page_says_where_the_order_says_little() -> None:
    clear, unclear = section(("a", "b", "c", "d")), section(("a", "b", "c", "d"))
    raw = np.array([1.0, 1.0, 2.0, 1.0])
    unclear.model.result_ = replace(unclear.model.result_, raw_scores=raw, scores=raw - 1.5)
    line = "All of the 2 chosen features score no higher than ones left out"
    assert line not in ranking_report("t", [clear], command="c")
    assert line in ranking_report("t", [unclear], command="c")
