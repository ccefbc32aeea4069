"""Tables as people keep them: text, gaps, dates and codes in one file, each column read as what it holds."""

from __future__ import annotations

from datetime import date, time
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

from maskrank.tables import ColumnOptions, Table, TableError, describe_columns, load_table, select_columns

N = 60


def titanic() -> pd.DataFrame:
    """Made up, in the form of the passengers of the Titanic: text, gaps, an identifier."""
    rng = np.random.default_rng(0)
    age = rng.normal(30, 10, N).round(1)
    return pd.DataFrame(
        {
            "pclass": rng.integers(1, 4, N),
            "name": [f"Passenger, Mr. {i}" for i in range(N)],
            "sex": rng.choice(["male", "female"], N),
            "age": np.where(np.arange(N) % 5, age, np.nan),
            "embarked": np.where(np.arange(N) % 20, rng.choice(["S", "C", "Q"], N), None),
            "survived": rng.integers(0, 2, N),
        }
    )


def read(file: Path, frame: pd.DataFrame, target: str, **options: object) -> Table:
    frame.to_csv(file, index=False)
    return load_table(str(file), target=target, **options)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "table.csv"


def test_text_and_gaps_are_read_and_no_row_is_lost(file: Path) -> None:
    frame = titanic()
    table = read(file, frame, "survived")
    assert len(table.X) == N
    assert [str(kind) for kind in table.X.dtypes] == ["float64", "category", "category", "float64", "category"]
    assert table.X["sex"].tolist() == frame["sex"].tolist()
    assert table.X["age"].isna().sum() == N // 5
    assert table.X["embarked"].isna().sum() == N // 20
    (warning,) = table.warnings
    assert "column 'name' looks like an identifier (every value is distinct, text)" in warning
    assert describe_columns(table.X) == [
        "2 numeric, 3 categorical (2-60 levels); gaps in 2 columns, most in 'age' (20 %)"
    ]


def test_penguins_with_the_marks_of_r(file: Path) -> None:
    file.write_text(
        "species,island,bill,mass,sex\n"
        + "Adelie,Torgersen,39.1,3750,male\nAdelie,Torgersen,NA,NA,NA\nGentoo,Biscoe,50.0,5700,female\n" * 4
    )
    table = load_table(str(file), target="species")
    assert table.X.isna().sum().to_dict() == {"island": 0, "bill": 4, "mass": 4, "sex": 4}
    assert table.X["sex"].dropna().unique().tolist() == ["male", "female"]


def test_a_table_of_numbers_is_one_array(file: Path) -> None:
    table = read(
        file, pd.DataFrame(np.random.default_rng(0).normal(size=(9, 5))).assign(n=range(9), y=[0, 1, 2] * 3), "y"
    )
    assert (table.X.dtypes == np.float64).all()
    assert np.shares_memory(table.X.to_numpy(), table.X["n"].to_numpy())


def test_levels_that_are_only_spaces_are_gaps_and_spaces_around_make_no_level(file: Path) -> None:
    file.write_text("a,town,y\n" + "1,Ulm,0\n2, Ulm,1\n3,  ,0\n4,Bern ,1\n" * 2)
    town = load_table(str(file), target="y").X["town"]
    assert town.tolist()[:2] == ["Ulm", "Ulm"]
    assert town.isna().sum() == 2
    assert town.cat.categories.tolist() == ["Bern", "Ulm"]


@pytest.mark.parametrize("text", ["1,2,3", "1.0,2.0,3.0", "1,2.0,3", " 1,2 ,3.00"])
def test_codes_are_the_same_levels_however_they_are_written(file: Path, text: str) -> None:
    one, two, three = text.split(",")
    file.write_text(f"code;b;y\n{one};1;0\n{two};2;1\n;3;0\n{three};4;1\n")
    table = load_table(str(file), target="y", options=ColumnOptions(categorical=["code"]))
    assert table.X["code"].cat.categories.tolist() == ["1", "2", "3"]
    asked, _ = select_columns(str(file), {"code": "categorical"})
    assert asked["code"].tolist()[:2] == ["1", "2"]
    assert asked["code"].isna().tolist() == [False, False, True, False]


def test_leading_zeros_of_codes_stay(file: Path) -> None:
    file.write_text("code,b,y\n007,1,0\n7,2,1\n0070,3,0\n7,4,1\n")
    table = load_table(str(file), target="y", options=ColumnOptions(categorical=["code"]))
    assert table.X["code"].tolist() == ["007", "7", "0070", "7"]


