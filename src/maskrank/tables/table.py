"""`Table`: features of any kind and a target that can be learned; what can't be used is refused with a reason.

Every problem is a line of a `TableError` that names the file, the column or the value, and says what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
)
from maskrank.tables.errors import TableError, listing, raise_all
from maskrank.tables.files import is_named_npz, read_frame
from maskrank.tables.kinds import Remarks
from maskrank.tables.options import ColumnOptions
from maskrank.tables.other_rows import OtherRows
from maskrank.tables.paths import place
from maskrank.tables.progress import Told, untold
from maskrank.tables.roles import ReadRows, Roles, RowFacts, read_row_facts, rows_without_facts, weightless_class
from maskrank.tables.sample import read_sample
from maskrank.tables.suspects import suspicious_columns
from maskrank.tables.target import (
    CLASSES,
    Outcome,
    TargetError,
    clean_target,
    read_survival,
    read_target,
    read_targets,
)
from maskrank.tables.text import Reading
from maskrank.terminal.text import drop_flags

_MOST_TARGETS = 24  # columns that are named to choose the target from; it often is the last


@dataclass(frozen=True)
class Table:
    """Features and target of a data set.

    Attributes
    ----------
    X : DataFrame (n, d)
        Columns of float, category or datetime64; missing values are NaN or NaT.
    y : ndarray (n,); (n, targets) of several targets; of a survival table with the fields "event" and "time"
    target : str
        What messages call it.
    task : "classification", "ordered", "multilabel", "regression", "counts" or "survival"
    reason : str
        Why it is this task.
    warnings : list of str
        Guesses, and columns that look as if they did not belong: one line each.
    notes : list of str
        How columns other than plain numbers were read, and columns without information: one line each.
    lost : list of str
        Which rows are left out because they lack the target: one line, or none.
    required : list of str
        Features that are always in.
    groups : dict of str to list of str
        Features that are chosen together.
    roles : Roles
        Columns that are no features.
    rows : RowFacts
        Weights, groups and times of the rows.
    suspects : list of str
        Those of the warnings that name columns which may leak the target, identify rows, or name subjects.
    rare : list of str
        Which classes have one or two rows: one line, or none.
    date_orders : dict of bool
        Columns of dates such as 01.02.2024, and whether the day comes first.
    others : OtherRows or None
        The rows of a table larger than the memory limit, of which all of this is a uniform sample.
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
    roles: Roles = field(default_factory=Roles)
    rows: RowFacts = field(default_factory=RowFacts)
    suspects: list[str] = field(default_factory=list)
    rare: list[str] = field(default_factory=list)
    date_orders: dict[str, bool] = field(default_factory=dict)
    others: OtherRows | None = None

    @property
    def names(self) -> list[str]:
        """Of the features."""
        return [str(name) for name in self.X.columns]

    @property
    def n_rows(self) -> int:
        """Of the file, of which this may be a sample."""
        return len(self.X) if self.others is None else self.others.n_rows

    def take(self, rows: NDArray[np.bool_]) -> Table:
        """The same table with some of its rows."""
        return replace(self, X=self.X[rows].reset_index(drop=True), y=self.y[rows], rows=self.rows.take(rows))


