"""`LargeTable`: a table on disk that is read in batches of rows, some of its columns at a time.

pyarrow's datasets do the reading: one Parquet, Arrow or Feather file, or a folder of them, perhaps partitioned by the
names of its folders. An array in a .npy file is read in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from maskrank.tables.arrow_files import arrow_reader, check_rows, plain_levels
from maskrank.tables.errors import TableError, first_line, require_unique
from maskrank.tables.memory import require_room
from maskrank.tables.parquet import check_texts
from maskrank.tables.progress import Told, untold
from maskrank.tables.scratch import Scratch
from maskrank.tables.threads import require_threads
from maskrank.tables.unchanged import Unchanged

_SMALL = 1 << 26  # bytes of a file that is looked at before it is read
_BATCH = 1 << 22  # values of a batch
_FORMATS = {".parquet": "parquet", ".arrow": "ipc", ".feather": "ipc"}


@dataclass(frozen=True)
class Piece:
    """Rows of a table that lie together.

    Attributes
    ----------
    start, n_rows : int
        Their place in the table.
    path : Path or None
        Of the file that holds them.
    read : callable
        Takes names of columns and a number of rows, and gives batches of at most that many rows, in order.
    """

    start: int
    n_rows: int
    path: Path | None
    read: Callable[[list[str], int], Iterator[Any]]


@dataclass(frozen=True)
class Batch:
    """Some rows of a table: the number of the first one, a pyarrow.RecordBatch, and what messages call the table."""

    start: int
    values: Any
    table: str

    def frame(self) -> pd.DataFrame:
        """The same in pandas."""
        return joined_frame([self.values], self.table)


class LargeTable:
    """A table that need not fit into memory.

    Parameters
    ----------
    name : str
        What messages call it.
    schema : pyarrow.Schema
    pieces : sequence of Piece
        In the order of the rows.
    folder : Scratch, optional
        Of files that are removed with this object.

    Attributes
    ----------
    names : list of str
        Of the columns.
    n_rows, n_bytes : int
        In all; bytes on disk.
    files : list of Path
        That hold it.
    """

    def __init__(
        self,
        name: str,
        schema: Any,
        pieces: Sequence[Piece],
        folder: Scratch | None = None,
    ) -> None:
        self.name, self.schema, self._pieces, self._folder = name, schema, tuple(pieces), folder
        self.names = list(_types(schema, name))
        self.n_rows = sum(piece.n_rows for piece in pieces)
        require_unique(self.names, name)
        if not self.n_rows:
            raise TableError(f"{name}: the table has no rows")
        self.files = sorted({piece.path for piece in pieces if piece.path is not None})
        self._files = Unchanged(self.files)
        self.n_bytes = self._files.n_bytes

    def batches(
        self, columns: Sequence[str] | None = None, *, shuffled: np.random.Generator | None = None, told: Told = untold
    ) -> Iterator[Batch]:
        """All rows, some at a time.

        Parameters
        ----------
        columns : sequence of str, optional
            Only these columns are read.
        shuffled : numpy.random.Generator, optional
            Gives the order of the pieces, files or groups of rows in them; without it rows come in their order.
        told : callable
            Told bytes read and bytes in all, now and then.

        Raises
        ------
        TableError
            A file changed since the table was opened, or is damaged.
        """
        require_threads(self.name)
        wanted = self.names if columns is None else list(columns)
        height = max(1, _BATCH // max(1, len(wanted)))
        order = np.arange(len(self._pieces)) if shuffled is None else shuffled.permutation(len(self._pieces))
        done = 0
        for piece in (self._pieces[i] for i in order):
            start = piece.start
            for values in self._read(piece, wanted, height):
                if values.num_rows:
                    yield Batch(start, values, self.name)
                start += values.num_rows
                done += values.num_rows
                told(self.n_bytes * done // self.n_rows, self.n_bytes)
            if start != piece.start + piece.n_rows:
                raise TableError(f"{piece.path or self.name}: has other rows than when it was opened")

    def _read(self, piece: Piece, columns: list[str], height: int) -> Iterator[Any]:
        files = [] if piece.path is None else [piece.path]
        self._files.check(files)
        try:
            for values in piece.read(columns, height):
                values.validate(full=True)  # offsets of texts are read as they are, wherever they point to
                yield values
        except Exception as error:  # pyarrow has many kinds of its own
            self._files.check(files)
            if isinstance(error, TableError | PermissionError):
                raise
            where = piece.path or self.name
            if isinstance(error, MemoryError):
                raise TableError(
                    f"{where}: needs more memory than there is, or is damaged: {first_line(error)}"
                ) from error
            raise TableError(f"{where}: is damaged, or not what it seems: {first_line(error)}") from error
        self._files.check(files)

    def frame(
        self, columns: Sequence[str] | None = None, told: Told = untold, limit: int | None = None
    ) -> pd.DataFrame:
        """All rows in memory, of which they may take so many bytes."""
        kept: list[Any] = []
        n_bytes = 0
        for batch in self.batches(columns, told=told):
            kept.append(batch.values)
            n_bytes += batch.values.nbytes
            if limit is not None:
                require_room(self.name, n_bytes, limit)
        return joined_frame(kept, self.name)

    def take(self, rows: NDArray[np.int64], columns: Sequence[str] | None = None, told: Told = untold) -> pd.DataFrame:
        """Some rows, by their sorted numbers, in one pass over the table."""
        kept = []
        for batch in self.batches(columns, told=told):
            first, last = np.searchsorted(rows, [batch.start, batch.start + batch.values.num_rows])
            if last > first:
                kept.append(batch.values.take(rows[first:last] - batch.start))
        return joined_frame(kept, self.name)


def joined_frame(batches: Sequence[Any], name: str) -> pd.DataFrame:
    """Record batches of a table as one frame, without what their metadata says of an index.

    Raises
    ------
    TableError
        pandas has no such type of a column.
    """
    import pyarrow as pa

    try:
        table = plain_levels(pa.Table.from_batches(batches).replace_schema_metadata(None))
        frame: pd.DataFrame = table.to_pandas(date_as_object=False)
    except MemoryError:
        raise
    except Exception as error:  # pyarrow and pandas have many kinds of their own
        raise TableError(f"{name}: can't be read: {first_line(error)}") from error
    frame.columns = [str(name) for name in frame.columns]
    return frame


def is_large_file(path: Path) -> bool:
    """Whether a path is read as a large table: a folder, or a file in Arrow's own format, or an array."""
    return path.is_dir() or path.suffix.lower() in (".arrow", ".feather", ".npy")


