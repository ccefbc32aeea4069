"""CSV that spreadsheets read as it is meant."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

_FORMULA = re.compile(r"[=+\-@\t\r\n＝＋－＠]")  # what makes a spreadsheet take a cell for a formula
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")


def csv_text(header: Sequence[str] | None, rows: Sequence[Sequence[Any]]) -> str:
    """CSV in which no text starts a formula: one that would gets an apostrophe in front, as spreadsheets expect."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")  # quotes what holds either character
    lines = []
    for row in (*([] if header is None else [header]), *rows):
        writer.writerow([_guarded(cell) for cell in row])
        lines.append(stream.getvalue()[:-2])
        stream.seek(stream.truncate(0))
    return "\n".join([*lines, ""])


def _guarded(cell: Any) -> Any:
    risky = isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if risky else cell
