"""`DualNetSurvival`: the dual net for survival times under right censoring."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from maskrank.core.method.count_tasks import SurvivalTask
from maskrank.core.metrics import CONCORDANCE, SURVIVAL_METRICS, Metric
from maskrank.estimators.answers import RiskAnswers
from maskrank.estimators.base import DualNetBase
from maskrank.estimators.figures import Figures, jackknifed_figure
from maskrank.estimators.fitting import Part, Trained
from maskrank.estimators.hazards import CumulativeHazard, RiskGroup, concordance_index, risk_groups
from maskrank.estimators.parameters import documented
from maskrank.estimators.row_weights import check_weights
from maskrank.estimators.scaling import Array
from maskrank.estimators.survival_target import read_survival


@documented
class DualNetSurvival(DualNetBase):
    """Rank features by their importance to a deep net for survival times, and select the best s.

    The net's output is the logarithm of a row's hazard relative to the baseline, as in Cox's model, but it may depend
    on the features in any way. The loss is the full likelihood in its Poisson form, with the cumulative hazard of
    Nelson and Aalen as the baseline (LeBlanc and Crowley 1992). Tests of features and eliminations use deviance
    residuals (Therneau et al. 1990).

    ``y`` holds times and events, in one of these forms:

    - a structured array as of scikit-survival, with a field of truth values, the events, and one of times;
    - a frame of two columns, called "time" and "event" in any order;
    - an array (n, 2) or a tuple: times, then events.

    An event is 1 (True) where it was seen, and 0 (False) where the row was censored at its time.

    {parameters}

    Attributes
    ----------
    baseline_hazard_ : CumulativeHazard
        The estimator of Breslow (1974) for the predicted risks; ``times`` and ``values`` of its steps.
    risk_groups_ : list of RiskGroup
        The held-out rows in thirds by predicted risk, with their survival curves; not kept in model files.{attributes}

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank import DualNetSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 8))
    >>> death, end = rng.exponential(np.exp(X[:, 2] - X[:, 5])), rng.exponential(2, 300)
    >>> model = DualNetSurvival(2, max_batches=200, random_state=0).fit(X, (np.minimum(death, end), death <= end))
    >>> model.get_support(indices=True)
    array([2, 5])
    """

    _target_checks: ClassVar[dict[str, Any]] = {"multi_output": True}
    _metrics: ClassVar[tuple[Metric, ...]] = SURVIVAL_METRICS

    baseline_hazard_: CumulativeHazard
    risk_groups_: list[RiskGroup]

    def predict_cumulative_hazard(self, X: Any, times: Any) -> Array:
        """The cumulative hazard of each row at some times: (n, times).

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        times : array (times,)
            After the last event of the training rows, the cumulative hazard is constant.
        """
        return np.outer(np.exp(self.predict(X)), self.baseline_hazard_.at(np.asarray(times, dtype=np.float64)))

    def predict_survival(self, X: Any, times: Any) -> Array:
        """The probability of no event up to some times: (n, times).

        Parameters
        ----------
        X, times : as in ``predict_cumulative_hazard``
        """
        return np.exp(-self.predict_cumulative_hazard(X, times))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The concordance index (Harrell et al. 1982) of the predicted risks.

        Parameters
        ----------
        X : array, frame or sparse matrix (n, d)
        y : times and events, as in ``fit``
        sample_weight : array (n,), optional
            A pair of rows has the product of its weights.
        """
        event, time = read_survival(y).T
        return concordance_index(event, time, self.predict(X), check_weights(sample_weight, len(time)))

    def _make_task(self) -> SurvivalTask:
        return SurvivalTask()

    def _read_target(self, y: Any, *, reset: bool) -> Any:
        return None if y is None else read_survival(y)

    def _learn_target(self, y: Array) -> Array:
        if not y[:, 0].any():
            raise ValueError("y holds no event: every row is censored, and there is nothing to learn from")
        return y

    def _encode_target(self, y: Array) -> Array:
        return y

    def _check_split(self, target: Array) -> None:
        if target[:, 0].sum() < 2:
            raise ValueError("y holds one event: at least 2 are needed, one to learn from and one to validate on")

    def _check_parts(self, training: Array, validation: Array) -> None:
        for part, rows, purpose in ((training, "training", "learn from"), (validation, "validation", "judge by")):
            if not part[:, 0].any():
                raise ValueError(f"the {rows} rows hold no event: at least one is needed, to {purpose}")

    def _answers(self) -> RiskAnswers:
        return RiskAnswers()

    def _output_names(self) -> list[Any]:
        return ["risk"]

    def _figures(self, judging: Part, outputs: Array) -> Figures:
        (event, time), risk, weights = judging.target.T, self._answers().predicted(outputs), judging.weights

        def concordance(rows: Array) -> float:
            return concordance_index(event[rows], time[rows], risk[rows], None if weights is None else weights[rows])

        return {CONCORDANCE.name: jackknifed_figure(CONCORDANCE, concordance, len(time), judging.groups)}

    def _judge(self, trained: Trained, training: Part, validation: Part) -> None:
        super()._judge(trained, training, validation)
        judging, outputs = self._judging_rows(trained, validation)
        event, time = judging.target.T
        self.risk_groups_ = risk_groups(event, time, self._answers().predicted(outputs), judging.weights)
        parts = [training, validation] if validation.source is training.source else [training]
        places = np.flatnonzero(self.support_)
        decode = self._answers().predicted
        risks = [self._predicted(part.source.select(part.rows, places), decode) for part in parts]
        self.baseline_hazard_ = CumulativeHazard.learn(
            *np.concatenate([part.target for part in parts]).T,
            risk=np.exp(np.concatenate(risks)),
            weights=None if training.weights is None else np.concatenate([part.weights for part in parts]),
        )

    def _target_document(self) -> dict[str, Any]:
        return {}

    def _target_arrays(self) -> dict[str, Array]:
        return {"times": self.baseline_hazard_.times, "hazard": self.baseline_hazard_.values}

    def _restore_target(self, document: dict[str, Any]) -> None:
        self.baseline_hazard_, self.risk_groups_ = CumulativeHazard(document["times"], document["hazard"]), []
        self._y_scaling = None
