from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import DualNetClassifier, DualNetRegressor, load
from maskrank.cli import app

runner = CliRunner()
rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.standard_normal((60, 4)), columns=["age", "=weight", "height", "note"])
quick = {"max_batches": 16, "random_state": 0}


def run(*arguments: object, code: int = 0, stdin: str | None = None) -> str:
    result = runner.invoke(app, ["explain", *map(str, arguments)], input=stdin)
    assert result.exit_code == code, result.output
    if code == 2:
        assert result.stdout == ""
        assert len(result.stderr.strip().splitlines()) == 1
    return result.stderr if code else result.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table and models of each kind."""
    path = tmp_path_factory.mktemp("explained")
    FRAME.to_csv(path / "table.csv", index=False)
    age = FRAME["age"].to_numpy()
    targets = {"number": 10 * age, "two": age > 0, "three": np.digitize(age, [-0.5, 0.5])}
    for name, y in targets.items():
        kind = DualNetRegressor if name == "number" else DualNetClassifier
        kind(2, **quick).fit(FRAME, y).save(path / name)
    DualNetClassifier(2, preset="paper", max_batches=8, random_state=0).fit(FRAME, age > 0).save(path / "paper")
    return path


def test_numbers_have_one_line_a_row(folder: Path, tmp_path: Path) -> None:
    model = load(folder / "number")
    shown = pd.read_csv(io.StringIO(run(folder / "number", folder / "table.csv")))
    names = [name.replace("=", "'=") for name in model.get_feature_names_out()]  # no cell starts a formula
    assert list(shown.columns) == ["prediction", "base_value", *names]
    np.testing.assert_allclose(shown["prediction"], model.predict(FRAME))
    np.testing.assert_allclose(shown.iloc[:, 1:].sum(axis=1), shown["prediction"], atol=1e-6)
    np.testing.assert_allclose(shown.iloc[:, 2:], model.explain(FRAME).values)

    shuffled = FRAME[FRAME.columns[::-1]].assign(more="text").to_csv(index=False)
    answer = run(folder / "number", "-", "--out", tmp_path / "out.csv", stdin=shuffled)
    assert " moves the prediction most: by " in answer or " are tied over 60 rows" in answer
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "out.csv"), shown)
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


@pytest.mark.parametrize(("name", "outputs"), [("two", [True]), ("three", [0, 1, 2])])
def test_classes_have_one_line_a_row_and_output(folder: Path, name: str, outputs: list[object]) -> None:
    shown = pd.read_csv(io.StringIO(run(folder / name, folder / "table.csv")))
    assert list(shown.columns[:4]) == ["row", "output", "prediction", "base_value"]
    assert shown["output"].tolist() == outputs * 60
    said = load(folder / name).predict_proba(FRAME)[:, -len(outputs) :]
    np.testing.assert_allclose(shown["prediction"].to_numpy().reshape(60, -1), said, atol=1e-9)


def test_a_report_shows_all_rows_and_some_of_them(folder: Path, tmp_path: Path) -> None:
    shown = run(folder / "three", folder / "table.csv", "--report", tmp_path / "page.html")
    assert len(shown.splitlines()) == 1 + 3 * 60
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    for text in ("The probability of 2", "Row 0: the first row", "60 rows by 2 chosen features", "<svg"):
        assert text in page


def test_bad_input_is_one_line_and_code_2(folder: Path, tmp_path: Path) -> None:
    table = folder / "table.csv"
    assert "explain is not offered for this model" in run(folder / "paper", table, code=2)
    assert "is not a maskrank model" in run(table, table, code=2)
    assert "there is no folder" in run(folder / "two", table, "--report", tmp_path / "absent" / "page.html", code=2)
    assert "is given twice" in run(folder / "two", table, "--out", folder / "two", code=2)
    assert "is given twice" in run(folder / "two", table, "--out", tmp_path / "x", "--report", tmp_path / "x", code=2)
    chosen = load(folder / "two").get_feature_names_out()[0]
    FRAME.drop(columns=chosen).to_csv(tmp_path / "less.csv", index=False)
    said = run(folder / "two", tmp_path / "less.csv", "--out", tmp_path / "out.csv", code=2)
    assert f"needs column '{chosen}', which the table lacks" in said
    assert not (tmp_path / "out.csv").exists()
