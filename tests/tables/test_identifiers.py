from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from maskrank.tables import load_table
from maskrank.tables.identifiers import identifier_warnings

N = 120
SHUFFLED = np.random.default_rng(0).integers(0, 2, N)
SORTED = np.sort(SHUFFLED)


def warned(column: np.ndarray | pd.Series, y: np.ndarray = SHUFFLED) -> bool:
    """Whether a column earns a warning among two that do not."""
    others = np.random.default_rng(1).normal(size=(len(column), 2))
    lines = identifier_warnings(pd.DataFrame(others, columns=["a", "b"]).assign(**{"an id": column}), y)
    assert all("column 'an id' looks like an identifier" in line for line in lines)
    assert all("--drop 'an id'" in line for line in lines)
    return bool(lines)


@pytest.mark.parametrize(
    "column",
    [
        np.arange(N),
        np.arange(1001, 1001 + N)[::-1],
        np.random.default_rng(2).permutation(N),
        np.random.default_rng(2).choice(10**8, N, replace=False),
        np.cumsum(np.random.default_rng(2).integers(1, 1000, N)),
        np.arange(-60, 60),
    ],
)
@pytest.mark.parametrize("y", [SHUFFLED, SORTED, np.random.default_rng(3).normal(size=N)])
def test_distinct_whole_numbers_look_like_an_identifier(column: np.ndarray, y: np.ndarray) -> None:
    assert warned(column, y)


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(2).normal(size=N),
        np.arange(N) / 7,  # sorted, but the target is not
        np.arange(N) // 2,
        np.random.default_rng(2).integers(0, 1000, N),
        np.random.default_rng(2).choice(10**6, N, replace=False) - 500_000,
        np.zeros(N),
        np.r_[np.zeros(N - 1), 1],
    ],
)
def test_measurements_do_not(column: np.ndarray) -> None:
    assert not warned(column)


def test_a_column_sorted_with_the_target() -> None:
    assert warned(np.arange(N) / 7, SORTED)
    assert warned(-np.arange(N) // 4, SORTED)
    assert warned(np.arange(N) / 7, np.repeat(["v", "u", "w"], N // 3))  # in blocks, whatever their order
    assert not warned(SORTED * 3.5, SORTED)  # another name for the class, not a number of the row
    many = np.repeat(np.arange(20), N // 20)
    assert not warned(many + 0.5, many)
    assert not warned(np.arange(N) / 7, np.arange(N) / 9)  # a feature that rises with the target may be a good one


def test_few_rows_are_distinct_by_chance() -> None:
    assert not warned(np.arange(12), SHUFFLED[:12])


@pytest.mark.parametrize("kind", ["str", "category", "object"])
def test_text_that_is_distinct_in_every_row(kind: str) -> None:
    names = pd.Series([f"patient {i}" for i in range(N)]).astype(kind)
    assert warned(names)
    assert warned(names.where(np.arange(N) > 30))  # gaps change nothing
    assert warned(names.replace("patient 1", "patient 0") if kind != "category" else names)
    assert not warned(pd.Series(np.arange(N) // 3).map("town {}".format).astype(kind))


def test_gaps_and_dates_are_no_alarm() -> None:
    assert not warned(np.where(np.arange(N) % 7, np.nan, 3.0))
    assert not warned(np.full(N, np.nan))
    assert not warned(pd.Series(pd.date_range("2024-01-01", periods=N)))


def test_many_columns_of_distinct_whole_numbers_are_counts() -> None:
    counts = np.column_stack([np.random.default_rng(i).choice(10**7, N, replace=False) for i in range(20)])
    names = [f"gene{i}" for i in range(20)]
    frame = pd.DataFrame(counts, columns=names)
    assert identifier_warnings(frame, SHUFFLED) == []
    (line,) = identifier_warnings(frame.assign(row=np.arange(N)), SHUFFLED)
    assert "column 'row'" in line


def test_a_flood_of_warnings_is_cut() -> None:
    lines = identifier_warnings(pd.DataFrame({f"c{i}": np.arange(N) + i for i in range(30)}), SHUFFLED)
    assert len(lines) == 6
    assert lines[-1] == "25 more columns look like identifiers"


@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "diabetes", "digits"])
@pytest.mark.parametrize("by_target", [False, True])
def test_no_alarm_on_known_tables(name: str, by_target: bool) -> None:
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    order = np.argsort(y, kind="stable") if by_target else np.arange(len(y))
    assert identifier_warnings(pd.DataFrame(X[order]), y[order]) == []


@pytest.mark.parametrize(
    "name", ["vowel", "tox171", "yale32", "gm12878_200bp_3cl", "mcf7_200bp", "lung_bhattacharjee2001"]
)
def test_no_alarm_on_the_data_sets_of_the_paper(shared_data: Path, name: str) -> None:
    assert load_table(str(shared_data / f"{name}.npz"), target=None).warnings == []


def test_the_identifier_of_the_glass_data_is_named(shared_data: Path) -> None:
    path = str(shared_data / "glass.npz")
    (line,) = load_table(path, target=None).warnings
    assert line == (
        f"{path}: column 'ID' looks like an identifier (every value is distinct, whole numbers, sorted with the "
        "target); leave it out with --drop ID if it is one"
    )
    assert load_table(path, target=None, drop=["ID"]).warnings == []
