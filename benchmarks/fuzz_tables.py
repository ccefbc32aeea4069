"""Hostile tables: files of every kind that is read, mutated, or of rare types."""

from __future__ import annotations

import datetime
import decimal
import gzip
import io
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import zstandard

from maskrank.tables import ModelColumns, TableError, load_table, open_large, read_batches, select_columns

Case = Callable[[], tuple[str, str]]
MEMORY = 800 * 10**6  # bytes that a table may take
N = 30
KINDS = {"a": "numeric", "b": "categorical"}  # of the columns of a model
LARGE = (".csv", ".tsv", ".parquet", ".folder", ".feather", ".npy")  # what can be read in batches

_WORDS = ["", " ", "nan", "NA", "1e999", "-1e999", "9" * 400, "0x1F", "1,5", "1.234,5", "'", '"', '""', "\t", "=1+1"]
_WORDS += ["\ufeff", "\u202e", "é", "💥", "yes", "no", "2024-01-31", "31.02.2024", "99999999999999999999", "5e-324"]
_WORDS += ["1e308", "True", "None", "[1]", "{}", "\\", "%", "€5", "12:34", "x" * 3000, "-", "−1", "1_000", "٣", "½"]
_SEPARATORS = [",", ";", "\t", "|", " ", ", "]
_BYTES = [b"\0", b"\xff", b"\xfe\xff", b"\r", b"\n", b"\r\n", b'"', b",", b"\xef\xbb\xbf", b"\x1a", b" ", b"1", b"e"]


def prepare(folder: Path) -> None:
    """A folder with a good file beside that of a case."""
    (folder / "table.folder").mkdir(exist_ok=True)
    (folder / "table.folder" / "a.parquet").write_bytes(_plain_parquet(np.random.default_rng(0)))


def draw(rng: np.random.Generator, folder: Path) -> tuple[str, Case]:
    """A kind of case, and the case."""
    name = list(_MAKERS)[int(rng.integers(len(_MAKERS)))]
    path = folder / f"table{name}"
    content, kind = _MAKERS[name](rng)
    if kind == "any" and rng.random() < 0.5:
        content, kind = mutated(content, rng), "mutated"
    file = path / "b.parquet" if name == ".folder" else path
    file.unlink(missing_ok=True)  # a file that is overwritten is flushed to disk, which takes longer than the case
    file.write_bytes(content)
    target = {".npy": "x1"}.get(name, "y")
    options, way = _options(rng), int(rng.integers(3))
    return f"{name[1:]}, {kind}", lambda: read(path, target, options, way)


def read(path: Path, target: str, options: dict[str, Any], way: int | None = None) -> tuple[str, str]:
    """Read a table to fit and in one other way, or in all: it is read, or refused in lines that name it."""
    others = [
        lambda: select_columns(str(path), KINDS, limit=MEMORY),
        lambda: list(read_batches(str(path), ModelColumns(KINDS), 20_000, 7) or []),
        lambda: [batch.frame() for batch in open_large(path).batches()] if path.suffix in LARGE else None,
    ]
    outcomes = []
    fitted = partial(load_table, str(path), target=target, memory=MEMORY, **options)
    for call in [fitted, *(others if way is None else [others[way]])]:
        try:
            call()
            outcomes.append("read")
        except TableError as error:
            lines = str(error).split("\n")
            if not all(line.startswith((f"{path}: ", f"{path}/")) and len(line) < 2_000 for line in lines):
                return "traceback", f"an odd message: {str(error)[:200]}"
            outcomes.append("refused")
    return outcomes[0], ""


def _options(rng: np.random.Generator) -> dict[str, Any]:
    tasks = ["auto", "auto", "auto", "classification", "regression", "counts", "ordered"]
    return {"task": str(rng.choice(tasks)), "skip_missing": bool(rng.random() < 0.2)}


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes changed, cut out, repeated, or put in; or the end cut off."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 6))):
        if not data:
            break
        place, length = int(rng.integers(len(data))), int(rng.integers(1, 20))
        how = rng.integers(6)
        if how == 0:
            data[place] ^= 1 << int(rng.integers(8))
        elif how == 1:
            data[place : place + length] = rng.bytes(length)
        elif how == 2:
            del data[place : place + length]
        elif how == 3:
            data[place:place] = data[place : place + length] * int(rng.integers(1, 4))
        elif how == 4:
            data[place:place] = _BYTES[int(rng.integers(len(_BYTES)))]
        else:
            del data[max(1, place) :]
    return bytes(data)


