"""Questions beyond one target: weights, groups of rows, order in time, survival, several targets; and bad ones."""

from __future__ import annotations

import inspect
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import DualNetClassifier
from maskrank.cli import app

pytestmark = pytest.mark.usefixtures("few_batches")

N = 120
MADE = inspect.signature(DualNetClassifier).parameters


def call(*arguments: object, code: int = 0) -> tuple[str, str]:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert done.exit_code == code, done.output
    return done.stdout, done.stderr


def visits() -> pd.DataFrame:
    """Made up: patients of several visits, with weights, days, times and events."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)).round(3)
    ill = X[:, 0] + 0.5 * rng.normal(size=N) > 0
    death = rng.exponential(np.exp(-X[:, 1]))
    end = rng.exponential(2.0, N)
    return pd.DataFrame(X, columns=["a", "b", "c", "d"]).assign(
        patient=[f"p{i // 4}" for i in range(N)],
        w=rng.integers(1, 4, N),
        day=pd.date_range("2020-01-13", periods=N).strftime("%d.%m.%Y"),
        months=np.minimum(death, end).round(4),
        died=(death <= end).astype(int),
        visits=rng.poisson(np.exp(X[:, 2].clip(-2, 2))),
        level=np.digitize(X[:, 3], [-0.5, 0.5]),
        outcome=np.where(ill, "ill", "well"),
        other=np.where(X[:, 1] > 0.1 * rng.normal(size=N), 1, 0),
        third=(X[:, 2] + rng.normal(size=N) > 0).astype(int),
    )


ROLES = ("patient", "w", "day", "months", "died", "visits", "level", "outcome", "other", "third")


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("visits") / "visits.csv"
    visits().to_csv(path, index=False)
    return path


def asked(table: Path, *options: object, used: tuple[str, ...] = ("outcome",)) -> list[object]:
    """A call of rank that leaves out columns with a role which is not asked for."""
    dropped = [word for name in ROLES if name not in used for word in ("--drop", name)]
    return ["rank", table, "--size", 2, "-q", *dropped, *options]


def facts(shown: str) -> str:
    return " ".join(shown.split())


def test_the_latest_rows_judge_and_the_order_is_no_feature(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.json"
    shown, _ = call(*asked(table, "--target", "outcome", "--time-order", "day", "--json", out, used=("outcome", "day")))
    assert "the latest 24 rows, those from day 2020-04-18" in facts(shown)
    document = json.loads(out.read_text())
    assert document["question"] == {"target": "outcome", "time_order": "day"}
    assert set(document["scores"]) == {"a", "b", "c", "d"}


def test_a_class_that_only_the_latest_rows_have(table: Path, tmp_path: Path) -> None:
    frame = visits()
    frame.loc[N - 2 :, "outcome"] = "new"
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = asked(tmp_path / "t.csv", "--target", "outcome", "--time-order", "day", used=("outcome", "day"))
    assert "class 'new' of the target only occurs in the latest 24 rows" in call(*words, code=2)[1]


def test_weights_and_groups_are_handed_on_and_said(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.json"
    words = ("--target", "outcome", "--weight", "w", "--fold-by", "patient", "--balanced", "--json", out)
    shown, _ = call(*asked(table, *words, used=("outcome", "w", "patient")))
    assert "weights column w" in facts(shown)
    assert "whole groups of rows, by column patient (30 values)" in facts(shown)
    document = json.loads(out.read_text())
    assert document["question"] == {"target": "outcome", "weight": "w", "fold_by": "patient"}
    assert set(document["scores"]) == {"a", "b", "c", "d"}


def test_integer_weights_answer_as_repeated_rows(tmp_path: Path) -> None:
    frame = visits()[["a", "b", "c", "d", "w", "outcome"]]
    frame.to_csv(tmp_path / "weighted.csv", index=False)
    repeated = frame.loc[frame.index.repeat(frame["w"])]
    repeated.to_csv(tmp_path / "repeated.csv", index=False)
    scores = []
    for name, option in (("weighted", "--weight"), ("repeated", "--drop")):
        words = ("rank", tmp_path / f"{name}.csv", "--target", "outcome", "--size", 2, "-q", option, "w")
        call(*words, "--json", tmp_path / "o.json")
        scores.append(json.loads((tmp_path / "o.json").read_text())["scores"])
    assert scores[0] == scores[1]


def test_survival_is_ranked_and_predict_gives_the_risk(table: Path, tmp_path: Path) -> None:
    words = ("--time", "months", "--event", "died", "--model", tmp_path / "m", "--report", tmp_path / "r.html")
    shown, _ = call(*asked(table, *words, used=("months", "died")))
    assert "target survival (months, died)" in facts(shown)
    predicted = pd.read_csv(io.StringIO(call("predict", tmp_path / "m", table, "-q")[0]))
    assert predicted.columns.tolist() == ["risk"]
    assert len(predicted) == N


@pytest.mark.parametrize(("task", "target"), [("counts", "visits"), ("ordered", "level")])
def test_counts_and_ordered_classes(table: Path, tmp_path: Path, task: str, target: str) -> None:
    words = ("--target", target, "--task", task, "--model", tmp_path / "m", "--report", tmp_path / "r.html")
    shown, _ = call(*asked(table, *words, used=(target,)))
    assert f"{task} (as asked)" in facts(shown)
    assert call("predict", tmp_path / "m", table, "-q")[0].startswith("prediction")


def test_several_numbers_at_once_are_named_in_the_predictions(table: Path, tmp_path: Path) -> None:
    words = ("--targets", "visits,months", "--model", tmp_path / "m")
    shown, _ = call(*asked(table, *words, used=("visits", "months")))
    assert "regression (2 targets of numbers)" in facts(shown)
    assert call("predict", tmp_path / "m", table, "-q")[0].splitlines()[0] == "visits,months"


def test_several_labels_at_once(table: Path, tmp_path: Path) -> None:
    words = ("--targets", "other,third", "--model", tmp_path / "m")
    shown, _ = call(*asked(table, *words, used=("other", "third")))
    assert "multilabel (2 targets of 0 and 1)" in facts(shown)
    predicted = pd.read_csv(io.StringIO(call("predict", tmp_path / "m", table, "-q")[0]))
    assert predicted.columns.tolist() == ["other", "third", "probability_other", "probability_third"]
    assert np.isin(predicted[["other", "third"]], (0, 1)).all()


def test_a_rare_class_is_learned_from_and_said_so_even_when_quiet(table: Path, tmp_path: Path) -> None:
    frame = visits()
    frame.loc[0, "outcome"] = "odd"
    frame.loc[1:2, "outcome"] = "strange"
    frame.to_csv(tmp_path / "t.csv", index=False)
    words = asked(tmp_path / "t.csv", "--target", "outcome", "--model", tmp_path / "m")
    (line,) = call(*words)[1].splitlines()
    assert "2 classes of the target 'outcome' with 1 or 2 rows: odd (1), strange (2); used for training" in line
    assert "probability_odd" in call("predict", tmp_path / "m", tmp_path / "t.csv", "-q")[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--targets", "visits"], "--targets visits: at least two columns are needed; one is --target"),
        (["--target", "died", "--targets", "visits,months"], "--target and --targets exclude each other"),
        (["--targets", "visits,outcome"], "--targets: column 'outcome' holds 'ill' in row 1 of the data"),
        (["--targets", "visits,w", "--task", "classification"], "column 'visits' holds other numbers than 0 and 1"),
        (["--time", "months"], "--time goes with --event"),
        (["--event", "died"], "--event goes with --time"),
        (["--time", "months", "--event", "died", "--target", "w"], "--target and --time exclude each other"),
        (["--time", "months", "--event", "w"], "--event: column 'w' holds"),
        (["--time", "a", "--event", "died"], "times are numbers from 0 on"),
        (["--time", "months", "--event", "zero"], "--event: column 'zero' is 0 in every row: no event"),
        (["--target", "outcome", "--task", "survival"], "--task survival needs --time and --event"),
        (["--target", "outcome", "--task", "counts"], "the target 'outcome' holds text"),
        (["--target", "a", "--task", "counts"], "in row 1 of the data: counts are whole numbers from 0 on"),
        (["--target", "outcome", "--weight", "a"], "in row 2 of the data: weights are numbers from 0 on"),
        (["--target", "outcome", "--weight", "patient"], "--weight: column 'patient' holds 'p0' in row 1"),
        (["--target", "outcome", "--weight", "gap"], "--weight: column 'gap' has no value in row 3 of the data"),
        (["--target", "outcome", "--weight", "zero"], "--weight: column 'zero' is 0 in every row"),
        (["--target", "outcome", "--weight", "only_ill"], "'only_ill' is 0 in every row of class 'well'"),
        (["--target", "outcome", "--weight", "outcome"], "column 'outcome' can't be both --target and --weight"),
        (["--target", "outcome", "--fold-by", "zero"], "--fold-by: column 'zero' has the same value in every row"),
        (["--target", "outcome", "--fold-by", "day"], "--fold-by: column 'day' has another value in every row"),
        (["--target", "outcome", "--fold-by", "gap"], "--fold-by: column 'gap' has no value in row 3"),
        (["--target", "outcome", "--time-order", "patient"], "--time-order: column 'patient' holds text"),
        (["--target", "outcome", "--time-order", "zero"], "--time-order: column 'zero' has the same value"),
        (["--target", "outcome", "--time-order", "day", "--fold-by", "patient"], "exclude each other"),
        (["--target", "months", "--balanced"], "--balanced is for classes, and the task is regression"),
        (["--target", "outcome", "--metric", "f1"], "--metric f1: use auto, accuracy"),
        (["--target", "months", "--metric", "roc_auc"], "--metric roc_auc does not fit regression; use auto, r2"),
        (["--target", "outcome", "--require", "w", "--weight", "w"], "column 'w' is the column of --weight"),
    ],
)
def test_bad_questions_end_with_one_line_and_code_2(tmp_path: Path, options: list[str], message: str) -> None:
    frame = visits().assign(zero=0, gap=[1.0, 2.0, None] + [1.0] * (N - 3))
    frame["only_ill"] = (frame["outcome"] == "ill").astype(int)
    frame.loc[:2, "a"] = [0.5, -0.25, 1.0]
    frame.to_csv(tmp_path / "t.csv", index=False)
    shown, said = call("rank", tmp_path / "t.csv", "--size", 2, *options, code=2)
    assert shown == ""
    assert message in said
    errors = [line for line in said.splitlines() if not line.startswith("maskrank: warning: ")]
    assert len(errors) == 1


def test_strict_makes_a_leak_an_error(table: Path, tmp_path: Path) -> None:
    visits().assign(copy=lambda frame: frame["outcome"].str.upper()).to_csv(tmp_path / "t.csv", index=False)
    words = asked(tmp_path / "t.csv", "--target", "outcome")
    _, said = call(*[word for word in words if word != "-q"])
    assert "column 'copy' alone predicts the target 'outcome' almost perfectly (right in 100.0 % of the rows)" in said
    shown, said = call(*words, "--strict", code=2)
    assert shown == ""
    assert said.count("\n") == 1
    assert "--drop copy" in said
    call(*words, "--strict", "--drop", "copy")


def test_the_order_of_day_and_month_is_kept_in_the_model(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    days = pd.date_range("2021-01-01", periods=N)[rng.permutation(N)]
    early = np.where(days < days.sort_values()[N // 2], "early", "late")
    frame = pd.DataFrame({"day": days.strftime("%m/%d/%Y"), "x": rng.normal(size=N).round(3), "y": early})
    european = frame.assign(day=days.strftime("%d/%m/%Y"))
    some = days.day <= 12  # nothing tells which number is the day
    for name, table in (("american", frame), ("european", european)):
        table.to_csv(tmp_path / "t.csv", index=False)
        table[some].to_csv(tmp_path / "some.csv", index=False)
        call("rank", tmp_path / "t.csv", "--target", "y", "--size", 1, "-q", "--model", tmp_path / name)
        every = pd.read_csv(io.StringIO(call("predict", tmp_path / name, tmp_path / "t.csv")[0]))
        shown, said = call("predict", tmp_path / name, tmp_path / "some.csv")
        assert np.allclose(pd.read_csv(io.StringIO(shown))["probability_late"], every["probability_late"][some])
        assert said == ""
