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
LABEL_ACCURACY = Metric("label_accuracy", "accuracy of single labels", higher_is_better=True)  # 1 - Hamming loss
ROC_AUC = Metric("roc_auc", "ROC AUC", higher_is_better=True)
AVERAGE_PRECISION = Metric("average_precision", "average precision", higher_is_better=True)
LOG_LOSS = Metric("log_loss", "log-loss", higher_is_better=False)
R_SQUARED = Metric("r2", "R²", higher_is_better=True)
ROOT_MEAN_SQUARED_ERROR = Metric("rmse", "root mean squared error", higher_is_better=False)
MEAN_ABSOLUTE_ERROR = Metric("mae", "mean absolute error", higher_is_better=False)
MEAN_SQUARED_ERROR = Metric("mse", "mean squared error", higher_is_better=False)
POISSON_DEVIANCE = Metric("poisson_deviance", "mean Poisson deviance", higher_is_better=False)
CONCORDANCE = Metric("concordance", "concordance index", higher_is_better=True)  # Harrell et al. 1982
CLASS_METRICS = (ACCURACY, BALANCED_ACCURACY, ROC_AUC, AVERAGE_PRECISION, LOG_LOSS)
LABEL_METRICS = (LABEL_ACCURACY, ROC_AUC, LOG_LOSS)  # of several labels of a row
NUMBER_METRICS = (R_SQUARED, ROOT_MEAN_SQUARED_ERROR, MEAN_ABSOLUTE_ERROR, MEAN_SQUARED_ERROR)
COUNT_METRICS = (POISSON_DEVIANCE, ROOT_MEAN_SQUARED_ERROR, MEAN_ABSOLUTE_ERROR)
SURVIVAL_METRICS = (CONCORDANCE,)
METRICS = {
    metric.name: metric
    for metric in (*CLASS_METRICS, *LABEL_METRICS, *NUMBER_METRICS, *COUNT_METRICS, *SURVIVAL_METRICS)
}
FIGURE_TITLES = {"accuracy": "accuracy", "r2": "R²", "d2": "D²"}  # of size curves, as people read them
