"""Models as ONNX: onnxruntime predicts what the model does, from columns in their own units."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from maskrank import DualNetClassifier, DualNetCounts, DualNetRegressor, DualNetSurvival
from maskrank.cli import app
from maskrank.core.config import DEFAULT
from tests.estimators.nets import TwoLayers

onnx = pytest.importorskip("onnx", reason="onnx is not installed (extra onnx)")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (extra dev)")

RNG = np.random.default_rng(0)
QUICK: Any = {"max_batches": 16, "random_state": 0}
N = 160
PLAIN = pd.DataFrame(RNG.standard_normal((N, 4)), columns=list("abcd"))
GAPS = PLAIN.assign(a=PLAIN["a"].where(PLAIN["b"] < 1))
HEAVY = pd.DataFrame({"price": np.exp(3 * PLAIN["a"]), "b": PLAIN["b"], "loss": -np.exp(2 * PLAIN["c"])})
SIGNAL = (PLAIN["a"] - PLAIN["c"]).to_numpy()


def mixed() -> pd.DataFrame:
    """Numbers with gaps, dates, text of few and of many levels, truth values, grades, whole-number codes."""
    hours = pd.to_timedelta(np.round(400 * RNG.random(N)), unit="h")
    table = pd.DataFrame({"size": GAPS["a"], "when": pd.to_datetime("2024-03-01 12:00") + hours})
    table["colour"] = pd.Series(np.where(PLAIN["c"] > 0, "red", "blue"), dtype=object)
    table.loc[::9, "colour"] = None
    table["town"] = np.array([f"town {k}" for k in range(12)])[(4 * PLAIN["d"]).round().astype(int) % 12]
    table["member"] = PLAIN["d"] > 0
    table["grade"] = pd.Categorical.from_codes(RNG.integers(0, 3, N), ["low", "mid", "high"], ordered=True)
    return table.assign(code=np.where(PLAIN["b"] > 0, 7, 30))


MIXED = mixed()
MEANS = DEFAULT.using(encoding__max_levels=4)  # towns by their mean targets
GROUPS = {"money": ["price", "loss"]}
TEXT = np.array(["low", "mid", "high"])[np.digitize(SIGNAL, [-1, 1])]
TIMES = np.column_stack([RNG.exponential(np.exp(-SIGNAL)), np.ones(N)])
MODELS: dict[str, tuple[Any, pd.DataFrame, Any]] = {
    "binary with gaps": (DualNetClassifier(3, **QUICK), GAPS, SIGNAL > 0),
    "multi-class": (DualNetClassifier(2, **QUICK), PLAIN, TEXT),
    "nets of the paper": (DualNetClassifier(2, preset="paper", **QUICK), PLAIN, np.digitize(SIGNAL, [-1, 1]) - 5),
    "ordered": (DualNetClassifier(2, ordered=True, **QUICK), PLAIN, np.digitize(SIGNAL, [-2, 0, 2])),
    "labels": (DualNetClassifier(2, **QUICK), PLAIN, np.column_stack([SIGNAL > 0, PLAIN["b"] > 0])),
    "regression": (DualNetRegressor(3, **QUICK), PLAIN, 1e4 + 500 * SIGNAL),
    "several numbers": (DualNetRegressor(2, **QUICK), PLAIN, np.column_stack([SIGNAL, PLAIN["a"]])),
    "heavy tails in a group": (DualNetRegressor(1, groups=GROUPS, **QUICK), HEAVY, SIGNAL),
    "mixed columns": (DualNetClassifier("all", categorical_features=["code"], preset=MEANS, **QUICK), MIXED, TEXT),
    "counts": (DualNetCounts(2, **QUICK), PLAIN, RNG.poisson(np.exp(SIGNAL))),
    "survival": (DualNetSurvival(2, **QUICK), PLAIN, TIMES),
}


def given(session: Any, table: pd.DataFrame, columns: list[str]) -> dict[str, np.ndarray[Any, Any]]:
    """The inputs as a user of onnxruntime makes them of a table."""
    inputs = session.get_inputs()
    if [one.name for one in inputs] == ["X"]:
        return {"X": table[columns].to_numpy(dtype=np.float64)}
    assert [one.name for one in inputs] == columns
    found = {}
    for one in inputs:
        column = table[one.name]
        if one.type == "tensor(string)":
            values = column.astype(object).where(column.notna(), "").to_numpy()
        elif column.dtype.kind == "M":
            values = (column - pd.Timestamp(0)).dt.total_seconds().to_numpy()
        else:
            values = column.to_numpy(dtype=np.float64)
        found[one.name] = values[:, None]
    return found


def unusual(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with gaps, unknown levels, and numbers far outside."""
    rows = table.iloc[:8].copy()
    for k, name in enumerate(rows.columns):
        if rows[name].dtype.kind == "f":
            rows[name] *= 10.0 ** np.arange(-3, 5)
            rows.loc[rows.index[k % 8], name] = np.nan
        elif rows[name].dtype == object or isinstance(rows[name].dtype, pd.StringDtype):
            rows.loc[rows.index[k % 8 : k % 8 + 2], name] = ["never seen", None]
    return rows.assign(when=pd.NaT) if "when" in rows else rows


