from __future__ import annotations

import csv
import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from maskrank import Ranking
from maskrank.report import ranking_report
from maskrank.results import flat_settings, frame_csv, order_note, ranking_csv, ranking_json, unsure_places
from maskrank.terminal.ranking import show_ranking
from tests.report.pages import fitted, section


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
def test_scores_that_do_not_set_a_feature_apart(chosen: list[float], left_out: list[float], unsure: int) -> None:
    assert unsure_places(scored(chosen, left_out)) == unsure


def test_the_order_is_doubted_where_half_of_the_chosen_do_not_stand_out() -> None:
    model = fitted(("a", "b", "c", "d", "e"), 4)
    for chosen, doubted in (([0.5, 0.4, 0.3, 0.0], None), ([0.5, 0.4, 0.0, 0.0], "2"), ([0.0] * 4, "all")):
        model.result_ = scored(chosen, [0.01])
        note = order_note(model)
        assert json.loads(ranking_json(model, seconds=1.0))["notes"] == ([] if note is None else [note])
        assert (note is None) == (doubted is None)
        assert note is None or note.startswith(f"{doubted} of the 4 chosen features score no higher than ones left out")
    model.signal_ = False  # then another line says that the whole ranking may be chance
    assert order_note(model) is None


def test_a_score_that_rounds_to_nothing_has_no_sign() -> None:
    screen = io.StringIO()
    show_ranking(Console(file=screen, width=80), scored([0.5, 1e-6, -1e-6, -0.2], [0.0]))
    assert [line.split()[2] for line in screen.getvalue().splitlines()[1:]] == [
        "+0.5000",
        "0.0000",
        "0.0000",
        "-0.2000",
    ]


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
    assert shown["predictor.cycles"] == "200, 700"
    assert shown["predictor.recipes"].startswith("decay 0.1; decay 0.4; decay 0.1, share 0.6; decay 0.1, additive;")
    assert all(isinstance(value, str) for value in shown.values())
    page = ranking_report("A page", [section(("a", "b", "c"))], command="")
    assert "<dt>predictor.cycles</dt><dd>200, 700</dd>" in page
    assert "{" not in page[page.index("All settings") : page.index("</details>", page.index("All settings"))]
