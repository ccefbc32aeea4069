"""The kind of a column by what it holds: numbers, categories, dates.

Text that says yes and no is numbers 1 and 0, text of dates is dates, other text is categories. Empty cells and cells
of spaces are missing values in all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.dates import looks_like_a_date, parse_dates
from maskrank.tables.decimals import NOTHING, looks_like_a_number, numbers_among

_TRUTH = (  # no and yes, as spreadsheets and people write them
    ("no", "yes"),
    ("n", "y"),
    ("nein", "ja"),
    ("false", "true"),
    ("falsch", "wahr"),
    ("faux", "vrai"),
    ("non", "oui"),
    ("no", "sí"),
    ("no", "si"),
)
_TRUE = {word: float(place) for pair in _TRUTH for place, word in enumerate(pair)}
_PLAIN_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)\.\d+")  # leading zeros tell codes apart, zeros at the end do not
_MOST_WORDS = 0.05  # of the cells of a column of dates; not measured
_MIXED = 0.05  # of the cells of a column of text that look like numbers, so that it is said; not measured
_COUNTED = 1_000  # distinct values that tell how many look like numbers
_LOOKED_AT = 20  # distinct values that rule out most columns of text cheaply


@dataclass
class Remarks:
    """What is worth saying about the columns of a table, by their names.

    Attributes
    ----------
    truths, seconds : list of str
        Columns of yes and no, of lengths of time.
    unread : dict of Counter
        Cells that are missing values because they are no numbers, or no dates.
    unclear : dict of str
        How dates were read that can be read in two ways.
    orders : dict of bool
        Whether the day comes first in dates of three numbers.
    mixed, two_ways : dict of str
        Columns of categories of which some cells are numbers, or all of them, but not clear which: an example.
    problems : list of str
        Columns that can't be read.
    """

    truths: list[str] = field(default_factory=list)
    seconds: list[str] = field(default_factory=list)
    unread: dict[str, Counter[str]] = field(default_factory=dict)
    unclear: dict[str, str] = field(default_factory=dict)
    orders: dict[str, bool] = field(default_factory=dict)
    mixed: dict[str, str] = field(default_factory=dict)
    two_ways: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


def level_text(value: object) -> str:
    """A value of a category as text: the same for 1, 1.0 and "1.0", so that a gap in the column changes nothing.

    Examples
    --------
    >>> from maskrank.tables.kinds import level_text
    >>> [level_text(value) for value in (1, 1.0, "1.0", " 1.50", "007", True)]
    ['1', '1', '1', '1.5', '007', 'True']
    """
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    text = value.strip() if isinstance(value, str) else str(value)
    return text.rstrip("0").rstrip(".") if _PLAIN_NUMBER.fullmatch(text) else text


def by_content(column: pd.Series, remarks: Remarks) -> pd.Series:
    """The column as what it holds: float, category or datetime64."""
    name, types = str(column.name), pd.api.types
    if types.is_bool_dtype(column):
        remarks.truths.append(name)
        return _floats(column)
    if types.is_complex_dtype(column):
        remarks.problems.append(f"column {name!r} holds complex numbers; real ones are needed")
        return column
    if types.is_numeric_dtype(column):
        return _floats(column)
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _levels_as_text(column)
    if types.is_datetime64_any_dtype(column):
        return column if column.dt.tz is None else column.dt.tz_convert("UTC").dt.tz_localize(None)
    if types.is_timedelta64_dtype(column):
        remarks.seconds.append(name)
        return column.dt.total_seconds()
    return _READERS.get(types.infer_dtype(column, skipna=True), _unreadable)(column, remarks)


def as_categories(column: pd.Series) -> pd.Series:
    """Any column as categories: their levels are text."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _levels_as_text(column)
    codes, levels = _factorized(column)
    return _categories(codes, [_cleaned(level) for level in levels], column)


