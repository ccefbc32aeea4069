"""Numbers as spreadsheets write them: decimal commas, thousands set apart where nobody can mistake them, a sign of
percent or of money behind or before every number of a column, and marks for what is missing.

``1,5`` can only be one and a half, ``1.234,5`` only a thousand and more; ``1,234`` may be either, and then the other
columns of the file tell, if anything does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

_GAPS = " '’\u00a0\u202f"  # set thousands apart and never are a decimal mark
_SIGNS = "%‰€$£¥"
NOTHING = frozenset(["", "na", "n/a", "nan", "null", "none", "<na>", "#n/a"])  # pandas knows them without spaces
_MISSING = NOTHING | frozenset(  # among numbers; pandas knows more, such as NA
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
        "unknown",
        "missing",
        "not available",
        "unbekannt",
    ]
)
_MOST_WORDS = 0.05  # of the cells of a column of numbers; not measured
_LOOKED_AT = 100  # cells that rule out most columns of text cheaply
_BARE = str.maketrans("−", "-", _SIGNS)
_NUMBER_LIKE = re.compile(rf"[+-]?[\d.,{_GAPS}]*\d(?:[eE][+-]?\d+)?")


def _pattern(mark: str, separator: str) -> re.Pattern[str]:
    """Numbers with this decimal mark and, perhaps, this separator of thousands."""
    grouped = rf"[1-9]\d{{0,2}}(?:(?:{separator}\d{{3}})+|(?:[{_GAPS}]\d{{3}})+)"
    return re.compile(rf"[+-]?(?:{grouped}(?:{mark}\d+)?|(?:\d+(?:{mark}\d+)?|{mark}\d+)(?:[eE][+-]?\d+)?)")


_PATTERNS = {",": _pattern(",", r"\."), ".": _pattern(r"\.", ",")}
_APART = {",": str.maketrans("", "", _GAPS + "."), ".": str.maketrans("", "", _GAPS + ",")}


def read_numbers(
    frame: pd.DataFrame, cells: Callable[[Sequence[str]], pd.DataFrame], separator: str
) -> tuple[pd.DataFrame, dict[str, Counter[str]]]:
    """The frame with its columns of such numbers turned into numbers.

    A few words among many numbers are missing values.

    Parameters
    ----------
    frame : DataFrame
        As pandas reads it: a column with ``1,5`` is text.
    cells : callable
        Gives some of its columns with every cell as text.
    separator : str
        Of the file. Where it is a comma, a comma is no decimal mark.

    Returns
    -------
    frame : DataFrame
    unread : dict of Counter
        The cells of each of these columns that are missing values, and how many there are.
    """
    waiting = [name for name in text_columns(frame) if mostly_numbers(frame[name])]
    if not waiting:
        return frame, {}
    kinds = zip(frame.columns, frame.dtypes, strict=True)
    fractions = dict.fromkeys(name for name, kind in kinds if pd.api.types.is_float_dtype(kind))
    written = cells([*waiting, *fractions])
    unread = {name: Counter[str]() for name in waiting}
    texts = {name: _bare(written[name], unread.get(name)) for name in (*waiting, *fractions)}
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
    read = pd.DataFrame({name: numbers.get(name, frame[name]) for name in frame.columns}, columns=frame.columns)
    return read, {name: counted for name, counted in unread.items() if name in numbers and counted}


def numbers_among(texts: Sequence[str], separator: str | None) -> list[float]:
    """Every text that can be read as a number, with the decimal mark that reads most of them; NaN for the others."""
    bare = [text.replace("−", "-").translate(_BARE).strip() for text in texts]
    marks = ".," if separator == "," or not any("," in text for text in bare) else ",."  # the first if both read all
    mark = max(marks, key=lambda mark: sum(_PATTERNS[mark].fullmatch(text) is not None for text in bare))
    return [_number(text, mark) if _PATTERNS[mark].fullmatch(text) else np.nan for text in bare]


def is_text(column: pd.Series) -> bool:
    """Whether a column holds anything but numbers and truth values."""
    return not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column))


def text_columns(frame: pd.DataFrame) -> list[str]:
    """The columns for which `is_text` holds, by their types alone: a frame may have very many."""
    kinds = frame.dtypes
    texts = [kind for kind in kinds.unique() if not (_is_number(kind) or pd.api.types.is_bool_dtype(kind))]
    return [name for name, kind in zip(frame.columns, kinds, strict=True) if kind in texts] if texts else []


def _is_number(kind: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(kind))


def looks_like_a_number(value: object) -> bool:
    """Whether a cell holds digits and marks alone."""
    return isinstance(value, str) and _NUMBER_LIKE.fullmatch(value.strip()) is not None


def mostly_numbers(column: pd.Series) -> bool:
    """Whether nearly all cells of a column of text look like numbers, perhaps with a sign."""
    present = column.dropna()
    for part in (present.iloc[:: max(1, len(present) // _LOOKED_AT)], present):
        counts = part.value_counts()
        cells = [(value, count) for value, count in counts.items() if not is_mark(value)]
        numbers = sum(count for value, count in cells if _is_like_a_number(value))
        rare = _MOST_WORDS if part is present else 0.5
        if not numbers or numbers < (1 - rare) * sum(count for _, count in cells):
            return False
    return True


def is_mark(value: object) -> bool:
    """Whether a cell is empty, or says that its value is missing."""
    return isinstance(value, str) and value.strip().casefold() in _MISSING


def _is_like_a_number(value: object) -> bool:
    return isinstance(value, str) and looks_like_a_number(value.translate(_BARE))


def _bare(written: pd.Series, unread: Counter[str] | None) -> list[str]:
    """The cells without spaces around them, and without a sign before or behind that all of them have; what is missing
    is empty. Counts the cells that say so in words.
    """
    texts = [text.strip().replace("−", "-") if isinstance(text, str) else "" for text in written.tolist()]
    words = {text for text in set(texts) if text and (is_mark(text) or not _is_like_a_number(text))}
    if words and unread is not None:
        unread.update(text for text in texts if text in words)
        texts = ["" if text in words else text for text in texts]
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
