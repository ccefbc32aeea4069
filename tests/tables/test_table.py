from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskrank.tables import ColumnOptions, TableError, load_table, select_columns

GOOD = "a,b,y\n1,2.5,no\n3,4.5,yes\n5,6.5,no\n7,8.5,yes\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def refused(source: object, target: str | None = "y", **options: object) -> str:
    """The one line that says why a table can't be used."""
    with pytest.raises(TableError) as caught:
        load_table(str(source), target=target, **options)
    message = str(caught.value)
    for line in message.splitlines():
        assert line.startswith("standard input" if source == "-" else str(source))
    return message


def test_a_good_table(file: Path) -> None:
    file.write_text(GOOD)
    table = load_table(str(file), target="y")
    assert table.names == ["a", "b"]
    assert table.X.to_numpy().tolist() == [[1, 2.5], [3, 4.5], [5, 6.5], [7, 8.5]]
    assert table.y.tolist() == ["no", "yes", "no", "yes"]
    assert table.task == "classification"


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_separators_byte_order_marks_and_line_ends(file: Path, separator: str, start: str, ending: str) -> None:
    file.write_bytes((start + GOOD.replace(",", separator)).replace("\n", ending).encode())
    assert load_table(str(file), target="y").names == ["a", "b"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(GOOD.encode())))
    assert load_table("-", target="y").X.shape == (4, 2)