def as_numbers(column: pd.Series, remarks: Remarks, separator: str | None = None) -> pd.Series:
    """Any column as numbers; text that is none, nor yes or no, is missing.

    Parameters
    ----------
    column : Series
    remarks : Remarks
        Gets the cells that are missing for it.
    separator : str, optional
        Of a file of text.
    """
    if pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        return _floats(column)
    codes, levels = _factorized(column)
    texts = [_cleaned(level) or "" for level in levels]
    numbers = np.array(numbers_among(texts, separator), dtype=np.float64)
    for i, text in enumerate(texts):
        if np.isnan(numbers[i]):
            numbers[i] = _TRUE.get(text.casefold(), np.nan)
    _count_unread(column, codes, texts, np.isnan(numbers), remarks)
    return _taken(numbers, codes, column)


def as_dates(column: pd.Series, remarks: Remarks, day_first: bool | None = None) -> pd.Series:
    """Any column as points in time; text that is no date is missing.

    Parameters
    ----------
    column : Series
    remarks : Remarks
    day_first : bool, optional
        How to read 01.02.2024 where no other date of the column tells.
    """
    if pd.api.types.is_datetime64_any_dtype(column):
        return by_content(column, remarks)
    codes, levels = _factorized(column)
    texts = [_cleaned(level) or "" for level in levels]
    return _dates(column, codes, texts, remarks, day_first)


def _factorized(column: pd.Series) -> tuple[NDArray[np.int64], list[Any]]:
    """The place of each row's value among the distinct ones, -1 for a gap; and these."""
    codes, levels = pd.factorize(column)
    return codes, _values(levels)


def _values(levels: pd.Index) -> list[Any]:
    """Distinct values; pandas can't spell out years beyond 9999 in a time zone, which are taken without it."""
    if getattr(levels, "tz", None) is not None:
        plain = levels.tz_convert(None)
        known = (plain > pd.Timestamp(2, 1, 1)) & (plain < pd.Timestamp(9_998, 1, 1))
        levels = levels if known.all() else plain
    return list(levels.tolist())


def _floats(column: pd.Series) -> pd.Series:
    return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan), index=column.index, name=column.name)


def _cleaned(level: object) -> str | None:
    """The text of a level; None where it says nothing."""
    text = level_text(level)
    changed = isinstance(level, str) and text != level
    return None if not text or (changed and text.casefold() in NOTHING) else text


def _levels_as_text(column: pd.Series) -> pd.Series:
    """The same categories in their order, as text."""
    texts = [_cleaned(level) for level in _values(column.cat.categories)]
    kept = list(dict.fromkeys(text for text in texts if text is not None))
    place = {text: i for i, text in enumerate(kept)}
    moved = np.array([-1 if text is None else place[text] for text in texts] + [-1])
    codes = moved[column.cat.codes.to_numpy()]
    return pd.Series(
        pd.Categorical.from_codes(codes, kept, ordered=column.cat.ordered), index=column.index, name=column.name
    )


def _categories(codes: NDArray[np.int64], texts: list[str | None], column: pd.Series) -> pd.Series:
    """A column of categories, sorted by their text."""
    kept = sorted({text for text in texts if text is not None})
    place = {text: i for i, text in enumerate(kept)}
    moved = np.array([-1 if text is None else place[text] for text in texts] + [-1])
    return pd.Series(pd.Categorical.from_codes(moved[codes], kept), index=column.index, name=column.name)


def _taken(values: NDArray[Any], codes: NDArray[np.int64], column: pd.Series) -> pd.Series:
    """The value of each row; missing where the code is -1."""
    nothing = np.full(1, "NaT" if values.dtype.kind == "M" else np.nan, dtype=values.dtype)
    return pd.Series(np.concatenate([values, nothing])[codes], index=column.index, name=column.name)


def _count_unread(
    column: pd.Series, codes: NDArray[np.int64], texts: list[str], missing: NDArray[np.bool_], remarks: Remarks
) -> None:
    """Remark cells with a text that became missing values."""
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))
    words = Counter({text: int(counts[i]) for i, text in enumerate(texts) if text and missing[i]})
    if words:
        remarks.unread[str(column.name)] = words


