"""From a file to a table of numbers, with errors a person can act on.

Reads .csv, .tsv, .parquet, .npz (arrays X, y, feature_names) and CSV from standard input. Every problem is a
`TableError` of one line that names the file, the column or the value, and says what is allowed.
"""

from __future__ import annotations

import csv
import difflib
import io
import shlex
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

SUFFIXES = (".csv", ".tsv", ".parquet", ".npz")
_MOST_CLASSES = 20  # of a target of whole numbers that counts as classes


class TableError(ValueError):
    """A table that can't be used, and why, in one line."""


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
    """

    X: NDArray[np.float64]
    y: NDArray[Any]
    names: list[str]
    target: str
    task: str
    reason: str


def load_table(source: str, *, target: str | None, drop: Sequence[str] = (), task: str = "auto") -> Table:
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
    """
    frame = read_frame(source)
    where = _place(source)
    if target is None:
        if not source.lower().endswith(".npz"):
            raise TableError(f"{where}: name the target column with --target; there are {_listing(frame.columns)}")
        target = "y"
    for name in (target, *drop):
        _require_column(frame, name, where)
    if target in drop:
        raise TableError(f"{where}: column {target!r} can't be both target and dropped")
    y, task, reason = _read_target(frame[target], task, where)
    features = frame.drop(columns=[target, *drop])
    if features.shape[1] < 2:
        raise TableError(
            f"{where}: {features.shape[1]} feature column(s) are left; at least 2 are needed to choose from"
        )
    table = Table(numbers_of(features, where), y, list(features.columns), target, task, reason)
    check_target(table, where)
    return table


def check_target(table: Table, where: str) -> None:
    """Refuse a target that nothing can be learned from."""
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
    frame = read_frame(source)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        raise TableError(
            f"{_place(source)}: the model needs column {missing[0]!r}, which the table lacks"
            + _nearest(missing[0], frame)
            + (f" (and {len(missing) - 1} more: {_listing(missing[1:])})" if len(missing) > 1 else "")
        )
    return numbers_of(frame[list(names)], _place(source))


def read_frame(source: str) -> pd.DataFrame:
    """Read a file of any known kind into a frame with unique column names and at least one row."""
    if source == "-":
        return _read_csv(_decode(sys.stdin.buffer.read(), "standard input"), "standard input")
    path = Path(source)
    if not path.exists():
        raise TableError(f"{source}: there is no such file")
    if path.is_dir():
        raise TableError(f"{source}: is a folder; give a file ({', '.join(SUFFIXES)})")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise TableError(
            f"{source}: files ending in {path.suffix or 'nothing'!r} are not known; use {', '.join(SUFFIXES)}"
        )
    try:
        if suffix == ".npz":
            frame = _read_npz(path)
        elif suffix == ".parquet":
            frame = _read_parquet(path)
        else:
            frame = _read_csv(_decode(path.read_bytes(), source), source)
    except PermissionError as error:
        raise TableError(f"{source}: can't be read: no permission") from error
    if frame.empty:
        raise TableError(f"{source}: the table has no rows")
    return frame


def numbers_of(frame: pd.DataFrame, where: str) -> NDArray[np.float64]:
    """All columns as finite numbers."""
    for name in frame.columns:
        column = frame[name]
        if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
            raise TableError(
                f"{where}: column {name!r} holds text, for example {_example(column)!r}; leave it out with "
                f"--drop {_quoted(name)}, or turn it into numbers first"
            )
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = np.argwhere(bad)[0]
        what = "a missing value" if np.isnan(values[row, column]) else "an infinite value"
        name, in_column, in_all = frame.columns[column], int(bad[:, column].sum()), int(bad.sum())
        raise TableError(
            f"{where}: column {name!r} has {what} in row {row + 1} of the data ({in_column} such in the column, "
            f"{in_all} in the table); fill it in, or leave the column out with --drop {_quoted(name)}"
        )
    return values


def _read_target(column: pd.Series, task: str, where: str) -> tuple[NDArray[Any], str, str]:
    """Target values, the task, and why it is this task."""
    if column.isna().any():
        row = int(np.flatnonzero(column.isna())[0]) + 1
        raise TableError(f"{where}: the target {column.name!r} has a missing value in row {row} of the data")
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


