"""What the prediction is at each value of a feature: partial dependence (Friedman 2001), of the chosen features alone.

Every row of a sample is predicted with the feature set to each of some values that occur, the others as they are; the
mean over the rows is one point of the curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from maskrank.estimators.scaling import Array

if TYPE_CHECKING:
    from maskrank.estimators.base import DualNetBase

_ROWS = 150  # of the sample
_POINTS = 15  # of a column of numbers
_LEVELS = 12  # of a category, the most frequent ones
_FEATURES = 20
_LEAST, _MOST = 0.02, 0.98  # quantiles where a curve begins and ends


@dataclass(frozen=True, eq=False)
class Effect:
    """The mean prediction at some values of a feature.

    Attributes
    ----------
    name : str
    values : list
        Numbers, or levels of a category, dates and truth values as they are.
    predictions : ndarray (values, outputs)
    counts : ndarray (values,) of int
        Rows that hold the value; 0 where values stand for those around them.
    """

    name: str
    values: list[Any]
    predictions: Array
    counts: Array

    @property
    def is_curve(self) -> bool:
        """Whether values are numbers, in order."""
        return all(isinstance(value, float) for value in self.values)


def feature_effects(model: DualNetBase, X: Any) -> list[Effect]:
    """Effects of the first chosen features that are one column, by the numbers or probabilities that are predicted.

    Parameters
    ----------
    model : fitted estimator
    X : array or pandas frame (n, d)
        Rows like those it was fitted on.
    """
    places = np.flatnonzero(model.support_)
    chosen = X.iloc[:, places] if isinstance(X, pd.DataFrame) else np.asarray(X)[:, places]
    sample = np.unique(np.linspace(0, len(chosen) - 1, min(_ROWS, len(chosen))).round().astype(int))
    columns = {str(name): place for place, name in enumerate(model.get_feature_names_out())}
    shown = [name for name in model.result_.selected if name in columns][:_FEATURES]
    found = (_effect(model, name, chosen, columns[name], sample) for name in shown)
    return [effect for effect in found if effect is not None]


def _effect(model: DualNetBase, name: str, chosen: Any, place: int, sample: Array) -> Effect | None:
    column = chosen.iloc[:, place] if isinstance(chosen, pd.DataFrame) else pd.Series(chosen[:, place])
    at, counts = _occurring(column)
    if len(at) < 2:
        return None
    rows, values = np.tile(sample, len(at)), column.iloc[np.repeat(at, len(sample))]
    if isinstance(chosen, pd.DataFrame):
        asked = chosen.iloc[rows].reset_index(drop=True)
        asked[asked.columns[place]] = values.array
    else:
        asked = chosen[rows]
        asked[:, place] = values.to_numpy()
    said = _predicted(model, asked).reshape(len(at), len(sample), -1).mean(axis=1)
    numbers = pd.api.types.is_numeric_dtype(column.dtype) and column.dtype != bool
    shown = [float(value) if numbers else value for value in column.iloc[at]]
    return Effect(name, shown, said, counts)


def _predicted(model: DualNetBase, asked: Any) -> Array:
    """Predictions for rows of the chosen columns, as `explain` explains them: of two classes the second alone."""
    outputs = model._predicted(model._selected_numbers(asked), model._answers().explained)
    binary = model.task_.discrete and len(model._output_names()) == 2
    return outputs[:, 1:] if binary else outputs


def _occurring(column: pd.Series) -> tuple[Array, Array]:
    """Rows that hold the values to ask for, and how many rows hold each; numbers in order, levels most frequent first.

    Of many different numbers or dates these are quantiles.
    """
    there = np.flatnonzero(column.notna().to_numpy())
    known = column.iloc[there]
    if isinstance(known.dtype, pd.CategoricalDtype) or known.dtype == object or known.dtype == bool:
        counts = known.value_counts(sort=True)
        counts = counts[counts > 0][:_LEVELS]
        kept = known.drop_duplicates()
        of = {value: int(row) for value, row in zip(kept, there[~known.duplicated().to_numpy()], strict=True)}
        return np.array([of[value] for value in counts.index], dtype=int), counts.to_numpy()
    order = there[np.argsort(known.to_numpy(), kind="stable")]
    different, first, counts = np.unique(column.iloc[order].to_numpy(), return_index=True, return_counts=True)
    if len(different) <= _POINTS:
        return order[first], counts
    quantiles = np.linspace(_LEAST, _MOST, _POINTS) * (len(order) - 1)
    ends = np.unique(column.iloc[order[quantiles.round().astype(int)]].to_numpy(), return_index=True)[1]
    return order[quantiles.round().astype(int)[ends]], np.zeros(len(ends), dtype=int)
