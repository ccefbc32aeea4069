from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskrank.tables import ColumnOptions, load_table, select_columns


def columns(file: Path, text: str) -> pd.DataFrame:
    """The features of a table with a target at its end."""
    separator = ";" if ";" in text else ","
    header, *rows = text.split("\n")
    lines = [f"{header}{separator}y", *(f"{row}{separator}{i}" for i, row in enumerate(rows))]
    file.write_text("\n".join(lines), encoding="utf-8")
    return load_table(str(file), target="y", task="regression").X


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1,5", "2", "-3,75"], [1.5, 2, -3.75]),
        (["+0,5", ",5", "1,5E+03", "2,5e-1"], [0.5, 0.5, 1500, 0.25]),
        (["1.234,5", "999,0", "12.345.678,25"], [1234.5, 999, 12345678.25]),
        (["1 234,5", "9,5"], [1234.5, 9.5]),
        (["1\u202f234,5", "9\u00a0876,5"], [1234.5, 9876.5]),
        (["1'234.5", "9.5"], [1234.5, 9.5]),
        (["1,234.5", "9.5", "1,234,567"], [1234.5, 9.5, 1234567]),
        (["1.234.567", "2.345"], [1234567, 2345]),
        (["1 234", "56"], [1234, 56]),
        (["1,234", "5,678"], [1.234, 5.678]),  # either, but the same up to a factor
        (["1,234", "0,678", "9"], [1.234, 0.678, 9]),  # no thousand starts with 0
        (["1,234", "1234,567", "9"], [1.234, 1234.567, 9]),  # nor are four digits a group
    ],
)
def test_numbers_of_spreadsheets(file: Path, cells: list[str], numbers: list[float]) -> None:
    assert columns(file, "\n".join(["a;b", *(f"{cell};{i}" for i, cell in enumerate(cells))]))["a"].tolist() == numbers


@pytest.mark.parametrize(
    ("other", "expected"), [("0,5", [1.234, 987, 1000]), ("0.5", [1234, 987, 1000]), ("1,234.5", [1234, 987, 1000])]
)
def test_other_columns_tell_what_may_be_read_in_two_ways(file: Path, other: str, expected: list[float]) -> None:
    read = columns(file, f"a;b\n1,234;{other}\n987;{other}\n1000;{other}")
    assert read["a"].tolist() == expected


def test_thousands_with_dots_beside_decimal_commas(file: Path) -> None:
    read = columns(file, "a;b;c\n1.234;0,5;1.25\n987;1,5;2.5")
    assert read["a"].tolist() == [1.234, 987]  # c says that a dot is a decimal mark here
    read = columns(file, "a;b;c\n1.234;0,5;7\n987;1,5;8")
    assert read["a"].tolist() == [1234, 987]
    assert read["c"].tolist() == [7, 8]


TWO_WAYS = "numbers that can be read in two ways in 'a' (for example"


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        (["1,234", "987"], f"{TWO_WAYS} '1,234')"),
        (["1,234", "1.234"], f"{TWO_WAYS} '1,234')"),
        (["1,5", "1.234,5", "1,234.5"], f"{TWO_WAYS} '1,5')"),
        (["1,5", "2,5 kg"], "text beside numbers in 'a' (for example '2,5 kg')"),
        (["1,5", "x"], "text beside numbers in 'a' (for example 'x')"),
        (["12.34.5678", "12.34.5678"], f"{TWO_WAYS} '12.34.5678')"),  # no date, as there is no month 34
    ],
)
def test_what_is_not_clear_is_not_guessed(file: Path, cells: list[str], what: str) -> None:
    rows = [f"{cell};{i};{i}" for i, cell in enumerate(cells)]
    file.write_text("\n".join(["a;b;y", *rows]), encoding="utf-8")
    table = load_table(str(file), target="y", task="regression")
    assert table.X["a"].tolist() == cells  # categories
    assert f"{what}, read as categories; --numeric COLUMN reads numbers" in table.warnings[0]


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["1,234", "987"], [1.234, 987]),
        (["1,5", "2,5 kg", "x"], [1.5, np.nan, np.nan]),
        (["42 %", "7", ""], [42, 7, np.nan]),
        (["ja", "nein", "12"], [1, 0, 12]),
    ],
)
def test_numbers_are_read_where_they_are_asked_for(file: Path, cells: list[str], numbers: list[float]) -> None:
    file.write_text("\n".join(["a;b;y", *(f"{cell};{i};{i}" for i, cell in enumerate(cells))]), encoding="utf-8")
    table = load_table(str(file), target="y", task="regression", options=ColumnOptions(numeric=["a"]))
    assert np.array_equal(table.X["a"], numbers, equal_nan=True)


def test_in_a_file_with_commas_between_columns_a_comma_sets_thousands_apart(file: Path) -> None:
    assert columns(file, 'a,b\n"1,234",1\n987,2\n"12,345.5",3')["a"].tolist() == [1234, 987, 12345.5]
    assert columns(file, 'a,b\n"1,5",1\n"2,5",2')["a"].tolist() == ["1,5", "2,5"]


def test_a_few_words_among_numbers_are_missing_and_said(file: Path) -> None:
    cells = [f"{i},5" for i in range(60)]
    cells[3], cells[7], cells[8], cells[9] = "n/k", "unknown", "?", "  "
    file.write_text("\n".join(["a;b;y", *(f"{cell};{i};{i}" for i, cell in enumerate(cells))]), encoding="utf-8")
    table = load_table(str(file), target="y", task="regression")
    assert table.X["a"].isna().to_numpy().nonzero()[0].tolist() == [3, 7, 8, 9]
    assert f"{file}: column 'a': 'n/k', 'unknown', '?' read as missing (3 cells)" in table.warnings
    text = file.read_text(encoding="utf-8").replace("n/k", "-")
    file.write_text(text, encoding="utf-8")
    table = load_table(str(file), target="y", task="regression")  # marks that say so are worth a note alone
    assert not any("missing" in line for line in table.warnings)
    assert "column 'a': '-', 'unknown', '?' read as missing (3 cells)" in table.notes


def test_missing_values_stay_missing_and_targets_may_be_decimal(file: Path) -> None:
    file.write_text("a;b;y\n1,5;1;0,5\n;2;1,5\n2,5;3;2,25\n")
    table = load_table(str(file), target="y")
    assert np.array_equal(table.X["a"], [1.5, np.nan, 2.5], equal_nan=True)
    assert table.task == "regression"
    assert table.y.tolist() == [0.5, 1.5, 2.25]


def test_new_rows_for_a_model_are_read_alike(file: Path) -> None:
    file.write_text("b;note;a\n1,5;x;1\n2,5;y;2\n", encoding="utf-8-sig")
    frame, lines = select_columns(str(file), {"a": "numeric", "b": "numeric"})
    assert frame.to_numpy().tolist() == [[1, 1.5], [2, 2.5]]
    assert lines == []


def test_columns_may_have_any_name(file: Path) -> None:
    frame = pd.DataFrame({"self": ["1,5", "2,5"], "frame": ["1,5", "3,5"], "y": [0.5, 1.5]})
    stream = io.StringIO()
    frame.to_csv(stream, sep=";", index=False)
    file.write_text(stream.getvalue())
    assert load_table(str(file), target="y").X.to_numpy().tolist() == [[1.5, 1.5], [2.5, 3.5]]
