from __future__ import annotations

from html.parser import HTMLParser

import numpy as np

from maskrank import DualNetClassifier, Ranking
from maskrank.datasets import make_orange_skin


class Reader(HTMLParser):
    """Collects the tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_a_notebook_shows_names_as_text() -> None:
    names = ("<script>alert(1)</script>", "'><img src=x>", "a & b")
    values = np.array([0.5, 0.9, -0.1])
    page = Reader(Ranking(names, values > 0, values, values)._repr_html_())
    assert set(page.tags) == {"table", "thead", "tbody", "tr", "th", "td", "div"}
    rows = [("1", names[1], "+0.9000"), ("2", names[0], "+0.5000"), (names[2], "-0.1000")]
    assert page.text == ["rank", "feature", "score", *(cell for row in rows for cell in row)]


def test_a_notebook_shows_twenty_rows_and_says_what_is_missing() -> None:
    values = np.arange(1500.0)
    page = Reader(Ranking(tuple(map(str, range(1500))), values > 1496, values, values)._repr_html_())
    assert page.tags.count("tr") == 21
    assert page.text[-1] == "… and 1,480 more"


def test_a_notebook_ranks_chosen_features_alone_and_shows_required_ones_above() -> None:
    values, required = np.array([0.1, 0.5, 0.3, 0.0]), np.array([True, False, False, False])
    ranking = Ranking(tuple("abcd"), values > 0, values, values, required=required)
    page = ranking._repr_html_()
    places = [page.index(f">{rank}</td><td style='text-align:left'>{name}<") for rank, name in ("–a", "1b", "2c")]
    assert places == sorted(places)


def measured() -> Ranking:
    support = np.array([True, False, True])
    scores, errors = np.array([0.1, 0.0, 0.3]), np.array([0.01, 0.0, 0.02])
    return Ranking(("a", "b", "long name"), support, scores, scores, errors, explained=0.4, baseline=1.0)


def test_measured_scores_are_per_cent_in_notebooks_and_in_text() -> None:
    page = Reader(measured()._repr_html_())
    rows = [("1", "long name", "75.0 ± 5.0 %"), ("2", "a", "25.0 ± 2.5 %"), ("b", "0.0 %")]
    assert page.text == ["rank", "feature", "score", *(cell for row in rows for cell in row)]
    lines = ["rank  feature           score", "   1  long name  75.0 ± 5.0 %", "   2  a          25.0 ± 2.5 %"]
    assert str(measured()).splitlines() == lines


def test_a_fitted_model_shows_its_ranking() -> None:
    X, y, _ = make_orange_skin(80, random_state=0)
    model = DualNetClassifier(3, max_batches=8, random_state=0).fit(X, y)
    assert isinstance(model.result_, Ranking)
    assert model.result_._repr_html_() in model._repr_mimebundle_()["text/html"]