def _read_csv(text: str, where: str) -> pd.DataFrame:
    text = text.replace("\r\n", "\n").replace("\r", "\n").lstrip("\n")
    if not text.strip():
        raise TableError(f"{where}: the file is empty")
    first_line = text.split("\n", 1)[0]
    separator = max(",;\t|", key=first_line.count)
    try:
        header = next(csv.reader(io.StringIO(text), delimiter=separator))
        _require_unique(header, where)
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame = pd.read_csv(io.StringIO(text), sep=separator, index_col=False, low_memory=False)
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError, csv.Error) as error:
        _raise_ragged(text, separator, len(header), where)
        raise TableError(f"{where}: is not a table: {str(error).strip()}") from error
    frame.columns = header
    if frame.empty:
        raise TableError(f"{where}: the file has a header but no rows")
    if frame[header[-1]].isna().any():
        _raise_ragged(text, separator, len(header), where)
    return frame


def _raise_ragged(text: str, separator: str, expected: int, where: str) -> None:
    """Raise where a row has more or fewer fields than the header (a reader fills up short ones in silence)."""
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    for row in reader:
        if row and len(row) != expected:
            raise TableError(f"{where}: line {reader.line_num} has {len(row)} fields, the header has {expected}")


def _read_npz(path: Path) -> pd.DataFrame:
    """X as columns and, where there is one, y as a column more."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in ("X", "y", "feature_names") if name in archive}
    except PermissionError:
        raise
    except Exception as error:  # numpy, zipfile and zlib each raise their own kinds on a damaged archive
        raise TableError(f"{path}: is not an .npz file of plain arrays, or it is damaged") from error
    if "X" not in arrays:
        raise TableError(f"{path}: has no array 'X'; an .npz table holds X, y and perhaps feature_names")
    X, y = arrays["X"], arrays.get("y")
    if X.ndim != 2 or (y is not None and y.shape != (len(X),)):
        shapes = f"X has shape {X.shape}" + ("" if y is None else f" and y {y.shape}")
        raise TableError(f"{path}: {shapes}; (rows, features) and (rows,) are needed")
    if X.dtype.kind not in "biuf":
        raise TableError(f"{path}: X holds values of type {X.dtype}; real numbers are needed")
    names = [str(name) for name in arrays.get("feature_names", [f"x{i}" for i in range(X.shape[1])])]
    if len(names) != X.shape[1]:
        raise TableError(f"{path}: feature_names has {len(names)} entries for {X.shape[1]} features")
    _require_unique(names if y is None else [*names, "y"], str(path))
    frame = pd.DataFrame(X, columns=names)
    return frame if y is None else pd.concat([frame, pd.Series(y, name="y")], axis=1)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(path)
    except ImportError as error:
        raise TableError(f"{path}: reading Parquet needs pyarrow: pip install 'maskrank[parquet]'") from error
    except PermissionError:
        raise
    except Exception as error:  # pyarrow has many kinds of its own
        raise TableError(f"{path}: is not a Parquet file: {str(error).splitlines()[0]}") from error
    frame.columns = [str(name) for name in frame.columns]
    _require_unique(list(frame.columns), str(path))
    return frame


def _decode(content: bytes, where: str) -> str:
    if b"\0" in content:
        raise TableError(f"{where}: is a binary file, not text")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TableError(f"{where}: is not UTF-8 text (byte {error.start}); save it as UTF-8") from error


def _require_unique(names: Sequence[str], where: str) -> None:
    seen: set[str] = set()
    for place, name in enumerate(names, 1):
        if not name.strip():
            raise TableError(f"{where}: column {place} has no name; name it, or remove the separator that opens it")
        if name in seen:
            raise TableError(f"{where}: the column name {name!r} stands twice; names must be unique")
        seen.add(name)


def _require_column(frame: pd.DataFrame, name: str, where: str) -> None:
    if name not in frame.columns:
        hint = _nearest(name, frame) or f"; there are {_listing(frame.columns)}"
        raise TableError(f"{where}: there is no column {name!r}{hint}")


def _nearest(name: str, frame: pd.DataFrame) -> str:
    folded = {str(column).casefold(): str(column) for column in frame.columns}
    close = difflib.get_close_matches(name.casefold(), folded, n=1, cutoff=0.5)
    return f"; did you mean {folded[close[0]]!r}?" if close else ""


def _listing(names: Any) -> str:
    shown = ", ".join(repr(str(name)) for name in list(names)[:8])
    return shown + (f", … ({len(names)} in all)" if len(names) > 8 else "")


def _example(column: pd.Series) -> str:
    numeric = pd.to_numeric(column, errors="coerce").notna() | column.isna()
    text = column[~numeric]
    return str(text.iloc[0] if len(text) else column.iloc[0])[:40]


def _quoted(name: str) -> str:
    return shlex.quote(name)


def _place(source: str) -> str:
    return "standard input" if source == "-" else source
