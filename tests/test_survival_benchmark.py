"""What the benchmark of survival draws, and what it compares with."""

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
def survival(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("survival")


def test_the_command_in_a_results_file_repeats_the_run(survival):
    for name in survival.SECTIONS:
        given = survival.parse([name, "--tag", "7", "--out", "results.md"])
        words = shlex.split(survival.sections.command_of(given, survival.PROG))
        assert vars(survival.parse(words[2:])) == {**vars(given), "out": None}


def test_half_of_the_patients_are_censored_and_high_hazards_come_early(survival):
    options = importlib.import_module("score_tools").Options(tag=3)
    drawn = survival.simulated_table(options, 0)
    assert drawn.X.shape == (400, 1000)
    assert len(set(drawn.relevant.tolist())) == 10
    assert abs(drawn.event.mean() - 0.5) < 0.01
    hazard = survival.log_hazard(drawn.X[:, drawn.relevant])
    assert survival.concordance_index(drawn.event, drawn.time, hazard) > 0.85
    fresh = survival.simulated_table(options, 0, rows=50, fresh=True)
    assert np.array_equal(fresh.relevant, drawn.relevant)
    assert not np.array_equal(fresh.X, drawn.X[:50])


def test_categories_are_indicators_and_gaps_are_means(survival):
    train = pd.DataFrame({"a": [1.0, 3.0, np.nan], "b": ["x", "y", "z"]})
    data = survival.encoded(train, train.iloc[:1])
    assert data.owner.tolist() == [0, 1, 1]
    np.testing.assert_allclose(data.train[:, 0], [-1, 1, 0])
    assert data.only([1]).train.shape == (3, 2)


def test_our_concordance_is_that_of_scikit_survival(survival):
    metrics = pytest.importorskip("sksurv.metrics")
    rng = np.random.default_rng(0)
    time, event, risk = rng.integers(1, 40, 300).astype(float), rng.random(300) < 0.6, rng.integers(0, 30, 300) / 30
    expected = metrics.concordance_index_censored(event, time, risk)[0]
    assert survival.concordance_index(event, time, risk) == pytest.approx(expected)
