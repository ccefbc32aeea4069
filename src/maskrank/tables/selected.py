"""The columns that a model needs, out of any table, read as those it was fitted on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd

from maskrank.tables.columns import infinite, reading_warnings, typed_columns, unread_lines
from maskrank.tables.errors import TableError, listing, nearest, raise_all
from maskrank.tables.files import read_frame
from maskrank.tables.kinds import Remarks, level_text
from maskrank.tables.paths import place
from maskrank.tables.progress import Told, untold
from maskrank.tables.text import Reading


class ColumnKind(Protocol):
    """What a model knows of a column."""

    @property
    def kind(self) -> str: ...

    @property
    def levels(self) -> Sequence[Any] | None: ...

    @property
    def day_first(self) -> bool | None: ...


@dataclass(frozen=True)
class ModelColumns:
    """The columns that a model predicts from, as it knows them.

    Attributes
    ----------
    kinds : dict of str
        The kind of each column, in the order of the model: "numeric", "categorical", "ordered" or "date"; others are
        read by what they hold.
    levels : dict of sequence
        The levels of categories, which need not be text.
    date_orders : dict of bool
        Of columns of dates: whether the day comes first where the dates themselves do not tell.
    """

    kinds: Mapping[str, str]
    levels: Mapping[str, Sequence[Any] | None] = field(default_factory=dict)
    date_orders: Mapping[str, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, columns: Mapping[str, ColumnKind]) -> ModelColumns:
        """From what a model knows of each column."""
        return cls(
            {name: column.kind for name, column in columns.items()},
            {name: column.levels for name, column in columns.items()},
            {name: column.day_first for name, column in columns.items() if column.day_first is not None},
        )


def select_columns(
    source: str,
    kinds: Mapping[str, str],
    levels: Mapping[str, Sequence[Any] | None] | None = None,
    date_orders: Mapping[str, bool] | None = None,
    told: Told = untold,
    limit: int | None = None,
) -> tuple[pd.DataFrame, list[str]]:
    """The columns that a model needs, as it knows them; other columns may be anything.

    Parameters
    ----------
    source : str
        A path, or "-" for CSV on standard input.
    kinds, levels, date_orders : dict
        As in `ModelColumns`.
    told : callable
        Told bytes read and bytes in all, now and then.
    limit : int, optional
        Bytes of memory that the table may take; what is free if not given.

    Returns
    -------
    frame : DataFrame (n, columns)
        What does not fit a kind is missing, so that each row can be answered.
    lines : list of str
        What was guessed, and how many cells are missing for it.
    """
    columns = ModelColumns(kinds, levels or {}, date_orders or {})
    return select_from(read_frame(source, told, limit), place(source), columns)


def select_from(reading: Reading, where: str, columns: ModelColumns) -> tuple[pd.DataFrame, list[str]]:
    """The same of rows that were read; ``where`` is what messages call their table."""
    kinds = columns.kinds
    require_columns([str(name) for name in reading.frame.columns], kinds, where)
    frame, remarks = typed_columns(reading, list(kinds), kinds, columns.date_orders)
    raise_all(where, remarks.problems)
    for name in infinite(frame):
        remarks.unread.setdefault(name, Counter()).update({"inf": int(np.isinf(frame[name]).sum())})
        frame[name] = frame[name].where(np.isfinite(frame[name]))
    for name, known in columns.levels.items():
        if known is not None:
            frame[name] = frame[name].astype(object).map({level_text(level): level for level in known})
    lines = [*unread_lines(remarks.unread), *reading_warnings(Remarks(unclear=remarks.unclear))]
    return frame, [*reading.guesses, *(f"{where}: {line}" for line in lines)]


def require_columns(columns: Sequence[str], needed: Iterable[str], where: str) -> None:
    """Refuse a table that lacks a column of a model."""
    known = set(columns)
    missing = [name for name in needed if name not in known]
    if missing:
        raise TableError(
            f"{where}: the model needs column {missing[0]!r}, which the table lacks{nearest(missing[0], columns)}"
            + (f" (and {len(missing) - 1} more: {listing(missing[1:])})" if len(missing) > 1 else "")
        )
