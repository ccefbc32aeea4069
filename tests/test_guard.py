"""What `make guard` counts as a fall, and what it keeps."""

from __future__ import annotations

import importlib
import math
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("guard")


def quality(guard, higher_is_better=True):
    return guard.Figure("a quality", "accuracy", higher_is_better=higher_is_better)


def measured(guard, mean, error, commit="abc1234"):
    return guard.Estimate(mean, error, 2, commit, (mean - error, mean + error))


def accepted_run(guard, mean, commit, figures=None):
    names = [figure.name for figure in guard.FIGURES] if figures is None else figures
    estimates = {name: measured(guard, mean, 0.01, commit) for name in names}
    return {"date": "2026-11-17", "commit": commit, "machine": "a machine", "figures": estimates}


@pytest.mark.parametrize(("higher_is_better", "words"), [(True, ("FELL", "rose")), (False, ("rose", "FELL"))])
def test_a_change_of_more_than_two_standard_errors_of_the_difference_is_marked(guard, higher_is_better, words):
    figure, before = quality(guard, higher_is_better), measured(guard, 0.9, 0.03)
    error = math.hypot(0.03, 0.04)
    for errors, word in ((-2.1, words[0]), (-1.9, "="), (1.9, "="), (2.1, words[1])):
        assert guard.mark(figure, before, measured(guard, 0.9 + errors * error, 0.04)) == word


def test_a_figure_that_did_not_change_is_not_marked(guard):
    for error in (0.0, 0.02):
        before = measured(guard, 0.7, error)
        assert guard.mark(quality(guard), before, before) == "="
        assert guard.gain_in_standard_errors(quality(guard), before, before) == 0


def test_without_any_standard_error_every_fall_counts(guard):
    before, now = measured(guard, 1.0, 0.0), measured(guard, 0.999, 0.0)
    assert guard.mark(quality(guard), before, now) == "FELL"
    assert guard.mark(quality(guard), now, before) == "rose"
    assert guard.gain_in_standard_errors(quality(guard), before, now) == -math.inf


def test_a_figure_without_an_accepted_value_is_new(guard):
    assert guard.mark(quality(guard), None, measured(guard, 0.1, 0.0)) == "new"


@pytest.mark.parametrize(("kind", "worse", "better"), [("time", "slower", "faster"), ("memory", "larger", "smaller")])
def test_time_and_memory_are_marked_by_a_factor_and_never_fall(guard, kind, worse, better):
    figure = guard.Figure(kind, "×", higher_is_better=False, kind=kind)
    before = measured(guard, 2.0, 0.001)
    for mean, word in ((2.9, "="), (3.1, worse), (1.4, "="), (1.3, better)):
        assert guard.mark(figure, before, measured(guard, mean, 0.001)) == word


def test_the_standard_error_is_that_of_the_mean(guard):
    found = guard.estimate([1.0, 2.0, 3.0, 4.0], "abc1234")
    assert (found.mean, found.n, found.values) == (2.5, 4, (1.0, 2.0, 3.0, 4.0))
    assert found.standard_error == pytest.approx(math.sqrt(5 / 3 / 4))
    assert guard.estimate([1.0], "abc1234").standard_error == 0


def test_accepted_runs_come_back_from_json_as_they_were(guard):
    history = [accepted_run(guard, 1 / 3, "abc1234"), accepted_run(guard, 0.1 + 0.2, "def5678")]
    assert guard.from_json(guard.to_json(history)) == history


def test_accepting_some_figures_keeps_the_others_with_their_commit(guard):
    first, second = (figure.name for figure in guard.FIGURES[:2])
    history = guard.with_accepted([], accepted_run(guard, 0.5, "abc1234"))
    history = guard.with_accepted(history, accepted_run(guard, 0.6, "def5678", [first]))
    assert [one["commit"] for one in history] == ["abc1234", "def5678"]
    assert history[-1]["figures"][first].commit == "def5678"
    assert history[-1]["figures"][second].commit == "abc1234"
    again = guard.with_accepted(history, accepted_run(guard, 0.7, "def5678", [first]))
    assert [one["figures"][first].mean for one in again] == [0.5, 0.7]


def test_a_figure_that_is_no_longer_measured_is_not_carried_on(guard):
    history = [accepted_run(guard, 0.5, "abc1234", ["an old figure"])]
    history = guard.with_accepted(history, accepted_run(guard, 0.6, "def5678"))
    assert "an old figure" in history[0]["figures"]
    assert "an old figure" not in history[1]["figures"]


def test_qualities_with_exactly_the_accepted_values_are_counted(guard):
    before = accepted_run(guard, 0.5, "abc1234")["figures"]
    moved = next(figure.name for figure in guard.FIGURES if figure.kind == "quality")
    n = sum(figure.kind == "quality" for figure in guard.FIGURES)
    assert guard.same_values(before, before).startswith(f"{n} of {n} ")
    now = {**before, moved: measured(guard, 0.5 + 1e-12, 0.01)}
    assert guard.same_values(before, now).startswith(f"{n - 1} of {n} ")


def test_both_tables_hold_every_figure(guard):
    run = accepted_run(guard, 0.5, "abc1234")
    assert len({figure.name for figure in guard.FIGURES}) == len(guard.FIGURES)
    written = guard.document([run, accepted_run(guard, 0.6, "def5678")])
    printed = guard.comparison(run["figures"], run["figures"])
    for figure in guard.FIGURES:
        assert written.count(f"| {figure.name} ") == 2, "once as accepted and once in the history"
        assert printed.count(f"| {figure.name} ") == 1
    assert "def5678 (2026-11-17)" in written
    assert "abc1234 (2026-11-17)" in written


def test_the_accepted_figures_are_those_of_the_registry(guard):
    last = guard.from_json((BENCHMARKS / "results" / "guard.json").read_text())[-1]
    assert set(last["figures"]) == {figure.name for figure in guard.FIGURES}
    assert last["commit"] in (BENCHMARKS / "results" / "guard.md").read_text()
