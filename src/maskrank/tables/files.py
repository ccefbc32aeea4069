"""Files of any known kind into frames: text with any separator, packed or not, Parquet, .npz (arrays X, y,
feature_names), the first sheet of an Excel file, standard input.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import warnings
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd

from maskrank.tables.errors import TableError
from maskrank.tables.large import is_large_file, open_path
from maskrank.tables.parquet import read_parquet
from maskrank.tables.progress import Told, untold
from maskrank.tables.text import Reading, Text, check_utf8, decode, read_csv, require_unique
from maskrank.tables.unchanged import Unchanged

_TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (*_TEXT, ".parquet", ".arrow", ".feather", ".npy", ".npz", ".xlsx")
KNOWN = f"{', '.join(SUFFIXES)}, .gz and .zst of text, or a folder of Parquet files"


def read_frame(source: str, told: Told = untold) -> Reading:
    """Read a file, or CSV on standard input ("-").

    Parameters
    ----------
    source : str
    told : callable
        Told bytes done and bytes in all, now and then.
    """
    if source == "-":
        return _read_text(sys.stdin.buffer.read(), place(source))
    path = Path(source)
    if not path.exists():
        raise TableError(f"{source}: there is no such file")
    if is_large_file(path):
        return Reading(open_path(path).frame(told=told))
    try:
        reading = _reader(path)(path, told)
    except PermissionError as error:
        raise TableError(f"{source}: can't be read: no permission") from error
    if reading.frame.empty:
        raise TableError(f"{source}: the table has no rows")
    return reading


def _reader(path: Path) -> Callable[[Path, Told], Reading]:
    """What reads a file of this name."""
    *_, before, suffix = ["", "", *(suffix.lower() for suffix in path.suffixes)]
    if suffix in _UNPACKED and before in _TEXT:
        return lambda path, told: _read_text(_UNPACKED[suffix](path), str(path))
    if suffix in _TEXT:
        return _read_text_file
    if suffix == ".parquet":
        return _read_parquet
    if suffix in _TABLES:
        return lambda path, told: _TABLES[suffix](path)
    hint = ": save the sheet as .xlsx or as CSV" if suffix in (".xls", ".ods", ".numbers") else ""
    raise TableError(f"{path}: files ending in {path.suffix or 'nothing'!r} are not known; use {KNOWN}{hint}")


def is_plain_text(path: Path) -> bool:
    """Whether a path is a file of text by its name, as it is on disk, not packed."""
    return path.is_file() and path.suffix.lower() in _TEXT


def is_named_npz(source: str) -> bool:
    """Whether a source is an .npz file by its name: only these know their target."""
    return source.lower().endswith(".npz")


def _gunzip(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise TableError(f"{path}: is not a gzip file, or it is damaged") from error


def _unzst(path: Path) -> bytes:
    try:
        import zstandard
    except ImportError as error:
        raise TableError(f"{path}: reading .zst needs zstandard: pip install 'maskrank[zstd]'") from error
    left, parts = path.read_bytes(), []
    try:
        while left:  # frame by frame; a reader of streams takes a file that breaks off for a shorter one
            frame = zstandard.ZstdDecompressor().decompressobj()
            parts.append(frame.decompress(left))
            if not frame.eof:
                raise TableError(f"{path}: is damaged: it breaks off")
            left = frame.unused_data
    except zstandard.ZstdError as error:
        raise TableError(f"{path}: is not a Zstandard file, or it is damaged") from error
    return b"".join(parts)


def _read_text(content: bytes, where: str) -> Reading:
    text, guesses = decode(content, where)
    reading = read_csv(Text.of(text), where)
    return replace(reading, guesses=guesses + reading.guesses)


def _read_text_file(path: Path, told: Told) -> Reading:
    """UTF-8 is read as it is parsed, other text at once."""
    if not path.is_file():  # but something that can be read only once
        return _read_text(path.read_bytes(), str(path))
    with Unchanged([path]) as files:
        told(0, files.n_bytes)
        if is_utf8(path):
            return read_csv(utf8_text(path, told), str(path))
        return _read_text(path.read_bytes(), str(path))


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


def place(source: str) -> str:
    """What a message calls the source."""
    return "standard input" if source == "-" else source


def _read_npz(path: Path) -> Reading:
    """X as columns and, where there is one, y as a column more."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("X", "y", "feature_names") if name in archive}
    except PermissionError:
        raise
    except Exception as error:  # numpy, zipfile and zlib each raise their own kinds on a damaged archive
        raise TableError(f"{path}: is not an .npz file of plain arrays, or it is damaged") from error
    if "X" not in arrays:
        raise TableError(f"{path}: has no array 'X'; an .npz table holds X, y and perhaps feature_names")
    X, y = arrays["X"], arrays.get("y")
    if X.ndim != 2 or (y is not None and y.shape != (len(X),)):
        shapes = f"X has shape {X.shape}" + ("" if y is None else f" and y {y.shape}")
        raise TableError(f"{path}: {shapes}; (rows, features) and (rows,) are needed")
    if X.dtype.kind not in "biuf":
        raise TableError(f"{path}: X holds values of type {X.dtype}; real numbers are needed")
    names = [str(name) for name in arrays.get("feature_names", [f"x{i}" for i in range(X.shape[1])])]
    if len(names) != X.shape[1]:
        raise TableError(f"{path}: feature_names has {len(names)} entries for {X.shape[1]} features")
    require_unique(names if y is None else [*names, "y"], str(path))
    frame = pd.DataFrame(X, columns=names)
    return Reading(frame if y is None else pd.concat([frame, pd.Series(y, name="y")], axis=1))


def _read_parquet(path: Path, told: Told) -> Reading:
    frame = read_parquet(path, told)
    frame.columns = [str(name) for name in frame.columns]
    require_unique(list(frame.columns), str(path))
    return Reading(frame)


def _read_excel(path: Path) -> Reading:
    """The first sheet, read as the text that it shows would be."""
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise TableError(f"{path}: reading .xlsx needs openpyxl: pip install 'maskrank[excel]'") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of styles and extensions that a table does not need
            book = load_workbook(io.BytesIO(path.read_bytes()), read_only=True, data_only=True)
            sheets = [sheet.title for sheet in book.worksheets]
            rows = list(book.worksheets[0].iter_rows(values_only=True)) if sheets else []
    except PermissionError:
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
    return replace(reading, guesses=[*(more if others else []), *reading.guesses])


def _line(row: Sequence[Any], width: int) -> list[str]:
    """The cells of a row as text; a row without any is an empty line, which readers leave out."""
    cells = ["" if cell is None else _cell(cell) for cell in row]
    return [*cells, *[""] * (width - len(cells))] if any(cells) else []


def _cell(cell: Any) -> str:
    if isinstance(cell, datetime) and not (cell.hour or cell.minute or cell.second or cell.microsecond):
        cell = cell.date()
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


_OWN_SEPARATOR = ";"  # a comma would rule out decimal commas
_UNPACKED: dict[str, Callable[[Path], bytes]] = {".gz": _gunzip, ".zst": _unzst}
_TABLES: dict[str, Callable[[Path], Reading]] = {".npz": _read_npz, ".xlsx": _read_excel}