def _text(column: pd.Series, remarks: Remarks) -> pd.Series:
    """A column of text: yes and no, dates, or categories."""
    name = str(column.name)
    codes, levels = _factorized(column)
    texts = [_cleaned(level) for level in levels]
    present = [text for text in texts if text is not None]
    if not present:
        return _empty(column, remarks)
    if len(present) <= 2 * len(_TRUE):
        words = {text.casefold() for text in present}
        if any(words <= set(pair) for pair in _TRUTH):
            remarks.truths.append(name)
            truths = [np.nan if text is None else _TRUE[text.casefold()] for text in texts]
            return _taken(np.array(truths), codes, column)
    counts = np.bincount(codes[codes >= 0], minlength=len(texts))

    def share(kind: Callable[[str], bool], some: Iterable[int]) -> float:
        """The share of cells of this kind among those with one of some texts."""
        said = [(int(counts[i]), kind(text)) for i in some if (text := texts[i]) is not None]
        return sum(count for count, true in said if true) / (sum(count for count, _ in said) or 1)

    step = max(1, len(texts) // _LOOKED_AT)
    if share(looks_like_a_date, range(0, len(texts), step)) >= 0.5:
        own = Remarks()
        dates = _dates(column, codes, [text or "" for text in texts], own)
        if dates.notna().sum() >= (1 - _MOST_WORDS) * sum(counts[i] for i, text in enumerate(texts) if text):
            remarks.unread |= own.unread
            remarks.unclear |= own.unclear
            remarks.orders |= own.orders
            return dates
    if share(looks_like_a_number, range(0, len(texts), max(1, len(texts) // _COUNTED))) >= _MIXED:
        odd = next((text for text in present if not looks_like_a_number(text)), None)
        unclear = next((text for text in present if pd.isna(pd.to_numeric(text, errors="coerce"))), present[0])
        (remarks.two_ways if odd is None else remarks.mixed)[name] = odd or unclear
    return _categories(codes, texts, column)


def _dates(
    column: pd.Series, codes: NDArray[np.int64], texts: list[str], remarks: Remarks, day_first: bool | None = None
) -> pd.Series:
    read = parse_dates(texts, day_first)
    if read.day_first is not None:
        remarks.orders[str(column.name)] = read.day_first
    if read.unclear is not None:
        remarks.unclear[str(column.name)] = f"{read.unclear!r} with the {'day' if read.day_first else 'month'} first"
    _count_unread(column, codes, texts, np.isnat(read.values), remarks)
    return _taken(read.values, codes, column)


def _empty(column: pd.Series, remarks: Remarks) -> pd.Series:
    return pd.Series(np.nan, index=column.index, name=column.name, dtype=np.float64)


def _truths(column: pd.Series, remarks: Remarks) -> pd.Series:
    remarks.truths.append(str(column.name))
    return _floats(column.astype("boolean"))


def _scalars(column: pd.Series, remarks: Remarks) -> pd.Series:
    """Text beside numbers, as a frame may hold them."""
    if not column.dropna().map(lambda value: isinstance(value, str | int | float | bool | np.generic)).all():
        return _unreadable(column, remarks)
    return _text(column.map(level_text, na_action="ignore"), remarks)


def _unreadable(column: pd.Series, remarks: Remarks) -> pd.Series:
    kind = type(next(iter(column.dropna()))).__name__
    remarks.problems.append(
        f"column {str(column.name)!r} holds values of type {kind}; numbers, text or dates are needed"
    )
    return column


def _decimals(column: pd.Series, remarks: Remarks) -> pd.Series:
    try:
        return column.astype(np.float64)
    except OverflowError:  # whole numbers of hundreds of digits: infinite, and refused as such
        return column.map(lambda value: float(str(value)), na_action="ignore").astype(np.float64)


def _days(column: pd.Series, remarks: Remarks) -> pd.Series:
    return by_content(pd.to_datetime(column), remarks)


def _clock_times(column: pd.Series, remarks: Remarks) -> pd.Series:
    return as_dates(column.map(str, na_action="ignore"), remarks)


_READERS: dict[str, Callable[[pd.Series, Remarks], pd.Series]] = {
    "string": _text,
    "empty": _empty,
    "boolean": _truths,
    "decimal": _decimals,
    "integer": _decimals,
    "floating": _decimals,
    "mixed-integer-float": _decimals,
    "date": _days,
    "datetime": _days,
    "datetime64": _days,
    "time": _clock_times,
    "mixed": _scalars,
    "mixed-integer": _scalars,
}
