"""A uniform sample of a file that is larger than the memory limit, read as any file is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.conversion import convert_csv
from maskrank.tables.decimals import is_text, read_numbers
from maskrank.tables.files import is_plain_text
from maskrank.tables.large import LargeTable, check_small, is_large_file, open_path
from maskrank.tables.memory import fits_in_memory, sample_rows
from maskrank.tables.paths import is_standard_input, source_path
from maskrank.tables.progress import Told, untold
from maskrank.tables.sampling import draw_rows
from maskrank.tables.text import Reading

_JUDGING = 0.05  # share of the rows of a sample
_BYTES_OF_CELL = 8  # of a file of text, about


@dataclass(frozen=True)
class Sample:
    """Some rows of a large table.

    Attributes
    ----------
    table : LargeTable
    rows : ndarray (n,) of int
        Their sorted numbers.
    reading : Reading
        Most of these rows.
    judging : DataFrame
        The others, which decide whether a predictor is better for the rows that are not in the sample.
    """

    table: LargeTable
    rows: NDArray[np.int64]
    reading: Reading
    judging: pd.DataFrame

    @property
    def n_rows(self) -> int:
        """Rows that a fit sees."""
        return len(self.reading.frame)

    @classmethod
    def draw(
        cls, table: LargeTable, size: int, seed: int, *, separator: str | None = None, told: Told = untold
    ) -> Sample:
        """A sample of that many rows, in one pass over the table."""
        rows = draw_rows(table.n_rows, size, seed)
        frame = table.take(rows, told=told)
        judging = np.random.default_rng([seed, 1]).random(len(rows)) < _JUDGING
        reading = as_reading(frame[~judging].reset_index(drop=True), separator)
        return cls(table, rows, reading, frame[judging].reset_index(drop=True))


def read_sample(
    source: str, limit: int, *, seed: int = 0, texts: Sequence[str] = (), told: Told = untold
) -> Sample | None:
    """A sample of a file; None where all of it fits into the limit, or where its kind can't be read in batches.

    Parameters
    ----------
    source : str
        A path; standard input is never a large table.
    limit : int
        Bytes.
    seed : int
    texts : sequence of str
        Columns that are read as the text that stands in the file.
    told : callable
        Told bytes read and bytes in all, now and then.
    """
    opened = open_large(source, limit, texts=texts, told=told)
    if opened is None:
        return None
    table, separator = opened
    size = sample_rows(limit, table.n_rows, len(table.names), "--memory")
    if separator is None:
        check_small([file for file in table.files if file.suffix.lower() == ".parquet"], limit)
    return Sample.draw(table, size, seed, separator=separator, told=told)


def open_large(
    source: str, limit: int, *, texts: Sequence[str] = (), told: Told = untold
) -> tuple[LargeTable, str | None] | None:
    """A file that is larger than a limit, and its separator if it is text; None for others.

    Parameters are those of `read_sample`.
    """
    if is_standard_input(source):
        return None
    path = source_path(source)
    if is_plain_text(path):
        cells = path.stat().st_size // _BYTES_OF_CELL
        return None if fits_in_memory(cells, limit) else convert_csv(path, texts, told)
    if not (is_large_file(path) or path.suffix.lower() == ".parquet"):
        return None
    table = open_path(path)
    return None if fits_in_memory(table.n_rows * len(table.names), limit) else (table, None)


def as_reading(frame: pd.DataFrame, separator: str | None) -> Reading:
    """Rows of a large table as those of a file; in text, numbers as spreadsheets write them are numbers."""
    if separator is None:
        return Reading(frame)

    def cells(names: Sequence[str]) -> pd.DataFrame:
        return frame[list(names)].astype(str).where(frame[list(names)].notna())

    read, unread = read_numbers(frame, cells, separator)
    turned = [name for name in frame.columns if is_text(frame[name]) and not is_text(read[name])]
    return Reading(read, [], turned, unread, cells, separator)