def test_parquet(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    pd.read_csv(io.StringIO(GOOD)).to_parquet(path)
    assert load_table(str(path), target="y").names == ["a", "b"]
    path.write_bytes(b"PAR1 nonsense")
    assert "is not a Parquet file" in refused(path)


def test_npz_with_and_without_names(tmp_path: Path) -> None:
    path = tmp_path / "table.npz"
    X, y = np.arange(8.0).reshape(4, 2), np.array([0, 1, 0, 1])
    np.savez(path, X=X, y=y)
    assert load_table(str(path), target=None).names == ["x0", "x1"]
    np.savez(path, X=X, y=y, feature_names=["u", "v"])
    assert load_table(str(path), target=None).names == ["u", "v"]
    np.savez(path, X=X, y=y, feature_names=["u"])
    assert "1 entries for 2 features" in refused(path)
    np.savez(path, X=X)
    assert "there is no column 'y'" in refused(path)
    assert select_columns(str(path), {"x1": "numeric"})[0]["x1"].tolist() == [1, 3, 5, 7]  # new rows need no target
    np.savez(path, y=y)
    assert "no array 'X'" in refused(path)
    np.savez(path, X=X + 1j, y=y)
    assert "real numbers are needed" in refused(path)
    np.savez(path, X=X, y=np.array([{}, {}, {}, {}]))
    assert "not an .npz file of plain arrays" in refused(path)  # a pickle is never opened
    path.write_bytes(path.read_bytes()[:100])
    assert "is damaged" in refused(path)


@pytest.mark.parametrize(
    ("column", "task", "expected"),
    [
        (["a", "b"] * 50, "auto", "classification"),
        ([True, False] * 50, "auto", "classification"),
        ([0, 1, 2, 3] * 25, "auto", "classification"),
        (list(range(100)), "auto", "regression"),
        ([0.5, 1.5] * 50, "auto", "regression"),
        ([0, 1] * 50, "regression", "regression"),
        ([0.5, 1.5] * 50, "classification", "classification"),
    ],
)
def test_the_task_follows_from_the_target(file: Path, column: list[object], task: str, expected: str) -> None:
    pd.DataFrame({"a": range(100), "b": range(100), "y": column}).to_csv(file, index=False)
    assert load_table(str(file), target="y", task=task).task == expected


def test_missing_empty_and_header_only_files(tmp_path: Path, file: Path) -> None:
    assert "there is no such file" in refused(tmp_path / "absent.csv")
    assert "is a folder" in refused(tmp_path)
    file.write_text("")
    assert "the file is empty" in refused(file)
    file.write_text("a,b,y\n")
    assert "has a header but no rows" in refused(file)
    (tmp_path / "table.doc").write_text("x")
    assert "'.doc' are not known; use .csv, .tsv, .txt, .parquet, .arrow, .feather, .npy, .npz, .xlsx" in refused(
        tmp_path / "table.doc"
    )


def test_a_missing_target_suggests_the_nearest_name(file: Path) -> None:
    file.write_text(GOOD.replace("y\n", "Outcome\n", 1))
    assert "no column 'outcom'; did you mean 'Outcome'?" in refused(file, "outcom")
    assert "no column 'zzz'; there are 'a', 'b', 'Outcome'" in refused(file, "zzz")
    assert "name the target column with --target" in refused(file, None)


def test_duplicate_names(file: Path) -> None:
    file.write_text("a,a,y\n1,2,0\n3,4,1\n")
    assert "column name 'a' occurs twice" in refused(file)


def test_dropped_columns_may_hold_anything(file: Path) -> None:
    file.write_text("a,city,b,y\n1,Oslo,2,0\n2,,3,1\n1,Oslo,4,0\n2,Bern,5,1\n")
    assert load_table(str(file), target="y", drop=["city"]).names == ["a", "b"]
    assert "can't be both target and dropped" in refused(file, drop=["y"])
    assert "no column 'town'" in refused(file, drop=["town"])


def test_all_infinite_values_are_placed_at_once(file: Path) -> None:
    file.write_text("a,b,c,y\n1,2,,0\n1,inf,3,1\n1,4,-inf,0\n2,inf,6,1\n")
    message = refused(file)
    assert "an infinite value in 'b' (row 2 of the data), 'c' (row 3 of the data)" in message
    assert message.endswith("leave the columns out with --drop b --drop c, or correct them first")


def test_all_problems_are_listed_at_once(file: Path) -> None:
    file.write_text("a,b,c,Age,y\n1,2,x,1,0\n1,inf,z,2,1\n1,4,x,3,0\n2,5,z,4,1\n")
    options = ColumnOptions(
        categorical=["agee"], numeric=["c"], required=["y", "d"], groups={"g": ["a", "ag"], "empty": []}
    )
    lines = refused(file, drop=["d", "Agee"], options=options).splitlines()
    for line, problem in zip(
        lines,
        [
            "there is no column 'd'; there are 'a', 'b', 'c', 'Age', 'y'",
            "there is no column 'Agee'; did you mean 'Age'?",
            "--categorical: there is no column 'agee'; did you mean 'Age'?",
            "--require: column 'y' is the target",
            "--require: column 'd' is left out by --drop",
            "--group: in the group 'g' there is no column 'ag'; did you mean 'Age'?",
            "--group: the group 'empty' is empty; it needs at least 1 column",
            "an infinite value in 'b' (row 2 of the data); leave the column out with --drop b, or correct it first",
            "--numeric: column 'c' holds no number, only 'x', 'z'",
        ],
        strict=True,
    ):
        assert problem in line


@pytest.mark.parametrize("row", ["1,2", "1,2,3,4"])
@pytest.mark.parametrize(("above", "line"), [("", 3), ("\n\n", 5), ("sep=,\n", 4)])
def test_ragged_rows_are_placed(file: Path, row: str, above: str, line: int) -> None:
    file.write_text(f"{above}a,b,y\n1,2,0\n{row}\n3,4,1\n")
    assert f"line {line} has {row.count(',') + 1} fields, the header has 3" in refused(file)
    file.write_text(f"{above}a,b,y\n1,2,0.5\n3,4,1\n")
    assert load_table(str(file), target="y").names == ["a", "b"]


def test_the_separator_is_the_one_that_fits_all_rows(file: Path) -> None:
    file.write_text('"length, width, height";b;y\n1;2;0.5\n3;4;1\n')
    assert load_table(str(file), target="y").names == ["length, width, height", "b"]
    file.write_text("length, width, height;b;y\n1;2,5;0,5\n3;4;1\n")
    assert load_table(str(file), target="y").names == ["length, width, height", "b"]
    file.write_text("a" * 200_000)
    assert "is not a table" in refused(file)


def test_empty_rows_below_the_table_are_left_out(file: Path) -> None:
    file.write_text("a;b;y\n1;2;0.5\n3;4;1\n;;\n;;\n")
    assert load_table(str(file), target="y").X.to_numpy().tolist() == [[1, 2], [3, 4]]
    file.write_text("a;b;y\n;;\n;;\n")
    assert "has no rows" in refused(file)
    file.write_text("a;b;y\n1;2;0.5\n;;\n3;4;1\n")
    table = load_table(str(file), target="y")
    assert table.lost == [f"{file}: 1 of 3 rows lack the target 'y' and are left out"]
    assert len(table.X) == 2


def test_binary_files_and_other_encodings(file: Path) -> None:
    file.write_bytes(b"a,b,y\n\x00\x01\x02")
    assert "is a binary file" in refused(file)
    for garbage in (b"a,b,y\n\xff\x01\x02", b"a,b,y\n\x81\n"):
        file.write_bytes(garbage)
        assert "is not UTF-8 text (byte 6)" in refused(file)
    file.write_bytes(b"\xff\xfea\x00,")
    assert "is not UTF-16 text" in refused(file)
    file.write_bytes("a,b".encode("utf-32"))
    assert "is a binary file" in refused(file)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
@pytest.mark.parametrize("separator", [";", "\t"])
def test_encodings_of_spreadsheets(file: Path, encoding: str, separator: str) -> None:
    rows = "größe,preis €,y\r\n1,2.5,no\r\n3,4.5,yes\r\n5,6.5,no\r\n7,8.5,yes\r\n"
    file.write_bytes(rows.replace(",", separator).encode(encoding))
    table = load_table(str(file), target="y")
    assert table.names == ["größe", "preis €"]
    assert table.X.iloc[1].tolist() == [3, 4.5]
    guessed = [f"{file}: is not UTF-8 text, so it was read as Windows-1252; save it as UTF-8 if names look odd"]
    assert table.warnings == (guessed if encoding == "cp1252" else [])


def test_old_line_ends_and_blank_first_lines(file: Path) -> None:
    file.write_bytes(GOOD.replace("\n", "\r").encode())
    assert load_table(str(file), target="y").X.shape == (4, 2)
    file.write_text("\n\n" + GOOD)
    assert load_table(str(file), target="y").X.shape == (4, 2)
    file.write_text(GOOD.replace("a,b,y", '"a\nlong",b,y'))
    assert load_table(str(file), target="y").names == ["a\nlong", "b"]


def test_a_column_without_a_name(tmp_path: Path) -> None:
    np.savez(tmp_path / "table.npz", X=np.eye(2), y=[0, 1], feature_names=["a", " "])
    assert "column 2 has no name" in refused(tmp_path / "table.npz")


@pytest.mark.parametrize("value", ["inf", "1e400"])
@pytest.mark.parametrize("task", ["auto", "classification", "regression"])
def test_an_infinite_target(file: Path, value: str, task: str) -> None:
    file.write_text(f"a,b,y\n1,2,0\n3,4,1\n5,6,{value}\n")
    assert "the target 'y' holds an infinite value" in refused(file, task=task)


def test_targets_that_teach_nothing(file: Path) -> None:
    file.write_text("a,b,y\n1,2,5\n3,4,5\n")
    assert "the target 'y' is 5 in every row" in refused(file)
    file.write_text("a,b,y\n1,2,u\n3,4,v\n5,6,w\n")
    assert "each class of the target 'y' has 1 row" in refused(file)
    file.write_text("a,b,y\n1,2,\n3,4,\n5,6, \n")
    assert "the target 'y' has no value in any row" in refused(file)
    file.write_text(GOOD)
    assert "that is --task classification" in refused(file, task="regression")
    file.write_text("a,y\n1,2\n3,4\n")
    assert "1 feature column(s) are left" in refused(file)


def test_selected_columns_in_any_order_among_any_others(file: Path) -> None:
    file.write_text("note,b,a\nx,2,1\n,4,3\n")
    assert select_columns(str(file), {"a": "numeric", "b": "numeric"})[0].to_numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(TableError, match=r"needs column 'alpha', which the table lacks \(and 1 more: 'c'\)"):
        select_columns(str(file), {"alpha": "numeric", "b": "numeric", "c": "categorical"})
