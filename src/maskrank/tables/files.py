"""Files of any known kind into frames: text with any separator, compressed or not, Parquet, .npz (arrays X, y,
feature_names), the first sheet of an Excel file, standard input.
"""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from maskrank.tables.arrays import read_npz
from maskrank.tables.errors import TableError, listing, require_unique
from maskrank.tables.large import is_large_file, open_path
from maskrank.tables.memory import free_bytes, require_room
from maskrank.tables.packed import Bounded, check_archive, damage_named, open_packed
from maskrank.tables.parquet import read_parquet
from maskrank.tables.paths import is_standard_input, place, source_path
from maskrank.tables.progress import Told, untold
from maskrank.tables.text import Reading, Text, check_utf8, decode, read_csv
from maskrank.tables.unchanged import Unchanged

Reader = Callable[[Path, Told, int], Reading]

_TEXT = (".csv", ".tsv", ".txt")
_CELL = 8  # bytes
_MOST_NAMED = 3  # columns of formulas
_BLOCK = 1 << 20  # bytes of standard input at once
SUFFIXES = (*_TEXT, ".parquet", ".arrow", ".feather", ".npy", ".npz", ".xlsx")
KNOWN = f"{', '.join(SUFFIXES)}, .gz and .zst of text, or a folder of Parquet files"


def read_frame(source: str, told: Told = untold, limit: int | None = None) -> Reading:
    """Read a file, or CSV on standard input ("-").

    Parameters
    ----------
    source : str
    told : callable
        Told bytes done and bytes in all, now and then.
    limit : int, optional
        Bytes of memory that it may take; what is free if not given.
    """
    limit = free_bytes() if limit is None else limit
    if is_standard_input(source):
        return _read_stream(_standard_input(), place(source), limit)
    path = source_path(source)
    if is_large_file(path):
        return Reading(open_path(path, limit).frame(told=told, limit=limit))
    try:
        reading = _reader(path)(path, told, limit)
    except PermissionError as error:
        raise TableError(f"{source}: can't be read: no permission") from error
    if reading.frame.empty:
        raise TableError(f"{source}: the table has no rows")
    return reading


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise TableError("standard input: can't be read: it is closed")
    return sys.stdin.buffer


def _reader(path: Path) -> Reader:
    """What reads a file of this name."""
    *_, before, suffix = ["", "", *(suffix.lower() for suffix in path.suffixes)]
    if suffix in _PACKED and before in _TEXT:
        return _read_packed_text
    if suffix in _TEXT:
        return _read_text_file
    if suffix in _TABLES:
        return _TABLES[suffix]
    hint = ": save the sheet as .xlsx or as CSV" if suffix in (".xls", ".ods", ".numbers") else ""
    raise TableError(f"{path}: files ending in {path.suffix or 'nothing'!r} are not known; use {KNOWN}{hint}")


def is_plain_text(path: Path) -> bool:
    """Whether a path is a file of text by its name, as it is on disk, not packed."""
    return path.is_file() and path.suffix.lower() in _TEXT


def is_named_npz(source: str) -> bool:
    """Whether a source is an .npz file by its name: only these know their target."""
    return source.lower().endswith(".npz")


def _read_text(content: bytes, where: str) -> Reading:
    text, guesses = decode(content, where)
    reading = read_csv(Text.of(text), where)
    return replace(reading, guesses=guesses + reading.guesses)


def _read_stream(stream: BinaryIO, where: str, limit: int) -> Reading:
    """Text that can be read only once."""
    try:
        with io.BufferedReader(Bounded(stream, where, limit), _BLOCK) as bounded:
            return _read_text(bounded.read(), where)
    except OSError as error:
        raise TableError(f"{where}: can't be read: {error.strerror or error}") from error


def _read_text_file(path: Path, told: Told, limit: int) -> Reading:
    """UTF-8 is read as it is parsed, other text at once."""
    with Unchanged([path]) as files:
        told(0, files.n_bytes)
        require_room(str(path), files.n_bytes, limit)
        if is_utf8(path):
            return read_csv(utf8_text(path, told), str(path))
        return _read_text(path.read_bytes(), str(path))


def _read_packed_text(path: Path, told: Told, limit: int) -> Reading:
    """The same for a compressed file, which is decompressed each time it is read."""
    with Unchanged([path]), damage_named(path):
        with open_packed(path, limit) as stream:
            plain = check_utf8(stream)
        if plain:
            opened = partial(io.TextIOWrapper, encoding="utf-8-sig", newline="")
            return read_csv(Text(lambda: opened(open_packed(path, limit))), str(path))
        with open_packed(path, limit) as stream:
            return _read_text(stream.read(), str(path))


