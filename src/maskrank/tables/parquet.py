"""Parquet into frames: columns of one type of numbers go straight into one array, some columns at a time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskrank.tables.errors import TableError, first_line, require_unique
from maskrank.tables.memory import require_room
from maskrank.tables.progress import Told, untold
from maskrank.tables.threads import require_threads
from maskrank.tables.unchanged import Unchanged

_CELL = 8  # bytes
_TEXTS = ("string", "large_string", "binary", "large_binary")
_AT_ONCE = 1 << 21  # values that are read in one go
_MOST_OTHERS = 64  # columns beside those of the array; with more of them, a frame is made in the usual way


def read_parquet(path: Path, told: Told = untold, limit: int | None = None) -> pd.DataFrame:
    """A file as pandas reads it.

    Parameters
    ----------
    path : Path
    told : callable
        Told bytes done and bytes in all, now and then.
    limit : int, optional
        Bytes of memory that it may take.

    Raises
    ------
    TableError
        It is no such file, it changed while it was read, or it does not fit into memory.
    """
    pq = parquet_reader(str(path))
    require_threads(str(path))
    try:
        with Unchanged([path]) as files, pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
            require_unique([str(name) for name in file.schema_arrow.names], str(path))
            if limit is not None:
                require_room(str(path), _CELL * file.metadata.num_rows * len(file.schema_arrow), limit)
                check_texts(path, limit)
            frame = _numbers(file, files.n_bytes, told)
            return pd.read_parquet(path) if frame is None else frame
    except (PermissionError, TableError, MemoryError):
        raise
    except Exception as error:  # pyarrow has many kinds of its own
        raise TableError(f"{path}: is not a Parquet file: {first_line(error)}") from error


def check_texts(path: Path, limit: int) -> None:
    """Refuse a file of texts that are too many, or too long, for memory.

    A file may hold a text once that stands in every row: it is read as such, and its length counted for each of them.
    """
    try:
        _check_texts(path, limit)
    except (PermissionError, TableError, MemoryError):
        raise
    except Exception as error:  # pyarrow has many kinds of its own
        raise TableError(f"{path}: is not a Parquet file, or it is damaged: {first_line(error)}") from error


def _check_texts(path: Path, limit: int) -> None:
    pq = parquet_reader(str(path))
    with pq.ParquetFile(path, memory_map=False, pre_buffer=False) as file:
        facts, schema = file.metadata, file.schema_arrow
        texts = [str(name) for name, kind in zip(schema.names, schema.types, strict=True) if str(kind) in _TEXTS]
        if not texts or facts.num_rows < 2:
            return
    import pyarrow.compute as pc

    n_bytes = 0
    with pq.ParquetFile(path, memory_map=False, pre_buffer=False, read_dictionary=texts) as file:
        for group in range(facts.num_row_groups):
            declared = sum(facts.row_group(group).column(i).total_uncompressed_size for i in range(facts.num_columns))
            require_room(str(path), max(declared, _CELL * facts.row_group(group).num_rows), limit)
            for name in texts:  # one by one, so that little is held
                for chunk in file.read_row_group(group, columns=[name], use_threads=False).column(0).chunks:
                    chunk.validate(full=True)
                    lengths = pc.binary_length(chunk.dictionary).take(chunk.indices)
                    n_bytes += pc.sum(lengths).as_py() or 0
                    require_room(str(path), n_bytes, limit)


def parquet_reader(where: str) -> Any:
    """The module of pyarrow for Parquet; an error says how to get it."""
    try:
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TableError(f"{where}: reading Parquet needs pyarrow: pip install 'maskrank[parquet]'") from error
    return pq


def _numbers(file: Any, size: int, told: Told) -> pd.DataFrame | None:
    """A table of which nearly all columns hold numbers of one type without gaps; None for others."""
    schema = file.schema_arrow
    names = [str(name) for name in schema.names]
    counted = Counter(str(kind) for kind in schema.types)
    kind = counted.most_common(1)[0][0] if counted else ""
    if kind not in _PLAIN or len(set(names)) < len(names) or _has_index(schema):
        return None
    apart = [name for name, own in zip(names, schema.types, strict=True) if str(own) != kind]
    if len(apart) > _MOST_OTHERS:
        return None
    others = set(apart)
    together = [name for name in names if name not in others]
    values = np.empty((file.metadata.num_rows, len(together)), dtype=_PLAIN[kind])
    width = max(1, _AT_ONCE // max(1, len(values)))
    for first in range(0, len(together), width):
        told(size * first // len(together), size)
        some = together[first : first + width]
        if not _fill(values[:, first : first + width], file.read(columns=some, use_threads=False)):
            return None
    frame = pd.DataFrame(values, columns=together, copy=False)
    rest = file.read(columns=apart).to_pandas() if apart else pd.DataFrame()
    _put_in(frame, rest, names)
    told(size, size)
    return frame


def _fill(values: np.ndarray[Any, Any], table: Any) -> bool:
    """Copy columns into an array; whether it can hold them: whole numbers have no gaps."""
    for place, column in enumerate(table.columns):
        if column.null_count and values.dtype.kind != "f":
            return False
        values[:, place] = column.to_numpy()
    return True


def _put_in(frame: pd.DataFrame, others: pd.DataFrame, names: Sequence[str]) -> None:
    """Put other columns in their places."""
    own = set(others.columns)
    for place, name in enumerate(names):
        if name in own:
            frame.insert(place, name, others[name])


def _has_index(schema: Any) -> bool:
    """Whether a column is the index of the frame that was written."""
    described = (schema.metadata or {}).get(b"pandas")
    if described is None:
        return False
    return any(isinstance(column, str) for column in json.loads(described).get("index_columns", []))


_PLAIN: dict[str, type[np.generic]] = {
    "double": np.float64,
    "float": np.float32,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint8": np.uint8,
    "uint16": np.uint16,
    "uint32": np.uint32,
}
