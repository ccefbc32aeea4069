"""What a user says of columns, and the messages where it does not fit the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from maskrank.tables import ColumnOptions, TableError, load_table, read_groups

COLUMNS = ["age", "weight", "town", "outcome"]


def problems(dropped: tuple[str, ...] = (), **options: object) -> list[str]:
    return ColumnOptions(**options).problems(COLUMNS, {"outcome": "the target"}, dropped)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("g.json", '{"body": ["age", "weight"], "place": ["town", "age"]}'),
        ("g.csv", "group,column\nbody,age\nbody,weight\n\nplace,town\nplace,age\n"),
        ("g.tsv", "Column\tGroup\nage\tbody\nweight\tbody\ntown\tplace\nage\tplace\n"),
        ("g.txt", '\ufeff{"body": ["age", "weight"], "place": ["town", "age"]}'),
    ],
)
def test_groups_from_files(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    groups = read_groups(str(tmp_path / name))
    assert groups == {"body": ["age", "weight"], "place": ["town", "age"]}
    assert problems(groups=groups) == []  # groups may overlap


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": ["x"]', "is not JSON: "),
        ('["x"]', "is not a JSON object of lists"),
        ('{"a": "x"}', "the group 'a' is not a list of names of columns"),
        ('{"a": [1]}', "the group 'a' is not a list of names of columns"),
        ('{"a": ["x"], "a": ["z"]}', "the group 'a' occurs twice"),
        ("", "the file is empty"),
        ("name,member\na,x\n", "CSV with the columns group and column"),
        ("group,column\na,x,z\n", "line 2 has no group and column"),
        ("group,column\n,x\n", "line 2 has no group and column"),
    ],
)
def test_files_that_are_no_groups(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "groups"
    path.write_text(text)
    with pytest.raises(TableError) as caught:
        read_groups(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_file_of_groups_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(TableError, match="there is no such file; --group needs a JSON object"):
        read_groups(str(tmp_path / "absent"))
    with pytest.raises(TableError, match="can't be read"):
        read_groups(str(tmp_path))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"groups": {"body": ["age", "wieght"]}},
            "in the group 'body' there is no column 'wieght'; did you mean 'weig",
        ),
        ({"groups": {"body": []}}, "the group 'body' is empty; it needs at least 1 column"),
        ({"groups": {"body": ["outcome"]}}, "in the group 'body' column 'outcome' is the target"),
        ({"required": ["hight"]}, "--require: there is no column 'hight'; did you mean 'weight'?"),
        ({"required": ["outcome"]}, "--require: column 'outcome' is the target; features are needed"),
        ({"required": ["age", "weight", "town"]}, "--require: 3 columns are required of 3 features; at least 1 must"),
        ({"categorical": ["outcome"]}, "--categorical: column 'outcome' is the target"),
        ({"numeric": ["Town", "Town"]}, "--numeric: there is no column 'Town'; did you mean 'town'?"),
        ({"categorical": ["town"], "numeric": ["town"]}, "column 'town' can't be both --categorical and --numeric"),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(options: dict[str, object], message: str) -> None:
    (line,) = problems(**options)
    assert message in line


def test_columns_that_are_dropped() -> None:
    (line,) = problems(("town",), required=["town"])
    assert "column 'town' is left out by --drop" in line
    assert problems(("town",), groups={"all": ["age", "town"]}) == []
    assert ColumnOptions(groups={"all": ["age", "town", "age"]}).without(["town"]) == {"all": ["age"]}
    (line,) = problems(("town",), groups={"place": ["town"]})
    assert "the group 'place' is empty, as its columns are dropped" in line


def test_a_table_carries_what_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age,weight,town,outcome\n" + "31,70,Ulm,0\n42,80,Bern,1\n" * 3)
    options = ColumnOptions(required=["age"], groups={"body": ["weight", "town"]})
    table = load_table(str(path), target="outcome", options=options)
    assert table.required == ["age"]
    assert table.groups == {"body": ["weight", "town"]}
