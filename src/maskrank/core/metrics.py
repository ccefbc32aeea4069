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
LABEL_ACCURACY = Metric("label_accuracy", "accuracy of single labels", higher_is_better=True)  # 1 - Hamming loss
MEAN_SQUARED_ERROR = Metric("mse", "mean squared error", higher_is_better=False)
POISSON_DEVIANCE = Metric("poisson_deviance", "mean Poisson deviance", higher_is_better=False)
CONCORDANCE = Metric("concordance", "concordance index", higher_is_better=True)  # Harrell et al. 1982
METRICS = {
    metric.name: metric for metric in (ACCURACY, LABEL_ACCURACY, MEAN_SQUARED_ERROR, POISSON_DEVIANCE, CONCORDANCE)
}
FIGURE_TITLES = {"accuracy": "accuracy", "r2": "R²", "d2": "D²"}  # of size curves, as people read them
