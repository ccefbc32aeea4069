"""Columns that a user names: by name, or by number."""

from __future__ import annotations

import difflib
import numbers
from collections.abc import Sequence
from typing import Any


def positions_of(given: Sequence[Any], names: Sequence[str], *, what: str) -> list[int]:
    """The numbers of columns that are named, or else numbered; every unknown one is listed, with the nearest name.

    Parameters
    ----------
    given : sequence of str or int
    names : sequence of str
        Of all columns.
    what : str
        What an error calls the argument.
    """
    place = {name: i for i, name in reversed(list(enumerate(names)))}
    found, unknown = [], []
    for one in given:
        if (name := column_name(one)) in place:
            found.append(place[name])
        elif isinstance(one, numbers.Integral) and not isinstance(one, bool) and -len(names) <= int(one) < len(names):
            found.append(int(one) % len(names))
        else:
            unknown.append(f"{one!r}{_nearest(str(one), names)}")
    if unknown:
        raise ValueError(f"{what} names columns that the data does not have: {', '.join(unknown)}")
    return found


def column_name(label: Any) -> str:
    """What people call a column: the label of a frame as text, of several levels joined."""
    return " / ".join(map(str, label)) if isinstance(label, tuple) else str(label)


def _nearest(name: str, names: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""
