"""Columns that are not numeric: what they hold, and the message that lists them with the options to add."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.decimals import is_text, looks_like_a_number, looks_like_numbers
from maskrank.tables.text import TableError
from maskrank.terminal.text import drop_flags

_MOST_SHOWN = 8  # columns described one by one
_MOST_DROPPED = 50  # columns that can reasonably be left out by options
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
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}",  # 2024-01-31
    r"\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}",  # 31.01.2024 and 1/31/24
    r"\d{1,2}[-. ]{1,2}[^\W\d_]{3,10}\.?[-, ]{1,2}\d{2,4}",  # 31 Jan 2024
    r"[^\W\d_]{3,10}\.? \d{1,2},? \d{4}",  # January 31, 2024
)
_DATE = re.compile(rf"(?:{'|'.join(_DAY)})(?:[T ,]{{1,2}}{_CLOCK})?|{_CLOCK}")


def numbers_of(frame: pd.DataFrame, where: str, *, droppable: bool = True) -> NDArray[np.float64]:
    """All columns as finite numbers.

    Parameters
    ----------
    frame : DataFrame
    where : str
        What messages call the file.
    droppable : bool
        Whether a column can be left out with ``--drop``.
    """
    truths = truth_columns(frame)
    frame = frame.copy(deep=False) if truths else frame
    for name in truths:
        frame[name] = _truth(frame[name])
    text = [name for name in frame.columns if is_text(frame[name])]
    if text:
        raise TableError(f"{where}: {_not_numbers(frame[text])}; {_advice(text, 'turn {} into numbers', droppable)}")
    values: NDArray[np.float64] = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        what = "a missing value" if np.isnan(values[row, column]) else "an infinite value"
        holed = [str(frame.columns[i]) for i in np.flatnonzero(bad.any(axis=0))]
        others = "" if len(holed) == 1 else f", in {len(holed)} columns"
        can_skip = np.isnan(values[bad]).all() and (~bad).all(axis=1).any()
        skip = ", the rows with --skip-missing" if droppable and can_skip else ""
        name, in_column, in_all = frame.columns[column], int(bad[:, column].sum()), int(bad.sum())
        raise TableError(
            f"{where}: column {name!r} has {what} in row {row + 1} of the data ({in_column} such in the column, "
            f"{in_all} in the table{others}); {_advice(holed, 'fill {} in', droppable, skip)}"
        )
    return values


def truth_columns(frame: pd.DataFrame) -> list[str]:
    """Columns of text that say yes or no, and nothing else."""
    text = [name for name in frame.columns if is_text(frame[name])]
    said = {name: {str(value).strip().casefold() for value in frame[name].dropna().unique()} for name in text}
    return [name for name, words in said.items() if words and any(words <= set(pair) for pair in _TRUTH)]


def _truth(column: pd.Series) -> pd.Series:
    """1 for yes, 0 for no."""
    number = {word: float(place) for pair in _TRUTH for place, word in enumerate(pair)}
    return column.map(lambda value: np.nan if pd.isna(value) else number[str(value).strip().casefold()]).astype(float)


def listing(names: Sequence[str], most: int = _MOST_SHOWN) -> str:
    """The first names, and how many there are."""
    shown = ", ".join(repr(str(name)) for name in list(names)[:most])
    return shown + (f", … ({len(names)} in all)" if len(names) > most else "")


def _not_numbers(frame: pd.DataFrame) -> str:
    """Which columns these are and what they hold instead."""
    names = [str(name) for name in frame.columns]
    held = [f"{_kind(frame[name])}, for example {_example(frame[name])!r}" for name in names[:_MOST_SHOWN]]
    if len(names) == 1:
        return f"column {names[0]!r} holds {held[0]}"
    described = ", ".join(f"{name!r} ({what})" for name, what in zip(names, held, strict=False))
    return f"{len(names)} columns are not numbers: {described}{', …' if len(names) > _MOST_SHOWN else ''}"


def _advice(names: list[str], remedy: str, droppable: bool, more: str = "") -> str:
    them, columns = ("it", "the column") if len(names) == 1 else ("them", "the columns")
    remedy = remedy.format(them)
    if not droppable:
        return f"{remedy} first"
    if len(names) > _MOST_DROPPED:
        return f"leave out {more.removeprefix(', ')}, or {remedy} first" if more else f"{remedy} first"
    return f"leave {columns} out with {drop_flags(names)}{more}, or {remedy} first"


def _kind(column: pd.Series) -> str:
    values = column.dropna()
    if pd.api.types.is_datetime64_any_dtype(column) or all(_DATE.fullmatch(str(value).strip()) for value in values):
        return "dates"
    return "numbers that can be read in two ways" if looks_like_numbers(column) else "text"


def _example(column: pd.Series) -> str:
    """The first value that is no number; where all look like numbers, the first that can be read in two ways."""
    values = [str(value) for value in column.dropna()]
    odd = [value for value in values if not looks_like_a_number(value)]
    unclear = [value for value in values if pd.isna(pd.to_numeric(value, errors="coerce"))]
    return (odd or unclear or values)[0][:40]
