from __future__ import annotations

from html.parser import HTMLParser

import numpy as np

from maskrank.core.progress import History
from maskrank.core.ranking import Ranking
from maskrank.report import Section, render_report


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def page(names: tuple[str, ...]) -> Reader:
    d = len(names)
    support = np.arange(d) < 2
    scores = np.linspace(1, 0, d)
    history = History(
        phase=["explore", "search"],
        batch=[8, 16],
        operator_loss=[1.0, 0.5],
        selector_loss=[0.1, 0.1],
        validation=[(8, 0.9), (16, 0.4)],
        batches={"explore": 8, "search": 8},
    )
    section = Section("target", [("data", names[0])], Ranking(names, support, scores, scores), history, {"seed": 0})
    reader = Reader()
    reader.feed(render_report("title", [section], command="maskrank rank x.csv"))
    return reader


def test_names_of_the_user_are_shown_as_text() -> None:
    nasty = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a & b", "{{ 7 * 7 }}")
    reader = page(nasty)
    assert "script" not in reader.tags
    assert "img" not in reader.tags
    text = "".join(reader.text)
    assert all(name in text for name in nasty)


def test_a_wide_table_is_cut_and_says_so() -> None:
    reader = page(tuple(f"gene{i}" for i in range(800)))
    assert "300 more are not shown" in "".join(reader.text)


def test_the_page_asks_for_nothing_from_outside() -> None:
    assert not set(page(("a", "b", "c")).tags) & {"script", "link", "img", "iframe"}
