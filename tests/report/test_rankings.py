from __future__ import annotations

import base64
import gzip
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from maskrank.core.metrics import ROC_AUC
from maskrank.core.recorder import History
from maskrank.estimators.figures import Figure
from maskrank.estimators.reading import ColumnSummary
from maskrank.estimators.stability import Stability
from maskrank.report import ranking_report
from maskrank.results import ranking_csv, ranking_json
from tests.report.pages import NASTY, curve_of, fitted, judge, section


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
    texts = packed_texts(html)
    assert (texts["json-1"], texts["csv-1"]) == (ranking_json(model, seconds=1.5), ranking_csv(model.result_))


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
    judge(part.model, pvalue=0.3)
    html = ranking_report("t", [part], command="")
    assert "No signal found: nothing in the three columns predicts the target (p = 0.3)." in " ".join(
        Reader(html).text.split()
    )
    bars = html[html.index('<table class="bars"') : html.index("</table>", html.index('<table class="bars"'))]
    assert 'class="bar"' not in bars  # they are grey


def test_all_figures_have_their_intervals_and_say_what_their_rows_decided() -> None:
    part = section(("a", "b", "c"))
    text = " ".join(Reader(ranking_report("t", [part], command="")).text.split())
    for shown in ("On 34 held-out rows", "0.910 ± 0.050", "0.810 to 1.000", "neither trained nor chosen on these rows"):
        assert shown in text
    part.model._unseen = False
    assert "a little too good" in Reader(ranking_report("t", [part], command="")).text


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


def test_correlations_are_those_of_numbers_and_gaps_do_not_hurt() -> None:
    part = section(("a", "b", "c"), 3)
    frame = pd.DataFrame(part.X, columns=["a", "b", "c"])
    frame["b"] = pd.Categorical(np.where(frame["b"] > 0, "u", "v"))
    frame["c"] = (-2 * frame["a"]).where(np.arange(len(frame)) % 4 > 0)
    text = Reader(ranking_report("t", [replace(part, X=frame)], command="")).text
    assert "of the first 2 that are numbers" in text
    assert "−0.8" in text


def test_the_page_says_how_columns_were_read() -> None:
    part = section(("a", "b", "c"), 2)
    assert "How the columns were read" not in ranking_report("t", [part], command="")  # plain numbers, all three
    part.model.features_ = [
        ColumnSummary("a", "numeric", None, 0.2, ""),
        ColumnSummary("<b>", "categorical", ("u", "v", "w"), 0.0, ""),
        ColumnSummary("c", "date", None, 0.0, "constant"),
    ]
    text = Reader(ranking_report("t", [part], command="")).text
    table = " ".join(text[text.index("How the columns were read") :].split())
    for part_of_row in ("anumeric20 %", "<b>categorical3", "cdateconstant"):
        assert part_of_row in table


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
    assert "Stability of the choice" not in ranking_report("t", [part], command="")
    ranks = np.array([[1, 2, 3], [2, 3, 1], [1, 3, 2], [1, 3, 2]])
    part.model.stability_ = Stability.of(("a", "b", "c"), ranks, -ranks / 10, size=2)
    text = " ".join(Reader(ranking_report("t", [part], command="")).text.split())
    assert "4 refits" in text
    table = text[text.index("4 refits") : text.index("Blue: chosen in the main fit")]
    assert table.index("a100 %") < table.index("c75 %") < table.index("b25 %")


def test_the_page_says_where_the_order_says_little() -> None:
    clear, unclear = section(("a", "b", "c", "d")), section(("a", "b", "c", "d"))
    unclear.model.result_ = replace(unclear.model.result_, scores_std=np.array([0.5, 0.5, 0.0, 0.0]))
    line = "The scores of the 2 chosen features differ by less than the standard error"
    assert line not in ranking_report("t", [clear], command="c")
    assert line in ranking_report("t", [unclear], command="c")


