"""`Table`: numeric features and a target that can be learned; other tables are refused with a reason.

Every problem is a `TableError` of one line that names the file, the column or the value, and says what is allowed.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.columns import listing, numbers_of, truth_columns
from maskrank.tables.decimals import is_text
from maskrank.tables.files import place, read_frame
from maskrank.tables.identifiers import identifier_warnings
from maskrank.tables.text import TableError
from maskrank.terminal.text import drop_flags

_MOST_TARGETS = 24  # columns that are named to choose the target from; it often is the last
_MOST_CLASSES = 20  # of a target of whole numbers that counts as classes


@dataclass(frozen=True)
class Table:
    """Features and target of a data set.

    Attributes
    ----------
    X : ndarray (n, d) of float
    y : ndarray (n,)
    names : list of str
    target : str
    task : "classification" or "regression"
    reason : str
        Why it is this task.
    warnings : list of str
        What was guessed, and columns that look as if they did not belong: one line each.
    notes : list of str
        How columns were read that are not plain numbers, and columns that can't tell anything: one line each.
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    names: list[str]
    target: str
    task: str
    reason: str
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def load_table(
    source: str, *, target: str | None, drop: Sequence[str] = (), task: str = "auto", skip_missing: bool = False
) -> Table:
    """Read a file into features and target.

    Parameters
    ----------
    source : str
        A path, or "-" for CSV on standard input.
    target : str, optional
        Name of the target column; may be left out for .npz.
    drop : sequence of str
        Columns to leave out.
    task : "auto", "classification" or "regression"
    skip_missing : bool
        Leave out rows that lack a value, in the target or in a feature that is not dropped.
    """
    reading = read_frame(source)
    frame, guesses = reading.frame, reading.guesses
    where = place(source)
    if target is None:
        if not source.lower().endswith(".npz"):
            there_are = listing(frame.columns, _MOST_TARGETS)
            raise TableError(f"{where}: name the target column with --target; there are {there_are}")
        target = "y"
    for name in (target, *drop):
        _require_column(frame, name, where)
    if target in drop:
        raise TableError(f"{where}: column {target!r} can't be both target and dropped")
    if skip_missing:
        frame, left_out = _whole_rows(frame.drop(columns=list(drop)), where)
        guesses = guesses + left_out
    y, task, reason = _read_target(frame[target], task, where)
    features = frame.drop(columns=[target, *drop], errors="ignore")
    if features.shape[1] < 2:
        raise TableError(
            f"{where}: {features.shape[1]} feature column(s) are left; at least 2 are needed to choose from"
        )
    X, names = numbers_of(features, where), list(features.columns)
    warnings = guesses + [f"{where}: {line}" for line in identifier_warnings(X, y, names)]
    table = Table(X, y, names, target, task, reason, warnings, _notes(features, X, reading.turned))
    check_target(table, where)
    return table


def check_target(table: Table, where: str) -> None:
    """Refuse a target with a single value, or classes of a single row."""
    values, counts = np.unique(table.y, return_counts=True)
    if len(values) == 1:
        raise TableError(
            f"{where}: the target {table.target!r} is {values[0]} in every row: there is nothing to predict"
        )
    if table.task == "classification" and counts.min() < 2:
        label = str(values[counts.argmin()])
        raise TableError(
            f"{where}: class {label!r} of the target {table.target!r} has 1 row; each class needs at least 2 (numbers "
            "rather than classes? then --task regression)"
        )


def select_columns(source: str, names: Sequence[str]) -> NDArray[np.float64]:
    """The named columns of a file, in this order; other columns may be anything."""
    frame = read_frame(source).frame
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise TableError(
            f"{place(source)}: the model needs column {missing[0]!r}, which the table lacks"
            + _nearest(missing[0], frame)
            + (f" (and {len(missing) - 1} more: {listing(missing[1:])})" if len(missing) > 1 else "")
        )
    return numbers_of(frame[list(names)], place(source), droppable=False)


def _whole_rows(frame: pd.DataFrame, where: str) -> tuple[pd.DataFrame, list[str]]:
    """The rows that lack nothing, and a line on how many others there were."""
    whole = frame.notna().all(axis=1)
    if not whole.any():
        worst = str(frame.isna().sum().idxmax())
        raise TableError(
            f"{where}: every row lacks a value; column {worst!r} lacks most, leave it out with {drop_flags([worst])}"
        )
    left_out = int((~whole).sum())
    return frame[whole], [f"{where}: {left_out} of {len(frame)} rows lack a value and are left out"] if left_out else []


def _notes(features: pd.DataFrame, X: NDArray[np.float64], turned: Sequence[str]) -> list[str]:
    """How columns were read that are not plain numbers, and columns that can't tell anything."""
    truths = [*truth_columns(features), *features.select_dtypes(bool).columns]
    constant = features.columns[(X[:1] == X).all(axis=0)]
    numbers = "numbers as spreadsheets write them, with commas, thousands or signs"
    return [
        *([f"{numbers}: {listing(turned)}"] if turned else []),
        *([f"yes and no read as 1 and 0: {listing(truths)}"] if truths else []),
        *([f"constant, so never chosen before others: {listing(constant)}"] if len(constant) else []),
    ]


def _read_target(column: pd.Series, task: str, where: str) -> tuple[NDArray[Any], str, str]:
    """Target values, the task, and why it is this task."""
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0]) + 1
        raise TableError(
            f"{where}: the target {column.name!r} has a missing value in row {row} of the data; leave out such rows "
            "with --skip-missing, or fill them in first"
        )
    if is_text(column):
        column = column.map(lambda value: value.strip() if isinstance(value, str) else value)
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if numeric and not np.isfinite(column.to_numpy(dtype=np.float64)).all():
        raise TableError(f"{where}: the target {column.name!r} holds an infinite value")
    try:
        distinct = column.nunique()
    except TypeError as error:
        raise TableError(f"{where}: the target {column.name!r} holds neither numbers nor text") from error
    reason = "as asked"
    if task == "auto":
        whole = numeric and bool((column == column.round()).all())
        classes = not numeric or (whole and distinct <= min(_MOST_CLASSES, max(2, len(column) // 5)))
        task = "classification" if classes else "regression"
        kind = "text" if not numeric else "whole numbers" if whole else "fractional numbers"
        reason = f"the target holds {distinct} distinct values, {kind}"
    if task == "regression":
        if not numeric:
            raise TableError(f"{where}: the target {column.name!r} holds text: that is --task classification")
        return column.to_numpy(dtype=np.float64), task, reason
    whole = numeric and bool(((column == column.round()) & (column.abs() < 2**63)).all())
    return (column.to_numpy(dtype=np.int64) if whole else column.astype(str).to_numpy(dtype=str)), task, reason


def _require_column(frame: pd.DataFrame, name: str, where: str) -> None:
    if name not in frame.columns:
        hint = _nearest(name, frame) or f"; there are {listing(frame.columns)}"
        raise TableError(f"{where}: there is no column {name!r}{hint}")


def _nearest(name: str, frame: pd.DataFrame) -> str:
    folded = {str(column).casefold(): str(column) for column in frame.columns}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""
