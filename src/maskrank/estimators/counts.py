"""`DualNetCounts`: the dual net for counts, and other numbers that are never below 0."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import d2_tweedie_score

from maskrank.core.method.count_tasks import CountTask
from maskrank.core.metrics import COUNT_METRICS, Metric
from maskrank.estimators.answers import CountAnswers
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figures, count_figures
from maskrank.estimators.fitting import Part
from maskrank.estimators.parameters import documented
from maskrank.estimators.scaling import Array, Scaling


@documented
class DualNetCounts(RegressorMixin, DualNetBase):
    """Rank features by their importance to a deep net for counts, and select the best s.

    The net's output is the logarithm of the expected count, and its loss half the Poisson deviance. The target is 0 or
    more, not necessarily whole. ``predict`` gives the expected count, ``score`` is D², the share of the deviance that
    is explained. For counts y over unequal exposures, fit the rates ``y / exposure`` with ``sample_weight=exposure``,
    which is the same likelihood.

    {parameters}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank import DualNetCounts
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 8))
    >>> y = rng.poisson(np.exp(0.8 * X[:, 2] - 0.6 * X[:, 5]))
    >>> model = DualNetCounts(2, max_batches=200, random_state=0).fit(X, y)
    >>> model.get_support(indices=True)
    array([2, 5])
    """

    _target_checks: ClassVar[dict[str, Any]] = {"y_numeric": True}
    _metrics: ClassVar[tuple[Metric, ...]] = COUNT_METRICS

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D²: the share of the Poisson deviance of the mean count that predictions explain; at most 1.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        y : array (n,)
        sample_weight : array (n,), optional
        """
        return float(d2_tweedie_score(y, self.predict(X), sample_weight=sample_weight, power=1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        return tags

    def _make_task(self) -> CountTask:
        return CountTask()

    def _learn_target(self, y: Array) -> Array:
        target = self._encode_target(y)
        if not target.any():
            raise ValueError("y holds zeros only: there is nothing to predict")
        if (target == target[0]).all():
            raise ValueError("y is constant: there is nothing to predict")
        return target

    def _encode_target(self, y: Array) -> Array:
        target = y.astype(np.float64)
        if (target < 0).any():
            raise ValueError(f"y holds the value {target.min():g}: counts are 0 or more")
        return target

    def _answers(self) -> CountAnswers:
        return CountAnswers(self._y_scaling)

    def _output_names(self) -> list[Any]:
        return [0]

    def _figures(self, judging: Part, outputs: Array) -> Figures:
        return count_figures(judging.target, self._answers().predicted(outputs), judging.weights, judging.groups)

    def _target_document(self) -> dict[str, Any]:
        return {"y_scale": self._y_scaling.scale.tolist()}

    def _restore_target(self, document: dict[str, Any]) -> None:
        scale = np.array(document["y_scale"])
        self._y_scaling = Scaling(np.zeros_like(scale), scale)
