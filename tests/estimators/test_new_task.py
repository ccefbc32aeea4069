"""A task of another kind: a class in `core.method.tasks`, an estimator, and a test. Here all three are in the test."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from torch import Tensor

from maskrank import DualNetRegressor, load
from maskrank.core.method import tasks
from maskrank.core.metrics import Metric
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figures
from maskrank.estimators.fitting import Part
from maskrank.report import RankingSection, ranking_report
from maskrank.results import facts, ranking_json


@dataclass(frozen=True)
class MedianTask:
    """Numbers; the output is their median, and the loss the absolute error."""

    kind: ClassVar[str] = "median"
    metric: ClassVar[Metric] = Metric("mae", "mean absolute error", higher_is_better=False)
    discrete: ClassVar[bool] = False
    stratified: ClassVar[bool] = False
    probabilistic: ClassVar[bool] = False
    figure: ClassVar[str] = "d2"
    n_outputs: int = 1

    def loss(self, outputs: Tensor, y: Tensor) -> Tensor:
        return (outputs - y).abs().mean(dim=-1)

    def error(self, outputs: Tensor, y: Tensor) -> Tensor:
        return self.loss(outputs, y)

    def constant(self, y: Tensor, weights: Tensor | None = None) -> Tensor:
        return y.double().median(dim=0).values

    def as_numeric(self, y: Tensor) -> Tensor:
        return y

    def residuals(self, slope: Tensor, losses: Tensor) -> Tensor:
        return -slope

    def to_document(self) -> dict[str, Any]:
        return {"kind": self.kind, "n_outputs": self.n_outputs}


class MedianRegressor(DualNetRegressor):
    """The dual net for medians."""

    def _make_task(self) -> MedianTask:
        return MedianTask(self.n_outputs_)

    def _figures(self, judging: Part, outputs: np.ndarray) -> Figures:
        return DualNetBase._figures(self, judging, outputs)  # the task's own metric

    def _usual_metric(self, target: np.ndarray, weights: np.ndarray | None) -> str:
        return self.task_.metric.name


def test_a_new_task_fits_is_saved_and_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(tasks.TASKS, "median", MedianTask)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    y = 8 * X[:, 2] - 6 * X[:, 5] + rng.standard_t(2, 300)
    model = MedianRegressor(2, max_batches=400, random_state=0).fit(X, y)
    assert model.result_.selected == ("x2", "x5")
    assert model.signal_
    assert model.validation_score_ < model.baseline_score_

    model.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert (type(loaded), loaded.task_) == (MedianRegressor, MedianTask(1))
    assert np.array_equal(loaded.predict(X), model.predict(X))

    document = json.loads(ranking_json(model, seconds=1.0))
    assert (document["task"], document["metric"]) == ("median", "mae")
    assert "mean absolute error" in dict(facts(model, time="1 s"))
    page = ranking_report("Medians", [RankingSection("y", model, [], 1.0, X, y)], command="")
    assert "On 60 held-out rows" in page
    assert "A lower mean absolute error is better" in page
