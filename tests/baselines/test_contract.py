"""What holds for every method."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone

from maskrank.baselines import BASELINES, make_baseline

QUICK: dict[str, dict[str, Any]] = {
    "dfs": {"max_steps": 100, "hidden": (8,)},
    "avgrad": {"max_steps": 100, "hidden": (8,)},
    "fs": {"n_steps": 20, "hidden": (4,), "max_steps": 50},
    "lasso": {"n_penalties": 3, "folds": 3},
    "rf": {"n_estimators": 10, "max_depth": 4},
    "lime": {"hidden": (8,), "max_steps": 100, "max_rows": 3, "n_samples": 50},
    "san_aggr": {"epochs": 2},
    "san_global": {"epochs": 2},
    "lassonet": {"hidden": (4,), "settings": {"n_iters": (20, 5), "lambda_start": 1.0, "path_multiplier": 2.0}},
}


def quick(name: str, size: Any = 2, seed: Any = 0) -> Any:
    library = BASELINES[name].library
    if library and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    return make_baseline(name, size, random_state=seed, **QUICK.get(name, {}))


def table(task: str) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(3, 5, (80, 5)), columns=list("abcde"))
    signal = (X["b"] - 3) / 5 + 0.1 * rng.standard_normal(80)
    return X, (np.where(signal > 0, "yes", "no") if task == "classification" else 100 + 20 * signal.to_numpy())


def global_state() -> tuple[bytes, int, bytes]:
    _, words, place, *_ = np.random.get_state()  # noqa: NPY002
    return words.tobytes(), place, torch.random.get_rng_state().numpy().tobytes()


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", BASELINES)
def test_a_fit_ranks_selects_and_names(name: str, task: str) -> None:
    X, y = table(task)
    method = quick(name)
    before = global_state()
    method.fit(X, y)
    assert global_state() == before
    assert method.task_ == task
    assert sorted(method.ranking_) == [1, 2, 3, 3, 3]
    assert sorted(method.order_) == list(range(5))
    assert list(method.ranking_[method.order_[:2]]) == [1, 2]
    assert np.array_equal(method.support_, method.ranking_ <= 2)
    assert method.feature_importances_.shape == (5,)
    assert np.isfinite(method.feature_importances_).all()
    assert list(method.feature_names_in_) == list("abcde")
    chosen = method.set_output(transform="pandas").transform(X)
    assert list(chosen.columns) == list(method.get_feature_names_out()) == list(X.columns[method.support_])
    again = clone(method).fit(X, y)
    assert np.array_equal(again.order_, method.order_)
    assert np.array_equal(again.feature_importances_, method.feature_importances_)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", [name for name, entry in BASELINES.items() if entry.scored_by == "own"])
def test_predictions_are_labels_or_in_the_units_of_y(name: str, task: str) -> None:
    X, y = table(task)
    method = quick(name).fit(X, y)
    predicted = method.predict(X)
    assert predicted.shape == (80,)
    if task == "classification":
        assert set(predicted) <= {"yes", "no"}
        assert method.score(X, y) == np.mean(predicted == y)
    else:
        assert abs(predicted.mean() - 100) < 20
        assert method.score(X, y) == pytest.approx(1 - np.mean((y - predicted) ** 2) / y.var())


@pytest.mark.parametrize("name", ["mrmr", "ccm"])
def test_what_is_chosen_without_a_rank_has_equal_scores(name: str) -> None:
    method = quick(name).fit(*table("classification"))
    assert np.array_equal(method.feature_importances_, np.where(method.support_, 0.5, 0.0))


@pytest.mark.parametrize("name", ["fs", "rfe", "bahsic"])
def test_what_is_ranked_without_scores_has_falling_shares(name: str) -> None:
    method = quick(name, 3).fit(*table("classification"))
    np.testing.assert_allclose(method.feature_importances_[method.order_], [1 / 2, 1 / 3, 1 / 6, 0, 0])


@pytest.mark.parametrize("size", [0, 5, -1, 1.5, "two", True])
def test_a_bad_size_is_named_with_the_range(size: Any) -> None:
    with pytest.raises(ValueError, match=rf"n_features_to_select={size!r} must be a whole number in 1\.\.4"):
        quick("mrmr", size).fit(*table("classification"))


@pytest.mark.parametrize(("size", "number"), [(None, 2), (0.6, 3), (4, 4)])
def test_the_size_is_a_number_a_share_or_half(size: Any, number: int) -> None:
    assert quick("mrmr", size).fit(*table("classification")).support_.sum() == number


def test_the_task_follows_the_target() -> None:
    X, y = table("regression")
    assert quick("mrmr").fit(X, np.round(y)).task_ == "classification"
    assert quick("mrmr").set_params(task="regression").fit(X, np.round(y)).task_ == "regression"
    with pytest.raises(ValueError, match="task='classification', but y holds continuous numbers"):
        quick("mrmr").set_params(task="classification").fit(X, y)
    with pytest.raises(ValueError, match="task='both' is not known; there are auto, classification, regression"):
        quick("mrmr").set_params(task="both").fit(X, y)
    with pytest.raises(ValueError, match="y holds one class only"):
        quick("mrmr").fit(X, np.zeros(80, dtype=int))


@pytest.mark.parametrize("name", BASELINES)
def test_a_constant_column_does_no_harm(name: str) -> None:
    X, y = table("classification")
    method = quick(name).fit(X.assign(c=7.0), y)
    assert np.isfinite(method.feature_importances_).all()
