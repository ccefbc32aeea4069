"""Predictions as CSV, by what predicts alone: nothing here needs torch or scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from maskrank.csv_text import csv_text
from maskrank.estimators.answers import ClassAnswers
from maskrank.estimators.deployment import DeployedModel

if TYPE_CHECKING:
    import pandas as pd


def predictions_csv(model: DeployedModel, selected: pd.DataFrame, *, named: bool = True) -> str:
    """One line per row: the prediction and, for classes, their probabilities; one column per target.

    A model of survival times gives the risk, the logarithm of the relative hazard.

    Parameters
    ----------
    selected : DataFrame (n, columns)
        The chosen columns, in the order of the model.
    named : bool
        Whether a header comes first.
    """
    outputs, answers = model.outputs(selected), model.answers
    predicted = answers.predicted(outputs)
    columns = predicted.reshape(len(predicted), -1)
    several = columns.shape[1] > 1 and model.target_names is not None
    header = list(model.target_names or ()) if several else answers.names(columns.shape[1])
    if not isinstance(answers, ClassAnswers):
        return csv_text(header if named else None, columns.tolist())
    header += [f"probability_{label}" for label in answers.classes]
    rows = zip(columns.tolist(), answers.probabilities(outputs).tolist(), strict=True)
    return csv_text(header if named else None, [(*answer, *likely) for answer, likely in rows])
