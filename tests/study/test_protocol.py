from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from maskrank.baselines import BASELINES
from maskrank.datasets import load_dataset, make_xor
from maskrank.estimators import DualNetClassifier
from maskrank.study.names import check_method, methods
from maskrank.study.protocol import (
    KINDS,
    Fold,
    Samples,
    divide,
    evaluate,
    evaluate_all,
    orders_once,
    uses_all_features,
)


def xor(n: int = 300) -> tuple[Samples, Fold]:
    X, y, _ = make_xor(n, random_state=0)
    rows = np.arange(n)
    return Samples(X, y), Fold(rows[: n // 2], rows[:0], rows[n // 2 :])


def test_published_test_rows_judge_every_fold_and_no_net_learns_from_them() -> None:
    data = load_dataset("xor")
    folds = divide(data.y, data.splits, task="classification", folds=5, seed=0)
    for fold in folds:
        assert np.array_equal(fold.test, data.splits["test"])
        assert sorted([*fold.train, *fold.validation]) == data.splits["train"].tolist()
        assert len(fold.validation) in (102, 103)
    left_out = np.concatenate([fold.validation for fold in folds])
    assert sorted(left_out) == data.splits["train"].tolist()


def test_without_published_rows_each_row_is_tested_once_and_classes_keep_their_shares() -> None:
    y = np.repeat([0, 1, 2], [60, 30, 10])
    folds = divide(y, {}, task="classification", folds=5, seed=0)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(100))
    for fold in folds:
        assert not len(fold.validation)
        assert not set(fold.train) & set(fold.test)
        assert np.bincount(y[fold.test]).tolist() == [12, 6, 2]


def test_a_filter_is_judged_by_the_gaussian_svm_on_its_choice() -> None:
    table, fold = xor()
    line = evaluate("ccm", table, fold, 3, task="classification")
    chosen = sorted(line["selected"])
    svm = make_pipeline(StandardScaler(), SVC(C=1.0, gamma="scale"))
    svm.fit(table.X[fold.train][:, chosen], table.y[fold.train])
    assert line["score"] == svm.score(table.X[fold.test][:, chosen], table.y[fold.test])


def test_test_rows_have_no_part_in_the_choice() -> None:
    table, fold = xor()
    spoilt = table.X.copy()
    spoilt[fold.test] = np.random.default_rng(0).standard_normal((len(fold.test), spoilt.shape[1])) * 100
    lines = [evaluate("lasso", Samples(X, table.y), fold, 3, task="classification") for X in (table.X, spoilt)]
    assert lines[0]["selected"] == lines[1]["selected"]
    assert lines[0]["scores"] == lines[1]["scores"]


def test_the_choice_of_one_can_be_judged_by_another() -> None:
    table, fold = xor()
    settings = {"n_estimators": 50, "max_depth": 8}
    own = evaluate("rf", table, fold, 3, task="classification", settings=settings)
    by_svm = evaluate("rf+svm", table, fold, 3, task="classification", settings=settings)
    assert own["selected"] == by_svm["selected"]
    assert own["score"] != by_svm["score"]
    assert uses_all_features("rf")
    assert not uses_all_features("rf+svm")


_QUICKER = {
    "dfs": {"hidden": (8,)},
    "avgrad": {"hidden": (8,)},
    "lime": {"hidden": (8,)},
    "rf": {"n_estimators": 20, "max_depth": 4},
    "san_aggr": {"epochs": 2},
    "san_global": {"epochs": 2},
}


@pytest.mark.parametrize("method", [name for name in BASELINES if orders_once(name)])
def test_one_fit_serves_every_size_where_the_order_is_always_the_same(method: str) -> None:
    if BASELINES[method].library:
        pytest.importorskip(BASELINES[method].library)
    table, fold = xor(80)
    settings = _QUICKER.get(method, {})
    at_once = evaluate_all([(method, 2), (method, 4)], table, fold, task="classification", settings=settings)
    alone = evaluate(method, table, fold, 4, task="classification", settings=settings)
    assert at_once[1]["selected"] == alone["selected"]
    assert at_once[1]["selected"][:2] == at_once[0]["selected"]
    assert at_once[1]["score"] == alone["score"]
    assert at_once[0]["seconds"] == at_once[1]["seconds"]
    assert not orders_once("dualnet")


def test_our_method_gets_the_rows_that_are_left_out_too() -> None:
    table, fold = xor()
    fold = Fold(fold.train[:100], fold.train[100:], fold.test)
    seen = {}

    class Spy:
        def __init__(self, size: int, **settings: object) -> None:
            self.ranking_, self.support_ = np.arange(1, 11), np.arange(10) < size
            self.feature_importances_ = np.zeros(10)

        def fit(self, X: np.ndarray, y: np.ndarray) -> Spy:
            seen.update(learned=X, targets=y)
            return self

        def predict(self, X: np.ndarray) -> np.ndarray:
            return np.zeros(len(X), dtype=int)

    spied = replace(KINDS["classification"], estimator=Spy)
    with mock.patch.dict(KINDS, classification=spied):
        line = evaluate("dualnet", table, fold, 3, task="classification")
    learned = np.concatenate([fold.train, fold.validation])
    np.testing.assert_array_equal(seen["learned"], table.X[learned])
    np.testing.assert_array_equal(seen["targets"], table.y[learned])
    assert line["score"] == pytest.approx((table.y[fold.test] == 0).mean())


def test_judges_of_one_choice_share_its_fit() -> None:
    data = load_dataset("orange_skin")
    table, fold = Samples(data.X, data.y), Fold(np.arange(300), np.arange(0), np.arange(300, 512))
    fits = []

    class Counted(DualNetClassifier):
        def fit(self, *args: Any, **options: Any) -> Any:
            fits.append(self.n_features_to_select)
            return super().fit(*args, **options)

    counted = replace(KINDS["classification"], estimator=Counted)
    wanted = [(f"dualnet+{judge}", size) for size in (3, 4) for judge in ("svm", "nn", "trees")]
    with mock.patch.dict(KINDS, classification=counted):
        lines = evaluate_all(wanted, table, fold, task="classification", settings={"max_batches": 200})
    assert fits == [3, 4]
    assert [len(line["selected"]) for line in lines] == [3, 3, 3, 4, 4, 4]
    chosen = lines[0]["selected"]
    nearest = make_pipeline(StandardScaler(), KNeighborsClassifier(1))
    nearest.fit(data.X[:300][:, np.sort(chosen)], data.y[:300])
    assert lines[1]["score"] == nearest.score(data.X[300:512][:, np.sort(chosen)], data.y[300:512])
    assert min(line["score"] for line in lines) > 0.7


@pytest.mark.parametrize("method", ["nonsense", "rf+forest", "dualnet+", "+svm"])
def test_a_method_that_is_not_there_is_named(method: str) -> None:
    with pytest.raises(ValueError, match="is not known; there are dualnet, dfs"):
        check_method(method)


def test_all_methods_of_the_paper_are_there() -> None:
    paper = {"dfs", "avgrad", "fs", "lasso", "rf", "rfe", "bahsic", "mrmr", "ccm", "lime", "san_aggr", "san_global"}
    assert paper | {"dualnet", "lassonet"} == set(methods())


def test_a_regression_is_judged_in_the_units_of_its_target() -> None:
    data = load_dataset("regression")
    table, fold = Samples(data.X, 1000 * data.y + 7), Fold(np.arange(200), np.arange(0), np.arange(512, 700))
    line = evaluate("mrmr", table, fold, 4, task="regression")
    assert line["score"] < 1e6 * data.y.var()
    assert line["megabytes"] is None or line["megabytes"] >= 0


def frame_of_text(n: int = 200) -> tuple[Samples, Fold]:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], n).astype(object)
    y = np.where(colour == "green", "yes", "no")
    colour[rng.random(n) < 0.1] = None
    X = pd.DataFrame({"x": rng.standard_normal(n), "colour": colour, "gap": rng.standard_normal(n)})
    X.loc[rng.random(n) < 0.2, "gap"] = np.nan
    X.index = rng.permutation(n)  # rows are taken by place, not by label
    rows = rng.permutation(n)
    return Samples(X, y), Fold(rows[: n // 2], rows[:0], rows[n // 2 :])


@pytest.mark.parametrize("method", ["mrmr", "lasso", "rf", "rf+svm", "mrmr+nn", "mrmr+trees"])
def test_methods_and_judges_take_frames_of_text_and_gaps(method: str) -> None:
    table, fold = frame_of_text()
    settings = {"n_estimators": 20, "max_depth": 4} if method.startswith("rf") else {}
    line = evaluate(method, table, fold, 1, task="classification", settings=settings, mlp=(8,))
    assert line["selected"] == [1]
    assert len(line["scores"]) == 3
    assert line["score"] > 0.9


def test_a_frame_of_numbers_is_judged_as_the_array_is() -> None:
    table, fold = xor()
    for method in ("ccm", "lasso"):
        lines = [
            evaluate(method, Samples(X, table.y), fold, 3, task="classification", mlp=(8,))
            for X in (table.X, pd.DataFrame(table.X))
        ]
        assert lines[0]["score"] == lines[1]["score"]
        assert lines[0]["selected"] == lines[1]["selected"]
