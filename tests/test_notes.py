from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from maskrank import Ranking
from maskrank.core.metrics import ACCURACY, ROOT_MEAN_SQUARED_ERROR, Metric
from maskrank.estimators.figures import Figure
from maskrank.notes import (
    figure_text,
    notes,
    order_note,
    signal_text,
    size_note,
    size_sentence,
    unclear_neighbours,
    unsure_places,
)
from maskrank.report import ranking_report
from maskrank.results import facts, ranking_json
from tests.report.pages import curve_of, fitted, judge, section

NEARLY_ALL = "the first 2 of the 3 chosen features carry more than 99 % of what all 3 explain"
NOTHING_ALONE = "the first one carries less than 1 % of what both explain"
MEAGRE = (
    "the first one of the 3 chosen features carries 40 % of what all 3 explain; the rest is within one standard error"
)


@pytest.mark.parametrize(
    ("values", "enough", "d", "sentence"),
    [
        ([0.4, 0.7, 0.98, 0.99, 1.0], 3, 9, "the first 3 of the 5 chosen features carry 98 % of what all 5 explain"),
        ([0.95, 1.0], 1, 9, "the first one of the 2 chosen features carries 95 % of what both explain"),
        ([0.4, 0.999, 1.0], 2, 9, NEARLY_ALL),
        ([0.4, 0.9, 1.0], 1, 9, MEAGRE),
        ([0.4, 1.1, 1.0], 2, 9, "the first 2 of the 3 chosen features do no worse than all 3"),
        ([1.1, 1.1, 1.0], 1, 9, "the first one of the 3 chosen features does no worse than all 3"),
        ([0.4, 0.1, -0.2], 1, 9, "the first one of the 3 chosen features does no worse than all 3"),
        ([0.4, 0.9, 1.0], 3, 9, "all 3 chosen features are needed: the first 2 carry 90 % of what all 3 explain"),
        (
            [-0.1, 1.0],
            2,
            9,
            "both chosen features are needed: the first one carries less than 1 % of what both explain",
        ),
        ([0.4, 0.9, 1.0], 3, 3, "all 3 features are needed: the first 2 carry 90 % of what all 3 explain"),
        ([0.4, 0.95, 1.0], 2, 3, "the first 2 of all 3 features carry 95 % of what all 3 explain"),
        ([0.9, 1.0], 1, 2, "the first one of both features carries 90 % of what both explain"),
        ([0.4], 1, 9, None),
        ([-0.1, -0.2], 1, 9, None),
    ],
)
def test_what_a_curve_says(values: list[float], enough: int, d: int, sentence: str | None) -> None:
    assert size_sentence(curve_of(values, enough), size=len(values), n_features=d) == sentence


@pytest.mark.parametrize(
    ("size", "bound", "sentence"),
    [
        (
            4,
            50,
            "sizes up to 50 were compared: 4 is the smallest not worse than the best by more than the standard error",
        ),
        (
            1,
            50,
            "sizes up to 50 were compared: 1 is the smallest not worse than the best by more than the standard error",
        ),
        (50, 50, "the size is 50, the most that was allowed: smaller ones are worse by more than the standard error"),
    ],
)
def test_what_the_curve_of_a_chosen_size_says(size: int, bound: int, sentence: str) -> None:
    curve = curve_of(np.linspace(0.5, 0.9, bound).tolist(), size)
    assert size_sentence(curve, size=size, n_features=99, auto=True) == sentence


@given(
    values=st.lists(st.floats(-1, 2), min_size=1, max_size=8),
    place=st.integers(0, 7),
    more=st.integers(0, 3),
    auto=st.booleans(),
)
def test_no_curve_makes_an_odd_sentence(values: list[float], place: int, more: int, auto: bool) -> None:
    best = int(np.argmax(values))
    enough = 1 + min(place, best)  # no size above the best is enough
    size = enough if auto else len(values)
    said = size_sentence(curve_of(values, enough), size=size, n_features=len(values) + more, auto=auto)
    if said is None:
        assert values[enough - 1] <= 0 or (size == 1 and not auto)
        return
    assert not re.search(r"nan|inf|-\d|  |\b(\d\d{2,}) %", said)
    assert all(1 <= int(percent) <= 99 for percent in re.findall(r"(\d+) %", said))
    assert all(int(n) <= len(values) for n in re.findall(r"(\d+)(?! ?%)\b", said) if f"{n} %" not in said)
    assert not re.search(r"\b1 (features|are|carry)|one .* carry |one .* are enough", said)
    assert said[0].islower()
    assert not said.endswith(".")
    assert ("no worse than all" in said or "no worse than both" in said) == (
        not auto and enough < size and values[enough - 1] >= values[-1]
    )
    assert ("needed" in said) == (not auto and enough == size)


