"""Numbers as spreadsheets write them: decimal commas, thousands set apart where nobody can mistake them, a sign of
percent or of money behind or before every number of a column, and marks for what is missing.

``1,5`` can only be one and a half, ``1.234,5`` only a thousand and more; ``1,234`` may be either, and then the other
columns of the file tell, if anything does.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pandas as pd

_GAPS = " '’\u00a0\u202f"  # set thousands apart and never are a decimal mark
_SIGNS = "%‰€$£¥"
_MISSING = frozenset(  # among numbers; pandas knows more, such as NA
    [
        "-",
        "--",
        "–",
        "—",
        ".",
        "?",
        "k.a.",
        "#div/0!",
        "#wert!",
        "#nv",
        "#bezug!",
        "#zahl!",
        "#value!",
        "#ref!",
        "#num!",
        "#name?",
        "#null!",
    ]
)
_BARE = str.maketrans("−", "-", _SIGNS)
_NUMBER_LIKE = re.compile(rf"[+-]?[\d.,{_GAPS}]*\d(?:[eE][+-]?\d+)?")


def _pattern(mark: str, separator: str) -> re.Pattern[str]:
    """Numbers with this decimal mark and, perhaps, this separator of thousands."""
    grouped = rf"[1-9]\d{{0,2}}(?:(?:{separator}\d{{3}})+|(?:[{_GAPS}]\d{{3}})+)"
    return re.compile(rf"[+-]?(?:{grouped}(?:{mark}\d+)?|(?:\d+(?:{mark}\d+)?|{mark}\d+)(?:[eE][+-]?\d+)?)")


_PATTERNS = {",": _pattern(",", r"\."), ".": _pattern(r"\.", ",")}
_APART = {",": str.maketrans("", "", _GAPS + "."), ".": str.maketrans("", "", _GAPS + ",")}


def read_numbers(frame: pd.DataFrame, cells: Callable[[], pd.DataFrame], separator: str) -> pd.DataFrame:
    """The frame with its columns of such numbers turned into numbers.

    Parameters
    ----------
    frame : DataFrame
        As pandas reads it: a column with ``1,5`` is text.
    cells : callable
        Gives the same table with every cell as text.
    separator : str
        Of the file. Where it is a comma, a comma is no decimal mark.
    """
    text = frame.columns[[is_text(frame[name]) for name in frame.columns]]
    waiting = [name for name in text if _begins_with_a_number(frame[name])]
    if not waiting:
        return frame
    fractions = {name for name in frame.columns if pd.api.types.is_float_dtype(frame[name])}
    written = cells()
    texts = {name: _bare(written[name]) for name in (*waiting, *fractions)}
    readings = {name: _readings(column, separator) for name, column in texts.items()}
    evidence = {mark for possible in readings.values() if len(possible) == 1 for mark in possible if mark}
    of_the_file = evidence.pop() if len(evidence) == 1 else None
    numbers = {}
    for name, possible in readings.items():
        if len(possible) == 1:
            mark = next(iter(possible))
        elif of_the_file is None and name not in fractions and all("," in text for text in texts[name] if text):
            mark = ","  # a thousandth of what was meant at worst, and that in every row
        else:
            mark = of_the_file
        if mark in possible and (name not in fractions or mark == ","):
            numbers[name] = possible[mark]
    return pd.DataFrame({name: numbers.get(name, frame[name]) for name in frame.columns}, columns=frame.columns)


def is_text(column: pd.Series) -> bool:
    """Whether a column holds anything but numbers and truth values."""
    return not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def looks_like_numbers(column: pd.Series) -> bool:
    """Whether a column of text holds digits and marks alone, as numbers do."""
    return all(looks_like_a_number(value) for value in column.dropna().tolist())


def looks_like_a_number(value: object) -> bool:
    """Whether a cell holds digits and marks alone."""
    return isinstance(value, str) and _NUMBER_LIKE.fullmatch(value.strip()) is not None


def _begins_with_a_number(column: pd.Series) -> bool:
    """Whether the first cell that is not missing looks like a number, perhaps with a sign."""
    for value in column.dropna().tolist():
        if not (isinstance(value, str) and value.strip().casefold() in _MISSING):
            return isinstance(value, str) and looks_like_a_number(value.translate(_BARE))
    return False


def _bare(written: pd.Series) -> list[str]:
    """The cells without spaces around them, and without a sign before or behind that all of them have; what is missing
    is empty.
    """
    texts = [text.strip().replace("−", "-") if isinstance(text, str) else "" for text in written.tolist()]
    texts = ["" if text.casefold() in _MISSING else text for text in texts]
    given = [text for text in texts if text]
    for sign in _SIGNS if given else "":
        if all(text.count(sign) == 1 and (text[-1] == sign or text.lstrip("+- ")[0] == sign) for text in given):
            return [text.replace(sign, "").strip() for text in texts]
    return texts


def _readings(texts: list[str], separator: str) -> dict[str | None, list[float]]:
    """What a column may say, by the decimal mark; by None where both marks come to the same."""
    marks = "." if separator == "," else ",."
    readings: dict[str | None, list[float]] = {
        mark: [_number(text, mark) for text in texts]
        for mark in marks
        if all(not text or _PATTERNS[mark].fullmatch(text) for text in texts)
    }
    if len(readings) == 2 and np.array_equal(readings[","], readings["."], equal_nan=True):
        return {None: readings["."]}
    return readings


def _number(text: str, mark: str) -> float:
    return float(text.translate(_APART[mark]).replace(mark, ".")) if text else np.nan
