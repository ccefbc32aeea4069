"""Columns that are no features: what they say of rows, and what is predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from maskrank.tables import Roles, TableError, latest_rows, load_table

N = 40


def table_file(folder: Path, **columns: object) -> str:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=N).round(3), "b": rng.normal(size=N).round(3)}).assign(**columns)
    frame.to_csv(folder / "t.csv", index=False)
    return str(folder / "t.csv")


def refused(path: str, **options: object) -> str:
    with pytest.raises(TableError) as caught:
        load_table(path, **options)
    return str(caught.value).removeprefix(f"{path}: ")


def test_columns_with_a_role_are_no_features_and_say_what_rows_are(tmp_path: Path) -> None:
    path = table_file(
        tmp_path,
        w=["1,5", "0"] * (N // 2),
        who=np.arange(N) // 4,
        day=pd.date_range("2024-01-01", periods=N),
        y=np.arange(N) % 3,
    )
    table = load_table(path, target="y", roles=Roles(weight="w", fold_by="who", time_order="day"))
    assert table.names == ["a", "b"]
    assert table.rows.weights.tolist() == [1.5, 0.0] * (N // 2)
    assert table.rows.groups.tolist() == (np.arange(N) // 4).tolist()
    assert (np.diff(table.rows.order) > np.timedelta64(0)).all()
    late = table.take(latest_rows(table.rows.order, 0.2))
    assert len(late.X) == len(late.y) == len(late.rows.weights) == N // 5


def test_rows_without_a_target_are_left_out_of_the_rows_facts_too(tmp_path: Path) -> None:
    y = pd.Series(np.arange(N) % 2, dtype="Int64")
    y[3] = pd.NA
    path = table_file(tmp_path, w=np.arange(1, N + 1), y=y)
    table = load_table(path, target="y", roles=Roles(weight="w"))
    assert table.rows.weights.tolist() == [value for value in range(1, N + 1) if value != 4]
    assert len(table.X) == N - 1


def test_rows_without_a_weight_or_group_are_left_out_if_asked(tmp_path: Path) -> None:
    path = table_file(tmp_path, w=[np.nan, *range(1, N)], who=["", "x", *["y"] * (N - 3), "x"], y=np.arange(N) % 2)
    roles = Roles(weight="w", fold_by="who")
    assert len(refused(path, target="y", roles=roles).splitlines()) == 2
    table = load_table(path, target="y", roles=roles, skip_missing=True)
    assert len(table.X) == N - 1
    assert table.rows.groups.tolist() == [0, *[1] * (N - 3), 0]
    assert table.warnings == [f"{path}: 1 of {N} rows lack a value and are left out"]


@pytest.mark.parametrize(("share", "late"), [(0.1, 4), (0.2, 4), (0.5, 8), (0.9, 12)])
def test_rows_of_one_time_stay_together(share: float, late: int) -> None:
    order = np.repeat([3, 1, 4, 2], 4)
    chosen = latest_rows(order, share)
    assert chosen.sum() == late
    assert order[chosen].min() > order[~chosen].max()


def test_an_order_of_ambiguous_dates_is_said(tmp_path: Path) -> None:
    path = table_file(tmp_path, day=[f"0{1 + i % 9}/0{1 + i // 9}/2024" for i in range(N)], y=np.arange(N) % 2)
    table = load_table(path, target="y", roles=Roles(time_order="day"))
    assert any("dates that can be read in two ways in 'day'" in line for line in table.warnings)


def test_a_survival_table_has_times_and_events(tmp_path: Path) -> None:
    path = table_file(tmp_path, months=np.arange(N) / 2, died=["yes", "no"] * (N // 2))
    table = load_table(path, roles=Roles(time="months", event="died"))
    assert (table.task, table.target) == ("survival", "survival (months, died)")
    assert table.y["time"].tolist() == (np.arange(N) / 2).tolist()
    assert table.y["event"].tolist() == [True, False] * (N // 2)
    assert table.reason == f"{N // 2} events in {N} rows"


def test_several_targets_are_numbers_or_labels(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path = table_file(tmp_path, u=rng.integers(0, 2, N), v=np.arange(N) % 2, z=rng.normal(size=N))
    labels = load_table(path, roles=Roles(targets=["u", "v"]))
    assert (labels.task, labels.y.shape, labels.y.dtype.kind) == ("multilabel", (N, 2), "i")
    assert load_table(path, roles=Roles(targets=["u", "v"]), task="regression").task == "regression"
    numbers = load_table(path, roles=Roles(targets=["u", "z"]))
    assert (numbers.task, numbers.y.shape, numbers.target) == ("regression", (N, 2), "u, z")
    assert "column 'u' can't be given twice in --targets" in refused(path, roles=Roles(targets=["u", "u"]))


def test_ordered_text_is_taken_in_alphabetical_order_and_said_so(tmp_path: Path) -> None:
    path = table_file(tmp_path, y=np.random.default_rng(1).choice(["low", "middle", "high"], N))
    table = load_table(path, target="y", task="ordered")
    assert any("in this order: 'high', 'low', 'middle'" in line for line in table.warnings)
    path = table_file(tmp_path, y=np.random.default_rng(1).integers(1, 6, N))
    assert load_table(path, target="y", task="ordered").warnings == []


def test_a_class_called_none_is_a_class(tmp_path: Path) -> None:
    path = table_file(tmp_path, y=["none", "some"] * (N // 2))
    assert sorted(set(load_table(path, target="y").y)) == ["none", "some"]
