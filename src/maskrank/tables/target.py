"""What a table predicts: classes, numbers, counts, several columns at once, or times until an event."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.magnitudes import magnitude_problem
from maskrank.tables.cells import row_numbers, without_blanks
from maskrank.tables.decimals import is_text, mostly_numbers
from maskrank.tables.errors import listing
from maskrank.tables.kinds import Remarks, as_numbers
from maskrank.terminal.text import short

Array = NDArray[Any]

TASKS = ("auto", "classification", "regression", "counts", "ordered", "survival")
CLASSES = ("classification", "ordered")  # tasks whose target holds labels
_UNREADABLE = ("bytes", "complex", "interval", "period")
_MOST_CLASSES = 20  # of a target of whole numbers that counts as classes
_RARE = 2  # rows of a class, of which at most half are held out


class TargetError(ValueError):
    """A target that can't be learned, and why, in a line."""


@dataclass(frozen=True)
class Outcome:
    """What is to be predicted of each row.

    Attributes
    ----------
    values : ndarray (n,), or (n, targets) of several; of a survival table with the fields "event" and "time"
    task : "classification", "ordered", "multilabel", "regression", "counts" or "survival"
    reason : str
        Why it is this task.
    warnings : list of str
        What may have been meant otherwise, one line each.
    rare : list of str
        A line on classes of one or two rows, or none.
    """

    values: Array
    task: str
    reason: str
    warnings: list[str] = field(default_factory=list)
    rare: list[str] = field(default_factory=list)

    @property
    def columns(self) -> list[Array]:
        """One array a target; of a survival table times, then events."""
        if self.task == "survival":
            return [self.values["time"], self.values["event"].astype(np.int64)]
        return [self.values] if self.values.ndim == 1 else list(self.values.T)


def clean_target(column: pd.Series, task: str, separator: str | None) -> pd.Series:
    """The target without spaces around labels; cells of spaces are missing, and where numbers are asked for words."""
    text = without_blanks(column)
    if task in ("regression", "counts") and is_text(text) and mostly_numbers(text):
        return as_numbers(text, Remarks(), separator)
    return text


def read_target(column: pd.Series, task: str, rows: Array) -> Outcome:
    """One column as classes, numbers or counts.

    Parameters
    ----------
    column : Series (n,)
        Without missing values.
    task : "auto", "classification", "ordered", "regression" or "counts"
    rows : ndarray (n,) of int
        The rows' numbers in the file, from 1 on.
    """
    name = column.name
    column = column.astype(np.float64) if column.dtype == np.float16 else column
    numeric = pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column)
    if numeric and not np.isfinite(column.to_numpy(dtype=np.float64)).all():
        raise TargetError(f"the target {name!r} holds an infinite value")
    try:
        distinct = column.nunique()
    except TypeError:  # of lists, and other values that can't be told apart
        distinct = 0
    if not distinct or pd.api.types.infer_dtype(column) in _UNREADABLE:
        raise TargetError(f"the target {name!r} holds neither numbers nor text")
    task, reason = (task, "as asked") if task != "auto" else _guessed(column, numeric, distinct)
    if task in CLASSES:
        return _classes(column, task, reason, numeric)
    if not numeric:
        other = " or --task ordered" if task == "counts" else ""
        raise TargetError(f"the target {name!r} holds text: that is --task classification{other}")
    values = column.to_numpy(dtype=np.float64)
    if task == "counts":
        wrong = (values < 0) | (values != np.rint(values))
        if wrong.any():
            at = int(wrong.argmax())
            raise TargetError(
                f"the target {name!r} holds {values[at]:g} in row {rows[at]} of the data: counts are whole numbers "
                "from 0 on"
            )
    _check_numbers(values, f"the target {name!r}")
    return Outcome(values, task, reason)


