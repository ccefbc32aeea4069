"""Tables as spreadsheets export them: what is read as it is meant, and what the message says of the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from openpyxl import Workbook

from maskrank.tables import Table, TableError, load_table, select_columns

ROWS = 30


def export(folder: Path, header: str, cells: list[str], *, tail: str = "", encoding: str = "utf-8-sig") -> str:
    """A file with a column of one's own, one of decimal commas and a target of text; cells are taken in turns."""
    lines = [f"{header};Größe;Befund{tail}"]
    lines += [f"{cells[i % len(cells)]};1,{50 + i};{'krank' if i % 3 else 'gesund'}{tail}" for i in range(ROWS)]
    (folder / "table.csv").write_bytes("\r\n".join([*lines, ""]).encode(encoding))
    return str(folder / "table.csv")


def load(file: str, **options: bool) -> Table:
    return load_table(file, target="Befund", **options)


def refused(file: str, **options: bool) -> str:
    with pytest.raises(TableError) as caught:
        load(file, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("cells", "numbers"),
    [
        (["42 %", "7 %"], [42, 7]),
        (["8,5%", "-0,25%"], [8.5, -0.25]),
        (["12.345,50 €", "7,00 €"], [12345.5, 7]),
        (["$1,234.50", "-$7.25"], [1234.5, -7.25]),
        (["£ 3", "£ 4"], [3, 4]),
        (["\u22121,5", "2,5"], [-1.5, 2.5]),
        (["12.345", "1.234.567"], [12345, 1234567]),
        (["12'345", "7"], [12345, 7]),
        (["1\u00a0234,5", "7,5"], [1234.5, 7.5]),
        (["ja", "nein"], [1, 0]),
        (["Yes", "no "], [1, 0]),
        (["WAHR", "FALSCH"], [1, 0]),
        (["TRUE", "FALSE"], [1, 0]),
    ],
)
def test_columns_that_are_read_as_they_are_meant(tmp_path: Path, cells: list[str], numbers: list[float]) -> None:
    file = export(tmp_path, "Wert", cells)
    table = load(file)
    assert table.names == ["Wert", "Größe"]
    assert table.X["Wert"].tolist()[:2] == numbers
    assert select_columns(file, {"Wert": "numeric"})[0]["Wert"].tolist()[:2] == numbers
    assert any("'Wert'" in note for note in table.notes)


@pytest.mark.parametrize("cells", [["10€50", "7€25"], ["5%3", "6%1"]])
def test_a_sign_between_digits_is_no_sign_of_a_number(tmp_path: Path, cells: list[str]) -> None:
    assert load(export(tmp_path, "Preis", cells)).X["Preis"].tolist()[:2] == cells


def test_any_name_will_do_for_a_column_of_yes_and_no(tmp_path: Path) -> None:
    assert load(export(tmp_path, "self", ["yes", "no"])).X["self"].tolist()[:2] == [1, 0]
    table = load(export(tmp_path, "self", ["yes", "no", "", " "]))
    assert np.array_equal(table.X["self"][:4], [1, 0, np.nan, np.nan], equal_nan=True)


@pytest.mark.parametrize(
    "cells",
    [
        ["42 %", "7"],  # 7 may be 700 %
        ["3 €", "4 $"],
        ["3 mg", "4 mg"],
        ["5", "<5"],
        ["(1,5)", "2,5"],
        ["1,5", "Summe"],
        ["ja", "no"],
        ["m", "m"],
    ],
)
def test_what_is_no_number_is_a_category(tmp_path: Path, cells: list[str]) -> None:
    table = load(export(tmp_path, "Wert", cells))
    assert isinstance(table.X["Wert"].dtype, pd.CategoricalDtype)
    assert table.X["Wert"].tolist()[:2] == cells
    mixed = any(cell.replace(",", "").isdigit() for cell in cells)
    assert any("text beside numbers in 'Wert'" in line for line in table.warnings) == mixed


@pytest.mark.parametrize("mark", ["", " ", "-", "?", "k.A.", "n/a", " NA ", "NA", "#DIV/0!", "#WERT!"])
def test_gaps_stay_in_the_table_unless_their_rows_are_not_wanted(tmp_path: Path, mark: str) -> None:
    file = export(tmp_path, "Wert", ["1,5", "2,5", mark])
    table = load(file)
    assert len(table.X) == len(table.y) == 30
    assert np.array_equal(table.X["Wert"][:4], [1.5, 2.5, np.nan, 1.5], equal_nan=True)
    assert table.warnings == table.suspects  # of a column that repeats every third row, as the target does
    assert table.lost == []
    table = load(file, skip_missing=True)
    assert table.X["Wert"].tolist()[:3] == [1.5, 2.5, 1.5]
    assert len(table.X) == len(table.y) == 20
    assert table.warnings == [f"{file}: 10 of 30 rows lack a value and are left out"]


