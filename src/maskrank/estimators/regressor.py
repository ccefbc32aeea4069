"""`DualNetRegressor`: the dual net for one or several numbers."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import MultiOutputMixin, RegressorMixin

from maskrank.core.method.tasks import RegressionTask, Task
from maskrank.core.metrics import NUMBER_METRICS, R_SQUARED, Metric
from maskrank.estimators.answers import NumberAnswers
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figures, number_figures
from maskrank.estimators.fitting import Part
from maskrank.estimators.parameters import documented
from maskrank.estimators.scaling import Array, Columns, Scaling, as_columns


@documented
class DualNetRegressor(RegressorMixin, MultiOutputMixin, DualNetBase):
    """Rank features by their importance to a deep net for regression, and select the best s.

    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from maskrank import DualNetRegressor
    >>> from maskrank.datasets import make_nonlinear_regression
    >>> X, y, relevant = make_nonlinear_regression(512, random_state=0)
    >>> model = DualNetRegressor(n_features_to_select=4, random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([0, 1, 2, 3])
    """

    _target_checks: ClassVar[dict[str, Any]] = {"y_numeric": True, "multi_output": True}
    _metrics: ClassVar[tuple[Metric, ...]] = NUMBER_METRICS

    def _make_task(self) -> Task:
        return RegressionTask(self.n_outputs_)

    def _learn_target(self, y: Array) -> Array:
        constant = ~Columns.learn(as_columns(y).astype(np.float64)).varies
        if constant.any():
            which = "" if y.ndim == 1 else f" in column {constant.argmax()}"
            raise ValueError(f"y is constant{which}: there is nothing to predict")
        self._single_output = y.ndim == 1
        self.n_outputs_ = as_columns(y).shape[1]
        return y.astype(np.float64)

    def _encode_target(self, y: Array) -> Array:
        if as_columns(y).shape[1] != self.n_outputs_:
            raise ValueError(f"y_val has {as_columns(y).shape[1]} outputs, y has {self.n_outputs_}")
        values = as_columns(y).astype(np.float64)
        return values[:, 0] if self._single_output else values

    def _answers(self) -> NumberAnswers:
        return NumberAnswers(self._y_scaling, self._single_output)

    def _output_names(self) -> list[Any]:
        return list(range(self.n_outputs_))

    def _figures(self, judging: Part, outputs: Array) -> Figures:
        return number_figures(judging.target, self._answers().predicted(outputs), judging.weights, judging.groups)

    def _usual_metric(self, target: Array, weights: Array | None) -> str:
        return R_SQUARED.name

    def _target_document(self) -> dict[str, Any]:
        return {
            "single_output": self._single_output,
            "y_mean": self._y_scaling.mean.tolist(),
            "y_scale": self._y_scaling.scale.tolist(),
        }

    def _restore_target(self, document: dict[str, Any]) -> None:
        self.n_outputs_, self._single_output = self.task_.n_outputs, document["single_output"]
        self._y_scaling = Scaling(np.array(document["y_mean"]), np.array(document["y_scale"]))
