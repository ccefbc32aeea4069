"""Columns with heavy tails: what any growing function of them keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from maskrank import DualNetClassifier, load
from maskrank.core.config import EncodingConfig
from maskrank.estimators.derived import NormalScores, heavy_tails

CONFIG = EncodingConfig()


@pytest.mark.parametrize(
    ("column", "heavy"),
    [
        (lambda z, u: z, False),
        (lambda z, u: u, False),
        (lambda z, u: -np.log(u), False),
        (lambda z, u: (u < 0.02).astype(float), False),  # a flag, however rare
        (lambda z, u: np.round(5 * u), False),
        (lambda z, u: np.full_like(z, 3.0), False),
        (lambda z, u: z**3, True),
        (lambda z, u: np.exp(2 * z), True),
        (lambda z, u: np.where(u < 0.95, z, 1e6 * z), True),
        (lambda z, u: np.where(u < 0.3, np.nan, np.exp(2 * z)), True),
        (lambda z, u: 1e300 * np.exp(-3 * z) / 1e10, True),
    ],
)
def test_heavy_tails_are_told_from_others(column, heavy: bool) -> None:
    rng = np.random.default_rng(0)
    values = column(rng.standard_normal(400), rng.uniform(size=400))
    assert heavy_tails(values[:, None], CONFIG).tolist() == [heavy]


def test_few_rows_have_no_tails() -> None:
    values = np.exp(np.arange(CONFIG.min_tail_rows - 1.0))[:, None]
    assert not heavy_tails(values, CONFIG).any()


def test_scores_are_normal_quantiles_of_ranks_and_equal_values_share_one() -> None:
    scores = NormalScores.learn(0, np.array([5.0, -1.0, 1e9, 5.0, np.nan]), 10)
    expected = norm.ppf([1 / 8, 4 / 8, 7 / 8])
    np.testing.assert_allclose(scores.columns(np.array([[-1.0], [5.0], [1e9]]))[:, 0], expected)
    np.testing.assert_allclose(scores.columns(np.array([[-np.inf], [1e300]]))[:, 0], expected[[0, 2]])
    assert np.isnan(scores.columns(np.array([[np.nan]]))).all()


def test_many_values_are_kept_at_few_knots() -> None:
    values = np.exp(np.random.default_rng(0).standard_normal(5_000))
    few = NormalScores.learn(0, values, 100)
    assert len(few.values) <= 100
    every = NormalScores.learn(0, values, 5_000)
    middle = values[(values > 0.2) & (values < 5)][:, None]
    np.testing.assert_allclose(few.columns(middle), every.columns(middle), atol=0.05)


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    return X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(int)


@pytest.mark.parametrize("grow", [lambda X: np.exp(3 * X), lambda X: X**3], ids=["exponential", "cube"])
def test_a_growing_function_of_every_column_changes_neither_choice_nor_figure(table, grow) -> None:
    X, y = table
    plain, grown = (DualNetClassifier(3, max_batches=300, random_state=0).fit(given, y) for given in (X, grow(X)))
    assert plain.support_.tolist() == grown.support_.tolist()
    assert grown.validation_score_ >= plain.validation_score_ - 0.05


def test_without_standardising_columns_stay_as_they_are(table) -> None:
    X, y = table
    model = DualNetClassifier(3, standardize=False, max_batches=60, random_state=0).fit(X**3, y)
    assert model._encoding.derived == ()


def test_a_loaded_model_predicts_the_same_bit_for_bit(table, tmp_path: Path) -> None:
    X, y = table
    model = DualNetClassifier(3, max_batches=60, random_state=0).fit(np.exp(3 * X), y)
    model.save(tmp_path / "model")
    rows = np.exp(3 * X[:20])
    assert (load(tmp_path / "model").predict_proba(rows) == model.predict_proba(rows)).all()