def open_path(path: Path, limit: int | None = None) -> LargeTable:
    """A table on disk.

    Parameters
    ----------
    path : Path
        A file, .parquet, .arrow, .feather or .npy, or a folder of Parquet or Arrow files, perhaps in folders of their
        own such as ``year=2024``.
    limit : int, optional
        Bytes of memory that the texts of a small file may take.

    Raises
    ------
    TableError
        It is none, or files of a folder have different columns.
    """
    if path.suffix.lower() == ".npy" and not path.is_dir():
        return _open_array(path)
    files = sorted(file for file in path.rglob("*") if _is_part(file, path)) if path.is_dir() else [path]
    if not path.is_dir() and path.suffix.lower() not in _FORMATS:
        known = ", ".join([".npy", *_FORMATS])
        raise TableError(f"{path}: can't be read in parts; {known}, plain text, and folders of such files can be")
    kinds = {_FORMATS[file.suffix.lower()] for file in files}
    if len(kinds) != 1:
        what = "both Parquet and Arrow files" if kinds else "no file ending in .parquet, .arrow or .feather"
        raise TableError(f"{path}: is a folder with {what}; files of one kind are needed")
    kind = kinds.pop()
    dataset = open_dataset([str(file) for file in files], kind, base=path if path.is_dir() else path.parent)
    if kind == "parquet" and limit is not None:
        check_small(files, limit)
    return of_dataset(dataset, str(path), arrow=kind == "ipc")