def is_utf8(path: Path) -> bool:
    """Whether a file is plain UTF-8 text."""
    with path.open("rb") as file:
        return check_utf8(file)


def utf8_text(path: Path, told: Told = untold) -> Text:
    """The text of a file, whose reader tells how far it is."""

    def opened() -> TextIO:
        return io.TextIOWrapper(io.BufferedReader(_Counted(path, told)), encoding="utf-8-sig", newline="")

    return Text(opened)


class _Counted(io.FileIO):
    """A file that tells how far it is read."""

    def __init__(self, path: Path, told: Told) -> None:
        super().__init__(path)
        self._told, self._size = told, path.stat().st_size

    def readinto(self, buffer: Any) -> Any:
        n = super().readinto(buffer)
        self._told(self.tell(), self._size)
        return n


def _read_npz(path: Path, told: Told, limit: int) -> Reading:
    return read_npz(path, limit)


def _read_parquet(path: Path, told: Told, limit: int) -> Reading:
    frame = read_parquet(path, told, limit)
    frame.columns = [str(name) for name in frame.columns]
    require_unique(list(frame.columns), str(path))
    return Reading(frame)


def _read_excel(path: Path, told: Told, limit: int) -> Reading:
    """The first sheet, read as the text that it shows would be."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise TableError(f"{path}: reading .xlsx needs openpyxl: pip install 'maskrank[excel]'") from error
    try:
        check_archive(path, limit)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that a table does not need
            book = load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True)
            sheets = [sheet.title for sheet in book.worksheets]
            rows = _rows_of_sheet(book.worksheets[0], path, limit) if sheets else []
            formulas = _formulas_without_values(path, rows)
    except (PermissionError, TableError, MemoryError):
        raise
    except Exception as error:  # openpyxl, zipfile and the parser of XML each raise their own kinds
        raise TableError(f"{path}: is not an .xlsx file, or it is damaged") from error
    width = max((len(row) for row in rows), default=0)
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=_OWN_SEPARATOR, lineterminator="\n")
    writer.writerows(_line(row, width) for row in rows)
    reading = read_csv(Text.of(stream.getvalue()), str(path), _OWN_SEPARATOR)
    others = len(sheets) - 1
    more = [f"{path}: has {others} more sheet{'s' if others > 1 else ''}; the first, {sheets[0]!r}, was read"]
    hint = "formulas without values, which are read as missing: save the file in a spreadsheet program first"
    uncomputed = [f"{path}: column {listing([name])} holds {hint}" for name in formulas[:_MOST_NAMED]]
    return replace(reading, guesses=[*(more if others else []), *uncomputed, *reading.guesses])


def _rows_of_sheet(sheet: Any, path: Path, limit: int) -> list[Sequence[Any]]:
    """The rows of a sheet without the empty cells at their ends, which one far cell gives to all of them."""
    rows: list[Sequence[Any]] = []
    width = 0
    for row in sheet.iter_rows(values_only=True):
        filled = next((k for k in range(len(row), 0, -1) if row[k - 1] is not None), 0)
        rows.append(row[:filled])
        width = max(width, filled)
        require_room(str(path), _CELL * width * len(rows), limit)
    return rows


def _formulas_without_values(path: Path, rows: list[Sequence[Any]]) -> list[str]:
    """The names of empty columns that hold formulas, whose values no program has computed."""
    from openpyxl import load_workbook

    filled = {k for row in rows[1:] for k, cell in enumerate(row) if cell is not None}
    empty = {k: str(cell) for k, cell in enumerate(rows[0] if rows else []) if cell is not None and k not in filled}
    if not empty:
        return []
    book = load_workbook(io.BytesIO(path.read_bytes()), read_only=True)
    found: dict[str, None] = {}
    for row in book.worksheets[0].iter_rows(min_row=2):
        found |= {empty[k]: None for k, cell in enumerate(row) if k in empty and cell.data_type == "f"}
    return list(found)


def _line(row: Sequence[Any], width: int) -> list[str]:
    """The cells of a row as text; a row without any is an empty line, which readers leave out."""
    cells = ["" if cell is None else _cell(cell) for cell in row]
    return [*cells, *[""] * (width - len(cells))] if any(cells) else []


def _cell(cell: Any) -> str:
    if isinstance(cell, datetime) and not (cell.hour or cell.minute or cell.second or cell.microsecond):
        cell = cell.date()
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


_OWN_SEPARATOR = ";"  # a comma would rule out decimal commas
_PACKED = (".gz", ".zst")
_TABLES: dict[str, Reader] = {".npz": _read_npz, ".parquet": _read_parquet, ".xlsx": _read_excel}
