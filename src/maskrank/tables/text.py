"""CSV as people and spreadsheets write it: its encoding, its separator, its rows.

A file is read in parts of some rows, straight into columns, so that its text is never in memory as a whole.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import BinaryIO, TextIO

import pandas as pd

from maskrank.tables.decimals import is_text, read_numbers, text_columns
from maskrank.tables.errors import TableError, require_unique
from maskrank.tables.parts import join_columns
from maskrank.terminal.text import drop_flags

_SEPARATORS = ",;\t|"
_PACKED = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # how .xlsx, .ods and .xls begin
_LOOKED_AT = 20  # rows, to tell the separator
_AT_ONCE = 1 << 21  # cells that are parsed in one go
_BLOCK = 1 << 24  # bytes of a file that are checked in one go
_HEAD = 1 << 16  # characters that are looked at for the beginning of a table
_BLANK_LINES = re.compile(r"(?:\ufeff| *[\r\n])+| +\Z")  # spaces alone are no line for pandas either
_NAMED_SEPARATOR = re.compile(r'"?sep=([,;\t|])"?[,;\t|]*(?:\r\n|\r|\n)', re.IGNORECASE)  # for Excel, above the header


def decode(content: bytes, where: str) -> tuple[str, list[str]]:
    """The text of a file, and what had to be guessed for it."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return _decode_wide(content, where), []
    if b"\0" in content:
        what = " (a spreadsheet? name it .xlsx, or save the sheet as CSV)" if content.startswith(_PACKED) else ""
        raise TableError(f"{where}: is a binary file, not text{what}")
    try:
        return content.decode("utf-8-sig"), []
    except UnicodeDecodeError as error:
        text = content.decode("cp1252", errors="replace")
        if re.search("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f\ufffd]", text):
            raise TableError(f"{where}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from error
        return text, [f"{where}: is not UTF-8 text, so it was read as Windows-1252; save it as UTF-8 if names look odd"]


def check_utf8(stream: BinaryIO) -> bool:
    """Whether a file is plain UTF-8 text; it is read in blocks, and not kept."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while block := stream.read(_BLOCK):
            if b"\0" in block:
                return False
            decoder.decode(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


@dataclass(frozen=True)
class Text:
    """Text in a file or in memory, which can be read again and again.

    Attributes
    ----------
    source : callable
        Opens the text at its beginning, with the ends of lines as they are.
    skipped : int
        Characters at the beginning that are no part of the table.
    """

    source: Callable[[], TextIO]
    skipped: int = 0

    @classmethod
    def of(cls, text: str) -> Text:
        """Text in memory."""
        return cls(lambda: io.StringIO(text, newline=""))

    def open(self) -> TextIO:
        """The text from the beginning of the table on."""
        stream = self.source()
        stream.read(self.skipped)
        return stream

    def head(self) -> str:
        """The first characters of the table."""
        with self.open() as stream:
            return stream.read(_HEAD)

    def all(self) -> str:
        """All of the table."""
        with self.open() as stream:
            return stream.read()

    @property
    def lines_above(self) -> int:
        """Lines before the table."""
        with self.source() as stream:
            return len(stream.read(self.skipped).splitlines())

    def after(self, characters: int) -> Text:
        """The same without so many of its first characters."""
        return replace(self, skipped=self.skipped + characters)

    def without_blank_lines(self) -> Text:
        """The same from its first line on that is not empty."""
        text, head = self, self.head()
        while head:
            blank = _BLANK_LINES.match(head)
            text = text.after(blank.end() if blank else 0)
            if blank is None or blank.end() < len(head):
                return text
            head = text.head()
        return text


@dataclass(frozen=True)
class Reading:
    """A file as a frame.

    Attributes
    ----------
    frame : DataFrame
        With unique column names and at least one row.
    guesses : list of str
        What the file did not say and had to be guessed, one line each.
    turned : list of str
        Columns of text that were read as the numbers of a spreadsheet.
    unread : dict of Counter
        Cells of these columns that are missing values, such as ``unknown``.
    cells : callable, optional
        Gives some columns, by their names, with every cell as the text that stands in the file.
    separator : str, optional
        Of a file of text.
    """

    frame: pd.DataFrame
    guesses: list[str] = field(default_factory=list)
    turned: list[str] = field(default_factory=list)
    unread: dict[str, Counter[str]] = field(default_factory=dict)
    cells: Callable[[Sequence[str]], pd.DataFrame] | None = None
    separator: str | None = None


@dataclass(frozen=True)
class Layout:
    """Where the table of a text begins, and what its columns are called.

    Attributes
    ----------
    text : Text
        From the header on.
    separator : str
    header : list of str
        Unique names.
    nameless : set of str
        Those that are places, as the file has no names for them.
    above : int
        Lines before the header.
    """

    text: Text
    separator: str
    header: list[str]
    nameless: set[str]
    above: int


def find_layout(given: Text, where: str, separator: str | None = None) -> Layout:
    """The header of a table, and its separator unless that is given."""
    text = given.without_blank_lines()
    if separator is None:
        text, separator = _find_separator(text)
    if not text.head().strip() and not text.all().strip():
        raise TableError(f"{where}: the file is empty")
    above = text.lines_above
    try:
        header = next(_rows(text, separator))
    except csv.Error as error:
        raise TableError(f"{where}: is not a table: {error}") from error
    nameless = {f"column {place}" for place, name in enumerate(header, 1) if not name.strip()}
    header = [name if name.strip() else f"column {place}" for place, name in enumerate(header, 1)]
    require_unique(header, where)
    return Layout(text, separator, header, nameless, above)


def read_csv(given: Text, where: str, separator: str | None = None) -> Reading:
    """CSV, or the like with another separator, which is found unless it is given."""
    layout = find_layout(given, where, separator)
    separator, header = layout.separator, layout.header
    with ragged_rows_named(layout, where):
        frame = _parse(layout)
    if frame.empty:
        raise TableError(f"{where}: the file has a header but no rows")
    empty = {name for name in layout.nameless if frame[name].isna().all()}
    named = [name for name in header if name not in empty]  # spreadsheets leave empty columns behind the last
    if named and frame[named[-1]].isna().any():
        raise_ragged(layout, where, fewest=1 + header.index(named[-1]))
    guesses = _named_by_place([name for name in named if name in layout.nameless], where, layout.above)
    filled = frame.notna().any(axis=1).to_numpy().nonzero()[0]
    rows = slice(filled[-1] + 1 if len(filled) else 0)  # nor are the empty rows below the last rows
    known: dict[str, pd.Series] = {}

    def cells(names: Sequence[str]) -> pd.DataFrame:
        unknown = [name for name in names if name not in known]
        if unknown:
            known.update(_parse(layout, unknown, dtype=str).iloc[rows].items())
        return pd.DataFrame({name: known[name] for name in names}, columns=list(names))

    written = (frame[named] if empty else frame).iloc[rows]
    texts = text_columns(written)
    frame, unread = read_numbers(written, cells, separator)
    turned = [name for name in texts if not is_text(frame[name])]
    return Reading(frame, guesses, turned, unread, cells, separator)


def _named_by_place(names: list[str], where: str, above: int) -> list[str]:
    """A warning of a column that has values but no name; of several, an error: then the header is not the header."""
    if len(names) > 1:
        raise TableError(
            f"{where}: {', '.join(names[:8])} have no name; is line {above + 1} the header? Remove what stands above "
            "it, or name the columns"
        )
    return [
        f"{where}: {name} has no name and is called {name!r} here; leave it out with {drop_flags([name])} if it only "
        "numbers the rows"
        for name in names
    ]


def _decode_wide(content: bytes, where: str) -> str:
    """The "Unicode text" of spreadsheets."""
    try:
        text = content.decode("utf-16")
    except UnicodeDecodeError as error:
        raise TableError(f"{where}: is not UTF-16 text, as its first bytes say; save it as UTF-8") from error
    if "\0" in text:
        raise TableError(f"{where}: is a binary file, not text")
    return text


def _find_separator(text: Text) -> tuple[Text, str]:
    """The text from its header on, and the separator that gives most columns, the same in each of the first rows.

    Columns that only spaces set apart are set apart by tabs in this text.
    """
    named = _NAMED_SEPARATOR.match(text.head())
    if named:
        return text.after(named.end()), named[1]

    def columns(separator: str) -> tuple[bool, int]:
        try:
            widths = [len(row) for row in islice(_rows(text, separator), _LOOKED_AT) if row]
        except csv.Error:
            return False, 0
        return len(set(widths)) == 1 and widths[0] > 1, widths[0] if widths else 0

    separator = max(_SEPARATORS, key=columns)
    if not columns(separator)[0]:
        whole = text.all()
        widths = {len(line.split()) for line in islice(whole.splitlines(), _LOOKED_AT) if line.strip()}
        if '"' not in whole and len(widths) == 1 and widths.pop() > 1:
            by_tabs = "".join("\t".join(line.split()) + "\n" for line in whole.splitlines())
            return Text.of("\n" * text.lines_above + by_tabs).after(text.lines_above), "\t"
    return text, separator


def _parse(
    layout: Layout, names: Sequence[str] | None = None, *, rows_at_once: int | None = None, **options: object
) -> pd.DataFrame:
    """All rows of the named columns, by default of all, each of the type that pandas infers from the whole column."""
    wanted = layout.header if names is None else list(names)
    height = rows_at_once or max(1, _AT_ONCE // len(layout.header))
    parts: dict[str, list[pd.Series]] = {}
    for n_before, part in enumerate(parsed_parts(layout, names, height, **options)):
        if len(part) < height and not n_before:
            return part.copy() if names is None else part[wanted]  # columns of a type lie together in a copy
        parts = parts or {str(name): [] for name in part.columns}
        for name, pieces in parts.items():
            pieces.append(part[name].copy())
    joined = join_columns(parts)
    if joined.texts:
        joined.columns |= dict(_parse(layout, joined.texts, dtype=str).items())
    if joined.unclear:
        joined.columns |= dict(_parse(layout, joined.unclear, rows_at_once=sys.maxsize >> 1).items())
    return pd.DataFrame({name: joined.columns[name] for name in wanted}, copy=False)


def parsed_parts(
    layout: Layout, names: Sequence[str] | None = None, height: int | None = None, **options: object
) -> Iterator[pd.DataFrame]:
    """Some rows after the other, with the types that pandas infers from these rows alone.

    Parameters
    ----------
    layout : Layout
    names : sequence of str, optional
        Only these columns, which keep the order of the file.
    height : int, optional
        Rows at once.
    options : dict
        Others of ``pandas.read_csv``.
    """
    header = layout.header
    used = header
    if names is not None:
        asked = set(names)
        places = [place for place, name in enumerate(header) if name in asked]
        used, options["usecols"] = [header[place] for place in places], places
    height = height or max(1, _AT_ONCE // len(header))
    with (
        layout.text.open() as stream,
        pd.read_csv(
            stream, sep=layout.separator, index_col=False, low_memory=False, chunksize=height, **options
        ) as chunks,
    ):
        for chunk in chunks:
            chunk.columns = used
            yield chunk


def _rows(text: Text, separator: str) -> Iterator[list[str]]:
    with text.open() as stream:
        yield from csv.reader(stream, delimiter=separator)


@contextmanager
def ragged_rows_named(layout: Layout, where: str) -> Iterator[None]:
    """Say which line is not one of the table where the parser can't go on."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            yield
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError) as error:
        raise_ragged(layout, where)
        raise TableError(f"{where}: is not a table: {str(error).strip()}") from error


def raise_ragged(layout: Layout, where: str, fewest: int | None = None) -> None:
    """Raise where a row has more or fewer fields than the header (a reader fills up short ones in silence)."""
    expected, above = len(layout.header), layout.above
    with layout.text.open() as stream:
        reader = csv.reader(stream, delimiter=layout.separator)
        try:
            for row in reader:
                blank = not row or (len(row) == 1 and not row[0].strip())
                if not blank and not (fewest or expected) <= len(row) <= expected:
                    line = above + reader.line_num
                    raise TableError(f"{where}: line {line} has {len(row)} fields, the header has {fewest or expected}")
        except csv.Error as error:
            raise TableError(f"{where}: is not a table: line {above + reader.line_num}: {error}") from error
