"""The error of a table that can't be used, and the words of its messages."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable, Sequence

_LONGEST = 200  # characters of a name in a message
_MOST_SHOWN = 8  # columns that a message names one by one


class TableError(ValueError):
    """A table that can't be used, and why: one line for each problem."""


def raise_all(where: str, problems: Sequence[str]) -> None:
    """Raise one error that lists every problem, or none if there is none."""
    if problems:
        raise TableError("\n".join(f"{where}: {problem}" for problem in problems))


def first_line(error: Exception) -> str:
    """What an error of a library says, in a line."""
    return next((line for line in str(error).splitlines() if line.strip()), type(error).__name__)


def listing(names: Iterable[str], most: int = _MOST_SHOWN) -> str:
    """The first names, and how many there are."""
    names = list(names)
    shown = ", ".join(repr(cut(str(name))) for name in names[:most])
    return shown + (f", … ({len(names)} in all)" if len(names) > most else "")


def cut(name: str) -> str:
    """A name that is very long without its middle."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST // 2]}…{name[-_LONGEST // 2 :]}"


def nearest(name: str, names: Iterable[str]) -> str:
    """A question about the nearest name, for the end of a message; empty where none is near."""
    folded = {str(known).casefold(): str(known) for known in names}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return f"; did you mean {cut(folded[close[0]])!r}?" if close else ""


def unknown(name: str, names: Sequence[str]) -> str:
    """That there is no such column, and which is nearest."""
    same = [known for known in names if unicodedata.normalize("NFC", known) == unicodedata.normalize("NFC", name)]
    if same:  # a letter and its accent are one character, or two
        how = f"looks the same and is composed of other characters, {cut(same[0])!a}: rename it in the table"
        return f"there is no column {cut(name)!a}; one that {how}"
    return f"there is no column {cut(name)!r}{nearest(name, names) or f'; there are {listing(names)}'}"


def require_unique(names: Sequence[str], where: str) -> None:
    """Refuse columns without a name, of one name, or of a name that is no text."""
    seen: set[str] = set()
    try:
        "".join(names).encode()
    except UnicodeEncodeError as error:
        raise TableError(f"{where}: the name of a column holds half a pair of characters, which no text has") from error
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise TableError(f"{where}: column {place} has no name; name it, or remove the separator that opens it")
        if name in seen:
            raise TableError(f"{where}: the column name {cut(name)!r} occurs twice; names must be unique")
        seen.add(name)
