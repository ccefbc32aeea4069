"""What predicts, apart from the model: the same answers, from a small file, without torch and scikit-learn."""

from __future__ import annotations

import csv
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from maskrank import DualNetClassifier, DualNetCounts, DualNetRegressor, DualNetSurvival, load
from maskrank.core import limits
from maskrank.estimators.deployment import read_deployed
from maskrank.predictions import predictions_csv

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((90, 4)), columns=list("abcd"))
SIGNAL = X["a"] - X["c"]
MIXED = X.assign(c=np.where(X["c"] > 0, "high", "low"))
TASKS: dict[str, tuple[Any, pd.DataFrame, Any]] = {
    "classes": (DualNetClassifier, X, np.where(SIGNAL > 0, "yes", "no")),
    "categories": (DualNetClassifier, MIXED, np.digitize(SIGNAL, [-1, 1])),
    "numbers": (DualNetRegressor, X, SIGNAL.to_numpy()),
    "several numbers": (DualNetRegressor, X, np.column_stack([SIGNAL, X["a"]])),
    "counts": (DualNetCounts, X, RNG.poisson(np.exp(SIGNAL))),
    "survival": (DualNetSurvival, X, np.column_stack([RNG.exponential(np.exp(-SIGNAL)), np.ones(90)])),
}


@pytest.fixture(scope="module", params=TASKS)
def model(request: pytest.FixtureRequest) -> Any:
    estimator, table, y = TASKS[request.param]
    return estimator(2, max_batches=16, random_state=0).fit(table, y), table


def test_the_command_line_predicts_what_the_model_does(model: Any, tmp_path: Path) -> None:
    fitted, table = model
    fitted.save(tmp_path / "m")
    deployed = read_deployed(tmp_path / "m")
    assert list(deployed.columns) == list(fitted.get_feature_names_out())
    expected = fitted.predict(table)
    assert np.array_equal(load(tmp_path / "m").predict(table), expected)
    lines = predictions_csv(deployed, table[list(deployed.columns)])
    rows = list(csv.reader(io.StringIO(lines)))[1:]
    n_targets = 1 if expected.ndim == 1 else expected.shape[1]
    found = np.array([row[:n_targets] for row in rows]).reshape(expected.shape)
    assert np.array_equal(found.astype(expected.dtype), expected)


def test_rows_are_predicted_the_same_in_parts_and_in_threads(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted, table = model
    expected = fitted.predict(table)
    for rows in ([5], [80, 3, 44], slice(10, 40)):
        assert np.array_equal(fitted.predict(table.iloc[rows]), expected[rows])
    monkeypatch.setattr(limits, "DEPLOYED_ROWS", 7)
    monkeypatch.setattr(limits, "DEPLOYED_BLOCK", 3)
    assert np.array_equal(fitted.predict(table), expected)


@pytest.mark.parametrize("n_rows", [80, 400])
def test_a_model_of_ten_features_is_a_small_file(n_rows: int, tmp_path: Path) -> None:
    rows = RNG.standard_normal((n_rows, 12))
    y = np.digitize(rows[:, 0] + np.sin(3 * rows[:, 1]), [-1, 0, 1])
    DualNetClassifier(10, max_batches=16, random_state=0).fit(rows, y).save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size <= 300_000


def test_prediction_needs_neither_torch_nor_scikit_learn(tmp_path: Path) -> None:
    DualNetClassifier(2, max_batches=16, random_state=0).fit(MIXED, SIGNAL > 0).save(tmp_path / "m")
    MIXED.head(3).to_csv(tmp_path / "t.csv", index=False)
    program = (
        "import sys\nfrom maskrank.cli import app\n"
        f"sys.argv = ['maskrank', 'predict', {str(tmp_path / 'm')!r}, {str(tmp_path / 't.csv')!r}]\n"
        "try:\n app()\nexcept SystemExit as end:\n assert not end.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert len(done.stdout.splitlines()) == 4
    assert not {"torch", "sklearn", "scipy", "matplotlib"} & set(done.stderr.split())


def test_a_damaged_model_is_said_to_be_so(tmp_path: Path) -> None:
    DualNetRegressor(2, max_batches=8, random_state=0).fit(X, SIGNAL).save(tmp_path / "m")
    content = (tmp_path / "m").read_bytes()
    (tmp_path / "m").write_bytes(content.replace(b'\\"kind\\": \\"mlp\\"', b'\\"kind\\": \\"mlq\\"'))
    with pytest.raises(ValueError, match="is damaged: it was altered after it was written"):
        read_deployed(tmp_path / "m")
    with pytest.raises(FileNotFoundError, match="there is no model file"):
        read_deployed(tmp_path / "nothing")
