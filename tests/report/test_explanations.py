from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from maskrank import Explanation
from maskrank.findings import explanation_finding
from maskrank.report import explanation_report
from maskrank.results import frame_csv
from tests.report.pages import NASTY
from tests.report.test_rankings import Reader, packed_texts


def explanation(names: tuple[str, ...], n: int = 30, outputs: tuple[object, ...] = ("yes",)) -> Explanation:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((n, len(names), len(outputs))) * np.linspace(1, 0.1, len(names))[:, None]
    base = np.full((n, len(outputs)), 0.5)
    parts = [values, base, base + values.sum(axis=1), np.zeros_like(base)]
    if len(outputs) == 1:
        parts = [part[..., 0] for part in parts]
    data = rng.standard_normal((n, len(names)))
    return Explanation(*parts, data, list(names), list(outputs), probabilities=True)


def page(explained: Explanation, title: str = "title") -> str:
    finding = replace(explanation_finding(explained), title=title)
    return explanation_report(finding, explained, [("data", title)], command="maskrank explain")


def dots(html: str) -> list[tuple[float, float]]:
    points = re.findall(r"M(-?[\d.]+) (-?[\d.]+)h0", html)
    return [(float(x), float(y)) for x, y in points]


def test_every_row_is_a_dot_of_every_feature_within_the_picture() -> None:
    explained = explanation(("a", "b", "c"))
    drawn = dots(page(explained))
    assert len(drawn) == 30 * 3
    assert all(0 <= x <= 720 and 0 <= y <= 3 * 34 for x, y in drawn)
    assert len(dots(page(explanation(("a", "b"), n=5000)))) == 2000 * 2
    assert "2,000 of 5,000 are drawn" in page(explanation(("a", "b"), n=5000))


def test_waterfalls_are_of_the_first_row_and_the_extremes() -> None:
    explained = explanation(("a", "b", "c"))
    html = page(explained)
    lowest, highest = explained.predictions.argmin(), explained.predictions.argmax()
    for heading in ("Row 0: the first row", f"Row {lowest}: the lowest", f"Row {highest}: the highest"):
        assert f"<h3>{heading}</h3>" in html
    assert "Row 0: the first row and the lowest and the highest" in page(explanation(("a", "b"), n=1))


def test_many_features_are_summed_up_and_many_outputs_are_named() -> None:
    text = Reader(page(explanation(tuple(f"f{i}" for i in range(40))))).text
    assert "26 other features" in text
    assert "20 more are not drawn" in text
    text = Reader(page(explanation(("a", "b"), outputs=tuple("uvwxyzäö")))).text
    assert "2 more are in the CSV alone: ä, ö." in text


@pytest.mark.parametrize("values", [0.0, 1e-12, 1e9])
def test_values_of_any_size_are_drawn(values: float) -> None:
    explained = explanation(("a", "b"))
    explained.values[:] = values
    assert len(dots(page(explained))) == 60


def test_names_of_the_user_are_shown_as_text_and_the_csv_is_inside() -> None:
    plain = explanation(tuple(f"name{i:02}" for i in range(15)), outputs=("no", "yes"))
    nasty = explanation(NASTY[:15], outputs=NASTY[:2])
    shown = Reader(page(nasty, NASTY[0]))
    assert shown.tags == Reader(page(plain)).tags
    assert not [(tag, name) for tag, name, _ in shown.attributes if name.startswith("on")]
    for name in NASTY[:15]:
        assert name in shown.text
    assert packed_texts(page(nasty))["csv-1"] == frame_csv(nasty.to_frame())
    assert not re.search(r"url\(|@import", page(nasty))