@pytest.mark.parametrize("kind", MODELS)
def test_onnxruntime_predicts_what_the_model_does(kind: str, tmp_path: Path) -> None:
    estimator, table, y = MODELS[kind]
    model = estimator.fit(table, y)
    model.to_onnx(tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    columns = list(model.get_feature_names_out())
    for rows in (table, unusual(table), table.iloc[:1]):
        values = session.run(None, given(session, rows, columns))
        answers = dict(zip([one.name for one in session.get_outputs()], values, strict=True))
        expected = model.predict(rows)
        if isinstance(model, DualNetClassifier):
            assert set(answers) == {"label", "probabilities"}
            assert np.array_equal(answers["label"], expected)
            assert np.abs(answers["probabilities"] - model.predict_proba(rows)).max() <= 1e-5
        else:
            (name,) = answers
            assert name == ("risk" if isinstance(model, DualNetSurvival) else "value")
            assert answers[name].shape == expected.shape
            assert np.allclose(answers[name], expected, rtol=1e-5, atol=1e-5 * y.std())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    model = DualNetClassifier(2, **QUICK).fit(
        MIXED[["size", "colour", "grade"]].rename(columns={"size": "label"}), TEXT
    )
    model.save(folder / "model.maskrank")
    model.to_onnx(folder / "model.onnx")
    return folder


def test_the_command_line_writes_the_same_file_without_torch(saved: Path, tmp_path: Path) -> None:
    program = (
        "import sys\nfrom maskrank.cli import app\n"
        f"sys.argv = ['maskrank', 'export', {str(saved / 'model.maskrank')!r}, '--out', {str(tmp_path / 'm.onnx')!r}]\n"
        "try:\n app()\nexcept SystemExit as end:\n assert not end.code\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"torch", "sklearn"} & set(done.stdout.split())
    assert done.stderr == f"written: {tmp_path / 'm.onnx'}\n"
    assert (tmp_path / "m.onnx").read_bytes() == (saved / "model.onnx").read_bytes()


def test_a_file_says_what_it_is_made_of(saved: Path) -> None:
    model = onnx.load(saved / "model.onnx")
    facts = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
    assert model.producer_name == "maskrank"
    assert set(facts["columns"]) == {one.name for one in model.graph.input} < {"label", "colour", "grade"}
    names = [one.name for one in (*model.graph.input, *model.graph.output)]
    assert len(names) == len(set(names))  # a column called as an output is


def test_what_can_t_be_written_is_said(saved: Path, tmp_path: Path) -> None:
    X, y, path = PLAIN.to_numpy(), SIGNAL > 0, tmp_path / "m.onnx"
    with pytest.raises(ValueError, match="net of its own kind, TwoLayers: only MLPs are written as ONNX"):
        DualNetClassifier(2, operator=TwoLayers, **QUICK).fit(X, y).to_onnx(path)
    both = pd.DataFrame({"a": [1, "b"] * (N // 2), "b": PLAIN["b"]})
    with pytest.raises(ValueError, match="column 'a' has levels of text beside numbers"):
        DualNetClassifier("all", categorical_features=["a"], **QUICK).fit(both, y).to_onnx(path)
    assert not list(tmp_path.iterdir())
    done = CliRunner().invoke(app, ["export", str(saved / "model.maskrank"), "--out", "-"])
    assert done.exit_code == 2
    assert done.stderr == "maskrank: --out -: a model needs a file of its own\n"
