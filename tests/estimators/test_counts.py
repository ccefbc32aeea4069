"""`DualNetCounts`: what is found and predicted, model files, and bad input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import d2_tweedie_score, mean_poisson_deviance

from maskrank import DualNetCounts, load
from maskrank.results import facts


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    return X, rng.poisson(np.exp(0.8 * X[:, 2] - 0.6 * X[:, 5]))


@pytest.fixture(scope="module")
def fitted(table: tuple[np.ndarray, np.ndarray]) -> DualNetCounts:
    return DualNetCounts(2, max_batches=300, random_state=0).fit(*table)


def test_the_features_are_found_and_the_figure_is_the_deviance(fitted: DualNetCounts) -> None:
    assert set(fitted.result_.selected) == {"x2", "x5"}
    assert fitted.signal_
    assert fitted.validation_score_ < 0.7 * fitted.baseline_score_
    assert fitted.task_.metric.name == "poisson_deviance"
    shown = dict(facts(fitted, time="1 s"))
    assert "deviance (D²)" in shown["explained"]
    assert shown["mean Poisson deviance"].startswith(f"{fitted.validation_score_:.2f} ± ")


def test_predictions_are_expected_counts(fitted: DualNetCounts, table) -> None:
    X, y = table
    predicted = fitted.predict(X)
    assert (predicted > 0).all()
    assert predicted.mean() == pytest.approx(y.mean(), rel=0.15)
    assert fitted.score(X, y) == d2_tweedie_score(y, predicted, power=1)
    assert fitted.score(X, y) > 0.5
    assert mean_poisson_deviance(y, predicted) < mean_poisson_deviance(y, np.full(300, y.mean()))


def test_the_unit_of_the_target_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 5))
    y = rng.poisson(np.exp(X[:, 1])).astype(float)
    small, large = (DualNetCounts(2, max_batches=48, random_state=0).fit(X, unit * y) for unit in (1.0, 1024.0))
    assert np.array_equal(small.ranking_, large.ranking_)
    np.testing.assert_allclose(1024 * small.predict(X), large.predict(X), rtol=1e-6)


def test_a_loaded_model_predicts_the_same_bit_for_bit(fitted: DualNetCounts, table, tmp_path: Path) -> None:
    fitted.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, DualNetCounts)
    assert np.array_equal(loaded.predict(table[0]), fitted.predict(table[0]))


def test_explanations_add_up_to_the_expected_count(fitted: DualNetCounts, table) -> None:
    explained = fitted.explain(table[0][:5])
    np.testing.assert_allclose(explained.base_values + explained.values.sum(axis=1), fitted.predict(table[0][:5]))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1, -2, 3], "holds the value -2: counts are 0 or more"),
        ([0, 0, 0, 0], "holds zeros only"),
        ([2, 2, 2, 2], "constant"),
    ],
)
def test_bad_targets_are_named_in_a_line(y: list[float], message: str) -> None:
    X = np.random.default_rng(0).standard_normal((4, 3))
    with pytest.raises(ValueError, match=message) as error:
        DualNetCounts(2).fit(X, y)
    assert "\n" not in str(error.value)
