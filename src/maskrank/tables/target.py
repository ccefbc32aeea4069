"""The target of a table: numbers or classes, by what the column holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.decimals import is_text, mostly_numbers
from maskrank.tables.errors import TableError
from maskrank.tables.kinds import Remarks, as_numbers

_MOST_CLASSES = 20  # of a target of whole numbers that counts as classes


def clean_target(column: pd.Series, task: str, separator: str | None) -> pd.Series:
    """The target without spaces around labels; cells of spaces are missing, and where numbers are asked for words."""
    column = column.reset_index(drop=True)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if not is_text(column):
        return column
    column = column.map(lambda value: (value.strip() or np.nan) if isinstance(value, str) else value)
    if task == "regression" and mostly_numbers(column):
        return as_numbers(column, Remarks(), separator)
    return column


def read_target(column: pd.Series, task: str, where: str) -> tuple[NDArray[Any], str, str]:
    """Target values, the task, and why it is this task.

    Parameters
    ----------
    column : Series
        Without missing values.
    task : "auto", "classification" or "regression"
    where : str
        What messages call the file.
    """
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if numeric and not np.isfinite(column.to_numpy(dtype=np.float64)).all():
        raise TableError(f"{where}: the target {column.name!r} holds an infinite value")
    try:
        distinct = column.nunique()
    except TypeError as error:
        raise TableError(f"{where}: the target {column.name!r} holds neither numbers nor text") from error
    reason = "as asked"
    if task == "auto":
        whole = numeric and bool((column == column.round()).all())
        classes = not numeric or (whole and distinct <= min(_MOST_CLASSES, max(2, len(column) // 5)))
        task = "classification" if classes else "regression"
        kind = "text" if not numeric else "whole numbers" if whole else "fractional numbers"
        reason = f"the target holds {distinct} distinct values, {kind}"
    if task == "regression":
        if not numeric:
            raise TableError(f"{where}: the target {column.name!r} holds text: that is --task classification")
        return column.to_numpy(dtype=np.float64), task, reason
    whole = numeric and bool(((column == column.round()) & (column.abs() < 2**63)).all())
    return (column.to_numpy(dtype=np.int64) if whole else column.astype(str).to_numpy(dtype=str)), task, reason


def check_target(y: NDArray[Any], task: str, target: str, where: str) -> None:
    """Refuse a target with a single value, or classes of a single row."""
    values, counts = np.unique(y, return_counts=True)
    if len(values) == 1:
        raise TableError(f"{where}: the target {target!r} is {values[0]} in every row: there is nothing to predict")
    if task == "classification" and counts.min() < 2:
        label = str(values[counts.argmin()])
        raise TableError(
            f"{where}: class {label!r} of the target {target!r} has 1 row; each class needs at least 2 (numbers "
            "rather than classes? then --task regression)"
        )
