"""Typed columns of a table, and the lines that say how they were read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from maskrank.tables.decimals import is_mark, is_text
from maskrank.tables.errors import cut, listing
from maskrank.tables.kinds import Remarks, as_categories, as_dates, as_numbers, by_content
from maskrank.tables.text import Reading
from maskrank.terminal.text import drop_flags

_MOST_LINES = 8  # columns with a line of their own
_LONGEST_OPTIONS = 1_000  # characters of their names
_MOST_DROPPED = 50  # columns that can reasonably be left out by options


@np.errstate(invalid="ignore")  # some NaN of 32 bits "signal" where they become 64
def typed_columns(
    reading: Reading, names: Sequence[str], wanted: Mapping[str, str], orders: Mapping[str, bool] | None = None
) -> tuple[pd.DataFrame, Remarks]:
    """The named columns as float, category or datetime64.

    Parameters
    ----------
    reading : Reading
    names : sequence of str
    wanted : dict of str
        The kind of some columns: "numeric", "categorical", "ordered" or "date". Others are read by what they hold.
    orders : dict of bool, optional
        Of columns of dates: whether the day comes first where the dates themselves do not tell.

    Returns
    -------
    frame : DataFrame (n, d)
    remarks : Remarks
        Those of the columns that can't be read among them.
    """
    frame = reading.frame[list(names)].reset_index(drop=True)
    remarks = Remarks(unread={name: reading.unread[name] for name in names if name in reading.unread})
    plain = all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in frame.dtypes)
    if plain and all(kind == "numeric" for kind in wanted.values()):
        remarks.truths += [str(name) for name in frame.select_dtypes(bool).columns]
        values = frame.to_numpy(dtype=np.float64)
        return pd.DataFrame(values, columns=frame.columns, copy=False), remarks
    known, written = orders or {}, [name for name in names if wanted.get(name) in ("categorical", "ordered", "date")]
    if reading.cells is not None and written:
        reading.cells(written)  # all in one go: each is asked for below
    columns = {name: _typed(frame[name], wanted.get(name), reading, remarks, known.get(name)) for name in names}
    return pd.DataFrame(columns, columns=list(names)), remarks


def _typed(
    column: pd.Series, kind: str | None, reading: Reading, remarks: Remarks, day_first: bool | None
) -> pd.Series:
    def written() -> pd.Series:
        return column if reading.cells is None else reading.cells([str(column.name)]).iloc[:, 0].reset_index(drop=True)

    try:
        if kind in ("categorical", "ordered"):
            remarks.unread.pop(str(column.name), None)
            return as_categories(written())
        if kind == "numeric":
            return as_numbers(column, remarks, reading.separator)
        if kind == "date":
            return as_dates(column if is_text(column) else written(), remarks, day_first)
        return by_content(column, remarks)
    except TypeError:  # of values that can't be told apart, such as lists
        remarks.problems.append(f"column {str(column.name)!r} holds neither numbers, text nor dates")
        return column


def infinite(frame: pd.DataFrame) -> dict[str, int]:
    """The columns with an infinite value, and the first row that holds one, counted from 1."""
    numbers = frame.select_dtypes(np.floating)
    found = np.isinf(numbers.to_numpy())
    return {str(numbers.columns[i]): int(found[:, i].argmax()) + 1 for i in np.flatnonzero(found.any(axis=0))}


def infinite_problem(found: Mapping[str, int]) -> str:
    """Which columns hold infinite values, and what to do."""
    names = list(found)
    shown = ", ".join(f"{cut(name)!r} (row {found[name]} of the data)" for name in names[:_MOST_LINES])
    more = f", … ({len(names)} in all)" if len(names) > _MOST_LINES else ""
    them, columns = ("it", "the column") if len(names) == 1 else ("them", "the columns")
    drop = (
        f"leave {columns} out with {drop_flags(names)}, or "
        if len(names) <= _MOST_DROPPED and sum(map(len, names)) <= _LONGEST_OPTIONS
        else ""
    )
    return f"an infinite value in {shown}{more}; {drop}correct {them} first"


def constant_columns(frame: pd.DataFrame) -> list[str]:
    """Columns with the same value, or a gap, in every row."""
    numbers = frame.select_dtypes(np.floating)
    values = numbers.to_numpy()
    same = (values[:1] == values).all(axis=0) | np.isnan(values).all(axis=0)
    found = set(numbers.columns[same])
    found |= {name for name in frame.columns.difference(numbers.columns) if frame[name].nunique(dropna=False) < 2}
    return [str(name) for name in frame.columns if name in found]


def reading_warnings(remarks: Remarks) -> list[str]:
    """What a person may have meant otherwise: one line each."""
    words = {name: said for name, said in remarks.unread.items() if not all(is_mark(word) for word in said)}
    mixed, two_ways = (
        ", ".join(f"{name!r} (for example {text[:40]!r})" for name, text in _first(found))
        for found in (remarks.mixed, remarks.two_ways)
    )
    other = "read as categories; --numeric COLUMN reads numbers"
    unclear = ", ".join(f"{name!r} ({how})" for name, how in _first(remarks.unclear))
    return [
        *unread_lines(words),
        *([f"text beside numbers in {mixed}, {other}"] if mixed else []),
        *([f"numbers that can be read in two ways in {two_ways}, {other}"] if two_ways else []),
        *([f"dates that can be read in two ways in {unclear}"] if unclear else []),
    ]


def reading_notes(frame: pd.DataFrame, remarks: Remarks, turned: Sequence[str]) -> list[str]:
    """How columns were read that are not plain numbers, and columns that can't tell anything: one line each."""
    marks = {name: said for name, said in remarks.unread.items() if all(is_mark(word) for word in said)}
    numbers = "numbers as spreadsheets write them, with commas, thousands or signs"
    kinds = dict(frame.dtypes)
    turned = [name for name in turned if name not in remarks.unread and kinds.get(name) == np.float64]
    empty = [str(name) for name in frame.columns[frame.isna().all()]]
    constant = [name for name in constant_columns(frame) if name not in set(empty)]
    return [
        *([f"{numbers}: {listing(turned)}"] if turned else []),
        *([f"yes and no read as 1 and 0: {listing(remarks.truths)}"] if remarks.truths else []),
        *([f"lengths of time read as seconds: {listing(remarks.seconds)}"] if remarks.seconds else []),
        *unread_lines(marks),
        *([f"without any value, so never chosen: {listing(empty)}"] if empty else []),
        *([f"constant, so never chosen before others: {listing(constant)}"] if constant else []),
    ]


def unread_lines(unread: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Of each column the cells that are missing values because they are not of its kind."""
    lines = []
    for name, words in _first(unread):
        total = sum(words.values())
        lines.append(f"column {name!r}: {listing(words)} read as missing ({total} cell{'s' if total > 1 else ''})")
    more = len(unread) - _MOST_LINES
    return lines + ([f"{more} more columns have cells that are read as missing"] if more > 0 else [])


def _first(found: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return list(found.items())[:_MOST_LINES]