def load_table(
    source: str,
    *,
    target: str | None = None,
    drop: Sequence[str] = (),
    task: str = "auto",
    skip_missing: bool = False,
    options: ColumnOptions | None = None,
    roles: Roles | None = None,
    memory: int | None = None,
    seed: int = 0,
    told: Told = untold,
) -> Table:
    """Read a file into features and target.

    Parameters
    ----------
    source : str
        A path, or "-" for CSV on standard input.
    target : str, optional
        Name of the target column; may be left out for .npz, and where ``roles`` say what is predicted. Rows that lack
        it are left out.
    drop : sequence of str
        Columns to leave out.
    task : "auto", "classification", "ordered", "regression", "counts" or "survival"
    skip_missing : bool
        Leave out rows that lack a value, in the target, in a feature that is not dropped, or in a column of ``roles``.
    options : ColumnOptions, optional
        Kinds of columns, required ones, and groups.
    roles : Roles, optional
        Columns that are no features: several targets, times and events, weights, groups and order of rows.
    memory : int, optional
        Bytes that reading and a fit may take: of a file that needs more, a uniform sample of the rows is read, or it is
        refused if its kind can't be read in parts. Without it all rows are read, as far as memory is free.
    seed : int
        Of the sample.
    told : callable
        Told bytes read and bytes in all, now and then.

    Raises
    ------
    TableError
        With a line for each problem of the table.
    """
    options, roles = options or ColumnOptions(), roles or Roles()
    where, sample = place(source), None
    if memory is not None:
        sample = read_sample(source, memory, seed=seed, texts=options.categorical, told=told)
    reading = read_frame(source, told, memory) if sample is None else sample.reading
    columns = [str(name) for name in reading.frame.columns]
    if target is None and not roles.predicted(None):
        target = _default_target(source, columns, where)
    asked = roles.predicted(target)
    features, problems, readable = _names(columns, target, drop, options, roles)
    X, remarks = typed_columns(reading, features, {k: v for k, v in options.kinds.items() if k in features})
    problems += remarks.problems + _value_problems(X, remarks, options)
    if not readable:
        raise_all(where, problems)
    y = pd.DataFrame({name: clean_target(reading.frame[name], task, reading.separator) for name in asked})
    present = y.notna().all(axis=1).to_numpy()
    if not present.any():
        raise_all(where, [*problems, f"the target {listing(asked)} has no value in any row"])
    lacking = rows_without_facts(reading, roles) if skip_missing else np.zeros(len(present), dtype=bool)
    kept, skipped = _whole_rows(X, present & ~lacking, where) if skip_missing else (present, [])
    outcome, rows = _read_rows(reading, y, roles, task, kept)
    raise_all(where, [*problems, *rows.problems, *([outcome] if isinstance(outcome, str) else [])])
    assert isinstance(outcome, Outcome)  # what could not be read was raised
    X = X if kept.all() else _taken(X, kept)
    others = _plain(reading.frame[[name for name in columns if name in drop]])[kept].reset_index(drop=True)
    suspects = [f"{where}: {line}" for line in suspicious_columns(X, outcome, roles, asked, left_out=others)]
    said = [*reading_warnings(remarks), *reading_warnings(rows.remarks), *outcome.warnings]
    return Table(
        X,
        outcome.values,
        _shown_target(roles, asked),
        outcome.task,
        outcome.reason,
        [*reading.guesses, *skipped, *(f"{where}: {line}" for line in said), *suspects],
        reading_notes(X, remarks, reading.turned),
        [] if skip_missing else _lost(present, asked, where),
        list(dict.fromkeys(options.required)),
        options.without(drop),
        roles,
        rows.facts,
        suspects,
        [f"{where}: {line}" for line in outcome.rare],
        dict(remarks.orders),
        None if sample is None else OtherRows(sample, asked, roles, outcome.task, outcome.values.dtype, skip_missing),
    )


def _names(
    columns: Sequence[str], target: str | None, drop: Sequence[str], options: ColumnOptions, roles: Roles
) -> tuple[list[str], list[str], bool]:
    """The features, what is wrong with names that were given, and whether each role has a column of its own."""
    taken, given = roles.meanings(target), roles.options(target)
    features = [name for name in columns if name not in taken and name not in drop]
    problems = roles.problems(columns, target, drop)
    if len(features) < 2:
        problems.append(f"{len(features)} feature column(s) are left; at least 2 are needed to choose from")
    readable = set(taken) <= set(columns) and len(taken) == len(given)
    return features, problems + options.problems(columns, taken, drop), readable


def _plain(frame: pd.DataFrame) -> pd.DataFrame:
    """The columns of text or whole numbers; others may hold anything."""
    kinds = {name: pd.api.types.infer_dtype(frame[name], skipna=True) for name in frame.columns}
    return frame[[name for name, kind in kinds.items() if kind in ("string", "integer", "categorical")]]


def _default_target(source: str, columns: Sequence[str], where: str) -> str:
    """The target of an .npz file; others have to be told."""
    if is_named_npz(source):
        return "y"
    there_are = listing(columns, _MOST_TARGETS)
    raise TableError(f"{where}: name the target column with --target; there are {there_are}")


def _shown_target(roles: Roles, asked: Sequence[str]) -> str:
    return f"survival ({', '.join(asked)})" if roles.is_survival else ", ".join(asked)


def _read_rows(
    reading: Reading, y: pd.DataFrame, roles: Roles, task: str, kept: NDArray[np.bool_]
) -> tuple[Outcome | str, ReadRows]:
    """The target of the kept rows, or why it can't be learned; and what columns say of these rows."""
    found = read_row_facts(reading, roles, kept)
    rows, given = np.flatnonzero(kept) + 1, y[kept]
    try:
        if roles.time is not None and roles.event is not None:
            outcome = read_survival(given[roles.time], given[roles.event], rows, reading.separator)
        elif roles.targets:
            outcome = read_targets(given, task, rows, reading.separator)
        else:
            outcome = read_target(given.iloc[:, 0], task, rows)
    except TargetError as error:
        return str(error), found
    weights = found.facts.weights
    if weights is not None and outcome.task in CLASSES and not found.problems:
        lost = weightless_class(outcome.values, weights)
        if lost is not None:
            return f"--weight: column {roles.weight!r} is 0 in every row of class {lost!r}", found
    return outcome, found


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


def _lost(present: NDArray[np.bool_], asked: Sequence[str], where: str) -> list[str]:
    lost = int((~present).sum())
    names = " or ".join(repr(name) for name in asked[:8])
    return [f"{where}: {lost} of {len(present)} rows lack the target {names} and are left out"] if lost else []