def test_without_signal_or_curve_there_is_nothing_to_say_of_the_size() -> None:
    model = fitted(("a", "b", "c"))
    assert size_note(model) is not None
    assert size_note(fitted(("a", "b", "c"), measured=False)) is None
    model.signal_ = False
    assert notes(model) == {}


def scored(scores: list[float], errors: list[float]) -> Ranking:
    """All but the last feature are chosen."""
    chosen, values = np.arange(len(scores) + 1) < len(scores), np.array([*scores, 0.0])
    names = tuple(f"x{i}" for i in range(len(values)))
    return Ranking(names, chosen, values, values, np.array([*errors, 0.0]), explained=float(values.sum()))


@pytest.mark.parametrize(
    ("scores", "errors", "unclear"),
    [
        ([0.5, 0.4, 0.3], [0.05, 0.05, 0.05], 0),
        ([0.5, 0.4, 0.3], [0.05, 0.1, 0.01], 2),
        ([0.5, 0.4, 0.3], [0.1, 0.05, 0.05], 1),
        ([0.3, 0.4, 0.5], [0.05, 0.05, 0.05], 0),  # in whatever order of the table
        ([0.5, 0.4, 0.0, 0.0, 0.0], [0.01, 0.01, 0.01, 0.01, 0.01], 0),  # features worth nothing have no order
        ([3e-12, 2e-12, 1e-12], [0.0, 0.0, 0.0], 0),  # traces
        ([0.5, 0.4], [np.inf, np.inf], 0),
    ],
)
def test_neighbours_whose_scores_can_not_be_told_apart(scores: list[float], errors: list[float], unclear: int) -> None:
    assert unclear_neighbours(scored(scores, errors)) == unclear


def test_the_order_is_doubted_where_half_of_the_neighbours_overlap() -> None:
    model = fitted(("a", "b", "c", "d", "e"))
    cases: dict[tuple[float, ...], str | None] = {
        (0.5, 0.4, 0.3, 0.2): None,
        (0.5, 0.4, 0.3, 0.3): None,
        (0.5, 0.5, 0.1): "scores at ranks 1 and 2",
        (0.5, 0.4, 0.4, 0.4): "neighbouring scores at ranks 2 to 4",
        (0.4, 0.4, 0.4, 0.4): "neighbouring scores at ranks 1 to 4",
        (0.5, 0.5, 0.4, 0.3, 0.3, 0.3): "neighbouring scores at ranks 1 and 2, and 4 to 6",
        tuple(
            np.repeat(np.arange(5, 0, -1), 2) / 5
        ): "neighbouring scores at ranks 1 and 2, 3 and 4, 5 and 6, and 2 more places",
    }
    for scores, doubted in cases.items():
        model.result_ = scored(list(scores), [0.01] * len(scores))
        note = order_note(model)
        assert (note is None) == (doubted is None)
        assert note is None or note == f"{doubted} differ by less than the standard error, so their order may be chance"
        assert (note in json.loads(ranking_json(model, seconds=1.0))["notes"]) == (note is not None)
    model.result_ = scored([0.5, 0.499], [0.01, 0.01])
    assert str(order_note(model)).startswith("the scores of the 2 chosen features differ by less than")
    model.signal_ = False  # then another line says that the whole ranking may be chance
    assert order_note(model) is None


def test_a_single_feature_has_no_order() -> None:
    model = fitted(("a", "b"), 1)
    model.result_ = replace(model.result_, scores=np.zeros(2))
    assert order_note(model) is None


