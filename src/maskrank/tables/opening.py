"""Tables larger than memory from what people hold: datasets of pyarrow, lazy frames of polars, frames of Dask."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from maskrank.tables.conversion import convert_csv, convert_frames, convert_lazy
from maskrank.tables.errors import TableError, unknown
from maskrank.tables.files import is_plain_text
from maskrank.tables.large import LargeTable, of_dataset, open_path
from maskrank.tables.paths import source_path


def open_large(source: str | Path) -> LargeTable:
    """A table on disk, to be fitted on without reading all of it into memory.

    Parameters
    ----------
    source : str or Path
        A file, .parquet, .arrow, .feather, .npy, or text such as .csv, which is converted once to a temporary Parquet
        file; or a folder of Parquet or Arrow files.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from maskrank.tables import open_large
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"a": [1.0, 2.0], "y": [0, 1]}).to_parquet(Path(folder) / "part.parquet")
    ...     table = open_large(folder)
    >>> table.n_rows, table.names
    (2, ['a', 'y'])
    """
    path = source_path(source)
    return convert_csv(path)[0] if is_plain_text(path) else open_path(path)


def is_large(X: Any) -> bool:
    """Whether an object is a table that is read in batches."""
    return isinstance(X, LargeTable) or _is_lazy(X) or _is_dataset(X) or _is_dask(X)


def open_large_table(X: Any, needed: Sequence[str]) -> LargeTable:
    """The table of an object for which `is_large` holds.

    Parameters
    ----------
    X : LargeTable, pyarrow.dataset.Dataset, polars.LazyFrame or Dask DataFrame
        Of frames that are computed, a copy is written to a temporary folder, part by part.
    needed : sequence of str
        Names of columns that it must have.

    Raises
    ------
    TableError
        It lacks one of these columns; nothing is computed then.
    """
    if isinstance(X, LargeTable):
        _check_columns(X.names, needed, X.name)
        return X
    name = f"the {type(X).__name__}"
    if _is_lazy(X):
        _check_columns(X.collect_schema().names(), needed, name)
        return convert_lazy(X, name)
    if _is_dataset(X):
        _check_columns(X.schema.names, needed, name)
        return of_dataset(X, name)
    _check_columns([str(column) for column in X.columns], needed, name)
    return convert_frames(_partitions(X), name)


def _partitions(X: Any) -> Iterator[Any]:
    """The partitions of a Dask frame, computed in sequence."""
    import pyarrow as pa

    schema = None
    for k in range(X.npartitions):
        frame = X.partitions[k].compute()
        if len(frame):
            table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False).replace_schema_metadata(None)
            schema = schema or table.schema
            yield table


def _check_columns(names: Sequence[str], needed: Sequence[str], where: str) -> None:
    for name in needed:
        if name not in names:
            raise TableError(f"{where}: {unknown(name, list(names))}")


def _is_lazy(X: Any) -> bool:
    return type(X).__module__.split(".")[0] == "polars" and type(X).__name__ == "LazyFrame"


def _is_dataset(X: Any) -> bool:
    return type(X).__module__ == "pyarrow._dataset" and hasattr(X, "get_fragments")


def _is_dask(X: Any) -> bool:
    return type(X).__module__.split(".")[0].startswith("dask") and hasattr(X, "npartitions") and hasattr(X, "columns")
