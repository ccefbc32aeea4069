"""Columns that are no features: what is predicted, and what is said of rows (weights, groups, their order in time)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.cells import row_numbers
from maskrank.tables.columns import typed_columns
from maskrank.tables.errors import unknown
from maskrank.tables.kinds import Remarks, as_categories
from maskrank.tables.text import Reading

Array = NDArray[Any]


@dataclass(frozen=True)
class Roles:
    """What some columns are for, beside a single target; none of them is a feature.

    Attributes
    ----------
    targets : sequence of str
        Several columns to predict at once, instead of one target.
    time, event : str, optional
        Of a survival table: how long each row was observed, and whether the event ended it.
    weight : str, optional
        What each row counts.
    fold_by : str, optional
        Rows with the same value stay on one side of every split.
    time_order : str, optional
        Numbers or dates; the latest rows judge what the earlier ones taught.
    """

    targets: Sequence[str] = ()
    time: str | None = None
    event: str | None = None
    weight: str | None = None
    fold_by: str | None = None
    time_order: str | None = None

    @property
    def is_survival(self) -> bool:
        """Whether times and events are predicted."""
        return self.time is not None

    def predicted(self, target: str | None) -> list[str]:
        """The columns to predict."""
        if self.time is not None and self.event is not None:
            return [self.time, self.event]
        return list(self.targets) or ([] if target is None else [target])

    def options(self, target: str | None) -> list[tuple[str, str]]:
        """Each option that names a column, and the column."""
        rows = {"--weight": self.weight, "--fold-by": self.fold_by, "--time-order": self.time_order}
        given = {"--target": target, "--time": self.time, "--event": self.event, **rows}
        found = [("--targets", name) for name in self.targets]
        return found + [(option, name) for option, name in given.items() if name is not None]

    def problems(self, columns: Sequence[str], target: str | None, dropped: Sequence[str]) -> list[str]:
        """What does not fit the table, one line each."""
        found: list[str] = []
        taken: dict[str, str] = {}
        for option, name in self.options(target):
            if name not in columns:
                line = unknown(name, columns)
                found.append(line if option == "--target" else f"{option}: {line}")
            elif name in taken:
                twice = f"given twice in {option}" if taken[name] == option else f"both {taken[name]} and {option}"
                found.append(f"column {name!r} can't be {twice}")
            taken.setdefault(name, option)
        found += [unknown(name, columns) for name in dict.fromkeys(dropped) if name not in columns]
        for name in self.predicted(target):
            if name in dropped:
                found.append(f"column {name!r} can't be both target and dropped")
        return found

    def meanings(self, target: str | None) -> dict[str, str]:
        """What each of these columns is, in words."""
        words = dict.fromkeys(self.predicted(target), "the target")
        return {name: f"the column of {option}" for option, name in self.options(target)} | words


@dataclass(frozen=True)
class RowFacts:
    """What is said of the rows of a table.

    Attributes
    ----------
    weights : ndarray (n,), optional
    groups : ndarray (n,) of int, optional
        Rows of one number stay on one side of every split.
    order : ndarray (n,), optional
        Points in time, as numbers or datetime64.
    """

    weights: Array | None = None
    groups: NDArray[np.int64] | None = None
    order: Array | None = None

    def take(self, rows: NDArray[np.bool_]) -> RowFacts:
        """Of some rows."""
        weights, groups, order = (
            None if some is None else some[rows] for some in (self.weights, self.groups, self.order)
        )
        return RowFacts(weights, groups, order)


@dataclass(frozen=True)
class ReadRows:
    """What was read of the rows, what is wrong with it, one line each, and how an order of dates was read."""

    facts: RowFacts
    problems: list[str]
    remarks: Remarks


def rows_without_facts(reading: Reading, roles: Roles) -> NDArray[np.bool_]:
    """The rows that lack a weight, a group or a time."""
    lacking = np.zeros(len(reading.frame), dtype=bool)
    for name in (roles.weight, roles.fold_by, roles.time_order):
        if name is not None:
            lacking |= as_categories(reading.frame[name]).isna().to_numpy()
    return lacking


def read_row_facts(reading: Reading, roles: Roles, kept: NDArray[np.bool_]) -> ReadRows:
    """What the columns say of the kept rows.

    Parameters
    ----------
    reading : Reading
    roles : Roles
        Its columns are in the table.
    kept : ndarray (rows of the file,) of bool
    """
    rows, problems, remarks = np.flatnonzero(kept) + 1, [], Remarks()
    weights = groups = order = None
    if roles.weight is not None:
        weights, problem = _weights(reading.frame[roles.weight][kept], rows, reading.separator)
        problems += [f"--weight: column {roles.weight!r} {problem}"] if problem else []
    if roles.fold_by is not None:
        groups, problem = _groups(as_categories(reading.frame[roles.fold_by])[kept], rows)
        problems += [f"--fold-by: column {roles.fold_by!r} {problem}"] if problem else []
    if roles.time_order is not None:
        typed, remarks = typed_columns(reading, [roles.time_order], {})
        order, problem = _order(typed[roles.time_order][kept], rows)
        problems += remarks.problems or ([f"--time-order: column {roles.time_order!r} {problem}"] if problem else [])
    return ReadRows(RowFacts(weights, groups, order), problems, remarks)


def _weights(column: pd.Series, rows: Array, separator: str | None) -> tuple[Array, str | None]:
    values, wrong = row_numbers(column, rows, separator)
    if wrong is not None:
        return values, f"{wrong}: weights are numbers from 0 on"
    if (values < 0).any():
        at = int((values < 0).argmax())
        return values, f"holds {values[at]:g} in row {rows[at]} of the data: weights are numbers from 0 on"
    return values, None if values.any() else "is 0 in every row: no row would count"


def _groups(column: pd.Series, rows: Array) -> tuple[NDArray[np.int64], str | None]:
    codes = column.cat.codes.to_numpy().astype(np.int64)
    if (codes < 0).any():
        return codes, f"has no value in row {rows[(codes < 0).argmax()]} of the data; --skip-missing leaves it out"
    numbers = np.unique(codes, return_inverse=True)[1]
    distinct = int(numbers.max()) + 1
    if distinct == 1:
        return numbers, "has the same value in every row: there is nothing to keep apart"
    if distinct == len(numbers):
        return numbers, "has another value in every row: that keeps no rows together"
    return numbers, None


def _order(column: pd.Series, rows: Array) -> tuple[Array, str | None]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return np.zeros(len(column)), "holds text: numbers or dates are needed"
    values = column.to_numpy()
    if column.isna().any():
        first = rows[int(column.isna().to_numpy().argmax())]
        return values, f"has no value in row {first} of the data; --skip-missing leaves it out"
    return values, "has the same value in every row: there is no order" if (values == values[0]).all() else None


def latest_rows(order: Array, share: float) -> NDArray[np.bool_]:
    """The latest rows, about this share of all; rows of one time stay together.

    Parameters
    ----------
    order : ndarray (n,)
        Numbers or datetime64, at least two distinct.
    share : float
        In (0, 1).

    Examples
    --------
    >>> import numpy as np
    >>> from maskrank.tables.roles import latest_rows
    >>> latest_rows(np.array([3, 1, 2, 3, 1]), 0.2).tolist()
    [True, False, False, True, False]
    """
    times, counts = np.unique(order, return_counts=True)
    later = counts[::-1].cumsum()[::-1][1:]  # rows from each time on, but the first
    since = times[1:][np.abs(later - share * len(order)).argmin()]
    latest: NDArray[np.bool_] = order >= since
    return latest


def weightless_class(y: Array, weights: Array) -> str | None:
    """The first class of which every row has weight 0; None if there is none."""
    weighed = np.unique(y[weights > 0])
    lost = np.setdiff1d(np.unique(y), weighed)
    return str(lost[0]) if len(lost) else None


def said_of_rows(roles: Roles, facts: RowFacts, latest: float) -> list[tuple[str, str]]:
    """Labels and values of what a fit knows about the rows.

    Parameters
    ----------
    roles : Roles
    facts : RowFacts
    latest : float
        The share of the rows that is held out by time.
    """
    lines = []
    if facts.weights is not None:
        empty = int((facts.weights == 0).sum())
        lines.append(("weights", f"column {roles.weight}" + (f"; {empty:,} rows have weight 0" if empty else "")))
    if facts.groups is not None:
        lines.append(
            ("held out", f"whole groups of rows, by column {roles.fold_by} ({facts.groups.max() + 1:,} values)")
        )
    if facts.order is not None:
        late = latest_rows(facts.order, latest)
        since = (
            str(facts.order[late].min().astype("datetime64[s]"))
            if facts.order.dtype.kind == "M"
            else (f"{facts.order[late].min():g}")
        )
        lines.append(("held out", f"the latest {late.sum():,} rows, those from {roles.time_order} {since} on"))
    return lines


def roles_document(roles: Roles, target: str) -> Mapping[str, Any]:
    """The columns of a question, as JSON holds them."""
    given = {
        "target": None if roles.targets or roles.is_survival else target,
        "targets": list(roles.targets) or None,
        "time": roles.time,
        "event": roles.event,
        "weight": roles.weight,
        "fold_by": roles.fold_by,
        "time_order": roles.time_order,
    }
    return {name: value for name, value in given.items() if value is not None}
