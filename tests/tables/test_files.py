"""Kinds of files: what each is read as, and the line that a damaged one gets."""

from __future__ import annotations

import gzip
import sys
from datetime import date, datetime
from pathlib import Path

import pandas as pd
import pytest
import zstandard
from openpyxl import Workbook

from maskrank.tables import TableError, load_table, select_columns

GOOD = "a,b,kind,y\n1,2.5,u,no\n3,,v,yes\n5,6.5,,no\n7,8.5,u,yes\n"
PACKED = {".gz": gzip.compress, ".zst": zstandard.ZstdCompressor().compress}


def refused(path: Path) -> str:
    with pytest.raises(TableError) as caught:
        load_table(str(path), target="y")
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


@pytest.fixture
def plain(tmp_path: Path) -> pd.DataFrame:
    (tmp_path / "plain.csv").write_text(GOOD)
    return load_table(str(tmp_path / "plain.csv"), target="y").X


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize(("inner", "separator"), [(".csv", ","), (".tsv", "\t"), (".txt", ";"), (".CSV", ",")])
def test_packed_text(tmp_path: Path, plain: pd.DataFrame, packed: str, inner: str, separator: str) -> None:
    path = tmp_path / f"my.table{inner}{packed}"
    content = PACKED[packed](GOOD.replace(",", separator).encode())
    path.write_bytes(content)
    pd.testing.assert_frame_equal(load_table(str(path), target="y").X, plain)
    path.write_bytes(content[:-9])
    assert "damaged" in refused(path)
    path.write_bytes(b"nonsense")
    assert "file, or it is damaged" in refused(path)
    path.rename(tmp_path / f"table{packed}")
    assert f"files ending in '{packed}' are not known; use .csv" in refused(tmp_path / f"table{packed}")


def test_text_with_spaces_between_columns(tmp_path: Path) -> None:
    path = tmp_path / "table.txt"
    path.write_text("  a   b  y\n 1  2.5  0\n 3 NA  1\n10  4.5  0\n")
    table = load_table(str(path), target="y", task="regression")
    assert table.names == ["a", "b"]
    assert table.X["a"].tolist() == [1, 3, 10]
    assert table.X["b"].isna().tolist() == [False, True, False]


def sheet(path: Path, rows: list[list[object]], *more: str) -> Path:
    book = Workbook()
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title).append(["other"])
    book.save(path)
    return path


def test_excel(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["a", "share", "kind", "day", "seen", "ok", "y"],
        [1, "1,5", "u", date(2024, 1, 31), datetime(2024, 1, 31, 10, 30), True, "no"],
        [None, "2,5", " ", None, None, False, "yes"],
        [2.5, None, "v", date(2024, 2, 1), datetime(2024, 1, 31, 11), None, "no"],
        [4, "9", "u", date(2024, 2, 2), datetime(2024, 1, 31, 12), True, "yes"],
        [None] * 7,
    ]
    path = sheet(tmp_path / "table.xlsx", rows)
    table = load_table(str(path), target="y")
    assert table.warnings == []
    assert [kind.kind if hasattr(kind, "kind") else "" for kind in table.X.dtypes] == ["f", "f", "O", "M", "M", "f"]
    assert table.X["share"].dropna().tolist() == [1.5, 2.5, 9]
    assert table.X["seen"][0] == pd.Timestamp("2024-01-31 10:30")
    assert table.X.isna().sum().tolist() == [1, 1, 1, 1, 1, 1]
    frame, _ = select_columns(str(path), {"a": "categorical"})
    assert frame["a"].dropna().tolist() == ["1", "2.5", "4"]


def test_only_the_first_sheet_is_read_and_that_is_said(tmp_path: Path) -> None:
    rows: list[list[object]] = [["a", "b", "y"], [1, 2, 0], [3, 5, 1], [4, 4, 0], [9, 1, 1]]
    table = load_table(str(sheet(tmp_path / "table.xlsx", rows, "notes", "old")), target="y")
    assert table.warnings == [f"{tmp_path / 'table.xlsx'}: has 2 more sheets; the first, 'Sheet', was read"]


def test_excel_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "table.xlsx"
    path.write_text("a,b,y")
    assert "is not an .xlsx file, or it is damaged" in refused(path)
    sheet(path, [["a", "b", "y"], [1, 2, 0]])
    path.write_bytes(path.read_bytes()[:-100])
    assert "is not an .xlsx file, or it is damaged" in refused(path)
    assert "the file is empty" in refused(sheet(path, []))
    assert "has a header but no rows" in refused(sheet(path, [["a", "b", "y"]]))


@pytest.mark.parametrize(
    ("suffix", "module", "extra"), [(".xlsx", "openpyxl", "excel"), (".csv.zst", "zstandard", "zstd")]
)
def test_what_to_install_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, module: str, extra: str
) -> None:
    (tmp_path / f"table{suffix}").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    assert refused(tmp_path / f"table{suffix}").endswith(f"needs {module}: pip install 'maskrank[{extra}]'")
