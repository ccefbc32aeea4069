"""Columns that give the target away, and columns that name subjects of nearly equal rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from maskrank.tables import Roles, leak_warnings, load_table, subject_warnings

N = 200
RNG = np.random.default_rng(0)
NOISE = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["a", "b", "c"])
LABELS = RNG.choice(["red", "green", "blue"], N)
NUMBERS = RNG.normal(size=N)


def warned(column: object, y: np.ndarray) -> bool:
    """Whether a column earns a warning among three that do not."""
    lines = leak_warnings(NOISE.assign(**{"a leak": column}), y)
    assert all("column 'a leak' alone predicts the target almost perfectly" in line for line in lines)
    return bool(lines)


@pytest.mark.parametrize(
    "column",
    [
        LABELS,
        pd.Series(LABELS).map({"red": "R", "green": "G", "blue": "B"}),
        pd.Series(LABELS).map({"red": 3, "green": 1, "blue": 7}),
        pd.Series(LABELS).map({"red": 0.0, "green": 10.0, "blue": 20.0}) + RNG.normal(size=N),
        pd.Series(LABELS).astype("category"),
        np.where(np.arange(N) == 7, "red", LABELS),  # with an error
    ],
)
def test_copies_and_relabellings_of_classes(column: object) -> None:
    assert warned(column, LABELS)


@pytest.mark.parametrize(
    "transform", [np.exp, np.negative, np.square, lambda y: np.round(y, 3), lambda y: 32 + 1.8 * y]
)
def test_transforms_of_numbers(transform: object) -> None:
    assert warned(NUMBERS, transform(NUMBERS))  # type: ignore[operator]
    assert warned(transform(NUMBERS), NUMBERS) == (transform is not np.square)  # type: ignore[operator]


def test_a_gap_that_tells_the_class() -> None:
    died = RNG.random(N) < 0.4
    assert warned(np.where(died, RNG.normal(size=N), np.nan), np.where(died, "yes", "no"))


def test_a_copy_of_a_rare_class_is_found_and_a_constant_is_not() -> None:
    rare = np.zeros(3_000, dtype=int)
    rare[:60] = 1
    noise = np.random.default_rng(1).normal(size=3_000)
    X = pd.DataFrame({"noise": noise, "copy": 5 - rare, "same": 1.0})
    (line,) = leak_warnings(X, rare)
    assert "'copy'" in line


@pytest.mark.parametrize(
    "column",
    [
        NUMBERS + 0.1 * RNG.normal(size=N),  # a strong feature is no leak
        np.round(NUMBERS),
        np.sign(NUMBERS),
    ],
)
def test_strong_features_are_none(column: object) -> None:
    assert not warned(column, NUMBERS)
    assert not warned(np.where(RNG.random(N) < 0.05, "red", LABELS), LABELS)


def test_few_rows_tell_nothing() -> None:
    y = np.arange(20) % 2
    assert leak_warnings(pd.DataFrame({"copy": y, "x": RNG.normal(size=20)}), y) == []


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits", "diabetes"])
def test_no_alarm_on_known_tables(name: str) -> None:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.argsort(y, kind="stable")
    for rows in (np.arange(len(y)), order):
        frame = pd.DataFrame(X[rows]).add_prefix("x")
        assert leak_warnings(frame, y[rows]) == []
        assert subject_warnings(frame, y[rows]) == []


def test_wide_tables_of_genes_give_no_alarm() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 5_000))).add_prefix("g")
    X["g7"] += np.arange(60) % 2
    assert leak_warnings(X, np.arange(60) % 2) == []


def test_times_and_events_of_a_survival_table(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    time, event = rng.exponential(300, N).round(1), rng.integers(0, 2, N)
    start = pd.Timestamp("2015-01-01") + pd.to_timedelta(rng.integers(0, 1_500, N), unit="D")
    frame = pd.DataFrame({"age": rng.normal(60, 9, N), "time": time, "event": event}).assign(
        years=time / 365.25,
        dead=np.where(event == 1, "dead", "alive"),
        entry=start,
        last_seen=start + pd.to_timedelta(time, unit="D"),
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = load_table(str(tmp_path / "t.csv"), roles=Roles(time="time", event="event"))
    found = [line.split("column ")[1].split(" leaks ")[:2] for line in table.suspects]
    assert [(name, what.split(" (")[0]) for name, what in found] == [
        ("'years'", "the time"),
        ("'dead'", "the event"),
        ("'last_seen'", "the time"),
    ]


def test_a_follow_up_time_beside_an_event_suggests_survival(tmp_path: Path) -> None:
    frame = NOISE.assign(time=RNG.exponential(size=N), status=RNG.integers(0, 2, N))
    frame.to_csv(tmp_path / "t.csv", index=False)
    (line,) = load_table(str(tmp_path / "t.csv"), target="status").suspects
    assert "--time time --event status" in line
    assert load_table(str(tmp_path / "t.csv"), target="status", drop=["time"]).suspects == []


def mice(near: float) -> tuple[pd.DataFrame, np.ndarray]:
    """Ten rows each of 24 mice, of two classes that differ in nothing."""
    rng = np.random.default_rng(0)
    mouse = np.repeat(np.arange(24), 10)
    X = rng.normal(size=(24, 6))[mouse] + near * rng.normal(size=(240, 6))
    frame = pd.DataFrame(X).add_prefix("protein ").assign(mouse=[f"m{i}" for i in mouse])
    return frame, np.where(mouse % 2, "control", "treated")


def test_subjects_of_nearly_equal_rows_are_suggested_as_folds(tmp_path: Path) -> None:
    frame, y = mice(0.1)
    (line,) = subject_warnings(frame, y)
    assert "rows with the same value of column 'mouse' are nearly equal" in line
    frame.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    path = str(tmp_path / "t.csv")
    for drop in ([], ["mouse"]):  # it may be left out already
        (line,) = load_table(path, target="y", drop=drop).suspects
        assert line.endswith("; keep them together with --fold-by mouse")
    assert load_table(path, target="y", roles=Roles(fold_by="mouse")).suspects == []


def test_subjects_whose_rows_differ_are_not() -> None:
    frame, y = mice(3.0)
    assert subject_warnings(frame, y) == []


def test_a_target_that_changes_within_subjects_is_no_alarm() -> None:
    frame, _ = mice(0.1)
    assert subject_warnings(frame, np.random.default_rng(1).integers(0, 2, len(frame))) == []
    assert subject_warnings(frame, np.random.default_rng(1).normal(size=len(frame))) == []
