"""scikit-learn's own checks: all of them, none expected to fail. A small budget of batches keeps them quick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from maskrank import DualNetClassifier, DualNetCounts, DualNetRegressor
from maskrank.datasets import make_orange_skin

BUDGET = 8


@pytest.mark.filterwarnings("ignore:.*array_api.*")
@parametrize_with_checks(
    [DualNetClassifier(max_batches=BUDGET), DualNetRegressor(max_batches=BUDGET), DualNetCounts(max_batches=BUDGET)]
)
def test_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = make_orange_skin(120, random_state=0)
    return X, y


def test_it_works_in_a_pipeline_as_selector_and_as_classifier(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = DualNetClassifier(4, max_batches=BUDGET, random_state=0)
    selecting = make_pipeline(MinMaxScaler(), model, SVC()).fit(X, y)
    assert selecting[:-1].transform(X).shape == (120, 4)
    predicting = make_pipeline(MinMaxScaler(), clone(model)).fit(X, y)
    assert predicting.predict_proba(X).shape == (120, 2)


def test_grid_search_over_the_size(data: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = data
    model = DualNetClassifier(max_batches=BUDGET, random_state=0)
    search = GridSearchCV(
        model, {"n_features_to_select": np.array([2, 5]), "n_subsets": np.array([8, 16])}, cv=2, n_jobs=2
    ).fit(X, y)
    assert search.best_estimator_.support_.sum() == search.best_params_["n_features_to_select"]


def test_clone_keeps_every_parameter() -> None:
    model = DualNetRegressor(3, preset="paper", operator=(8, 4), selector=(6,), patience=16, callbacks=(print,))
    assert clone(model).get_params() == model.get_params()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_set_output_gives_named_frames(kind: str, data: tuple[np.ndarray, np.ndarray]) -> None:
    pytest.importorskip(kind)
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(10)])
    model = DualNetClassifier(3, max_batches=BUDGET, random_state=0).set_output(transform=kind).fit(frame, y)
    chosen = model.transform(frame)
    assert type(chosen).__module__.startswith(kind)
    assert list(chosen.columns) == list(model.get_feature_names_out())