@pytest.mark.parametrize(
    ("texts", "expected", "unclear"),
    [
        (["2024-01-31", "2024-02-01"], ["2024-01-31", "2024-02-01"], None),
        (["31.01.2024", "01.02.2024"], ["2024-01-31", "2024-02-01"], None),
        (["1/31/24", "2/1/99"], ["2024-01-31", "1999-02-01"], None),
        (["01.03.2024", "02.03.2024"], ["2024-03-01", "2024-03-02"], "'01.03.2024' with the day first"),
        (["01/03/2024", "02/03/2024"], ["2024-01-03", "2024-02-03"], "'01/03/2024' with the month first"),
        (["2024-01-31T10:00:00Z", "2024-02-01T00:30:00+01:00"], ["2024-01-31T10:00", "2024-01-31T23:30"], None),
        (["31.01.2024 10:00", "31.01.2024 11:15:30.5"], ["2024-01-31T10:00", "2024-01-31T11:15:30.500"], None),
        (["31 Jan 2024", "1. Okt. 2024"], ["2024-01-31", "2024-10-01"], None),
        (["January 31, 2024", "May 1 2024"], ["2024-01-31", "2024-05-01"], None),
        (["10:30", "1:05 PM"], ["1970-01-01T10:30", "1970-01-01T13:05"], None),
    ],
)
def test_dates(file: Path, texts: list[str], expected: list[str], unclear: str | None) -> None:
    file.write_text("day;a;y\n" + "".join(f"{text};{i};{i % 2}\n" for i, text in enumerate([*texts, "", *texts])))
    table = load_table(str(file), target="y")
    assert np.array_equal(table.X["day"].to_numpy()[:2], np.array(expected, dtype="datetime64[us]"))
    assert table.X["day"].isna().tolist() == [False, False, True, False, False]
    assert table.warnings == (
        [] if unclear is None else [f"{file}: dates that can be read in two ways in 'day' ({unclear})"]
    )
    asked, _ = select_columns(str(file), {"day": "date"})
    pd.testing.assert_series_equal(asked["day"], table.X["day"])


def test_a_day_that_does_not_exist_is_missing_and_said(file: Path) -> None:
    days = [f"{1 + i % 28:02d}.01.2024" for i in range(40)]
    days[5] = "30.02.2024"
    file.write_text("day;a;y\n" + "".join(f"{day};{i};{i % 2}\n" for i, day in enumerate(days)))
    table = load_table(str(file), target="y")
    assert table.X["day"].isna().sum() == 1
    assert any("column 'day': '30.02.2024' read as missing (1 cell)" in line for line in table.warnings)


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(
        {
            "text": ["1.50", None, "2", "2"],
            "whole": pd.array([1, None, 3, 4], dtype="Int64"),
            "truth": pd.array([True, None, False, True], dtype="boolean"),
            "day": pd.to_datetime(["2024-01-31", None, "2024-02-01", "2024-02-02"]),
            "zoned": pd.to_datetime(["2024-01-31T01:00+01:00"] * 4),
            "dates": [date(2024, 1, 31), None, date(2024, 2, 1), date(2024, 2, 2)],
            "clock": [time(10, 30), time(11), None, time(12)],
            "length": pd.to_timedelta(["1 min", "2 min", None, "3 min"]),
            "exact": [Decimal("1.5"), Decimal("2.5"), None, Decimal("4")],
            "size": pd.Categorical(["S", "L", None, "M"], ["S", "M", "L"], ordered=True),
            "y": [0, 1, 0, 1],
        }
    )
    frame.to_parquet(tmp_path / "table.parquet")
    table = load_table(str(tmp_path / "table.parquet"), target="y")
    kinds = {name: kind.kind if isinstance(kind, np.dtype) else str(kind) for name, kind in table.X.dtypes.items()}
    assert kinds == {
        **dict.fromkeys(["whole", "truth", "length", "exact"], "f"),
        **dict.fromkeys(["day", "zoned", "dates", "clock"], "M"),
        **dict.fromkeys(["text", "size"], "category"),
    }
    assert table.X["size"].cat.ordered
    assert table.X["size"].cat.categories.tolist() == ["S", "M", "L"]
    assert table.X["length"].tolist()[:2] == [60, 120]
    assert table.X["zoned"][0] == pd.Timestamp("2024-01-31 00:00")
    assert table.X.isna().sum().drop("zoned").eq(1).all()
    described = describe_columns(table.X, most=20)
    assert described[0].startswith(
        "4 numeric, 1 categorical (2 levels), 1 ordered (3 levels), 4 dates; gaps in 9 columns"
    )
    assert "column 'size': ordered, 3 levels ('S', 'M', 'L'), 25 % missing" in described


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "+02:00"])
def test_years_beyond_those_of_python_are_read_in_every_time_zone(tmp_path: Path, zone: str) -> None:
    seconds = pa.array([5_909_999_999_999_999, 0, -(2**63) + 1] * 10, type=pa.timestamp("s", tz=zone))
    columns = {"a": seconds, "b": seconds, "c": seconds, "d": seconds.dictionary_encode()}
    pyarrow.feather.write_feather(pa.table(columns), tmp_path / "far.feather")
    kinds = {"a": "categorical", "b": "numeric", "c": "date", "d": "categorical"}
    frame = select_columns(str(tmp_path / "far.feather"), kinds)[0]
    for name in ("a", "d"):
        assert "187282414-07-29 18:39:59" in list(frame[name])
    assert frame["c"].dtype.kind == "M"


