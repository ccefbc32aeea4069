"""What held-out rows say of a fit: its figures, which of them is shown first, and whether there is signal."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import torch
from sklearn.base import BaseEstimator

from maskrank.core.metrics import Metric
from maskrank.estimators.attributes import Attributes
from maskrank.estimators.figures import Figures, mean_figure, with_baseline
from maskrank.estimators.fitting import Part, Trained, target_tensor

if TYPE_CHECKING:
    from maskrank.estimators.scaling import Array


class JudgingMixin(Attributes, BaseEstimator):
    """``figures_``, ``metric_`` and ``signal_``. An estimator may have figures of its own, the task's metric if not."""

    _metrics: ClassVar[tuple[Metric, ...]] = ()  # what ``metric`` may name

    def _figures(self, judging: Part, outputs: Array) -> Figures:
        """The figures of outputs for some rows, in the units of y; here the task's own metric.

        Parameters
        ----------
        judging : Part
            With targets as encoded, and weights and groups of the rows, if any.
        outputs : ndarray (n, outputs)
            Of the predictor.
        """
        target = target_tensor(judging.target, self._y_scaling)
        errors = self.task_.error(torch.from_numpy(outputs).unsqueeze(0), target)[0].numpy()
        metric = self.task_.metric
        values = 1 - errors if metric.higher_is_better else errors
        return {metric.name: mean_figure(metric, values, judging.weights, judging.groups)}

    def _usual_metric(self, target: Array, weights: Array | None) -> str:
        """The name of the figure that suits training targets like these, where the user asks for none."""
        return self.task_.metric.name

    def _check_metric(self) -> None:
        known = ["auto", *(metric.name for metric in self._metrics_of_target())]
        if self.metric not in known:
            raise ValueError(f"metric={self.metric!r} must be one of {', '.join(known)}")

    def _metrics_of_target(self) -> tuple[Metric, ...]:
        """What ``metric`` may name for the target that was learned."""
        return self._metrics

    @classmethod
    def metric_names(cls) -> list[str]:
        """What ``metric`` may be."""
        return ["auto", *(metric.name for metric in cls._metrics)]

    def _judge(self, trained: Trained, training: Part, validation: Part) -> None:
        """Keep the figures on the validation rows, where possible on those that chose nothing, and the signal."""
        self.signal_pvalue_ = math.nan if trained.signal_pvalue is None else trained.signal_pvalue
        self.signal_ = self.signal_pvalue_ <= self.config_.signal.level
        self._unseen = bool(trained.unseen.any())
        judging, outputs = self._judging_rows(trained, validation)
        self.figures_, self.n_validation_ = self._beside_constant(judging, outputs, training), len(outputs)
        wanted = self._usual_metric(training.target, training.weights) if self.metric == "auto" else self.metric
        headline = self.figures_.get(wanted, next(iter(self.figures_.values())))  # a class may be missing in few rows
        self.metric_ = headline.metric
        self.validation_score_, self.baseline_score_ = headline.value, headline.baseline

    def _judging_rows(self, trained: Trained, validation: Part) -> tuple[Part, Array]:
        """Validation rows, where possible those that chose nothing, and the outputs for them."""
        rows = (trained.unseen if bool(trained.unseen.any()) else ~trained.unseen).nonzero().squeeze(1)
        return validation.take(rows.numpy()), trained.held_out.cpu().double()[rows].numpy()

    def _beside_constant(self, judging: Part, outputs: Array, training: Part) -> Figures:
        """The figures of outputs for these rows, with those of the best constant prediction from the training rows."""
        weights = None if training.weights is None else torch.from_numpy(np.asarray(training.weights))
        constant = self.task_.constant(target_tensor(training.target, self._y_scaling), weights)
        found, trivial = (
            self._figures(judging, answers)
            for answers in (outputs, np.broadcast_to(constant.double().numpy(), outputs.shape).copy())
        )
        return with_baseline(found, trivial)


def without_factors(part: Part, factors: Array | None) -> Part:
    """Rows with the weights they have apart from those of their classes (k,): figures are of the rows as they are."""
    if factors is None or part.weights is None:
        return part
    weights = part.weights / factors[part.target]
    return replace(part, weights=None if np.ptp(weights) <= 1e-6 * weights.max() else weights)