def test_the_size_is_spoken_of_and_drawn() -> None:
    part = section(("a", "b", "c", "d"), 3)
    part.model.size_curve_ = curve_of([0.3, 0.59, 0.6], 2)
    html = ranking_report("t", [part], command="c")
    said = html.index("The first 2 of the 3 chosen features carry 98 % of what all 3 explain.")
    assert html.index("How many are enough?") < said < html.index("2 are enough</text>")
    assert html.count('<circle class="ring') == 1
    assert "2 are enough</text>" in html
    text = " ".join(Reader(html).text.split())
    assert "featuresaccuracystandard error 10.65000.00500" in text  # the chart's numbers
    part.model.size_curve_ = curve_of([0.3], 1)
    assert "How many are enough?" not in ranking_report("t", [part], command="c")  # a single size is no curve
    assert "How many are enough?" not in page_of_the_paper(("a", "b", "c"))


def test_no_size_is_enough_where_there_is_no_signal_and_rare_classes_have_no_curve_of_accuracy() -> None:
    part = section(("a", "b", "c", "d"), 3)
    judge(part.model, pvalue=0.4)
    assert "enough" not in Reader(ranking_report("t", [part], command="c")).text
    judge(part.model)
    part.model.metric_, part.model.figures_ = ROC_AUC, {"roc_auc": Figure(ROC_AUC, 0.8, 0.05, 0.7, 0.9, 0.5)}
    text = " ".join(Reader(ranking_report("t", [part], command="c")).text.split())
    assert "explained share of the log-loss on held-out rows, with one standard error" in text
    assert "accuracy on held-out rows" not in text


def page_of_the_paper(names: tuple[str, ...]) -> str:
    return ranking_report("t", [section(names, measured=False)], command="c")


def test_bars_have_whiskers_of_one_standard_error() -> None:
    part = section(("a", "b", "c", "d"), 3)
    scores, errors = np.array([0.6, 0.4, 1e-12, 0.0]), np.array([0.2, 0.1, 0.1, 0.0])
    part.model.result_ = replace(part.model.result_, scores=scores, scores_std=errors, explained=1.0)
    html = ranking_report("t", [part], command="c")
    whiskers = re.findall(r'class="whisker thin" style="left:([\d.]+)%;width:([\d.]+)%"', html)
    assert [(float(left), float(width)) for left, width in whiskers] == [(50.0, 50.0), (37.5, 25.0), (0.0, 12.5)]
    bars = html[html.index('<table class="bars"') : html.index("</table>", html.index('<table class="bars"'))]
    assert re.findall(r'class="bar" style="left:0.0%;width:([\d.]+)%"', bars) == ["75.0", "50.0"]  # no bar of a trace
    assert [text for text in ("60.0 ± 20.0 %", "40.0 ± 10.0 %", "0.0 ± 10.0 %") if text not in bars] == []
    assert "whisker thin" not in page_of_the_paper(("a", "b", "c")).split("</style>")[1]


def test_scores_of_refits_are_in_per_cent() -> None:
    part = section(("a", "b", "c"), 2)
    scores = np.tile(part.model.result_.scores, (3, 1))
    part.model.stability_ = Stability.of(("a", "b", "c"), np.tile([1, 2, 3], (3, 1)), scores, size=2)
    text = " ".join(Reader(ranking_report("t", [part], command="")).text.split())
    assert "57.1 %57.1 to 57.1 %" in text


def test_the_table_of_all_features_has_a_column_of_evidence_where_it_orders() -> None:
    assert 'data-key="evidence"' in page(("a", "b", "c")).split("</style>")[1]
    assert 'data-key="evidence"' not in page_of_the_paper(("a", "b", "c")).split("</style>")[1]


def test_where_nothing_was_searched_the_search_is_not_shown() -> None:
    part = section(("a", "b", "c"), 3)
    assert "How they were found" in ranking_report("t", [part], command="")
    part.model.history_ = History(optimal=[(0, (0, 1, 2))])
    part.model.result_ = replace(part.model.result_, raw_scores=np.zeros(3))
    for shape in (None, (1, 3)):
        html = ranking_report("t", [replace(part, image_shape=shape)], command="")
        assert "How they were found" not in html
        assert "Which features were in the best subset" not in html
        assert "All 3 features, best first" in html
    assert html.count("Importance map") == 3