def check_small(files: Sequence[Path], limit: int) -> None:
    """Refuse small files of Parquet whose texts do not fit into memory; of large ones, batches are looked at."""
    for file in files:
        if file.stat().st_size <= _SMALL:
            check_texts(file, limit)


def _is_part(file: Path, folder: Path) -> bool:
    """Whether a file of a folder is a part of its table; those of names that begin with . or _ are notes."""
    hidden = any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)
    return file.suffix.lower() in _FORMATS and not hidden and file.is_file()


def open_dataset(files: Sequence[str], kind: str, base: Path, schema: Any = None) -> Any:
    """The dataset of some files, which reads little ahead, so that memory holds few batches."""
    ds = dataset_module(str(base))
    options = ds.ParquetFragmentScanOptions(pre_buffer=False, use_buffered_stream=True)
    form = ds.ParquetFileFormat(default_fragment_scan_options=options) if kind == "parquet" else kind
    try:
        return ds.dataset(list(files), format=form, partitioning="hive", partition_base_dir=str(base), schema=schema)
    except PermissionError:
        raise
    except Exception as error:
        named = "a Parquet" if kind == "parquet" else "an Arrow"
        where = files[0] if len(files) == 1 else base
        if "duplicate field names" in str(error):
            raise TableError(f"{where}: a column name occurs twice; names must be unique") from error
        raise TableError(f"{where}: is not {named} file: {first_line(error)}") from error


def dataset_module(where: str) -> Any:
    """The module of pyarrow for datasets; an error says how to get it."""
    try:
        import pyarrow.dataset as ds
    except ImportError as error:
        raise TableError(f"{where}: reading it needs pyarrow: pip install 'maskrank[parquet]'") from error
    return ds


def of_dataset(
    dataset: Any, name: str, *, checked: bool = True, folder: Scratch | None = None, arrow: bool = False
) -> LargeTable:
    """The table of a pyarrow dataset.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    name : str
        What messages call it.
    checked : bool
        Refuse files of different columns or types.
    folder : Scratch, optional
        Of its files, removed with the table.
    arrow : bool
        Of Arrow files on disk, which may be damaged.
    """
    require_threads(name)
    _types(dataset.schema, name)  # names that are no text are refused first
    fragments = list(dataset.get_fragments())
    if checked:
        _check_schemas(fragments)
    pieces: list[Piece] = []
    start = 0
    for fragment in fragments:
        path = getattr(fragment, "path", None)
        for part, n in _parts(fragment, path or name, arrow=arrow):
            read = (arrow_reader if arrow else _reader)(part, dataset.schema)
            pieces.append(Piece(start, n, None if path is None else Path(path), read))
            start += n
    return LargeTable(name, dataset.schema, pieces, folder)


def _parts(fragment: Any, where: str, *, arrow: bool) -> list[tuple[Any, int]]:
    """Groups of rows of a file, and how many rows they have."""
    try:
        if not hasattr(fragment, "split_by_row_group"):
            n_rows = fragment.count_rows()
            if arrow:
                check_rows(fragment.path, n_rows)
            return [(fragment, n_rows)]
        return [(part, _rows_of_group(part)) for part in fragment.split_by_row_group()]
    except (PermissionError, MemoryError):
        raise
    except Exception as error:  # pyarrow has many kinds of its own
        raise TableError(f"{where}: is damaged: {first_line(error)}") from error


def _rows_of_group(part: Any) -> int:
    """Rows of a group of a Parquet file, each of which has a value in every column, or a gap."""
    n_rows = int(part.row_groups[0].num_rows)
    group = part.metadata.row_group(part.row_groups[0].id)
    if group.num_columns and group.column(0).num_values < n_rows:
        raise ValueError(f"it says that it has {n_rows:,} rows, and does not hold them")
    return n_rows


