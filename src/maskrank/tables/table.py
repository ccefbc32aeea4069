"""`Table`: features of any kind and a target that can be learned; what can't be used is refused with a reason.

Every problem is a line of a `TableError` that names the file, the column or the value, and says what is allowed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.columns import (
    infinite,
    infinite_problem,
    reading_notes,
    reading_warnings,
    typed_columns,
    unread_lines,
)
from maskrank.tables.errors import TableError, listing, nearest, raise_all, unknown
from maskrank.tables.files import is_named_npz, place, read_frame
from maskrank.tables.identifiers import identifier_warnings
from maskrank.tables.kinds import Remarks, level_text
from maskrank.tables.options import ColumnOptions
from maskrank.tables.target import check_target, clean_target, read_target
from maskrank.terminal.text import drop_flags

_MOST_TARGETS = 24  # columns that are named to choose the target from; it often is the last


@dataclass(frozen=True)
class Table:
    """Features and target of a data set.

    Attributes
    ----------
    X : DataFrame (n, d)
        Columns of float, category or datetime64; what is missing is NaN or NaT.
    y : ndarray (n,)
    target : str
    task : "classification" or "regression"
    reason : str
        Why it is this task.
    warnings : list of str
        What was guessed, and columns that look as if they did not belong: one line each.
    notes : list of str
        How columns were read that are not plain numbers, and columns that can't tell anything: one line each.
    lost : list of str
        Which rows are left out without being asked for, as they lack the target: one line, or none.
    required : list of str
        Features that are always in.
    groups : dict of str to list of str
        Features that are chosen together.
    """

    X: pd.DataFrame
    y: NDArray[Any]
    target: str
    task: str
    reason: str
    warnings: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    required: list[str] = field(default_factory=list)
    groups: dict[str, list[str]] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """Of the features."""
        return [str(name) for name in self.X.columns]


def load_table(
    source: str,
    *,
    target: str | None,
    drop: Sequence[str] = (),
    task: str = "auto",
    skip_missing: bool = False,
    options: ColumnOptions | None = None,
) -> Table:
    """Read a file into features and target.

    Parameters
    ----------
    source : str
        A path, or "-" for CSV on standard input.
    target : str, optional
        Name of the target column; may be left out for .npz. Rows that lack it are left out.
    drop : sequence of str
        Columns to leave out.
    task : "auto", "classification" or "regression"
    skip_missing : bool
        Leave out rows that lack a value, in the target or in a feature that is not dropped.
    options : ColumnOptions, optional
        Kinds of columns, required ones, and groups.

    Raises
    ------
    TableError
        With a line for each problem of the table.
    """
    options = options or ColumnOptions()
    reading, where = read_frame(source), place(source)
    columns = [str(name) for name in reading.frame.columns]
    if target is None:
        if not is_named_npz(source):
            there_are = listing(columns, _MOST_TARGETS)
            raise TableError(f"{where}: name the target column with --target; there are {there_are}")
        target = "y"
    problems = _name_problems(columns, target, drop) + options.problems(columns, target, drop)
    features = [name for name in columns if name != target and name not in drop]
    X, remarks = typed_columns(reading, features, {k: v for k, v in options.kinds.items() if k in features})
    problems += remarks.problems + _value_problems(X, remarks, options)
    if target not in columns:
        raise_all(where, problems)
    y = clean_target(reading.frame[target], task, reading.separator)
    present = y.notna().to_numpy()
    if not present.any():
        raise_all(where, [*problems, f"the target {target!r} has no value in any row"])
    kept, skipped = _whole_rows(X, present, where) if skip_missing else (present, [])
    try:
        values, task, reason = read_target(y[kept], task, where)
        check_target(values, task, target, where)
    except TableError as error:
        problems.append(str(error).removeprefix(f"{where}: "))
    raise_all(where, problems)
    X = X if kept.all() else _taken(X, kept)
    warnings = [*reading.guesses, *skipped]
    warnings += [f"{where}: {line}" for line in (*reading_warnings(remarks), *identifier_warnings(X, values))]
    return Table(
        X,
        values,
        target,
        task,
        reason,
        warnings,
        reading_notes(X, remarks, reading.turned),
        [] if skip_missing else _lost(present, target, where),
        list(dict.fromkeys(options.required)),
        options.without(drop),
    )


def select_columns(
    source: str, kinds: Mapping[str, str], levels: Mapping[str, Sequence[Any] | None] | None = None
) -> tuple[pd.DataFrame, list[str]]:
    """The columns that a model needs, as it knows them; other columns may be anything.

    Parameters
    ----------
    source : str
        A path, or "-" for CSV on standard input.
    kinds : dict of str
        The kind of each column, in the order of the model: "numeric", "categorical", "ordered" or "date"; others are
        read by what they hold.
    levels : dict of sequence, optional
        The levels of categories, which need not be text.

    Returns
    -------
    frame : DataFrame (n, columns)
        What does not fit a kind is missing, so that each row can be answered.
    lines : list of str
        What was guessed, and how many cells are missing for it.
    """
    reading, where = read_frame(source), place(source)
    columns = [str(name) for name in reading.frame.columns]
    missing = [name for name in kinds if name not in columns]
    if missing:
        raise TableError(
            f"{where}: the model needs column {missing[0]!r}, which the table lacks{nearest(missing[0], columns)}"
            + (f" (and {len(missing) - 1} more: {listing(missing[1:])})" if len(missing) > 1 else "")
        )
    frame, remarks = typed_columns(reading, list(kinds), kinds)
    raise_all(where, remarks.problems)
    for name in infinite(frame):
        remarks.unread.setdefault(name, Counter()).update({"inf": int(np.isinf(frame[name]).sum())})
        frame[name] = frame[name].where(np.isfinite(frame[name]))
    for name, known in (levels or {}).items():
        if known is not None:
            frame[name] = frame[name].astype(object).map({level_text(level): level for level in known})
    lines = [*unread_lines(remarks.unread), *reading_warnings(Remarks(unclear=remarks.unclear))]
    return frame, [*reading.guesses, *(f"{where}: {line}" for line in lines)]


def _name_problems(columns: Sequence[str], target: str, drop: Sequence[str]) -> list[str]:
    found = [unknown(name, columns) for name in dict.fromkeys((target, *drop)) if name not in columns]
    if target in drop:
        found.append(f"column {target!r} can't be both target and dropped")
    features = len([name for name in columns if name != target and name not in drop])
    if features < 2:
        found.append(f"{features} feature column(s) are left; at least 2 are needed to choose from")
    return found


def _value_problems(X: pd.DataFrame, remarks: Remarks, options: ColumnOptions) -> list[str]:
    """Infinite values, and columns without any number that are to be read as numbers."""
    endless = infinite(X)
    wordy = [name for name in options.numeric if name in remarks.unread and X[name].isna().all()]
    return [
        *([infinite_problem(endless)] if endless else []),
        *(f"--numeric: column {name!r} holds no number, only {listing(remarks.unread[name])}" for name in wordy),
    ]


def _whole_rows(X: pd.DataFrame, present: NDArray[np.bool_], where: str) -> tuple[NDArray[np.bool_], list[str]]:
    """The rows that lack nothing, and a line on how many others there were."""
    gaps = X.isna()
    whole: NDArray[np.bool_] = ~gaps.any(axis=1).to_numpy() & present
    if not whole.any():
        worst = str(gaps.sum().idxmax())
        raise TableError(
            f"{where}: every row lacks a value; column {worst!r} lacks most, leave it out with {drop_flags([worst])}"
        )
    left_out = int((~whole).sum())
    return whole, [f"{where}: {left_out} of {len(X)} rows lack a value and are left out"] if left_out else []


def _taken(X: pd.DataFrame, rows: NDArray[np.bool_]) -> pd.DataFrame:
    """Some of the rows; categories that are not in them are none."""
    X = X[rows].reset_index(drop=True)
    for name in X.columns[[isinstance(kind, pd.CategoricalDtype) for kind in X.dtypes]]:
        X[name] = X[name].cat.remove_unused_categories()
    return X


def _lost(present: NDArray[np.bool_], target: str, where: str) -> list[str]:
    lost = int((~present).sum())
    return [f"{where}: {lost} of {len(present)} rows lack the target {target!r} and are left out"] if lost else []
