"""The columns that a model needs, out of a table of any size, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from maskrank.tables.large import LargeTable, is_large_file, open_path
from maskrank.tables.paths import is_standard_input, source_path
from maskrank.tables.progress import Told, untold
from maskrank.tables.sample import open_large
from maskrank.tables.selected import ModelColumns, require_columns, select_from
from maskrank.tables.text import Reading

Batches = Iterator[tuple[pd.DataFrame, list[str]]]


def read_batches(
    source: str, columns: ModelColumns, limit: int, rows_at_once: int, told: Told = untold
) -> Batches | None:
    """Rows of a file, as `select_columns` gives them, and what is to be said of them.

    Parameters
    ----------
    source : str
        A path, or "-" for CSV on standard input.
    columns : ModelColumns
        No other columns are read, where a file allows that.
    limit : int
        Bytes; text that needs more is read in batches.
    rows_at_once : int
    told : callable
        Told bytes read and bytes in all, now and then.

    Returns
    -------
    batches : iterator, or None
        None for a file that is read at once.
    """
    path = None if is_standard_input(source) else source_path(source)
    by_columns = path is not None and (is_large_file(path) or path.suffix.lower() == ".parquet")
    opened = (open_path(path, limit), None) if path and by_columns else open_large(source, limit, told=told)
    if opened is None:
        return None
    table, separator = opened
    require_columns(table.names, columns.kinds, table.name)
    return _batches(table, separator, columns, rows_at_once, told)


def _batches(table: LargeTable, separator: str | None, columns: ModelColumns, n: int, told: Told) -> Batches:
    for batch in table.batches(list(columns.kinds), told=told):
        frame = batch.frame()
        for first in range(0, len(frame), n):
            part = frame.iloc[first : first + n].reset_index(drop=True)
            yield select_from(Reading(part, separator=separator), table.name, columns)