def _reader(fragment: Any, schema: Any) -> Callable[[list[str], int], Iterator[Any]]:
    def read(columns: list[str], height: int) -> Iterator[Any]:
        return iter(
            fragment.to_batches(
                schema=schema, columns=columns, batch_size=height, batch_readahead=1, fragment_readahead=1
            )
        )

    return read


def _check_schemas(fragments: Sequence[Any]) -> None:
    """Refuse files whose columns, or types of columns, are others than those of the first file."""
    if len(fragments) < 2 or not hasattr(fragments[0], "path"):
        return
    first = _types_of_file(fragments[0])
    for fragment in fragments[1:]:
        own = _types_of_file(fragment)
        for name in first:
            if name not in own:
                raise TableError(f"{fragment.path}: lacks the column {name!r} of {fragments[0].path}")
            if own[name] != first[name]:
                raise TableError(
                    f"{fragment.path}: the column {name!r} is of type {own[name]}, and of type {first[name]} in "
                    f"{fragments[0].path}; one type is needed"
                )
        for name in own:
            if name not in first:
                raise TableError(f"{fragment.path}: has a column {name!r}, which {fragments[0].path} lacks")


def _types_of_file(fragment: Any) -> dict[str, Any]:
    """The columns of a file of a folder."""
    try:
        schema = fragment.physical_schema
    except (PermissionError, MemoryError):
        raise
    except Exception as error:  # pyarrow has many kinds of its own
        raise TableError(f"{fragment.path}: is damaged: {first_line(error)}") from error
    return _types(schema, fragment.path)


def _types(schema: Any, where: str) -> dict[str, Any]:
    """Types of columns by their names."""
    try:
        return {str(field.name): field.type for field in schema}
    except UnicodeDecodeError as error:
        raise TableError(f"{where}: the name of a column is no UTF-8 text") from error


def _open_array(path: Path) -> LargeTable:
    """An array (n, d) of numbers, whose columns are called x0, x1, ..."""
    pa = _arrow(str(path))
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (PermissionError, MemoryError):
        raise
    except Exception as error:  # the parser of its header has kinds of its own
        raise TableError(f"{path}: is not an .npy file of a plain array, or it is damaged") from error
    if mapped.ndim != 2 or not mapped.shape[1] or mapped.dtype.kind not in "biuf":
        what = f"an array of shape {mapped.shape} and type {mapped.dtype}"
        raise TableError(f"{path}: holds {what}; numbers (rows, columns) are needed")
    (n, d), kind, offset, by_columns = mapped.shape, mapped.dtype, int(mapped.offset), not mapped.flags.c_contiguous
    del mapped
    native = np.dtype(np.float64) if kind.kind == "f" and kind.itemsize not in (4, 8) else kind.newbyteorder("=")
    schema = pa.schema([(f"x{j}", pa.from_numpy_dtype(native)) for j in range(d)])

    def read(columns: list[str], height: int) -> Iterator[Any]:
        places = [int(name[1:]) for name in columns]
        with path.open("rb") as file:
            for row in range(0, n, height):
                rows = min(height, n - row)
                if by_columns:
                    arrays = [_values(file, offset, kind, j * n + row, rows) for j in places]
                else:
                    block = _values(file, offset, kind, row * d, rows * d).reshape(rows, d)
                    arrays = [np.ascontiguousarray(block[:, j]) for j in places]
                columns_of = [pa.array(_as_type(array, native)) for array in arrays]
                yield pa.RecordBatch.from_arrays(columns_of, names=columns)

    return LargeTable(str(path), schema, [Piece(0, n, path, read)])


def _values(file: Any, offset: int, kind: np.dtype[Any], first: int, count: int) -> NDArray[Any]:
    file.seek(offset + first * kind.itemsize)
    return np.fromfile(file, dtype=kind, count=count)


def _as_type(array: NDArray[Any], kind: np.dtype[Any]) -> NDArray[Any]:
    with np.errstate(over="ignore", invalid="ignore"):  # what is too large is infinite, and is refused as such
        return array.astype(kind, copy=False)


def _arrow(where: str) -> Any:
    dataset_module(where)
    import pyarrow as pa

    return pa