def derived(chosen: list[float], left_out: list[float]) -> Ranking:
    scores = np.array([*chosen, *left_out])
    return Ranking(tuple(f"x{i}" for i in range(len(scores))), np.arange(len(scores)) < len(chosen), scores, scores)


@pytest.mark.parametrize(
    ("chosen", "left_out", "unsure"),
    [
        ([0.5, 0.4, 0.3], [0.01, -0.01], 0),
        ([0.5, 0.4, 0.02], [0.01, -0.01], 1),  # a twentieth of the largest is 0.025
        ([0.5, 0.4, 0.3], [0.35, -0.01], 1),  # one that was left out scores higher
        ([1e-4] * 85, [0.02, 1e-5], 85),
        ([0.0, 0.0], [0.0], 2),
        ([-0.1, -0.2], [-0.3], 2),
    ],
)
def test_derivatives_that_do_not_set_a_feature_apart(chosen: list[float], left_out: list[float], unsure: int) -> None:
    assert unsure_places(derived(chosen, left_out)) == unsure


def test_the_order_of_derivatives_is_doubted_where_half_of_the_chosen_do_not_stand_out() -> None:
    model = fitted(("a", "b", "c", "d", "e"), 4, measured=False)
    for chosen, doubted in (([0.5, 0.4, 0.3, 0.0], None), ([0.5, 0.4, 0.0, 0.0], "2"), ([0.0] * 4, "all")):
        model.result_ = derived(chosen, [0.01])
        note = order_note(model)
        assert json.loads(ranking_json(model, seconds=1.0))["notes"] == ([] if note is None else [note])
        assert (note is None) == (doubted is None)
        assert note is None or note.startswith(f"{doubted} of the 4 chosen features score no higher than ones left out")


@pytest.mark.parametrize("metric", [ACCURACY, ROOT_MEAN_SQUARED_ERROR])
@pytest.mark.parametrize("pvalue", [0.004, 0.05, 0.0501, 0.8])
@pytest.mark.parametrize("gain", [0.4, 0.01, 0.0, -0.1])
def test_what_is_said_of_signal_never_contradicts_the_figure(metric: Metric, pvalue: float, gain: float) -> None:
    figure = Figure(metric, 0.5 + metric.sign * gain, 0.05, 0.0, 1.0, baseline=0.5)
    said = signal_text(figure, pvalue, 0.05)
    assert said.startswith("yes (p = " if pvalue <= 0.05 else "none found (p = ")
    assert f"p = {pvalue:.2g}" in said
    assert ("no better" in said) == (pvalue <= 0.05 and gain <= 0)
    assert ("within one standard error" in said) == (pvalue <= 0.05 and gain == 0.01)
    assert ("chance" in said) == (pvalue > 0.05 and gain > 0)
    assert len(said.split("):")) <= 2


def test_figures_have_the_digits_that_their_errors_leave() -> None:
    house = Figure(ROOT_MEAN_SQUARED_ERROR, 43_212.4, 3_456.7, 3e4, 5e4, baseline=79_415.0)
    assert figure_text(house, 292) == "43,212 ± 3,457 on 292 held-out rows; 79,415 without any feature"
    sure = Figure(ACCURACY, 0.98765, 0.00123, 0.98, 0.99, baseline=-0.00001)
    assert figure_text(sure, 9_000) == "0.9877 ± 0.0012 on 9,000 held-out rows; 0.0000 without any feature"
    alone = Figure(ACCURACY, 1.0, math.inf, 0.2, 1.0, baseline=1.0)
    assert figure_text(alone, 1) == "1.000 on 1 held-out row; 1.000 without any feature"


def test_terminal_json_and_report_say_the_same_of_signal() -> None:
    part = section(("a", "b", "c"))
    for value, pvalue in ((0.91, 0.004), (0.4, 0.004), (0.7, 0.21), (0.4, 0.6)):
        judge(part.model, value=value, pvalue=pvalue)
        said = json.loads(ranking_json(part.model, seconds=1.0))["signal_text"]
        assert dict(facts(part.model, time="1.0 s"))["signal"] == said
        page = " ".join(ranking_report("t", [part], command="").split())
        assert ("No signal found" in page) == (pvalue > 0.05)
        assert json.loads(ranking_json(part.model, seconds=1.0))["answer"] in page
