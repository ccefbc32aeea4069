"""Folds that respect the structure of a table."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import DualNetClassifier
from maskrank.cli import app
from maskrank.study.folds import described_folds, rare_classes, table_folds
from maskrank.tables import Roles, RowFacts, Table

RNG = np.random.default_rng(0)


def table(y: np.ndarray, task: str = "classification", **facts: np.ndarray) -> Table:
    X = pd.DataFrame(RNG.normal(size=(len(y), 3)), columns=["a", "b", "c"])
    roles = Roles(fold_by="patient", time_order="day")
    return Table(X, y, "y", task, "as asked", roles=roles, rows=RowFacts(**facts))


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("folds", [2, 5])
def test_no_group_is_on_both_sides_and_every_row_is_tested_once(task: str, folds: int) -> None:
    groups = RNG.integers(0, 23, 300)
    y = groups % 3 if task == "classification" else RNG.normal(size=300)
    parts = table_folds(table(y, task, groups=groups), folds, seed=0)
    assert sorted(np.concatenate([fold.test for fold in parts])) == list(range(300))
    for fold in parts:
        assert not set(groups[fold.train]) & set(groups[fold.test])
        assert 0.5 * 300 / folds <= len(fold.test) <= 1.7 * 300 / folds
    if task == "classification":
        assert all(len(np.unique(y[fold.test])) == 3 for fold in parts)


def test_folds_forward_in_time_learn_from_the_past_alone() -> None:
    days = RNG.integers(0, 40, 200)
    parts = table_folds(table(RNG.integers(0, 2, 200), order=days), 4, seed=0)
    assert len(parts) == 4
    for fold, later in pairwise(parts):
        assert days[fold.train].max() < days[fold.test].min()
        assert set(later.train) == set(fold.train) | set(fold.test)
    assert days[parts[-1].test].max() == days.max()
    assert min(len(fold.test) for fold in parts) >= 25


def test_many_rows_of_one_time_leave_no_fold_empty() -> None:
    days = np.concatenate([np.zeros(150, dtype=int), np.arange(1, 6)])
    parts = table_folds(table(np.arange(155) % 2, order=days), 5, seed=0)
    assert all(len(fold.train) and len(fold.test) for fold in parts)


def test_rare_classes_are_learned_from_and_single_rows_never_tested() -> None:
    y = np.array(["a"] * 30 + ["b"] * 20 + ["c"] * 3 + ["d"])
    data = table(y)
    parts = table_folds(data, 5, seed=0)
    assert all("d" in y[fold.train] and "c" in y[fold.train] for fold in parts)
    tested = np.concatenate([fold.test for fold in parts])
    assert sorted(y[tested]) == sorted(y[:-1])
    (line,) = rare_classes(data, 5)
    assert "fewer rows than 5 folds in classes c (3), d (1)" in line
    assert rare_classes(data, 2) != []
    assert rare_classes(table(np.arange(40) % 2), 5) == []


def test_how_rows_are_tested_is_described() -> None:
    groups = np.arange(40) // 4
    assert described_folds(table(np.arange(40) % 2), 5) == "5-fold cross-validation"
    assert "rows of one patient together" in described_folds(table(np.arange(40) % 2, groups=groups), 5)
    assert "forward in time, by day" in described_folds(table(np.arange(40) % 2, order=groups), 5)


@pytest.mark.parametrize(
    ("facts", "y", "message"),
    [
        ({"groups": np.arange(40) // 20}, np.arange(40) % 2, "2 values are fewer than 5 folds: use --folds 2"),
        ({"order": np.arange(40) // 20}, np.arange(40) % 2, "2 distinct times give at most 1 folds"),
        ({"order": np.arange(40)}, np.arange(40) // 30, "fold 1 has one class to learn from"),
        ({}, np.arange(40) % 20, "the largest class, 0, has 2 rows, fewer than 5 folds"),
    ],
)
def test_folds_that_can_not_be_made(facts: dict[str, np.ndarray], y: np.ndarray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        table_folds(table(y, **facts), 5, seed=0)


@pytest.fixture
def patients(tmp_path: Path) -> str:
    """Twelve patients with ten nearly equal rows each; their class is chance."""
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(12), 10)
    X = rng.normal(size=(12, 5))[patient] + 0.05 * rng.normal(size=(120, 5))
    frame = pd.DataFrame(X).add_prefix("x").assign(patient=[f"p{i}" for i in patient], day=np.arange(120) % 30)
    frame.assign(y=np.where(patient % 2, "well", "ill")).to_csv(tmp_path / "patients.csv", index=False)
    return str(tmp_path / "patients.csv")


def accuracy(*words: str) -> tuple[float, str]:
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    table = done.stdout.split("\n\n", 1)[1]  # after the answer
    return float(table.splitlines()[1].split()[1]), done.stderr


def test_folds_by_patient_show_that_nothing_was_learned(patients: str) -> None:
    words = ("compare", patients, "--target", "y", "--size", "2", "--methods", "mrmr", "--folds", "3")
    inflated, said = accuracy(*words, "--drop", "patient", "--drop", "day")
    assert inflated > 0.9
    assert "keep them together with --fold-by patient" in said
    honest, said = accuracy(*words, "--fold-by", "patient", "--drop", "day")
    assert honest < 0.75
    assert "--fold-by" not in said


def test_folds_forward_in_time_by_the_command(patients: str, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("compare", patients, "--target", "y", "--size", "2", "--methods", "mrmr", "--folds", "3", "-q")
    accuracy(*words, "--time-order", "day", "--drop", "patient", "--report", str(page))
    assert "3 folds forward in time, by day" in page.read_text()


@pytest.mark.usefixtures("few_batches")
def test_our_own_fit_is_told_of_the_groups(patients: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    fit = DualNetClassifier.fit

    def noting(self: DualNetClassifier, X: object, y: object, *args: object, **options: object) -> object:
        seen.append(options.get("groups"))
        return fit(self, X, y, *args, **options)

    monkeypatch.setattr(DualNetClassifier, "fit", noting)
    words = ("sweep", patients, "--target", "y", "--sizes", "2", "--folds", "3", "-q", "--drop", "day")
    accuracy(*words, "--fold-by", "patient")
    assert [len(np.unique(groups)) for groups in seen] == [8, 8, 8]


def test_a_class_rarer_than_folds_is_said_and_compared(patients: str, tmp_path: Path) -> None:
    frame = pd.read_csv(patients).drop(columns=["patient", "day"])
    frame.loc[0, "y"] = "odd"
    frame.loc[1:2, "y"] = "strange"
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = ("compare", str(tmp_path / "t.csv"), "--target", "y", "--size", "2", "--folds", "3", "-q")
    _, said = accuracy(*words, "--methods", "mrmr")
    assert "fewer rows than 3 folds in classes odd (1), strange (2)" in said