def _text(rng: np.random.Generator) -> tuple[bytes, str]:
    separator = str(rng.choice(_SEPARATORS))
    header = ["a", "b", "y"]
    rows = [[f"{rng.normal():.3g}", str(rng.integers(3)), str(rng.integers(2))] for _ in range(N)]
    for _ in range(int(rng.integers(0, 12))):
        row = rows[int(rng.integers(N))]
        row[int(rng.integers(len(row)))] = _WORDS[int(rng.integers(len(_WORDS)))]
    if rng.random() < 0.3:
        column, word = int(rng.integers(3)), _WORDS[int(rng.integers(len(_WORDS)))]
        for row in rows:
            row[column] = word
    if rng.random() < 0.2:
        header[int(rng.integers(3))] = _WORDS[int(rng.integers(len(_WORDS)))]
    end = str(rng.choice(["\n", "\r\n", "\r"]))
    text = end.join(separator.join(row) for row in [header, *rows]) + end * int(rng.integers(3))
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "latin-1"]))
    return text.encode(encoding, errors="replace"), "any"


def _packed(pack: Callable[[bytes], bytes]) -> Callable[[np.random.Generator], tuple[bytes, str]]:
    return lambda rng: (pack(_text(rng)[0]), "any")


def _columns(rng: np.random.Generator) -> pa.Table:
    """Columns of rare types."""
    columns: dict[str, Any] = {"a": rng.normal(size=N), "b": rng.integers(0, 3, N), "y": rng.integers(0, 2, N)}
    for _ in range(int(rng.integers(1, 3))):
        name = str(rng.choice(["a", "b", "y", "c", "", "a b", "\x1b[31m", "d" * 300]))
        columns[name] = _COLUMNS[int(rng.integers(len(_COLUMNS)))](rng)
    return pa.table({name: pa.array(column) for name, column in columns.items()})


def _gaps(values: list[Any], rng: np.random.Generator) -> list[Any]:
    share = rng.choice([0.0, 0.3, 1.0])
    return [None if rng.random() < share else value for value in values]


def _typed(kind: pa.DataType, value: Callable[[np.random.Generator], Any]) -> Callable[[np.random.Generator], pa.Array]:
    return lambda rng: pa.array(_gaps([value(rng) for _ in range(N)], rng), type=kind)


