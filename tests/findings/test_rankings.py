from __future__ import annotations

import io
import json
import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from maskrank.findings import ranking_finding
from maskrank.notes import order_note, size_note, with_error
from maskrank.report import RankingSection, ranking_report
from maskrank.results import ranking_json
from maskrank.terminal.ranking import show_answer
from tests.findings.models import model_of

TIE = {"scores": (0.30, 0.29, 0.10, 0.05)}
ALL_TIED = {"scores": (0.3, 0.29, 0.28, 0.27), "errors": (0.05,) * 4}
CLASSES = {"metric": "accuracy", "value": 0.97, "std": 0.02, "baseline": 0.44}
RARE = {"metric": "roc_auc", "value": 0.84, "std": 0.04, "baseline": 0.5, "frequent": 0.95}
SURVIVAL = {"metric": "concordance", "value": 0.70, "std": 0.03, "baseline": 0.5}
ONE = {"scores": (0.3,), "errors": (0.02,)}
AGAIN = {"chosen_again": (6, 6, 6, 6)}

# what the model is made of; words of the answer; its certainty; how many features are tied for the first place
SITUATIONS: dict[str, tuple[dict[str, Any], tuple[str, ...], str, int]] = {
    "strong": (
        {},
        ("Four of 11 columns explain 59 ± 5 % of the variance of price;", "c0 has the largest", "40 %"),
        "clear",
        1,
    ),
    "two of four enough": (
        {"enough": 2},
        ("Four of 11 columns, of which the first two are enough, explain 59 ± 5 % of the variance of price;",),
        "clear",
        1,
    ),
    "one of four enough": ({"enough": 1, **CLASSES}, ("of which the first one is enough, predict price",), "clear", 1),
    "enough, without signal": ({"enough": 1, "pvalue": 0.4}, ("No signal found",), "none", 0),
    "strong, all chosen again": (AGAIN, ("All four were chosen in 6 of 6 refits.",), "clear", 1),
    "very strong": ({"value": 0.998, "std": 0.001}, ("explain 99.8 ± 0.1 % of the variance",), "clear", 1),
    "weak": ({"value": 0.04, "std": 0.01}, ("explain only 4 ± 1 % of the variance of price",), "clear", 1),
    "tiny": ({"value": 0.004, "std": 0.001}, ("explain only 0.4 ± 0.1 %",), "clear", 1),
    "likely": ({"value": 0.09, "std": 0.06}, ("only 9 ± 6 %", "less than two standard errors"), "likely", 1),
    "within the error": ({"value": 0.04, "std": 0.06}, ("only 4 ± 6 %", "within one standard error"), "unclear", 1),
    "no signal": (
        {"pvalue": 0.42, "value": -0.1},
        ("No signal found", "11 columns predicts price (p = 0.42)"),
        "none",
        0,
    ),
    "no signal, better figure": (
        {"pvalue": 0.21, **CLASSES},
        ("No signal found", "0.970 ± 0.020 against 0.440"),
        "none",
        0,
    ),
    "no signal with refits": ({"pvalue": 0.3, **AGAIN}, ("No signal found", "The ranking may be chance."), "none", 0),
    "signal at the level": ({"pvalue": 0.05}, ("explain 59",), "clear", 1),
    "just above the level": ({"pvalue": 0.051}, ("No signal found", "p = 0.051"), "none", 0),
    "not tested": ({"pvalue": math.nan}, ("could not be tested: there are too few rows",), "untested", 0),
    "signal, worse figure": (
        {"value": -0.02},
        ("Something in the 11 columns", "no better than without any"),
        "unclear",
        0,
    ),
    "signal, figure undefined": ({**RARE, "value": math.nan}, ("ROC AUC is not defined on the 34",), "unclear", 0),
    "unknown error": ({"std": math.inf}, ("explain 59 % of", "can't be told from so few"), "unclear", 1),
    "rows that chose the nets": ({"unseen": False}, ("a little too good",), "clear", 1),
    "two tied": (TIE, ("c0 (41 %) and c1 (39 %) are tied for the largest share",), "clear", 2),
    "three tied": ({"scores": (0.3, 0.29, 0.29, 0.05)}, ("c0 (32 %), c1 (31 %) and c2 (31 %) are tied",), "clear", 3),
    "all tied": (ALL_TIED, ("all of them are tied for the largest share",), "clear", 4),
    "most stable": (
        {"chosen_again": (6, 6, 6, 2)},
        ("Three of the four were chosen in at least 5 of 6 refits, c3 in 2",),
        "clear",
        1,
    ),
    "nearly stable": (
        {"chosen_again": (6, 6, 5, 5)},
        ("Each of the four was chosen in at least 5 of 6 refits.",),
        "clear",
        1,
    ),
    "unstable": (
        {"chosen_again": (6, 3, 2, 1)},
        ("unstable: only one of the four was chosen in at least 5 of 6",),
        "clear",
        1,
    ),
    "never chosen again": ({"chosen_again": (1, 1, 1, 1)}, ("unstable: none of the four was",), "clear", 1),
    "one feature": (ONE, ("One of 11 columns, c0, explains 59 ± 5 %",), "clear", 1),
    "one feature, chosen again": ({**ONE, "chosen_again": (6,)}, ("It was chosen in 6 of 6 refits.",), "clear", 1),
    "one feature, unstable": ({**ONE, "chosen_again": (2,)}, ("unstable: it was chosen in 2 of 6",), "clear", 1),
    "every feature": ({"d": 4}, ("All four columns together explain 59",), "clear", 1),
    "every feature, with refits": ({"d": 4, **AGAIN}, ("All four columns together",), "clear", 1),
    "auto size": ({"size": "auto"}, ("Four of 11 columns are enough: they explain 59",), "clear", 1),
    "auto size of one": ({**ONE, "size": "auto"}, ("One of 11 columns, c0, is enough: it explains 59",), "clear", 1),
    "auto size at its bound": (
        {"size": "auto", "bound": 4},
        ("columns, the most that was allowed, explain",),
        "clear",
        1,
    ),
    "required": ({"required": 1}, ("With c0 required, four of 10 other columns explain", "c1 adds most"), "clear", 1),
    "groups": ({"grouped": True}, ("Four of 11 features explain",), "clear", 1),
    "classes": (CLASSES, ("predict price (accuracy 0.970 ± 0.020; 0.440 without any column)",), "clear", 1),
    "classes, slightly": ({**CLASSES, "value": 0.47, "std": 0.005}, ("slightly better than none",), "clear", 1),
    "rare class": (RARE, ("ROC AUC 0.840 ± 0.040", "one class has 95 % of the rows, so accuracy would"), "clear", 1),
    "rare class by accuracy": (
        {**CLASSES, "value": 0.965, "std": 0.01, "baseline": 0.95},
        ("one class has 95 %",),
        "likely",
        1,
    ),
    "survival": (SURVIVAL, ("concordance index 0.700 ± 0.030; 0.500 without any column",), "clear", 1),
    "survival, likely": ({**SURVIVAL, "value": 0.55}, ("less than two standard errors",), "likely", 1),
    "large unit": (
        {"metric": "rmse", "value": 20154.0, "std": 2173.0, "baseline": 30623.0},
        ("root mean squared error 20,154 ± 2,173; 30,623 without",),
        "clear",
        1,
    ),
    "counts": (
        {"metric": "poisson_deviance", "value": 1.2, "std": 0.1, "baseline": 1.8},
        ("mean Poisson deviance 1.20 ± 0.10",),
        "clear",
        1,
    ),
    "log-loss, worse": (
        {"metric": "log_loss", "value": 0.9, "std": 0.1, "baseline": 0.7},
        ("no better than",),
        "unclear",
        0,
    ),
    "derivatives of the paper": ({"errors": None}, ("c0 scores highest",), "clear", 1),
    "nothing explained": ({"scores": (0.0,) * 4}, ("their shares could not be told from 0",), "clear", 0),
    "genes": ({"d": 20_000}, ("Four of 20,000 columns explain",), "clear", 1),
    "many chosen": (
        {"d": 99, "scores": tuple(np.linspace(0.1, 0.01, 20)), "errors": (0.001,) * 20},
        ("20 of 99 columns",),
        "clear",
        1,
    ),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_answer_says_the_facts_of_a_situation(name: str) -> None:
    made_of, words, certainty, tied = SITUATIONS[name]
    model = model_of(**made_of)
    finding = ranking_finding(model, "price")
    for text in words:
        assert text in finding.answer
    assert (finding.certainty, len(finding.leaders)) == (certainty, tied)
    assert ("tied" in finding.answer) == (tied > 1)
    assert ("refits" in finding.answer) == (
        model.stability_ is not None and certainty != "none" and not model.result_.support.all()
    )
    _check_agreement(model, finding.answer)


_DIGITS = {"one": "one", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7"}


def _check_agreement(model: Any, answer: str) -> None:
    """The sentence, the figure, the notes on order and size, and the test for signal say the same."""
    figure, tested = model.figures_[model.metric_.name], not math.isnan(model.signal_pvalue_)
    claims = (
        bool(re.search(r"(column|feature)s?,?.* (predicts?|explains?) (price|only|\d)", answer))
        and "nothing in" not in answer
    )
    claims = claims and "Something in" not in answer and "Whether" not in answer
    assert ("No signal found" in answer) == (tested and not model.signal_)
    assert ("could not be tested" in answer) == (not tested)
    assert claims == (tested and model.signal_ and figure.better)
    value, error, baseline = with_error(figure)
    if claims and model.metric_.name != "r2":
        assert f"{value}{error and f' ± {error}'}; {baseline} without any" in answer
    if not tested or not model.signal_:
        assert not re.search(r"\bc\d+\b", answer)  # no feature is named
    if "has the largest share" in answer:
        assert not re.search(r"ranks 1\b|the 2 chosen", order_note(model) or "")
    if first := re.search(r"of which the first (\w+) (is|are) enough", answer):
        note = size_note(model) or ""
        assert re.search(rf"the first {_DIGITS[first[1]]} of", note)
        assert "needed" not in note
    assert not re.search(r"\bnan\b|\binf\b|  |-0\.0+\b|\b(1\d\d|[2-9]\d\d) %", answer)
    assert all(sentence[0].isupper() or sentence[0].isdigit() for sentence in re.split(r"(?<=[.:]) (?=[A-Z])", answer))


@settings(max_examples=60, deadline=None)
@given(
    pvalue=st.sampled_from([0.001, 0.05, 0.06, 0.9, math.nan]),
    metric=st.sampled_from(["r2", "accuracy", "roc_auc", "concordance", "rmse", "log_loss"]),
    value=st.floats(0.01, 1.0),
    std=st.sampled_from([0.0, 0.003, 0.05, 0.4, math.inf]),
    scores=st.lists(st.floats(0, 1), min_size=1, max_size=8),
    error=st.floats(0, 0.3),
    again=st.integers(0, 6),
    frequent=st.sampled_from([None, 0.5, 0.95]),
    enough=st.integers(1, 8),
)
def test_no_facts_make_sentence_figure_and_signal_disagree(
    pvalue: float,
    metric: str,
    value: float,
    std: float,
    scores: list[float],
    error: float,
    again: int,
    frequent: float | None,
    enough: int,
) -> None:
    ordered = sorted(scores, reverse=True)
    baseline = 0.0 if metric == "r2" else 0.5
    model = model_of(
        scores=ordered,
        errors=[error] * len(ordered),
        metric=metric,
        value=value,
        std=std,
        baseline=baseline,
        pvalue=pvalue,
        chosen_again=[again] * len(ordered),
        frequent=frequent,
        enough=min(enough, len(ordered)),
    )
    _check_agreement(model, ranking_finding(model, "price").answer)


@pytest.mark.parametrize("width", [60, 200])
@pytest.mark.parametrize("pvalue", [0.002, 0.4])
def test_terminal_json_and_report_give_the_same_answer(width: int, pvalue: float) -> None:
    model = model_of(pvalue=pvalue)
    finding = ranking_finding(model, "price")
    document = json.loads(ranking_json(model, seconds=1.0, target="price"))
    assert (document["answer"], document["certainty"]) == (finding.answer, finding.certainty)
    page = ranking_report(finding.title, [RankingSection("t", model, [], 1.0, target="price")], command="c")
    assert finding.answer in " ".join(page.split())
    assert page.index('class="answer') < page.index("<table")
    screen = Console(width=width, record=True, file=io.StringIO())
    show_answer(screen, finding)
    assert " ".join(screen.export_text().split()) == finding.answer


def test_the_title_states_the_result() -> None:
    titles = {
        "Four columns that predict price": {},
        "Four columns that may predict price": {"value": 0.01},
        "One column that predicts price": ONE,
        "No column found that predicts price": {"pvalue": 0.5},
        "Four columns ranked for price": {"pvalue": math.nan},
    }
    for title, made_of in titles.items():
        assert ranking_finding(model_of(**made_of), "price").title == title
