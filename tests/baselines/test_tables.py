"""Every method on tables of text, categories, dates and gaps: one encoding for all, one score a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils import get_tags

from maskrank.baselines import BASELINES
from maskrank.baselines.encoder import TableEncoder
from maskrank.baselines.mlp import MLP
from tests.baselines.test_contract import quick

NAMES = ["number", "colour", "day", "size", "gap", "flag"]


def mixed(task: str, n: int = 120) -> tuple[pd.DataFrame, Any]:
    """The target follows a text of three levels; rows are sorted by it, so that a tie broken by place would tell."""
    rng = np.random.default_rng(0)
    colour = np.array(["red", "green", "blue"])[np.sort(rng.integers(0, 3, n))]
    signal = np.where(colour == "red", 1.0, -1.0) + 0.1 * rng.standard_normal(n)
    frame = pd.DataFrame(
        {
            "number": rng.standard_normal(n),
            "colour": colour,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), ["s", "m", "l"], ordered=True),
            "gap": np.where(rng.random(n) < 0.3, np.nan, rng.standard_normal(n)),
            "flag": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.1, "colour"] = None
    return frame, np.where(signal > 0, "yes", "no") if task == "classification" else 100 + 20 * signal


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("name", BASELINES)
def test_fitted_attributes_are_over_the_columns_of_the_frame(name: str, task: str) -> None:
    X, y = mixed(task)
    method = quick(name).fit(X, y)
    assert sorted(method.ranking_) == [1, 2, 3, 3, 3, 3]
    assert sorted(method.order_) == list(range(6))
    assert list(method.ranking_[method.order_[:2]]) == [1, 2]
    assert method.feature_importances_.shape == (6,)
    assert np.isfinite(method.feature_importances_).all()
    assert list(method.feature_names_in_) == NAMES
    assert list(method.get_feature_names_out()) == np.array(NAMES)[method.support_].tolist()
    if BASELINES[name].scored_by == "own":
        assert method.predict(X).shape == (120,)


@pytest.mark.parametrize("name", ["lasso", "rf", "rfe", "mrmr", "ccm", "bahsic", "fs", "dfs"])
def test_the_text_that_tells_comes_first(name: str) -> None:
    X, y = mixed("classification")
    settings = {"dfs": {"max_steps": 1000}, "fs": {"n_steps": 100}}
    method = quick(name, 1).set_params(**settings.get(name, {})).fit(X, y)
    assert list(method.get_feature_names_out()) == ["colour"]


def test_scores_of_a_feature_are_the_sum_over_its_columns() -> None:
    X, y = mixed("regression")
    method = quick("rf").fit(X[["number", "colour"]].assign(other=0.0), y)
    columns = TableEncoder("regression").fit_transform(X[["number", "colour"]].assign(other=0.0), y)
    assert columns.shape == (120, 6)  # a number, three colours and a gap, a constant
    by_column = method.model_.feature_importances_
    assert by_column.shape == (6,)
    np.testing.assert_allclose(method.feature_importances_, [by_column[0], by_column[1:5].sum(), by_column[5]])


@pytest.mark.parametrize("name", ["fs", "mrmr", "ccm"])
def test_a_method_takes_columns_until_they_are_of_enough_features(name: str) -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 6, 300)
    X = pd.DataFrame(rng.standard_normal((300, 3)), columns=list("abc")).assign(text=[f"level {k}" for k in levels])
    y = np.array([-30, 30, -18, 18, -6, 6])[levels] + 4 * X["b"].to_numpy()  # four columns tell more than b
    method = quick(name, 2).set_params(task="regression", **({"n_steps": 100} if name == "fs" else {})).fit(X, y)
    assert list(method.get_feature_names_out()) == ["b", "text"]
    if name == "fs":
        assert len(method.losses_) > 2


def test_equal_values_are_not_told_apart_by_their_rows() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["no", "yes"], 100)  # sorted
    X = pd.DataFrame({"flag": rng.random(200) < 0.5, "x": (y == "yes") + rng.standard_normal(200)})
    assert list(quick("mrmr", 1).fit(X, y).get_feature_names_out()) == ["x"]


def test_mean_targets_of_training_rows_do_not_know_their_own_target() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"many": rng.permutation(np.repeat([f"k{i}" for i in range(100)], 6)), "x": rng.random(600)})
    y = rng.standard_normal(600)  # of nothing
    encoder = TableEncoder("regression")
    training, again = encoder.fit_transform(X, y), encoder.transform(X)
    assert training.shape == again.shape == (600, 2)
    assert abs(np.corrcoef(training[:, 0], y)[0, 1]) < 0.15
    assert np.corrcoef(again[:, 0], y)[0, 1] > 0.3


def test_numbers_without_gaps_are_what_they_are() -> None:
    X, y = np.random.default_rng(0).normal(3, 5, (50, 4)), np.repeat([0, 1], 25)
    assert np.array_equal(TableEncoder("classification").fit_transform(X, y), X)


@pytest.mark.parametrize("standardized", [True, False])
def test_later_rows_may_have_gaps_and_new_levels(standardized: bool) -> None:
    X, y = mixed("classification")
    holed = X.assign(colour="violet", number=np.nan)
    model = MLP((4,), max_steps=50, random_state=0) if standardized else quick("rf")
    assert model.fit(X, y).predict(holed).shape == (120,)
    numbers = X[["number"]].assign(twice=2 * X["number"], third=1.0)
    center = numbers.assign(number=numbers["number"].mean())
    model.fit(numbers, y)
    expected = model.predict(center)
    assert np.array_equal(model.predict(numbers.assign(number=np.nan)), expected)


def test_polars_and_arrays_of_objects_are_read_like_pandas() -> None:
    X, y = mixed("classification")
    X = X[["number", "colour", "gap", "flag"]]
    expected = quick("lasso").fit(X, y).feature_importances_
    for same in (pl.from_pandas(X), X.to_numpy(dtype=object)):
        assert np.array_equal(quick("lasso").fit(same, y).feature_importances_, expected)


def test_transform_gives_the_chosen_columns_as_they_were() -> None:
    X, y = mixed("classification")
    method = quick("rf", 1).fit(X, y).set_output(transform="pandas")
    pd.testing.assert_frame_equal(method.transform(X), X[["colour"]])


def test_tags_say_what_is_taken_and_infinite_values_are_refused() -> None:
    for model in (quick("rf"), MLP(), TableEncoder("regression")):
        tags = get_tags(model).input_tags
        assert tags.allow_nan
        assert tags.categorical
        assert tags.string
    X, y = mixed("classification")
    with pytest.raises(ValueError, match="infinity"):
        quick("rf").fit(X.assign(number=np.inf), y)
