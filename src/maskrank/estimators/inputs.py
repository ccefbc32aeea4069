"""What the columns of a user's table hold, and the table as numbers: categories as level numbers, NaN for gaps.

A frame's columns tell their kind by their type, as in scikit-learn's gradient boosting: text, categories and truth
values are categorical, ordered categories are numbers, and dates are seconds.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.estimators.kinds import NUMERIC, InputColumn
from maskrank.estimators.names import column_name, positions_of
from maskrank.estimators.scaling import Array

_SECOND = 1_000_000  # microseconds


def is_plain(X: Any) -> bool:
    """Whether a table is numbers alone, by its types: arrays of numbers, sparse matrices, frames of such columns."""
    import scipy.sparse  # here: a process that only predicts has frames alone, and needs no SciPy

    if scipy.sparse.issparse(X):
        return True
    frame = as_frame(X)
    if frame is None:
        return not isinstance(X, np.ndarray) or X.dtype.kind not in "OUSMm"
    return all(dtype.is_numeric() and not dtype.is_decimal() for dtype in frame.schema.values())


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """A user's frame of any library that narwhals knows; None for arrays."""
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def as_table(X: Any) -> Any:
    """Arrow tables, and arrays and lists of objects, as pandas frames whose columns have types; the rest as it is."""
    frame = as_frame(X)
    if frame is not None and frame.implementation.is_pyarrow():
        return frame.to_native().to_pandas(date_as_object=False)
    if isinstance(X, list) and any(
        isinstance(value, str) for row in X if isinstance(row, list | tuple) for value in row
    ):
        X = np.array(X, dtype=object)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
        return pd.DataFrame(X.astype(object)).infer_objects()
    return X


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def column_names(X: Any, d: int) -> list[str]:
    """What people call the columns: the names of a frame, of several levels joined, or x0, x1, ..."""
    names = getattr(X, "columns", None)
    if names is None or isinstance(names, pd.RangeIndex):
        return [f"x{i}" for i in range(d)]
    return [column_name(label) for label in names]


def categorical_positions(requested: Any, names: Sequence[str], d: int) -> NDArray[np.bool_]:
    """``categorical_features`` as a mask of the columns; "from_dtype" and None name none."""
    mask = np.zeros(d, dtype=bool)
    if requested is None or (isinstance(requested, str) and requested == "from_dtype"):
        return mask
    if isinstance(requested, str):
        raise ValueError(f"categorical_features={requested!r} must be 'from_dtype', columns, or a mask of them")
    given = np.asarray(requested)
    if given.dtype.kind == "b":
        if given.shape != (d,):
            raise ValueError(f"categorical_features is a mask of {given.size} columns; the data has {d}")
        return given
    mask[positions_of(list(requested), names, what="categorical_features")] = True
    return mask


@dataclass(frozen=True)
class Inputs:
    """The columns of a table, and how more rows of it become numbers.

    Attributes
    ----------
    columns : tuple of InputColumn
    """

    columns: tuple[InputColumn, ...]

    @classmethod
    def learn(cls, X: Any, categorical: NDArray[np.bool_], *, from_dtype: bool = True) -> Inputs:
        """From the types of a frame, or of an array, and the columns that were named as categorical.

        Parameters
        ----------
        X : frame or array (n, d)
        categorical : ndarray (d,) of bool
        from_dtype : bool
            Whether text is categorical by itself; if not, it is refused unless it was named.
        """
        columns = []
        for place, series in enumerate(_series(X)):
            if categorical[place]:
                columns.append(InputColumn("categorical", _sorted(_distinct(series)[1])))
                continue
            column = _described(series)
            if column.levels == (False, True) and not from_dtype:
                column = NUMERIC
            if column.kind == "categorical" and not from_dtype:
                raise ValueError(f"column {_label(series, place)} is not numeric: name it in categorical_features")
            columns.append(column)
        return cls(tuple(columns))

    def numbers(self, X: Any, places: Sequence[int] | None = None) -> Array:
        """Rows as 64-bit floats: level numbers of categories, seconds of dates, NaN where a value is missing.

        A level that was not there when the columns were learned is a missing value.

        Parameters
        ----------
        X : frame or array (n, d)
        places : sequence of int, optional
            Only these columns.
        """
        series = _series(X)
        places = range(len(self.columns)) if places is None else places
        out = np.empty((len(series[0]) if series else 0, len(places)))
        for k, place in enumerate(places):
            try:
                out[:, k] = _as_numbers(series[place], self.columns[place])
            except (ValueError, TypeError) as error:
                label = _label(series[place], place)
                kind = self.columns[place].kind
                raise ValueError(f"column {label} is {kind}, and holds values that are not: {error}") from error
        return out


