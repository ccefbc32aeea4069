"""Columns in which every row needs a number: an error names the first row that has none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.decimals import is_text
from maskrank.tables.kinds import Remarks, as_numbers

Array = NDArray[Any]


def without_blanks(column: pd.Series) -> pd.Series:
    """The column without spaces around text; cells of spaces are missing."""
    column = column.reset_index(drop=True)
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(column.cat.categories.dtype)
    if not is_text(column):
        return column
    return column.map(lambda value: (value.strip() or np.nan) if isinstance(value, str) else value)


def row_numbers(column: pd.Series, rows: Array, separator: str | None) -> tuple[Array, str | None]:
    """A column as numbers, and what is wrong with the first row that has none; yes and no are 1 and 0.

    Parameters
    ----------
    column : Series (n,)
    rows : ndarray (n,) of int
        The rows' numbers in the file, from 1 on.
    separator : str or None
        Of a file of text.
    """
    column = without_blanks(column)
    if pd.api.types.is_datetime64_any_dtype(column):
        return np.zeros(len(column)), "holds dates"
    values = as_numbers(column, Remarks(), separator).to_numpy(dtype=np.float64)
    wrong = ~np.isfinite(values)
    if not wrong.any():
        return values, None
    at = int(wrong.argmax())
    said = column.iloc[at]
    what = "has no value" if pd.isna(said) else f"holds {said!r}" if isinstance(said, str) else f"holds {said}"
    return values, f"{what} in row {rows[at]} of the data"
