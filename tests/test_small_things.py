"""Odd values and odd text: refused or shown as what they are."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskrank import DualNetClassifier, DualNetCounts, DualNetRegressor, DualNetSurvival
from maskrank.csv_text import csv_text
from maskrank.study.runner import one_by_one, run_jobs
from maskrank.tables.files import read_frame
from maskrank.terminal.standard_output import print_text

X = np.random.default_rng(0).normal(size=(40, 3))


@pytest.mark.parametrize("estimator", [DualNetRegressor, DualNetCounts, DualNetSurvival])
def test_targets_whose_squares_are_no_numbers_are_refused(estimator: Any) -> None:
    y: Any = np.rint(np.abs(X[:, 0]) * 1e200)
    y = (y, X[:, 1] > 0) if estimator is DualNetSurvival else y
    with pytest.raises(ValueError, match=r"y holds .*e\+200: numbers up to 1e\+70 are allowed; give it in other units"):
        estimator(2, max_batches=8).fit(X, y)


def test_targets_that_vary_too_little_are_refused() -> None:
    with pytest.raises(ValueError, match=r"y varies by 4\.94066e-324 in all: at least 1e-70 is needed"):
        DualNetRegressor(2, max_batches=8).fit(X, np.array([0.0, 5e-324] * 20))


@pytest.mark.parametrize("labels", [["a", 1], [1, "a"], ["a", None]])
def test_labels_of_mixed_types_are_named(labels: list[object]) -> None:
    with pytest.raises(ValueError, match=r"y holds labels of the types .*: labels are all text, or all numbers"):
        DualNetClassifier(2, max_batches=8).fit(X, np.array(labels * 20, dtype=object))


def test_huge_weights_do_not_overflow() -> None:
    model = DualNetRegressor(2, max_batches=8, random_state=0)
    expected = model.fit(X, X[:, 0]).predict(X)
    assert np.array_equal(model.fit(X, X[:, 0], sample_weight=np.full(40, 1e308)).predict(X), expected)


def test_rows_of_the_largest_numbers_are_predicted_without_a_warning() -> None:
    tiny = 1e-5 * X
    model = DualNetClassifier(2, max_batches=8, random_state=0).fit(tiny, tiny[:, 0] > 0)
    rows = np.array([[value] * 3 for value in (1.7e308, 1e300, -1e300, -1.7e308)])
    probabilities = model.predict_proba(rows)
    assert np.isfinite(probabilities).all()
    assert np.array_equal(probabilities[[0, 3]], probabilities[[1, 2]])
    assert np.isfinite(model.explain(rows).values).all()


@pytest.mark.parametrize("text", [';=HYPERLINK("x")', "\ufeff=1", " =1", "\t@a", "\0=1", "|+a", "＝1"])
def test_no_text_starts_a_formula_in_any_spreadsheet(text: str) -> None:
    line = csv_text(None, [(text, 1)]).rstrip("\n")
    assert line.removeprefix('"').startswith("'")
    assert line.startswith('"') == any(mark in text for mark in ';\t|"')


def test_a_terminal_shows_control_characters_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "prediction\n\x1b[31myes,größer\n"
    for terminal, shown in ((True, "prediction\n\\x1b[31myes,größer\n"), (False, text)):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setattr(sys, "stdout", stream)
        print_text(text)
        assert stream.getvalue() == shown


def _half(job: dict[str, Any]) -> dict[str, Any]:
    return {"half": job["x"] / 2}


def test_a_study_goes_on_behind_lines_that_are_none_of_its_own(tmp_path: Path) -> None:
    jobs = [{"x": x} for x in range(4)]
    run_jobs(jobs[:3], one_by_one(_half), tmp_path, quiet=True)
    foreign: list[Any] = [{"x": [1]}, {"x": 3}, {"x": 3, "other": 1}, {"x": {}, "half": 1}, [1], 5, None]
    with (tmp_path / "fits.jsonl").open("ab") as file:
        file.write(
            b"\xff\xfe\n" + b"[" * 100_000 + b"\n" + "".join(json.dumps(line) + "\n" for line in foreign).encode()
        )
    finished, failed = run_jobs(jobs, one_by_one(_half), tmp_path, resume=True, quiet=True)
    assert [line["half"] for line in finished] == [0, 0.5, 1, 1.5]
    assert failed == []


def test_wide_text_is_read_without_a_step_for_each_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    d = 2_000
    values = np.random.default_rng(0).normal(size=(3, d)).round(3)
    pd.DataFrame(values, columns=[f"x{i}" for i in range(d)]).to_csv(tmp_path / "wide.csv", index=False)
    steps = []
    get = pd.DataFrame.__getitem__
    monkeypatch.setattr(pd.DataFrame, "__getitem__", lambda frame, key: steps.append(key) or get(frame, key))
    frame = read_frame(str(tmp_path / "wide.csv")).frame
    assert np.array_equal(frame.to_numpy(), values)
    assert len(steps) < 10
