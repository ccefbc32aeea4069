"""A fit that is interrupted: the estimator is unfitted, and says what was finished."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from maskrank import Callback, DualNetClassifier, Progress
from maskrank.datasets import make_xor
from maskrank.estimators import base

X, Y, _ = make_xor(200, random_state=0)
QUICK: dict[str, Any] = {"max_batches": 64, "phase1_batches": 32, "random_state": 0}


class Stop(Callback):
    def __init__(self, phase: str) -> None:
        self.phase = phase

    def __call__(self, progress: Progress) -> None:
        if progress.phase == self.phase:
            raise KeyboardInterrupt


def test_history_and_the_best_features_so_far_are_left() -> None:
    model = DualNetClassifier(3, callbacks=(Stop("search"),), **QUICK)
    with pytest.raises(KeyboardInterrupt) as stop:
        model.fit(X, Y)
    assert "stopped in stage 'search'" in stop.value.__notes__[0]
    assert "DualNetClassifier is not fitted" in stop.value.__notes__[0]
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.history_.batches["explore"] >= 32
    assert len(model.finished_.subset) == 3
    assert model.finished_.ranking is None


def test_nothing_of_an_earlier_fit_is_left_and_a_later_one_is_whole() -> None:
    model = DualNetClassifier(3, refit=False, **QUICK).set_output(transform="pandas").fit(X, Y)
    whole = model.feature_importances_
    model.set_params(callbacks=(Stop("search"),))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :8], Y)
    assert {name for name in vars(model) if name.endswith("_")} == {"history_", "finished_"}
    again = model.set_params(callbacks=()).fit(X, Y)
    assert np.array_equal(again.feature_importances_, whole)
    assert not hasattr(again, "finished_")
    assert list(again.transform(X).columns) == list(again.get_feature_names_out())  # set_output is no part of a fit


def test_the_ranking_is_left_before_the_predictor_is_made() -> None:
    model = DualNetClassifier(3, callbacks=(Stop("predict"),), **QUICK)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    ranking = model.finished_.ranking
    assert ranking is not None
    assert ranking.size == len(ranking.selected) == 3
    assert model.finished_.model is None


def test_a_fitted_model_with_the_refits_that_are_done_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    ranks, done = np.array([1, 2, 3, *[4] * 7]), []

    def refit(*args: object) -> tuple[Any, Any]:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(1)
        return ranks, 1.0 / ranks

    monkeypatch.setattr(base, "rank_subsample", refit)
    model = DualNetClassifier(3, n_repeats=5, n_jobs=1, refit=False, **QUICK)
    with pytest.raises(KeyboardInterrupt) as stop:
        model.fit(X, Y)
    assert "the fit and 2 of 5 refits are done" in stop.value.__notes__[0]
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    finished = model.finished_.model
    check_is_fitted(finished)
    assert finished.stability_.repeats == 2
    assert len(finished.predict(X)) == len(X)
