"""Every view of a ranking has the chosen features first, and all views have one order."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import make_orange_skin
from maskrank.estimators.base import DualNetBase
from maskrank.report import RankingSection, ranking_report
from maskrank.results import ranking_csv, ranking_json

X, Y, _ = make_orange_skin(120, random_state=0)
NOISE = np.random.default_rng(0).permutation(Y)
CONSTANT = np.column_stack([np.full(120, 3.0), X[:, :5], np.zeros(120)])
FITS: dict[str, tuple[type[DualNetBase], dict[str, Any], np.ndarray, np.ndarray]] = {
    "a few": (DualNetClassifier, {"n_features_to_select": 3}, X, Y),
    "one": (DualNetClassifier, {"n_features_to_select": 1}, X, Y),
    "shuffled labels": (DualNetClassifier, {"n_features_to_select": 4}, X, NOISE),
    "all": (DualNetClassifier, {"n_features_to_select": "all"}, X, Y),
    "all, shuffled labels": (DualNetClassifier, {"n_features_to_select": "all"}, X, NOISE),
    "auto": (DualNetClassifier, {"n_features_to_select": "auto"}, X, Y),
    "auto, shuffled labels": (DualNetClassifier, {"n_features_to_select": "auto"}, X, NOISE),
    "constant columns": (DualNetClassifier, {"n_features_to_select": 3}, CONSTANT, Y),
    "numbers": (DualNetRegressor, {"n_features_to_select": 4}, X, X[:, 0] + X[:, 1] ** 2),
    "a column twice": (DualNetRegressor, {"n_features_to_select": 2}, np.hstack([X, X]), X[:, 0]),
}


class Names(HTMLParser):
    """The names beside the bars of a report."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = False
        bars = page.index('<table class="bars"')
        self.feed(page[bars : page.index("</table>", bars)])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._inside = tag == "td" and ("class", "name") in attrs

    def handle_data(self, data: str) -> None:
        self.found += [data] if self._inside else []
        self._inside = False


def table_of_the_report(document: dict[str, Any]) -> list[str]:
    """The order that the page's script gives its table of all features, from the JSON in the page."""
    ranks = {name: place for place, name in enumerate(document["selected"])}
    return sorted(
        document["scores"],
        key=lambda name: (ranks.get(name, len(ranks)), -document["evidence"][name], -document["raw_scores"][name]),
    )


@pytest.mark.parametrize("fit", FITS)
def test_no_view_has_a_feature_left_out_above_a_chosen_one(fit: str) -> None:
    estimator, parameters, rows, y = FITS[fit]
    names = [f"f{i:02}" for i in range(rows.shape[1])]
    model = estimator(**parameters, max_batches=24, random_state=0).fit(pd.DataFrame(rows, columns=names), y)
    size = model.n_features_
    chosen = {name for name, kept in zip(names, model.support_, strict=True) if kept}
    assert len(chosen) == size
    document = json.loads(ranking_json(model, seconds=1.0))
    section = RankingSection("t", model, [], 1.0)
    order = {
        "frame": model.to_frame()["feature"].tolist(),
        "csv": [row["feature"] for row in csv.DictReader(io.StringIO(ranking_csv(model.result_)))],
        "report": table_of_the_report(document),
        "result": [model.result_.names[i] for i in model.result_.order],
    }
    assert all(listed == order["frame"] for listed in order.values())
    first = {
        "order": order["frame"][:size],
        "ranking_": [names[i] for i in np.argsort(model.ranking_, kind="stable")[:size]],
        "feature_importances_": [names[i] for i in np.argsort(-model.feature_importances_, kind="stable")[:size]],
        "json": document["selected"],
        "json scores": sorted(names, key=lambda name: -document["scores"][name])[:size],
        "bars": Names(ranking_report("t", [section], command="")).found,
    }
    assert all(listed == first["order"] for listed in first.values())
    assert set(first["order"]) == chosen
    assert (model.feature_importances_[model.support_] > 0).all()
    assert (model.feature_importances_[~model.support_] == 0).all()
