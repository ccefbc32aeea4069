"""What pyarrow's datasets can't read in batches, written once as Parquet to a temporary folder.

CSV is parsed as any other CSV, in parts; polars and Dask compute their frames part by part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from maskrank.tables.errors import TableError
from maskrank.tables.files import is_utf8, utf8_text
from maskrank.tables.large import LargeTable, dataset_module, of_dataset, open_dataset
from maskrank.tables.parts import kind_of_part
from maskrank.tables.progress import Told, untold
from maskrank.tables.scratch import Scratch
from maskrank.tables.text import Layout, find_layout, parsed_parts, ragged_rows_named, raise_ragged
from maskrank.tables.unchanged import Unchanged


def convert_csv(path: Path, texts: Sequence[str] = (), told: Told = untold) -> tuple[LargeTable, str]:
    """The table of a file of text, and its separator.

    Parameters
    ----------
    path : Path
    texts : sequence of str
        Columns to be read as the text that stands in the file.
    told : callable
        Told bytes read and bytes in all, now and then.
    """
    folder = Scratch()
    with Unchanged([path]) as files:
        told(0, files.n_bytes)
        if not is_utf8(path):
            raise TableError(f"{path}: is larger than the memory limit and not UTF-8 text: save it as UTF-8 or Parquet")
        layout = find_layout(utf8_text(path, told), str(path))
        with ragged_rows_named(layout, str(path)):
            kinds = _write_parts(layout, set(texts), folder.path)
            mixed = {name for name, found in kinds.items() if _is_mixed(found)}
            if mixed:
                kinds = _write_parts(layout, mixed | set(texts), folder.path)
    if "nothing" in kinds[layout.header[-1]] or "gaps" in kinds[layout.header[-1]]:
        raise_ragged(layout, str(path))
    return _opened(folder, str(path), kinds), layout.separator


def convert_frames(frames: Iterable[Any], name: str) -> LargeTable:
    """The table of Arrow tables in sequence, with the same columns.

    Parameters
    ----------
    frames : iterable of pyarrow.Table
    name : str
        What messages call it.
    """
    dataset_module(name)
    import pyarrow.parquet as pq

    folder = Scratch()
    files = []
    for k, frame in enumerate(frames):
        files.append(str(folder.path / f"part-{k:06}.parquet"))
        pq.write_table(frame, files[-1])
    return of_dataset(open_dataset(files, "parquet", folder.path), name, folder=folder)


def convert_lazy(frame: Any, name: str) -> LargeTable:
    """The table of a polars LazyFrame, which its streaming engine writes."""
    folder = Scratch()
    file = folder.path / "part.parquet"
    frame.sink_parquet(file)
    return of_dataset(open_dataset([str(file)], "parquet", folder.path), name, folder=folder)


def _write_parts(layout: Layout, texts: set[str], folder: Path) -> dict[str, set[str]]:
    """Write rows, some a file; the kinds of values of each column."""
    dataset_module(str(folder))
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: dict[str, set[str]] = {name: set() for name in layout.header}
    places = [place for place, name in enumerate(layout.header) if name in texts]
    n_parts = 0
    for part in parsed_parts(layout, dtype=dict.fromkeys(places, str)):
        found = {name: "string" if name in texts else _kind(part[name]) for name in layout.header}
        for name, kind in found.items():
            kinds[name].add(kind)
        if part[layout.header[-1]].isna().any():
            kinds[layout.header[-1]].add("gaps")
        odd = [name for name, kind in found.items() if kind == "other" and part[name].dtype == object]
        part = part.astype(dict.fromkeys(odd, str))  # of numbers beyond 64 bits, which are read again as text
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), folder / f"part-{n_parts:06}.parquet")
        n_parts += 1
    if not n_parts:
        raise TableError(f"{folder}: the file has a header but no rows")
    return kinds


def _kind(part: pd.Series) -> str:
    """What a part of a column holds; "long" for whole numbers that 64-bit floats may not hold exactly."""
    kind = kind_of_part(part)
    return "long" if kind == "other" and part.dtype == np.int64 else kind


def _is_mixed(kinds: set[str]) -> bool:
    """Whether no type but text holds all parts of a column: they differ in more than whole numbers, fractions and gaps.

    Long whole numbers beside fractions and gaps are among these, for they can't become fractions.
    """
    told = kinds - {"nothing", "gaps"}
    if told <= {"integer", "long"}:
        return "long" in told and "nothing" in kinds
    return "other" in told or (len(told) > 1 and told != {"integer", "floating"})


def _opened(folder: Scratch, name: str, kinds: dict[str, set[str]]) -> LargeTable:
    """The parts as one table, whose columns have one type each."""
    import pyarrow as pa

    def arrow_type(found: set[str]) -> Any:
        told = found - {"nothing", "gaps"}
        if told and told <= {"integer", "long"} and "nothing" not in found:
            return pa.int64()
        return pa.string() if told == {"string"} else pa.bool_() if told == {"boolean"} else pa.float64()

    schema = pa.schema([(column, arrow_type(found)) for column, found in kinds.items()])
    files = sorted(str(file) for file in folder.path.glob("*.parquet"))
    dataset = open_dataset(files, "parquet", folder.path, schema=schema)
    return of_dataset(dataset, name, checked=False, folder=folder)