def test_values_that_no_column_can_hold(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"a": [1, 2], "b": [[1], [2]], "c": [b"x", b"y"], "y": [0, 1]})
    frame.to_parquet(tmp_path / "table.parquet")
    with pytest.raises(TableError) as caught:
        load_table(str(tmp_path / "table.parquet"), target="y", task="regression")
    assert [line.split(": ", 1)[1] for line in str(caught.value).splitlines()] == [
        "column 'b' holds values of type ndarray; numbers, text or dates are needed",
        "column 'c' holds values of type bytes; numbers, text or dates are needed",
    ]


def test_new_rows_are_read_as_the_model_knows_them(file: Path) -> None:
    file.write_text("n;c;d;flag\n1,5;1;31.01.2024;yes\nlots;2;soon;no\n;x;;\ninf;1.0;01.02.2024;yes\n")
    frame, lines = select_columns(str(file), {"flag": "numeric", "d": "date", "c": "categorical", "n": "numeric"})
    assert list(frame.columns) == ["flag", "d", "c", "n"]
    assert np.array_equal(frame["n"], [1.5, np.nan, np.nan, np.nan], equal_nan=True)
    assert frame["c"].tolist() == ["1", "2", "x", "1"]
    assert frame["d"].isna().tolist() == [False, True, True, False]
    assert np.array_equal(frame["flag"], [1, 0, np.nan, 1], equal_nan=True)
    assert f"{file}: column 'd': 'soon' read as missing (1 cell)" in lines
    assert f"{file}: column 'n': 'lots', 'inf' read as missing (2 cells)" in lines
    frame, _ = select_columns(str(file), {"c": "categorical"}, {"c": (1, 2)})
    assert frame["c"].tolist()[:2] == [1, 2]  # as levels that are no text were known
    assert frame["c"].isna().tolist() == [False, False, True, False]


def test_a_single_row_is_read_like_all_of_them(file: Path, tmp_path: Path) -> None:
    """What pandas guesses of a column differs from part to part; the model's kinds do not."""
    frame = titanic()
    whole = read(file, frame, "survived", options=ColumnOptions(categorical=["pclass"])).X
    kinds = {"pclass": "categorical", "sex": "categorical", "age": "numeric", "embarked": "categorical"}
    for row in (0, 1, 20):
        frame.iloc[[row]].to_csv(tmp_path / "row.csv", index=False)
        one, _ = select_columns(str(tmp_path / "row.csv"), kinds)
        for name in kinds:
            assert one[name].astype(object).equals(whole[name].iloc[[row]].astype(object).reset_index(drop=True))


def test_wishes_come_before_what_a_column_looks_like(file: Path) -> None:
    table = read(file, titanic(), "survived", options=ColumnOptions(categorical=["age"], required=["sex", "sex"]))
    assert isinstance(table.X["age"].dtype, pd.CategoricalDtype)
    assert table.required == ["sex"]


def test_a_description_of_many_columns_is_cut() -> None:
    lines = describe_columns(pd.DataFrame(np.zeros((3, 50))), most=4)
    assert lines[0] == "50 numeric"
    assert len(lines) == 6
    assert lines[-1] == "… and 46 more columns"
