"""Columns that look like identifiers: they are unique to a row, and a net overfits to them.

A measurement with a fraction is distinct in every row by nature, so only whole numbers and text count, unless the rows
of the table are sorted by the target and the column runs along.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.terminal.text import drop_flags

Array = NDArray[Any]
_FEWEST_ROWS = 20  # fewer are distinct, or sorted, by chance
_LOOKED_AT = 64  # rows that rule out most columns cheaply
_NEARLY_DISTINCT = 0.9
_MOST_NUMBERED = 3  # columns of numbers given to rows; more of such columns are counts of something
_MOST_WARNINGS = 5
_COLUMNS_AT_ONCE = 8192


def identifier_warnings(X: pd.DataFrame, y: Array) -> list[str]:
    """One line for each column that looks like an identifier.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from maskrank.tables.identifiers import identifier_warnings
    >>> X = pd.DataFrame({"no": np.arange(101, 151), "weight": np.random.default_rng(0).normal(size=50)})
    >>> (line,) = identifier_warnings(X, np.tile([0, 1], 25))
    >>> line.split(";")[0]
    "column 'no' looks like an identifier (every value is distinct, whole numbers)"
    """
    return identifier_lines(find_identifiers(X, y))


def find_identifiers(X: pd.DataFrame, y: Array) -> dict[str, str]:
    """The columns that look like identifiers, and why."""
    numbers = X.select_dtypes("number")
    with np.errstate(invalid="ignore", over="ignore"):  # of infinite values, which are refused elsewhere, and huge ones
        found = {numbers.columns[i]: reason for i, reason in _find(numbers.to_numpy(dtype=np.float64), y)}
    texts = X.select_dtypes(["category", "object", "string"])
    found |= {name: reason for name in texts.columns if (reason := _of_text(texts[name])) is not None}
    return {str(name): found[name] for name in X.columns if name in found}


def identifier_lines(found: Mapping[str, str]) -> list[str]:
    """One line for each of the first columns that look like identifiers."""
    lines = [
        f"column {name!r} looks like an identifier ({why}); leave it out with {drop_flags([name])} if it is one"
        for name, why in found.items()
    ]
    more = len(lines) - _MOST_WARNINGS
    return lines[:_MOST_WARNINGS] + ([f"{more} more columns look like identifiers"] if more > 0 else [])


def _of_text(column: pd.Series) -> str | None:
    """Why a column of text looks like an identifier; None if it does not."""
    present, distinct = int(column.count()), int(column.nunique())
    if present < _FEWEST_ROWS or distinct < _NEARLY_DISTINCT * present:
        return None
    how_many = "every value is distinct" if distinct == present else f"{distinct:,} of {present:,} values are distinct"
    return f"{how_many}, text"


def _find(X: Array, y: Array) -> list[tuple[int, str]]:
    """Columns and why they look like identifiers."""
    n = len(X)
    if n < _FEWEST_ROWS:
        return []
    blocks = _blocks(y)
    running: set[int] = set()
    numbered: set[int] = set()
    sorted_along, nearly_distinct = set(), 0
    for i in _suspects(X):
        column = X[:, i]
        distinct = len(np.unique(column))
        along = _is_sorted(column)
        if blocks and along and distinct >= max(n // 10, 3 * blocks):
            sorted_along.add(i)
        if distinct < _NEARLY_DISTINCT * n or (column != np.rint(column)).any():
            continue
        if along or np.ptp(column) < 2 * n:
            running.update({i} if distinct == n else ())
        elif column.min() >= 0:
            nearly_distinct += 1
            numbered.update({i} if distinct == n else ())
    whole = running | (numbered if nearly_distinct <= _MOST_NUMBERED else set())
    return [(i, _reason(i in whole, i in sorted_along)) for i in sorted(whole | sorted_along)]


def _reason(whole: bool, along: bool) -> str:
    if not whole:
        return "the rows are sorted by the target, and its values are sorted with them"
    return "every value is distinct, whole numbers" + (", sorted with the target" if along else "")


def _suspects(X: Array) -> list[int]:
    """Columns that some rows do not rule out already."""
    rows = X[:: max(1, len(X) // _LOOKED_AT)][: 2 * _LOOKED_AT]
    found: list[int] = []
    for start in range(0, X.shape[1], _COLUMNS_AT_ONCE):
        some = rows[:, start : start + _COLUMNS_AT_ONCE]
        steps = np.diff(some, axis=0)
        along = (steps >= 0).all(axis=0) | (steps <= 0).all(axis=0)
        distinct = 1 + (np.diff(np.sort(some, axis=0), axis=0) > 0).sum(axis=0)
        whole = (some == np.rint(some)).all(axis=0)
        likely = (along & (distinct > 3)) | (whole & (distinct >= _NEARLY_DISTINCT**2 * len(some)))
        found += (start + np.flatnonzero(likely)).tolist()
    return found


def _blocks(y: Array) -> int:
    """How many values the target has if the rows of each stand together, else 0."""
    distinct = len(np.unique(y))
    return distinct if int((y[1:] != y[:-1]).sum()) == distinct - 1 else 0


def _is_sorted(column: Array) -> bool:
    steps = np.diff(column)
    return bool((steps >= 0).all() or (steps <= 0).all())