def test_missing_values_of_the_target_and_of_whole_columns(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a,b,Notiz,Befund\n1,2,,x\n2,3,,  \n3,5,,y\n4,4,,x\n5,1,,y\n")
    table = load(str(file))
    assert table.lost == [f"{file}: 1 of 5 rows lack the target 'Befund' and are left out"]
    assert table.X["a"].tolist() == [1, 3, 4, 5]
    assert table.y.tolist() == ["x", "y", "x", "y"]
    assert "without any value, so never chosen: 'Notiz'" in table.notes
    message = refused(str(file), skip_missing=True)
    assert "every row lacks a value; column 'Notiz' lacks most, leave it out with --drop Notiz" in message
    table = load_table(str(file), target="Befund", drop=["Notiz"], skip_missing=True)
    assert table.X.to_numpy().tolist() == [[1, 2], [3, 5], [4, 4], [5, 1]]


def test_infinite_values_are_not_skipped(tmp_path: Path) -> None:
    file = export(tmp_path, "Wert", ["1.5", "inf"])
    assert "--skip-missing" not in refused(file)
    assert "an infinite value" in refused(file, skip_missing=True)


@pytest.mark.parametrize("tail", [";", ";;;"])
def test_empty_columns_behind_the_last_are_not_there(tmp_path: Path, tail: str) -> None:
    table = load(export(tmp_path, "Wert", ["1,5", "2,5"], tail=tail))
    assert table.names == ["Wert", "Größe"]
    assert table.warnings == []


def test_a_header_with_a_separator_at_its_end(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a,b,Befund,\n1,2,x\n2,3,y\n3,5,x\n4,1,y\n")
    assert load(str(file)).names == ["a", "b"]
    file.write_text("a,b,Befund,\n1,2,x\n2,3,y\n3,5\n4,1,y\n")
    assert "line 4 has 2 fields" in refused(str(file))


def test_a_column_without_a_name_is_called_by_its_place(tmp_path: Path) -> None:
    file = export(tmp_path, "", [str(i) for i in range(ROWS)])
    table = load(file)
    assert table.names == ["column 1", "Größe"]
    assert (
        "column 1 has no name and is called 'column 1' here; leave it out with --drop 'column 1'" in table.warnings[0]
    )
    assert "looks like an identifier" in table.warnings[1]


def test_a_title_above_the_header(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("Bericht 2024;;\nWert;Größe;Befund\n1;2;x\n2;3;y\n")
    assert "column 2, column 3 have no name; is line 1 the header? Remove what stands above it" in refused(str(file))


def test_spaces_around_labels_make_no_class(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a,b,Befund\n1,2,x \n2,3,y\n3,5, x\n4,1,y\n")
    assert load(str(file)).y.tolist() == ["x", "y", "x", "y"]


def test_labels_that_look_like_marks_of_missing_values_are_labels(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a,b,Befund\n1,2,-\n2,3,+\n3,5,-\n4,1,+\n")
    assert load(str(file)).y.tolist() == ["-", "+", "-", "+"]


def test_a_target_of_percents_is_numbers(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("a;b;Befund\n" + "".join(f"{i};{i % 3};{i},5 %\n" for i in range(30)))
    table = load(str(file))
    assert table.task == "regression"
    assert np.array_equal(table.y, np.arange(30) + 0.5)


def test_names_of_several_lines_and_other_encodings(tmp_path: Path) -> None:
    file = export(tmp_path, '"Ge-\nwicht (kg)"', ["1,5", "2,5"], encoding="cp1252")
    table = load(file)
    assert table.names == ["Ge-\nwicht (kg)", "Größe"]
    assert "was read as Windows-1252" in table.warnings[0]


def test_a_spreadsheet_file_is_named_as_such(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_bytes(b"PK\x03\x04\x14\x00\x06\x00")
    assert "is a binary file, not text (a spreadsheet? name it .xlsx, or save the sheet as CSV)" in refused(str(file))
    file = tmp_path / "table.ods"
    file.write_bytes(b"PK\x03\x04")
    assert refused(str(file)).endswith("or a folder of Parquet files: save the sheet as .xlsx or as CSV")


def test_formulas_that_no_program_has_computed_are_told(tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["a", "b", "y"])
    for i in range(20):
        book.active.append([f"=B{i + 2}*2", float(i), i % 2])
    book.save(tmp_path / "t.xlsx")
    table = load_table(str(tmp_path / "t.xlsx"), target="y")
    assert any("column 'a' holds formulas without values" in line for line in table.warnings)
