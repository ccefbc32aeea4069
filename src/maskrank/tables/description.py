"""How the columns of a table were read, in a line, and column by column."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pandas as pd

from maskrank.terminal.text import short

_KINDS = ("numeric", "categorical", "ordered", "date")
_WITH_LEVELS = ("categorical", "ordered")
_MOST_LEVELS = 5  # that a line names


def kind_of(column_type: Any) -> str:
    """numeric, categorical, ordered or date, by the type of a typed column."""
    if isinstance(column_type, pd.CategoricalDtype):
        return "ordered" if column_type.ordered else "categorical"
    if pd.api.types.is_datetime64_any_dtype(column_type):
        return "date"
    numeric = pd.api.types.is_numeric_dtype(column_type) and not pd.api.types.is_bool_dtype(column_type)
    return "numeric" if numeric else "categorical"


def describe_columns(frame: pd.DataFrame, *, most: int = 0) -> list[str]:
    r"""How columns were read: a line for all of them, then one for each of the first.

    Parameters
    ----------
    frame : DataFrame (n, d)
    most : int
        How many columns get a line of their own.

    Examples
    --------
    >>> import pandas as pd
    >>> from maskrank.tables import describe_columns
    >>> frame = pd.DataFrame({"age": [31, None, 54, 47], "port": ["C", "S", "S", None], "fare": [7.2, 71.3, 8.1, 5.0]})
    >>> print(*describe_columns(frame, most=2), sep="\n")
    2 numeric, 1 categorical (2 levels); gaps in 2 columns, most in 'age' (25 %)
    column 'age': numeric, 25 % missing
    column 'port': categorical, 2 levels ('C', 'S'), 25 % missing
    … and 1 more column
    """
    lines = [_summary(frame)]
    lines += [f"column {str(name)!r}: {_described(frame[name])}" for name in frame.columns[:most]]
    more = frame.shape[1] - most
    return lines + ([f"… and {more:,} more column{'' if more == 1 else 's'}"] if most and more > 0 else [])


def _summary(frame: pd.DataFrame) -> str:
    kinds = {name: kind_of(column_type) for name, column_type in frame.dtypes.items()}
    counted = Counter(kinds.values())
    parts = []
    for kind in [kind for kind in _KINDS if counted[kind]]:
        levels = [frame[name].nunique() for name in kinds if kinds[name] == kind] if kind in _WITH_LEVELS else []
        plural = "s" if kind == "date" and counted[kind] > 1 else ""
        parts.append(f"{counted[kind]:,} {kind}{plural}" + (f" ({_range(min(levels), max(levels))})" if levels else ""))
    missing = frame.isna().mean()
    holed = int((missing > 0).sum())
    worst = f"{str(missing.idxmax())!r} ({share_text(missing.max())})" if holed else ""
    gaps = f"; gaps in {worst}" if holed == 1 else f"; gaps in {holed:,} columns, most in {worst}" if holed else ""
    return ", ".join(parts) + gaps


def _described(column: pd.Series) -> str:
    kind = kind_of(column.dtype)
    parts = [kind]
    if kind in _WITH_LEVELS:
        levels = column.cat.categories if hasattr(column, "cat") else sorted(column.dropna().unique(), key=str)
        shown = ", ".join(repr(short(str(level), 20)) for level in levels[:_MOST_LEVELS])
        more = ", …" if len(levels) > _MOST_LEVELS else ""
        parts.append(f"{len(levels):,} level{'' if len(levels) == 1 else 's'} ({shown}{more})")
    elif kind == "date" and column.notna().any():
        parts.append(f"{column.min().date()} to {column.max().date()}")
    missing = float(column.isna().mean())
    return ", ".join([*parts, *([f"{share_text(missing)} missing"] if missing else [])])


def share_text(share: float) -> str:
    """A share in per cent; a small one is not shown as 0, nor a large one as all."""
    if 0 < share < 0.01:
        return "<1 %"
    return ">99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def _range(low: int, high: int) -> str:
    return f"{low:,} level{'' if low == 1 else 's'}" if low == high else f"{low:,}-{high:,} levels"
