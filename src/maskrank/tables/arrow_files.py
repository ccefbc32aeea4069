"""Batches of Arrow and Feather files, read in sequence in this thread.

pyarrow's datasets read some columns of such a file in other threads, and where it is damaged, memory is overwritten and
the process ends: its plain reader refuses the file instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any


def arrow_reader(fragment: Any, schema: Any) -> Callable[[list[str], int], Iterator[Any]]:
    """What reads a file of a dataset, of a folder whose name may say more columns of all its rows.

    Parameters
    ----------
    fragment : pyarrow.dataset.FileFragment
        Of an Arrow file on disk.
    schema : pyarrow.Schema
        Of the dataset.

    Returns
    -------
    read : callable
        Takes names of columns and a number of rows, and gives batches of at most that many rows, in order.
    """
    import pyarrow.dataset as ds

    said = ds.get_partition_keys(fragment.partition_expression)
    types = {str(field.name): field.type for field in schema}

    def read(columns: list[str], height: int) -> Iterator[Any]:
        for values in _batches(fragment.path, [name for name in columns if name not in said]):
            whole = _with_said(values, columns, said, types)
            for first in range(0, whole.num_rows, height):
                yield whole.slice(first, height)

    return read


def check_rows(path: str, n_rows: int) -> None:
    """Refuse a file that says that it has more rows than it holds, which would be counted through for ever.

    Raises
    ------
    ValueError
        No column holds a bit for every row, or columns differ in their lengths.
    """
    import pyarrow as pa
    from pyarrow import ipc

    if n_rows <= 8 * Path(path).stat().st_size:
        return
    with pa.OSFile(path) as file, ipc.open_file(file) as reader:
        columns = [str(field.name) for field in reader.schema if not pa.types.is_null(field.type)]
    held = 0
    for values in _batches(path, columns[:1]) if columns else ():
        values.validate()
        held += 8 * values.nbytes
    if held < n_rows:
        raise ValueError(f"it says that it has {n_rows:,} rows, and does not hold them")


def _batches(path: str, columns: Sequence[str]) -> Iterator[Any]:
    """Some columns of a file, a batch of its own rows at a time."""
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(path) as file:
        with ipc.open_file(file) as reader:
            places = [reader.schema.names.index(name) for name in columns]
        options = ipc.IpcReadOptions(included_fields=places, use_threads=False)
        with ipc.open_file(file, options=options) as reader:
            for k in range(reader.num_record_batches):
                yield reader.get_batch(k)


def _with_said(values: Any, columns: Sequence[str], said: dict[str, Any], types: dict[str, Any]) -> Any:
    """The columns in their order, those that a folder's name says among them."""
    import pyarrow as pa

    n = values.num_rows
    if not columns:
        return values.select([])
    arrays = [
        pa.repeat(pa.scalar(said[name], types[name]), n) if name in said else values.column(name) for name in columns
    ]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def plain_levels(table: Any) -> Any:
    """A table without dictionaries that pandas refuses: where a level is null or stands twice, its values are text."""
    import pyarrow as pa

    for place, column in enumerate(table.columns):
        if pa.types.is_dictionary(column.type) and not all(_has_levels(chunk.dictionary) for chunk in column.chunks):
            table = table.set_column(place, table.field(place).name, column.cast(column.type.value_type))
    return table


def _has_levels(levels: Any) -> bool:
    return not levels.null_count and len(levels.unique()) == len(levels)
