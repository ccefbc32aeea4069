"""CSV that spreadsheets read as it is meant."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

_FORMULA = re.compile(r"[\s\0\ufeff\u200b;,|\"]*[=+\-@＝＋－＠]|[\t\r\n]")  # what a spreadsheet takes for a formula
_QUOTED = "\r\n;\t|"  # cells that hold one of these are quoted: some spreadsheets separate columns by them
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def csv_text(header: Sequence[str] | None, rows: Sequence[Sequence[Any]]) -> str:
    """CSV in which no text starts a formula: one that would gets an apostrophe in front, as spreadsheets expect."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator=_QUOTED)  # quotes what holds any of its characters
    lines = []
    for row in (*([] if header is None else [header]), *rows):
        writer.writerow([_guarded(cell) for cell in row])
        lines.append(stream.getvalue()[: -len(_QUOTED)])
        stream.seek(stream.truncate(0))
    return "\n".join([*lines, ""])


def _guarded(cell: Any) -> Any:
    risky = isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell
