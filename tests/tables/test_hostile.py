"""Tables that are damaged, foreign or far too large: read, or refused in a line that names them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import zipfile
from collections.abc import Callable
from datetime import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest
import zstandard
from openpyxl import Workbook

from maskrank.tables import TableError, load_table, open_large, read_groups, select_columns

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
Y = np.arange(N) % 2
MEGABYTE = 10**6


def refused(source: str | Path, **options: Any) -> str:
    """The one line that a table is refused with."""
    with pytest.raises(TableError) as caught:
        load_table(str(source), target="y", **options)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith("standard input: " if source == "-" else f"{source}: ")
    return message


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".parquet": pq.write_table,
    ".feather": pyarrow.feather.write_feather,
}


def written(folder: Path, suffix: str, **columns: Any) -> Path:
    path = folder / f"table{suffix}"
    WRITERS[suffix](pa.table({"a": X[:, 0], "b": X[:, 1], "y": Y, **columns}), path)
    return path


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize(
    "column",
    [
        pa.nulls(N),
        pa.array([10**30] * N, type=pa.decimal128(38, 0)),
        pa.array([2**62] * N, type=pa.timestamp("us")),
        pa.array([None, True] * (N // 2)),
        pa.array([time(1, 2)] * N),
        pa.array(["u", "v"] * (N // 2)).dictionary_encode(),
    ],
    ids=lambda column: str(column.type),
)
def test_columns_of_rare_types_are_read(tmp_path: Path, suffix: str, column: pa.Array) -> None:
    assert load_table(str(written(tmp_path, suffix, c=column)), target="y").names == ["a", "b", "c"]


NESTED = {
    "list": pa.array([[1.0, 2.0]] * N),
    "struct": pa.array([{"u": i % 2} for i in range(N)]),
    "map": pa.array([[("k", 1)]] * N, type=pa.map_(pa.string(), pa.int64())),
    "bytes": pa.array([b"\xff\x00", b"a"] * (N // 2)),
}


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("kind", NESTED)
def test_nested_values_are_refused_as_features_and_as_target(tmp_path: Path, suffix: str, kind: str) -> None:
    assert "numbers, text or dates are needed" in refused(written(tmp_path, suffix, c=NESTED[kind]))
    assert "the target 'y' holds neither numbers nor text" in refused(written(tmp_path, suffix, y=NESTED[kind]))


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_time_zone_that_is_none_is_told(tmp_path: Path, suffix: str) -> None:
    refused(written(tmp_path, suffix, c=pa.array([0] * N, type=pa.timestamp("s", tz="Mars/Phobos"))))


def npz(folder: Path, **arrays: Any) -> Path:
    path = folder / "table.npz"
    np.savez(path, **{name: array for name, array in {"X": X, "y": Y, **arrays}.items() if array is not None})
    return path


PAIRS = np.array([(1, 2)] * N, dtype=[("u", "i4"), ("v", "i4")])


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"feature_names": np.array("ab")}, "feature_names has shape ()"),
        ({"feature_names": np.array(5)}, "feature_names has shape ()"),
        ({"feature_names": np.array([["a", "b"]] * 2)}, "feature_names has shape (2, 2)"),
        ({"feature_names": PAIRS[:2]}, "feature_names holds values of type compound"),
        ({"feature_names": np.array([b"\xff", b"a"])}, "no UTF-8 text"),
        ({"feature_names": np.array(["2020", "NaT"], dtype="M8[D]")}, "a list of texts"),
        ({"y": Y.view("M8")}, "y holds values of type datetime64"),
        ({"y": Y.view("m8")}, "y holds values of type timedelta64"),
        ({"y": (Y * 10**15).astype("M8[Y]")}, "y holds values of type datetime64[Y]"),
        ({"y": PAIRS}, "y holds values of type compound"),
        ({"y": Y + 1j}, "y holds values of type complex128"),
        ({"y": np.array([b"a", b"\xff"] * (N // 2))}, "no UTF-8 text"),
        ({"y": np.zeros(N, "V3")}, "y holds values of type |V3"),
        ({"X": X + 1j}, "X holds values of type complex128; real numbers are needed"),
        ({"X": np.full((N, 2), np.longdouble("1e4000"))}, "an infinite value in 'x0'"),
        ({"X": np.zeros((N, 0))}, "0 feature column(s) are left"),
    ],
)
def test_arrays_that_are_no_table_are_refused(tmp_path: Path, arrays: dict[str, Any], said: str) -> None:
    assert said in refused(npz(tmp_path, **arrays))


@pytest.mark.parametrize("kind", [">f8", ">i4", "f2", "g", "?"])
def test_any_real_numbers_are_read(tmp_path: Path, kind: str) -> None:
    values = (np.arange(2 * N).reshape(N, 2) % 7 % 2).astype(kind)
    table = load_table(str(npz(tmp_path, X=values, y=Y.astype(">i4"))), target="y")
    assert np.array_equal(table.X.to_numpy(), values.astype(np.float64))
    assert np.array_equal(table.y, Y)
    np.save(tmp_path / "table.npy", values)
    assert np.array_equal(open_large(tmp_path / "table.npy").frame().to_numpy(), values.astype(np.float64))


def header(kind: str, shape: tuple[int, ...]) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": kind, "fortran_order": False, "shape": shape})
    return stream.getvalue()


@pytest.mark.parametrize(
    "member",
    [b"", b"hello", b"\x93NUMPY\x01\x00@\x1f" + b"(" * 8000, header("<f8", (-1, 2)), header("<U300000000", (2, 2))],
    ids=["empty", "foreign", "nested", "negative", "wide"],
)
def test_arrays_without_a_good_header_are_refused(tmp_path: Path, member: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "table.npz", "w") as archive:
        archive.writestr("X.npy", member)
    refused(tmp_path / "table.npz")
    (tmp_path / "table.npy").write_bytes(member)
    said = "is not an .npy file of a plain array" if member else "the file is empty"
    assert said in refused(tmp_path / "table.npy")


def test_what_an_archive_declares_is_looked_at_before_it_is_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "table.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header("<f8", (200_000, 2_000)) + bytes(40 * MEGABYTE))
    assert "holds" in refused(tmp_path / "table.npz", memory=50 * MEGABYTE)  # by what it unpacks to
    with zipfile.ZipFile(tmp_path / "table.npz", "w") as archive:
        archive.writestr("X.npy", header("<f8", (200_000, 2_000)))
    assert "3.2 GB" in refused(tmp_path / "table.npz", memory=4_000 * MEGABYTE)  # by its header


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.ZstdCompressor().compress], ids=["gz", "zst"])
def test_packed_text_larger_than_memory_is_refused_while_it_is_unpacked(
    tmp_path: Path, pack: Callable[[bytes], bytes], request: pytest.FixtureRequest
) -> None:
    path = tmp_path / f"table.csv.{request.node.callspec.id}"
    path.write_bytes(pack(b"a,b,y\n" + b"1,2,3\n" * 5_000_000))
    assert "50 MB may be used: allow more with --memory" in refused(path, memory=50 * MEGABYTE)


def test_texts_that_a_file_holds_once_count_in_every_row(tmp_path: Path) -> None:
    texts = pa.array(["x" * 100_000] * 1_000)
    pq.write_table(pa.table({"a": np.arange(1_000) % 7, "b": texts, "y": np.arange(1_000) % 2}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 100_000
    said = refused(tmp_path / "t.parquet", memory=200 * MEGABYTE)
    assert "100 MB or more" in said
    assert "save it as Parquet" not in said


def test_texts_of_a_large_file_count_in_every_row(tmp_path: Path) -> None:
    texts = pa.DictionaryArray.from_arrays(np.arange(200) % 2, ["v" * 40 * MEGABYTE, "w" * 30 * MEGABYTE])
    table = pa.table({"a": np.arange(200) % 7, "b": texts, "y": np.arange(200) % 2})
    settings = {"compression": "none", "store_schema": False, "dictionary_pagesize_limit": 100 * MEGABYTE}
    pq.write_table(table, tmp_path / "t.parquet", **settings)
    assert (tmp_path / "t.parquet").stat().st_size > 70 * MEGABYTE
    assert "7 GB or more" in refused(tmp_path / "t.parquet", memory=1_000 * MEGABYTE)


def test_a_limit_that_is_too_low_is_told_before_texts_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [f"x{i}" for i in range(30)]
    table = pa.table({name: np.arange(10_000) for name in names} | {"t": ["x" * 9_000] * 10_000, "y": [0, 1] * 5_000})
    pq.write_table(table, tmp_path / "t.parquet")
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", None)
    with pytest.raises(ValueError, match="50 MB are too little for a table of 32 columns: at least"):
        load_table(str(tmp_path / "t.parquet"), target="y", memory=50 * MEGABYTE)


@pytest.mark.parametrize("suffix", WRITERS)
def test_threads_that_can_not_be_had_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    path = written(tmp_path, suffix)

    def fails(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fails)
    assert "there is not enough memory for the threads that read it" in refused(path)
    with pytest.raises(TableError, match="for the threads"):
        open_large(path)


def test_a_spreadsheet_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path, book = tmp_path / "t.xlsx", Workbook()
    book.active.append(["a", "b", "y"])
    book.save(path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/more.xml", bytes(40 * MEGABYTE))
    assert "allow more with --memory" in refused(path, memory=50 * MEGABYTE)


def test_one_far_cell_of_a_spreadsheet_does_not_fill_memory(tmp_path: Path) -> None:
    path, book = tmp_path / "t.xlsx", Workbook(write_only=True)
    sheet = book.create_sheet()
    sheet.append(["a", "b", "y"])
    for row in range(1_000):
        sheet.append([row, row % 7, row % 2])
    sheet.append([None] * 16_000 + [1])
    book.save(path)
    assert path.stat().st_size < 50_000
    assert "holds 129 MB or more" in refused(path, memory=200 * MEGABYTE)


@pytest.mark.parametrize("name", ["t.csv.gz", "t.npz", "t.xlsx", "t"])
def test_files_that_can_not_be_read_in_parts_are_named(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"x")
    with pytest.raises(TableError, match=f"{name}: can't be read in parts; .npy, .parquet"):
        open_large(tmp_path / name)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.npz", "t.npy", "t.parquet", "t.arrow", "t.xlsx"])
def test_pipes_and_devices_are_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    assert "is a pipe; give a file or a folder, or -" in refused(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).symlink_to("/dev/zero")
    assert "is a device" in refused(tmp_path / name)
    with pytest.raises(TableError, match="is a device"):
        read_groups(str(tmp_path / name))


def test_an_endless_standard_input_is_not_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    with open("/dev/zero", encoding="utf-8") as endless:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", endless)
        assert "10 MB may be used" in refused("-", memory=10 * MEGABYTE)


def test_names_that_no_file_can_have_are_refused() -> None:
    assert "can't be read" in refused("x" * 300)
    assert "can't be read" in refused("a\0b")


def text(folder: Path, content: str) -> Path:
    path = folder / "table.csv"
    path.write_text(content)
    return path


def rows(value: str, target: Callable[[int], Any] = lambda i: i % 2) -> str:
    return "a,b,y\n" + "".join(f"{value},{i * i % 7},{target(i)}\n" for i in range(N))


@pytest.mark.parametrize("first", [" ", "   ", " \n  ", "\r\n \r\n"])
def test_lines_of_spaces_above_the_header_are_none(tmp_path: Path, first: str) -> None:
    table = load_table(str(text(tmp_path, f"{first}\n{rows('1')}")), target="y")
    assert (table.names, len(table.X)) == (["a", "b"], N)
    assert "the file is empty" in refused(text(tmp_path, first))


def test_numbers_of_hundreds_of_digits_are_infinite(tmp_path: Path) -> None:
    path = text(tmp_path, rows("9" * 400))
    assert "an infinite value in 'a' (row 1 of the data)" in refused(path)
    frame, lines = select_columns(str(path), {"a": "numeric", "b": "numeric"})
    assert frame["a"].isna().all()
    assert "read as missing" in lines[0]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (lambda i: f"{i + 1}e200", "the target 'y' holds 4e+201: numbers up to 1e+70 are allowed"),
        (lambda i: ("0", "5e-324")[i % 2], "the target 'y' varies by 4.94066e-324 in all: at least 1e-70 is needed"),
    ],
)
def test_targets_whose_squares_are_no_numbers_are_refused(
    tmp_path: Path, target: Callable[[int], str], said: str
) -> None:
    assert said in refused(text(tmp_path, rows("1", target)))


def test_a_frame_of_the_same_without_names_of_pandas(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    table = pa.Table.from_pandas(pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y}))
    pq.write_table(table.replace_schema_metadata({"pandas": "{"}), path)
    assert "is not a Parquet file" in refused(path)


@pytest.mark.parametrize("levels", [["u", None, "v"], ["u", "v", "u"]])
def test_levels_of_any_dictionary_are_read(tmp_path: Path, levels: list[str | None]) -> None:
    codes = [0, 1, 2, None] * (N // 4)
    column = pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(levels))
    read = load_table(str(written(tmp_path, ".feather", c=column)), target="y").X["c"]
    expected = [None if code is None else levels[code] for code in codes]
    assert [None if pd.isna(value) else value for value in read] == expected


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".npz", ".xlsx", ".csv.gz"])
def test_an_empty_file_is_named_as_such(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(b"")
    assert refused(path).endswith(": the file is empty")


def test_an_empty_name_is_not_the_working_folder() -> None:
    with pytest.raises(TableError, match=r"^'': is no name of a file$"):
        load_table("", target="y")


def test_names_that_look_the_same_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    pd.DataFrame({"gro\u0308\u00dfe": X[:, 0], "b": X[:, 1], "y": Y}).to_csv(path, index=False)
    with pytest.raises(TableError, match=r"composed of other characters, 'gro\\u0308\\xdfe': rename it") as caught:
        load_table(str(path), target="gr\u00f6\u00dfe")
    assert "\n" not in str(caught.value)
