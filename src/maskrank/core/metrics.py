"""The figures that people look at: their names, and whether higher is better."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A figure on rows that were not learned from.

    Attributes
    ----------
    name : str
        As in JSON, CSV and the tables of studies.
    title : str
        As people read it.
    higher_is_better : bool
    """

    name: str
    title: str
    higher_is_better: bool

    @property
    def sign(self) -> int:
        """1 where higher is better, else -1: what a figure is multiplied with to be maximised."""
        return 1 if self.higher_is_better else -1


ACCURACY = Metric("accuracy", "accuracy", higher_is_better=True)
BALANCED_ACCURACY = Metric("balanced_accuracy", "balanced accuracy", higher_is_better=True)
ROC_AUC = Metric("roc_auc", "ROC AUC", higher_is_better=True)
AVERAGE_PRECISION = Metric("average_precision", "average precision", higher_is_better=True)
LOG_LOSS = Metric("log_loss", "log-loss", higher_is_better=False)
R_SQUARED = Metric("r2", "R²", higher_is_better=True)
ROOT_MEAN_SQUARED_ERROR = Metric("rmse", "root mean squared error", higher_is_better=False)
MEAN_ABSOLUTE_ERROR = Metric("mae", "mean absolute error", higher_is_better=False)
MEAN_SQUARED_ERROR = Metric("mse", "mean squared error", higher_is_better=False)
CLASS_METRICS = (ACCURACY, BALANCED_ACCURACY, ROC_AUC, AVERAGE_PRECISION, LOG_LOSS)
NUMBER_METRICS = (R_SQUARED, ROOT_MEAN_SQUARED_ERROR, MEAN_ABSOLUTE_ERROR, MEAN_SQUARED_ERROR)
METRICS = {metric.name: metric for metric in (*CLASS_METRICS, *NUMBER_METRICS)}