def _series(X: Any) -> list[Any]:
    """The columns of a frame or array, one by one."""
    frame = as_frame(X)
    if frame is not None:
        return [frame[:, place] for place in range(frame.shape[1])]
    return list(np.asarray(X).T)


def _label(series: Any, place: int) -> str:
    return repr(series.name) if isinstance(series, nw.Series) else str(place)


def _described(series: Any) -> InputColumn:
    """Kind and levels of a column by its type."""
    if not isinstance(series, nw.Series):
        return InputColumn("date") if series.dtype.kind == "M" else NUMERIC
    dtype = series.dtype
    if dtype.is_numeric() or isinstance(dtype, nw.Duration):
        return NUMERIC
    if isinstance(dtype, nw.Datetime | nw.Date):
        return InputColumn("date")
    if isinstance(dtype, nw.Categorical | nw.Enum):
        native = series.to_native()
        if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
            ordered = bool(native.dtype.ordered)
            levels = tuple(_scalar(level) for level in native.dtype.categories)
            return InputColumn("ordered" if ordered else "categorical", levels)
        if series.implementation.is_polars():
            return InputColumn("categorical", tuple(str(level) for level in series.cat.get_categories().to_list()))
    if isinstance(dtype, nw.Object):
        present = [value for value in pd.unique(series.to_numpy()) if not pd.isna(value)]
        if all(isinstance(value, numbers.Number) and not isinstance(value, bool | np.bool_) for value in present):
            return NUMERIC
        if all(isinstance(value, datetime.date) for value in present):
            return InputColumn("date")
    return InputColumn("categorical", _sorted(_distinct(series)[1]))


def _distinct(series: Any) -> tuple[NDArray[np.int64], list[Any]]:
    """The distinct values of a column, None for blank text, and the place of each row's among them, -1 for a gap."""
    native = series.to_native() if isinstance(series, nw.Series) else series
    if isinstance(getattr(native, "dtype", None), pd.CategoricalDtype):
        places, distinct = native.cat.codes.to_numpy(), native.cat.categories
    else:
        values = series.to_numpy() if isinstance(series, nw.Series) else np.asarray(series)
        try:
            places, distinct = pd.factorize(values)
        except TypeError as error:
            raise TypeError(f"argument must be a string or a number: a column holds other objects ({error})") from error
    plain = [_scalar(value) for value in distinct]
    return places.astype(np.int64), [None if isinstance(value, str) and not value.strip() else value for value in plain]


def _sorted(distinct: list[Any]) -> tuple[Any, ...]:
    """The levels among distinct values, sorted; of mixed types by their text."""
    levels = [level for level in distinct if level is not None]
    try:
        return tuple(sorted(levels))
    except TypeError:
        return tuple(sorted(levels, key=lambda level: (str(type(level)), str(level))))


def _scalar(value: Any) -> Any:
    """A level as JSON holds it: text, a number, or a truth value."""
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | bool) else str(value)


def _as_numbers(series: Any, column: InputColumn) -> Array:
    if column.levels is not None:
        return _level_numbers(series, column.levels)
    if column.kind == "date":
        return _seconds(series)
    if isinstance(series, nw.Series):
        if isinstance(series.dtype, nw.Duration):
            return _seconds(series)
        if series.dtype.is_numeric() and not series.dtype.is_decimal():
            series = series.cast(nw.Float64)
        series = series.to_numpy()
    values = np.asarray(series)
    if values.dtype.kind not in "fiub":
        values = np.where(pd.isna(values), np.nan, values)
    return values.astype(np.float64)


def _level_numbers(series: Any, levels: tuple[Any, ...]) -> Array:
    """0, 1, ... for the levels, NaN for gaps and for other values."""
    places, distinct = _distinct(series)
    all_text = bool(levels) and all(isinstance(level, str) for level in levels)
    number = {level: float(k) for k, level in enumerate(levels)}
    of_distinct = [number.get(str(value) if all_text and value is not None else value, np.nan) for value in distinct]
    return np.array([*of_distinct, np.nan])[places]  # the last for -1


def _seconds(series: Any) -> Array:
    """Dates as seconds since 1970, durations as seconds."""
    if not isinstance(series, nw.Series) or isinstance(series.dtype, nw.Object | nw.String):
        values = series.to_numpy() if isinstance(series, nw.Series) else series
        series = nw.from_native(pd.Series(pd.to_datetime(values)), series_only=True)
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
    missing = series.is_null().to_numpy()
    if isinstance(series.dtype, nw.Duration):
        seconds = series.dt.total_microseconds().to_numpy().astype(np.float64) / _SECOND
    else:
        seconds = series.cast(nw.Datetime("us")).dt.timestamp("us").to_numpy().astype(np.float64) / _SECOND
    return np.where(missing, np.nan, seconds)
