"""Dates and times written as text: 2024-01-31, 31.01.2024, 1/31/24, 31 Jan 2024, January 31, 2024, and clock times.

``01.02.2024`` may be read in two ways. The other dates of a column tell, if anything does: one part above 12 is the
day. Otherwise the day comes first, except between slashes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,](?P<fraction>\d+))?)?(?: ?(?P<half>[AaPp])[Mm])?"
    r"(?: ?(?P<zone>Z|[+-]\d{2}:?\d{2}))?"
)
_DAY = (
    r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",  # 2024-01-31
    r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second_part>\d{1,2})[-/.](?P<year>\d{4}|\d{2})",  # 31.01.2024 and 1/31/24
    r"(?P<day>\d{1,2})[-. ]{1,2}(?P<name>[^\W\d_]{3,10})\.?[-, ]{1,2}(?P<year>\d{4}|\d{2})",  # 31 Jan 2024
    r"(?P<name>[^\W\d_]{3,10})\.? (?P<day>\d{1,2}),? (?P<year>\d{4})",  # January 31, 2024
)
_FORMS = (*(re.compile(rf"{day}(?:[T ,]{{1,2}}{_CLOCK})?") for day in _DAY), re.compile(_CLOCK))
_ENGLISH = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: month for month, name in enumerate(_ENGLISH, 1)} | {"mär": 3, "mai": 5, "okt": 10, "dez": 12}
_PIVOT = 69  # two digits from here on are of the last century, as in POSIX


@dataclass(frozen=True)
class Dates:
    """Texts as points in time.

    Attributes
    ----------
    values : ndarray (n,) of datetime64[us]
        NaT where a text is no date. Times with a zone are in UTC; clock times alone are on the first of January 1970.
    unclear : str or None
        A text that can be read with the day or the month first, if nothing tells which.
    day_first : bool or None
        How dates of three numbers were read; None where there are none, or only such as 05.05.2024.
    """

    values: NDArray[np.datetime64]
    unclear: str | None = None
    day_first: bool | None = None


def looks_like_a_date(text: str) -> bool:
    """Whether a text has the form of a date or of a time."""
    return any(form.fullmatch(text) for form in _FORMS)


def parse_dates(texts: Sequence[str], day_first: bool | None = None) -> Dates:
    """Read each text as a date or a time.

    Parameters
    ----------
    texts : sequence of str
    day_first : bool, optional
        How to read 01.02.2024 where no other text tells.

    Examples
    --------
    >>> from maskrank.tables.dates import parse_dates
    >>> read = parse_dates(["01.02.2024", "31.01.2024", "soon"])
    >>> read.values.astype("datetime64[D]").tolist(), read.unclear
    ([datetime.date(2024, 2, 1), datetime.date(2024, 1, 31), None], None)
    """
    found = [next((match for form in _FORMS if (match := form.fullmatch(text))), None) for text in texts]
    parts = [None if match is None else match.groupdict() for match in found]
    short = [part for part in parts if part is not None and part.get("first") is not None]
    found_first, unclear = _order(short, day_first)
    values = np.array([_point(part, found_first is not False) for part in parts], dtype="datetime64[us]")
    example = next((text for text, part in zip(texts, parts, strict=True) if part and part.get("first")), None)
    return Dates(values, example if unclear else None, found_first)


def _order(parts: Sequence[dict[str, str | None]], known: bool | None) -> tuple[bool | None, bool]:
    """Whether the day comes first in dates of three numbers, None where it makes no difference; if it is a guess."""
    first = [int(part["first"] or 0) for part in parts]
    second = [int(part["second_part"] or 0) for part in parts]
    above = [sum(number > 12 for number in numbers) for numbers in (first, second)]
    if any(above):
        return above[0] >= above[1], False
    if known is not None or all(a == b for a, b in zip(first, second, strict=True)):
        return known, False
    return all(part["mark"] != "/" for part in parts), True


def _point(part: dict[str, str | None] | None, day_first: bool) -> datetime | None:
    """The point in time of the parts of a text; None where there is no such day or hour."""
    if part is None:
        return None
    try:
        day = _day(part, day_first)
        if day is None or part["hour"] is None:
            return day
        hour = int(part["hour"])
        if part["half"] is not None:
            hour = hour % 12 + (12 if part["half"] in "pP" else 0)
        clock = day.replace(hour=hour, minute=int(part["minute"] or 0), second=int(part["second"] or 0))
        clock += timedelta(seconds=float(f"0.{part['fraction'] or 0}"))
        return clock - _offset(part["zone"])
    except (ValueError, OverflowError):
        return None


def _day(part: dict[str, str | None], day_first: bool) -> datetime | None:
    if part.get("year") is None:
        return datetime(1970, 1, 1)
    year = int(part["year"] or 0)
    if len(part["year"] or "") == 2:
        year += 1900 if year >= _PIVOT else 2000
    if part.get("name") is not None:
        month = _MONTHS.get(str(part["name"])[:3].casefold())
        return None if month is None else datetime(year, month, int(part["day"] or 0))
    if part.get("first") is None:
        return datetime(year, int(part["month"] or 0), int(part["day"] or 0))
    numbers = int(part["first"] or 0), int(part["second_part"] or 0)
    day, month = numbers if day_first else numbers[::-1]
    return datetime(year, month, day)


def _offset(zone: str | None) -> timedelta:
    if zone in (None, "Z"):
        return timedelta()
    digits = str(zone)[1:].replace(":", "")
    length = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return -length if str(zone)[0] == "-" else length
