from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from maskrank import Ranking
from maskrank.report import ranking_report
from maskrank.results import facts, flat_settings, frame_csv, ranking_csv, ranking_json
from maskrank.terminal.ranking import show_ranking
from tests.report.pages import curve_of, fitted, ranked, section


def ranking(names: list[str], size: int) -> Ranking:
    """Features that are ranked in the order of their names."""
    scores = -np.arange(len(names), dtype=float)
    return Ranking(tuple(names), np.arange(len(names)) < size, scores, scores)


def cells(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline="")))


@pytest.mark.parametrize(
    "name", ["=1+1", "+x", "-x", "@SUM(A1)", "\ttab", "\rreturn", "\nline", "-", "=", "-1e", "＝1"]
)
def test_no_name_starts_a_formula(name: str) -> None:
    header, first, second = cells(ranking_csv(ranking([name, "plain"], 1)))
    assert header == ["rank", "feature", "importance", "raw_score", "selected"]
    assert first[1] == f"'{name}"
    assert second[1:] == ["plain", "-1.0", "-1.0", "False"]  # numbers are as they are


@pytest.mark.parametrize(
    "name", ["weight", "a=b", "a-1", "'quoted", '"', "a\rb", "two\nlines", "-1.5", "+2", "-1e-5", ""]
)
def test_other_names_are_written_as_given(name: str) -> None:
    assert cells(ranking_csv(ranking([name, "other"], 1)))[1][1] == name


def test_frames_are_written_as_pandas_does_but_guarded() -> None:
    frame = pd.DataFrame({"name": ["a", "b,c"], "n": [1, -2], "x": [0.1, np.nan], "list": [[1, 2], [3]]})
    assert frame_csv(frame) == frame.to_csv(index=False)
    assert cells(frame_csv(pd.DataFrame({"=h": ["=f", "-2"], "x": [-1, 2]}))) == [
        ["'=h", "x"],
        ["'=f", "-1"],
        ["-2", "2"],
    ]


def test_one_line_a_feature_whatever_its_name() -> None:
    names = [
        "a" * 40,
        "b" * 300,
        "two\nlines",
        "\x1b[31mred\x1b[0m",
        "[red]markup[/red]",
        "[/]",
        "\u202eback",
        "界" * 40,
    ]
    stream = io.StringIO()
    show_ranking(Console(file=stream, width=80, color_system=None), ranking([*names, "left out"], len(names)))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 1 + len(names)
    shown = ["a" * 40, "b" * 39 + "…", "two\\nlines", "\\x1b[31mred\\x1b[0m", "[red]markup[/red]", "[/]", "\\u202eback"]
    for line, name in zip(lines[1:], shown, strict=False):
        assert line[6:].startswith(f"{name} ")
    assert max(map(len, lines)) <= 80


def scored(chosen: list[float], left_out: list[float]) -> Ranking:
    scores = np.array([*chosen, *left_out])
    return Ranking(tuple(f"x{i}" for i in range(len(scores))), np.arange(len(scores)) < len(chosen), scores, scores)


def test_a_score_that_rounds_to_nothing_has_no_sign() -> None:
    screen = io.StringIO()
    show_ranking(Console(file=screen, width=80), scored([0.5, 1e-6, -1e-6, -0.2], [0.0]))
    assert [line.split()[2] for line in screen.getvalue().splitlines()[1:]] == [
        "+0.5000",
        "0.0000",
        "0.0000",
        "-0.2000",
    ]


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_long_name_is_cut_off_and_no_rank_is(width: int) -> None:
    screen = io.StringIO()
    ranking = scored([0.5] * 12, [0.0])
    names = ("x" * 200, *ranking.names[1:])
    show_ranking(Console(file=screen, width=width), replace(ranking, names=names))
    lines = screen.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["rank", *map(str, range(1, 13))]
    assert lines[1].split()[1].endswith("…")
    assert lines[1].split()[2] == "+0.5000"


def test_bars_are_drawn_in_eighths_of_a_character() -> None:
    screen = io.StringIO()
    show_ranking(Console(file=screen, width=80), scored([1.0, 0.5, 0.03, -0.1], [0.0]))
    bars = ["".join(line.split()[3:]) for line in screen.getvalue().splitlines()[1:]]
    assert bars == ["█" * 20, "█" * 10, "▋", ""]


def test_settings_are_nested_in_json_and_flat_on_a_page() -> None:
    model = fitted(("a", "b", "c"))
    assert json.loads(ranking_json(model, seconds=1.0))["config"]["tournament"]["enabled"] is True
    shown = flat_settings(model.config_)
    assert shown["selector_hidden"] == "64, 32"
    assert shown["predictor.cycles"] == "80, 120, 700"
    assert shown["predictor.recipes"].startswith(
        "decay 0.1; decay 0.4; decay 0.1, additive; decay 0.1, input_noise 0.5; decay 0.1, input_noise 1.0;"
    )
    assert all(isinstance(value, str) for value in shown.values())
    page = ranking_report("A page", [section(("a", "b", "c"))], command="")
    assert "<dt>predictor.cycles</dt><dd>80, 120, 700</dd>" in page
    assert "{" not in page[page.index("All settings") : page.index("</details>", page.index("All settings"))]


def test_json_holds_the_evidence_the_size_curve_and_the_notes() -> None:
    model = fitted(("a", "b", "c"))
    model.size_curve_ = curve_of([0.5, 0.51], 1)
    document = json.loads(ranking_json(model, seconds=1.0))
    assert document["evidence"] == dict(zip("abc", model.result_.evidence.tolist(), strict=True))
    assert document["enough"] == 1
    first = {"size": 1, "value": 0.5, "value_std": 0.01, "accuracy": 0.75, "accuracy_std": 0.005}
    assert document["size_curve"][0] == first
    assert len(document["size_curve"]) == 2
    assert document["notes"] == ["the first one of the 2 chosen features carries 98 % of what both explain"]
    derived = json.loads(ranking_json(fitted(("a", "b", "c"), measured=False), seconds=1.0))
    assert (derived["size_curve"], derived["enough"], derived["evidence"], derived["notes"]) == (None, None, None, [])


def test_a_standard_error_that_is_unknown_is_null_in_json() -> None:
    model = fitted(("a", "b", "c"))
    model.result_ = replace(model.result_, scores_std=np.array([np.inf, np.inf, 0.0]))
    assert json.loads(ranking_json(model, seconds=1.0))["scores_std"] == {"a": None, "b": None, "c": 0.0}


def test_csv_has_errors_and_evidence_of_measured_scores() -> None:
    header, first, *_ = cells(ranking_csv(ranked(("a", "b", "c"))))
    assert header == ["rank", "feature", "importance", "importance_std", "evidence", "raw_score", "selected"]
    assert first[:2] == ["1", "a"]


def test_facts_say_where_all_features_are_kept() -> None:
    assert dict(facts(fitted(("a", "b", "c")), time="1.0 s"))["chosen"] == "2 of 3 features"
    assert dict(facts(fitted(("a", "b", "c"), 3), time="1.0 s"))["chosen"] == "all 3 features"