def _guessed(column: pd.Series, numeric: bool, distinct: int) -> tuple[str, str]:
    whole = numeric and bool((column == column.round()).all())
    classes = not numeric or (whole and distinct <= min(_MOST_CLASSES, max(2, len(column) // 5)))
    kind = "labels" if not numeric else "whole numbers" if whole else "fractional numbers"
    return "classification" if classes else "regression", f"the target has {distinct:,} distinct {kind}"


def _classes(column: pd.Series, task: str, reason: str, numeric: bool) -> Outcome:
    name = column.name
    whole = numeric and bool(((column == column.round()) & (column.abs() < 2**63)).all())
    if task == "ordered" and numeric and not whole:
        raise TargetError(f"the target {name!r} holds fractions: ordered classes are whole numbers or text")
    values: Array = column.to_numpy(dtype=np.int64) if whole else column.astype(str).to_numpy(dtype=str)
    _check_varies(values, f"the target {name!r}")
    labels, counts = np.unique(values, return_counts=True)
    hint = " (numbers rather than classes? then --task regression)" if numeric else ""
    if counts.max() == 1:
        raise TargetError(f"each class of the target {name!r} has 1 row: there is nothing to learn from{hint}")
    few = [f"{short(str(label))} ({count})" for label, count in zip(labels, counts, strict=True) if count <= _RARE]
    rare = [
        f"{'a class' if len(few) == 1 else f'{len(few)} classes'} of the target {name!r} with 1 or 2 rows: "
        f"{', '.join(few[:8])}{', …' if len(few) > 8 else ''}; used for training, but too few to test on{hint}"
    ]
    order = [
        f"the classes of {name!r} are taken in this order: {listing(labels)}; give them numbers if theirs is another"
    ]
    unclear = task == "ordered" and not numeric and len(labels) > 2
    return Outcome(values, task, reason, order if unclear else [], rare if few else [])


def _check_varies(values: Array, what: str) -> None:
    if (values == values[0]).all():
        shown = f"{values[0]:g}" if values.dtype.kind == "f" else short(str(values[0]))
        raise TargetError(f"{what} is {shown} in every row: there is nothing to predict")


def _check_numbers(values: Array, what: str) -> None:
    _check_varies(values, what)
    problem = magnitude_problem(values)
    if problem is not None:
        raise TargetError(f"{what} {problem}")


def read_targets(frame: pd.DataFrame, task: str, rows: Array, separator: str | None) -> Outcome:
    """Several columns at once: numbers, or labels that are 0 or 1 each.

    Parameters
    ----------
    frame : DataFrame (n, targets)
        Without missing values.
    task : "auto", "classification" or "regression"
    rows : ndarray (n,) of int
        The rows' numbers in the file, from 1 on.
    """
    columns = []
    for name in frame.columns:
        values, wrong = row_numbers(frame[name], rows, separator)
        if wrong is not None:
            raise TargetError(f"--targets: column {name!r} {wrong}: several targets are numbers, or 0 and 1")
        _check_numbers(values, f"the target {name!r}")
        columns.append(values)
    together = np.stack(columns, axis=1)
    labels = bool(np.isin(together, (0, 1)).all())
    if task == "classification" and not labels:
        odd = frame.columns[int(np.argmax(~np.isin(together, (0, 1)).all(axis=0)))]
        raise TargetError(f"--targets: column {odd!r} holds other numbers than 0 and 1; several labels are 0 or 1 each")
    if task in ("counts", "ordered", "survival"):
        raise TargetError(f"--task {task} predicts one target, --targets names {len(frame.columns)}")
    if labels and task != "regression":
        return Outcome(together.astype(np.int64), "multilabel", f"{len(columns)} targets of 0 and 1")
    return Outcome(together, "regression", f"{len(columns)} targets of numbers")


def read_survival(time: pd.Series, event: pd.Series, rows: Array, separator: str | None) -> Outcome:
    """Times and events, as scikit-survival has them: fields "event" (bool) and "time" (float).

    Parameters
    ----------
    time, event : Series (n,)
        Without missing values: how long a row was observed, and whether the event ended it, 0 or 1.
    rows : ndarray (n,) of int
        The rows' numbers in the file, from 1 on.
    """
    times, wrong = row_numbers(time, rows, separator)
    if wrong is not None:
        raise TargetError(f"--time: column {time.name!r} {wrong}: times are numbers from 0 on")
    if (times < 0).any():
        at = int((times < 0).argmax())
        raise TargetError(
            f"--time: column {time.name!r} holds {times[at]:g} in row {rows[at]} of the data: times are "
            "numbers from 0 on"
        )
    if (problem := magnitude_problem(times)) is not None:
        raise TargetError(f"--time: column {time.name!r} {problem}")
    events, wrong = row_numbers(event, rows, separator)
    needed = "1 where the event happened, 0 where the row is censored"
    if wrong is None and not np.isin(events, (0, 1)).all():
        at = int((~np.isin(events, (0, 1))).argmax())
        wrong = f"holds {events[at]:g} in row {rows[at]} of the data"
        needed += "; 1 and 2 are to be recoded" if set(np.unique(events)) == {1.0, 2.0} else ""
    if wrong is not None:
        raise TargetError(f"--event: column {event.name!r} {wrong}: {needed}")
    if not events.any():
        raise TargetError(f"--event: column {event.name!r} is 0 in every row: no event to learn from")
    values = np.empty(len(times), dtype=[("event", bool), ("time", np.float64)])
    values["event"], values["time"] = events == 1, times
    share = f"{int(events.sum()):,} events in {len(events):,} rows"
    return Outcome(values, "survival", share)
