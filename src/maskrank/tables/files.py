"""Files of any known kind into frames: .csv, .tsv, .parquet, .npz (arrays X, y, feature_names), standard input."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from maskrank.tables.text import Reading, TableError, decode, read_csv, require_unique

SUFFIXES = (".csv", ".tsv", ".parquet", ".npz")


def read_frame(source: str) -> Reading:
    """Read a file, or CSV on standard input ("-")."""
    if source == "-":
        return _read_text(sys.stdin.buffer.read(), place(source))
    path = Path(source)
    if not path.exists():
        raise TableError(f"{source}: there is no such file")
    if path.is_dir():
        raise TableError(f"{source}: is a folder; give a file ({', '.join(SUFFIXES)})")
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        hint = ": save the sheet as CSV" if suffix in (".xlsx", ".xls", ".ods", ".numbers") else ""
        raise TableError(
            f"{source}: files ending in {path.suffix or 'nothing'!r} are not known; use {', '.join(SUFFIXES)}{hint}"
        )
    try:
        if suffix == ".npz":
            reading = Reading(_read_npz(path))
        elif suffix == ".parquet":
            reading = Reading(_read_parquet(path))
        else:
            reading = _read_text(path.read_bytes(), place(source))
    except PermissionError as error:
        raise TableError(f"{source}: can't be read: no permission") from error
    if reading.frame.empty:
        raise TableError(f"{source}: the table has no rows")
    return reading


def _read_text(content: bytes, where: str) -> Reading:
    text, guesses = decode(content, where)
    reading = read_csv(text, where)
    return replace(reading, guesses=guesses + reading.guesses)


def place(source: str) -> str:
    """What a message calls the source."""
    return "standard input" if source == "-" else source


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
    require_unique(names if y is None else [*names, "y"], str(path))
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
    require_unique(list(frame.columns), str(path))
    return frame