_COLUMNS: list[Callable[[np.random.Generator], pa.Array]] = [
    lambda rng: pa.nulls(N),
    _typed(pa.list_(pa.float64()), lambda rng: [1.0, 2.0]),
    _typed(pa.struct([("u", pa.int64())]), lambda rng: {"u": int(rng.integers(2))}),
    _typed(pa.map_(pa.string(), pa.int64()), lambda rng: [("k", 1)]),
    _typed(pa.decimal128(38, 2), lambda rng: decimal.Decimal(int(rng.integers(9))) * 10**20),
    _typed(pa.binary(), lambda rng: rng.bytes(3)),
    _typed(pa.duration("us"), lambda rng: datetime.timedelta(days=int(rng.integers(99)))),
    _typed(pa.date32(), lambda rng: datetime.date(int(rng.integers(1, 9999)), 1, 1)),
    _typed(pa.time64("us"), lambda rng: datetime.time(int(rng.integers(23)), 5)),
    _typed(pa.timestamp("us"), lambda rng: int(rng.integers(-(2**62), 2**62))),
    _typed(pa.timestamp("ms", tz="Europe/Berlin"), lambda rng: int(rng.integers(2**40))),
    _typed(pa.uint64(), lambda rng: 2**64 - 1 - int(rng.integers(3))),
    _typed(pa.int8(), lambda rng: int(rng.integers(-128, 127))),
    _typed(pa.bool_(), lambda rng: bool(rng.integers(2))),
    _typed(pa.string(), lambda rng: _WORDS[int(rng.integers(len(_WORDS)))]),
    _typed(pa.large_string(), lambda rng: str(rng.integers(5))),
    _typed(pa.float64(), lambda rng: float(rng.choice([0.0, np.inf, -np.inf, 1e308, 5e-324, 1.0]))),
    lambda rng: pa.array(np.ones(N, np.float16)),
    lambda rng: pa.array(["u", "v"] * (N // 2)).dictionary_encode(),
    lambda rng: pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N // 2)), pa.array([1.5, 2.5])),
]


def _parquet(rng: np.random.Generator) -> tuple[bytes, str]:
    if rng.random() < 0.3:
        return _plain_parquet(rng), "any"
    stream = io.BytesIO()
    pq.write_table(_columns(rng), stream)
    return stream.getvalue(), "of rare types" if rng.random() < 0.6 else "any"


def _plain_parquet(rng: np.random.Generator) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": rng.normal(size=N), "b": rng.normal(size=N), "y": np.arange(N) % 2}), stream)
    return stream.getvalue()


def _feather(rng: np.random.Generator) -> tuple[bytes, str]:
    stream = io.BytesIO()
    pyarrow.feather.write_feather(_columns(rng), stream, compression=str(rng.choice(["uncompressed", "lz4", "zstd"])))
    return stream.getvalue(), "of rare types" if rng.random() < 0.5 else "any"


_DTYPES = [
    "f8",
    "f4",
    "f2",
    "g",
    ">f8",
    ">i4",
    "i1",
    "u8",
    "?",
    "c16",
    "c8",
    "U3",
    "S3",
    ">U2",
    "U0",
    "V3",
    "O",
    "i4,f8",
]
_DTYPES += ["M8", "M8[D]", "M8[Y]", "m8", "m8[s]"]


def _array(rng: np.random.Generator, shape: tuple[int, ...]) -> Any:
    kind = np.dtype(str(rng.choice(_DTYPES)))
    if kind.kind == "O":
        return np.full(shape, None, dtype=object)
    content = rng.bytes(int(np.prod(shape)) * kind.itemsize) if kind.kind not in "UMm" or rng.random() < 0.2 else None
    if content is None or not kind.itemsize:
        return np.zeros(shape, dtype=kind)
    return np.frombuffer(content, dtype=kind).reshape(shape)


def _npz(rng: np.random.Generator) -> tuple[bytes, str]:
    arrays: dict[str, Any] = {
        "X": rng.normal(size=(N, 2)),
        "y": np.arange(N) % 2,
        "feature_names": np.array(["a", "b"]),
    }
    shapes = {"X": (N, 2), "y": (N,), "feature_names": (2,)}
    plain = rng.random() < 0.3
    for name in [] if plain else rng.choice(list(arrays), size=int(rng.integers(1, 3)), replace=False):
        how = rng.integers(5)
        if how == 0:
            del arrays[name]
        elif how == 1:
            arrays[name] = _array(rng, ((), (0,), (N, 1), (2, 2, 2), (N,), (N, 0))[int(rng.integers(6))])
        else:
            arrays[name] = _array(rng, shapes[str(name)])
    stream = io.BytesIO()
    (np.savez if rng.random() < 0.5 else np.savez_compressed)(stream, **arrays)
    return stream.getvalue(), "any" if plain or rng.random() < 0.3 else "of rare types"


def _npy(rng: np.random.Generator) -> tuple[bytes, str]:
    stream = io.BytesIO()
    rare = rng.random() < 0.7
    np.save(
        stream,
        _array(rng, ((N, 3), (N,), (), (0, 3), (N, 0))[int(rng.integers(5))]) if rare else rng.normal(size=(N, 3)),
    )
    return stream.getvalue(), "of rare types" if rare else "any"


def _xlsx(rng: np.random.Generator) -> tuple[bytes, str]:
    return _workbook(int(rng.integers(32))), "any"


@cache
def _workbook(seed: int) -> bytes:
    """One of a few, as they take long to write."""
    stream = io.BytesIO()
    cells: list[Any] = [1, "x", None, True, 2.5, "1,5", "2024-01-31", -7, "", 1e300]
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=10), "b": rng.permutation(np.array(cells, dtype=object))})
    frame.assign(y=np.arange(10) % 2).to_excel(stream, index=False)
    return stream.getvalue()


_MAKERS: dict[str, Callable[[np.random.Generator], tuple[bytes, str]]] = {
    ".csv": _text,
    ".tsv": _text,
    ".csv.gz": _packed(gzip.compress),
    ".csv.zst": _packed(zstandard.ZstdCompressor().compress),
    ".parquet": _parquet,
    ".folder": _parquet,
    ".feather": _feather,
    ".npz": _npz,
    ".npy": _npy,
    ".xlsx": _xlsx,
}
