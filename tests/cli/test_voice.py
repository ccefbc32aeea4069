"""How much a command says on standard error: nothing, the usual, or more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank.cli import app
from maskrank.core.recorder import STAGES, Callback, Progress
from maskrank.datasets import make_xor

pytestmark = pytest.mark.usefixtures("few_batches")


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A table in the folder that the user works in."""
    monkeypatch.chdir(tmp_path)
    X, y, _ = make_xor(200, random_state=0)
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)]).assign(note=1.5, same=7, y=np.array([*"abcd"])[y])
    frame.to_csv("table.csv", index=False)
    return "table.csv"


def call(*arguments: str, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def test_rank_tells_of_table_stages_and_settings_when_asked(table: str) -> None:
    asked = ("rank", table, "--target", "y", "--size", "3", "--drop", "note", "--csv", "out.csv")
    usual_answer, usual = call(*asked)
    answer, said = call(*asked, "-v")
    assert usual == "written: out.csv\n"
    lines = said.splitlines()
    assert all(line.startswith("maskrank: ") for line in lines[:-1])
    assert lines[-1] == "written: out.csv"
    for part in (
        "read 200 rows and 11 features in ",
        "classes: ",
        "left out as asked: 'note'",
        "constant, so never chosen before others: 'same'",
        "stage propose: ",
        "stage explore: 16 batches, ",
        "stage search: 8 batches, ",
        "stage tournament: ",
        "stage predict: ",
        "settings: preset=default seed=0 ",
        " max_batches=24 ",
        " predictor.cycles=24 ",
        " tournament.enabled=True ",
    ):
        assert part in said
    told = [said.index(part) for part in ("stage explore", "stage search", "stage tournament", "settings:")]
    assert told == sorted(told)
    assert [line for line in answer.splitlines() if "time" not in line] == [
        line for line in usual_answer.splitlines() if "time" not in line
    ]


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (("compare", "--methods", "mrmr", "--size", "2"), ["method mrmr, size 2, fold 0: accuracy 0.", "fold 1: "]),
        (("sweep", "--sizes", "1"), ["method dualnet, size 1, fold 0: accuracy 0.", "fold 1: accuracy 0."]),
    ],
)
def test_compare_and_sweep_tell_of_each_fit(table: str, command: tuple[str, ...], lines: list[str]) -> None:
    asked = (*command, table, "--target", "y", "--folds", "2", "--csv", "fits.csv")
    _, said = call(*asked, "--verbose")
    for line in ("read 200 rows and 12 features", "constant, so never chosen before others", *lines):
        assert line in said
    assert call(*asked)[1] == "written: fits.csv\n"
    assert call(*asked, "--quiet")[1] == ""


def test_demo_tells_of_its_three_fits(tmp_path: Path) -> None:
    report = str(tmp_path / "demo.html")
    _, said = call("demo", "-v", "--report", report)
    assert said.count("stage predict: ") == said.count("settings: preset=default") == 3
    assert said.endswith(f"written: {report}\n")


def test_a_study_tells_of_each_fit(tmp_path: Path) -> None:
    asked = ("study", "synthetic", "--quick", "--methods", "lasso", "--out", str(tmp_path / "out"))
    _, said = call(*asked, "-v")
    assert "data regression, method lasso, size 5, seed 0, fold 0: mse " in said
    _, said = call(*asked, "--quiet", "--resume")
    assert said == ""


def test_quiet_and_verbose_exclude_each_other(table: str) -> None:
    for command in (("rank", table), ("compare", table), ("sweep", table), ("demo",), ("study", "synthetic")):
        shown, said = call(*command, "-q", "-v", code=2)
        assert shown == ""
        assert said == "maskrank: --quiet and --verbose exclude each other: give one of them\n"


def test_callbacks_that_only_take_beats_are_told_of_nothing_else() -> None:
    from maskrank import DualNetClassifier

    class Listener(Callback):
        def __init__(self) -> None:
            self.stages: list[str] = []
            self.facts: list[str] = []

        def __call__(self, progress: Progress) -> None:
            assert progress.phase == self.stages[-1]

        def on_stage(self, stage: str) -> None:
            self.stages.append(stage)

        def on_fact(self, fact: str) -> None:
            self.facts.append(fact)

    beats: list[Progress] = []
    listener = Listener()
    X, y, _ = make_xor(200, random_state=0)
    DualNetClassifier(3, random_state=0, callbacks=(beats.append, listener)).fit(X, y)
    assert tuple(listener.stages) == STAGES
    assert listener.facts
    assert {beat.phase for beat in beats} == {"explore", "search", "predict"}
