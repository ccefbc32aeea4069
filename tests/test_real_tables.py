"""What the benchmark of real tables draws and writes down."""

from __future__ import annotations

import importlib
import shlex
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("tables")


@pytest.fixture
def options(tables: ModuleType):
    return importlib.import_module("score_tools").Options(tag=3)


def test_the_command_in_a_results_file_repeats_the_run(tables):
    for name in tables.SECTIONS:
        given = tables.parse([name, "--tag", "7", "--out", "results.md"])
        words = shlex.split(tables.command_of(given))
        assert words[:3] == ["python", "benchmarks/tables.py", name]
        assert vars(tables.parse(words[2:])) == {**vars(given), "out": None}


def test_mixed_tables_have_half_text_gaps_everywhere_and_an_identifier(tables, options):
    truths = tables.table_truths
    for name in truths.PROBLEMS:
        X, y, relevant = truths.mixed_table(options, name, 0)
        assert X.shape == (1000, 200)
        assert len(y) == 1000
        assert set(relevant) < set(X)
        assert sum(X[column].map(type).eq(str).any() and column not in ("ordered",) for column in X) >= 100
        gaps = X.drop(columns="identifier").isna().mean()
        assert gaps.between(0.05, 0.15).all()
        assert X["identifier"].is_unique
        again = truths.mixed_table(options, name, 0)[0]
        pd.testing.assert_frame_equal(X, again)


def test_the_true_functions_reach_what_is_said_of_them(tables, options):
    truths = tables.table_truths
    X, y, _ = truths.mixed_table(options, "xor", 0)
    seen = X[["a", "b"]].notna().all(axis=1)
    assert np.array_equal((X["a"] != X["b"])[seen], y[seen])
    assert seen.mean() == pytest.approx(0.81, abs=0.04)
    X, y, relevant = truths.mixed_table(options, "missing", 0)
    assert (X[relevant].isna().any(axis=1) == y).mean() == pytest.approx(0.9, abs=0.03)
    X, y, _ = truths.mixed_table(options, "50 levels", 0)
    within = y - pd.Series(y).groupby(X["category"]).transform("mean")
    assert within.var() / y.var() == pytest.approx(0.1, abs=0.02)


def test_groups_hold_all_columns_once(tables, options):
    X, y, names, relevant = tables.table_truths.grouped_table(options, 0)
    assert [column for some in names.values() for column in some] == list(X)
    assert len(names) == 100
    assert {len(some) for some in names.values()} <= set(range(3, 41))
    assert relevant < set(names)
    assert 0.4 < np.mean(y) < 0.6


def test_gradient_boosting_takes_text_dates_and_many_levels(tables):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "text": rng.choice(["a", "b", "c"], 600),
            "many": [f"k{k}" for k in range(600)],
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 600), "D"),
            "gap": np.where(rng.random(600) < 0.3, np.nan, rng.random(600)),
        }
    )
    y = np.where(X["text"] == "a", "yes", "no")
    train, test = X[:400], X[400:]
    score = tables.table_public.boosted(train, y[:400], test, y[400:], classify=True, seed=0)
    assert score == 1.0


def test_predictions_are_counted_where_there_are_any(tables, tmp_path):
    file = tmp_path / "predictions.csv"
    assert tables.table_public.count_answers(file) == 0
    file.write_text("prediction,probability\nyes,0.9\n,\nno,0.8\n")
    assert tables.table_public.count_answers(file) == 2
