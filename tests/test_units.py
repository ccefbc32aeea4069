from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from maskrank import Ranking
from maskrank.terminal.ranking import show_ranking
from maskrank.units import explains, in_shown_unit, map_scores, score_note, score_text, shown_errors

MEASURED = Ranking(
    names=("a", "b", "c", "d"),
    support=np.array([True, False, True, True]),
    raw_scores=np.array([0.5, 0.1, 0.9, 0.3]),
    scores=np.array([0.3, 0.0, 0.1, 1e-12]),
    scores_std=np.array([0.04, 0.0, np.inf, 0.02]),
    explained=0.4,
    baseline=0.5,
)
NOTHING = replace(MEASURED, scores=np.array([2e-12, 0.0, 3e-12, 1e-12]), explained=6e-12)
DERIVED = replace(MEASURED, scores_std=None, explained=None, baseline=None)


def shown(ranking: Ranking) -> list[str]:
    return [score_text(ranking, i) for i in range(4)]


def test_measured_scores_are_per_cent_with_their_standard_errors() -> None:
    assert shown(MEASURED) == ["75.0 ± 10.0 %", "0.0 %", "25.0 ± inf %", "0.0 ± 5.0 %"]
    assert in_shown_unit(MEASURED, MEASURED.scores).sum() == pytest.approx(100)
    assert shown_errors(MEASURED) == pytest.approx(np.array([10, 0, 0, 5]))


def test_traces_of_features_that_explain_nothing_read_as_nothing() -> None:
    assert not explains(NOTHING)
    assert shown(NOTHING) == ["0.0 %"] * 4
    assert not in_shown_unit(NOTHING, NOTHING.scores).any()
    assert "together the chosen features save none" in score_note(NOTHING)
    screen = io.StringIO()
    show_ranking(Console(file=screen, width=80), NOTHING)
    assert [line.split()[2:] for line in screen.getvalue().splitlines()[1:]] == [["0.0", "%"]] * 3  # and no bar


def test_derivatives_are_shown_as_they_are() -> None:
    assert shown(DERIVED) == ["+0.3000", "0.0000", "+0.1000", "0.0000"]
    assert in_shown_unit(DERIVED, DERIVED.scores) is DERIVED.scores
    assert shown_errors(DERIVED) is None
    assert "0 = an average one left out" in score_note(DERIVED)


def test_a_map_shows_raw_scores_unless_nothing_was_selected() -> None:
    assert map_scores(MEASURED) is MEASURED.raw_scores
    every = replace(MEASURED, support=np.ones(4, dtype=bool))
    assert map_scores(every) is every.scores
