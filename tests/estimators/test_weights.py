"""Weights of rows and of classes, through the public calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sklearn
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from maskrank import DualNetClassifier, DualNetRegressor, load
from maskrank.core.method.tasks import BinaryTask, RegressionTask
from maskrank.estimators.copies import count_copies
from maskrank.estimators.fitting import Part

BUDGET: dict[str, Any] = {"max_batches": 16, "random_state": 0}


def table(n: int = 40, d: int = 5, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers, three classes, and whole weights from 0 to 3."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), np.arange(n) % 3, rng.integers(0, 4, n)


def mixed_frame() -> pd.DataFrame:
    X, y, _ = table()
    frame = pd.DataFrame({"number": X[:, 0], "gaps": np.where(X[:, 1] > 1, np.nan, X[:, 1]), "other": X[:, 2]})
    return frame.assign(text=np.where(X[:, 3] > 0, "yes", "no"), day=pd.Timestamp("2024-01-01") + pd.to_timedelta(y))


def same(one: Any, other: Any, X: Any, *, figures: bool = True) -> bool:
    """Whether two fits agree in every bit that people see, or in all but the figures on held-out rows."""
    names = ["feature_importances_", "raw_scores_", "support_", "signal_pvalue_"]
    names += ["validation_score_", "baseline_score_"] if figures else []
    return np.array_equal(one.predict(X), other.predict(X)) and all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in names
    )


@pytest.mark.parametrize("kind", ["classes", "numbers", "frame", "sparse", "several numbers"])
def test_whole_weights_equal_repeated_rows_in_any_order(kind: str) -> None:
    X, y, weights = table()
    frame = pd.DataFrame(X) if kind != "frame" else mixed_frame()
    target = {"numbers": X[:, 1] + 0.1 * y, "several numbers": X[:, :2] + 0.1 * y[:, None]}.get(kind, y)
    estimator = DualNetClassifier if target is y else DualNetRegressor

    def fitted(order: np.ndarray, given: np.ndarray | None) -> Any:
        rows = frame.iloc[order]
        rows = scipy.sparse.csr_array(rows.to_numpy()) if kind == "sparse" else rows
        return estimator(2, **BUDGET).fit(rows, target[order], given)

    shuffled = np.random.default_rng(1).permutation(len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    assert same(fitted(shuffled, weights[shuffled]), fitted(repeated, None), frame)


def test_a_row_of_weight_0_is_left_out() -> None:
    X, y, weights = table()
    kept = weights > 0
    X[~kept] = np.nan, np.inf, 1e300, 0.0, 1.0  # whatever it holds
    weighted = DualNetClassifier(2, **BUDGET).fit(X, y, weights)
    assert same(weighted, DualNetClassifier(2, **BUDGET).fit(X[kept], y[kept], weights[kept]), X[kept])
    in_or_out = DualNetClassifier(2, **BUDGET).fit(X, y, kept.astype(float))
    assert same(in_or_out, DualNetClassifier(2, **BUDGET).fit(X[kept], y[kept]), X[kept])
    with pytest.raises(ValueError, match="infinity"):
        DualNetClassifier(2, **BUDGET).fit(X, y)


def test_only_the_proportions_of_weights_matter() -> None:
    X, y, weights = table()
    model = DualNetClassifier(2, **BUDGET).fit(X, y, weights)
    assert same(model, DualNetClassifier(2, **BUDGET).fit(X, y, 7.3 * weights), X)
    plain = DualNetClassifier(2, **BUDGET).fit(X, y)
    assert same(plain, DualNetClassifier(2, **BUDGET).fit(X, y, np.full(len(y), 0.3)), X)
    assert not same(plain, model, X)


@pytest.mark.parametrize("heavy", [0, 1])
def test_the_feature_of_the_heavier_rows_is_chosen(heavy: int) -> None:
    """In one half of the table x1 decides, in the other x4."""
    X = np.random.default_rng(0).standard_normal((300, 6))
    half = np.arange(300) % 2
    weights = np.where(half == heavy, 5.0, 0.1)
    for y, estimator in (
        (np.where(half, X[:, 4], X[:, 1]) > 0, DualNetClassifier),
        (np.where(half, X[:, 4], X[:, 1]), DualNetRegressor),
    ):
        model = estimator(1, max_batches=120, random_state=0).fit(X, y, weights)
        assert model.get_support(indices=True) == [4 if heavy else 1]
        assert model.signal_
        assert model.score(X, y, weights) > model.score(X, y) + 0.1
        assert model.result_.explained_share > 0.5


@pytest.mark.parametrize("wide", [False, True])
def test_an_elimination_is_weighted(wide: bool) -> None:
    """Many weak effects: ten features in one half of the table, ten others in the other half."""
    rng = np.random.default_rng(0)
    n, d = (80, 120) if wide else (600, 40)
    X, half = rng.standard_normal((n, d)), np.arange(n) % 2
    y = np.where(half, X[:, :10].sum(axis=1), X[:, 10:20].sum(axis=1)) + 0.1 * rng.standard_normal(n)
    found = []
    for heavy in (0, 1):
        model = DualNetRegressor(10, max_batches=60, random_state=0).fit(X, y, np.where(half == heavy, 1.0, 0.02))
        found.append(int(model.support_[:10].sum()) - int(model.support_[10:20].sum()))
    assert found[0] < -2 < 2 < found[1]


def test_class_weights_multiply_the_weights_of_rows() -> None:
    """All but the figures: of these, only the weights of rows count."""
    X, y, weights = table()
    named = DualNetClassifier(2, class_weight={0: 2.0, 2: 5.0}, **BUDGET)
    factors = np.array([2.0, 1.0, 5.0])[y]
    assert same(named.fit(X, y), DualNetClassifier(2, **BUDGET).fit(X, y, factors), X, figures=False)
    assert same(named.fit(X, y, weights), DualNetClassifier(2, **BUDGET).fit(X, y, weights * factors), X, figures=False)
    balanced = DualNetClassifier(2, class_weight="balanced", **BUDGET).fit(X, y, weights)
    equal = weights / np.bincount(y, weights)[y]
    assert same(balanced, DualNetClassifier(2, **BUDGET).fit(X, y, equal), X, figures=False)
    assert named.fit(X, y).figures_.keys() == balanced.figures_.keys()
    plain = DualNetClassifier(2, **BUDGET).fit(X, y)
    assert named.fit(X, y).baseline_score_ == plain.baseline_score_


def test_balanced_classes_make_a_rare_one_predicted() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 4))
    y = np.where(rng.random(1000) < 1 / (1 + np.exp(4.5 - 1.2 * X[:, 2])), "rare", "often")
    plain, balanced = (
        DualNetClassifier(1, class_weight=weight, max_batches=120, random_state=0).fit(X, y)
        for weight in (None, "balanced")
    )
    assert (plain.predict(X) == "rare").sum() < (y == "rare").sum() / 2
    found = balanced.predict(X) == "rare"
    assert found[y == "rare"].mean() > 0.6 > 0.5 > found[y == "often"].mean()
    assert balanced.get_support(indices=True) == [2]


def test_weights_of_own_validation_rows() -> None:
    X, y, weights = table(60)
    training, judging = slice(0, 40), slice(40, 60)
    kept = weights[judging] > 0

    def fitted(X_val: np.ndarray, y_val: np.ndarray, given: np.ndarray) -> DualNetClassifier:
        model = DualNetClassifier(2, class_weight="balanced", **BUDGET)
        return model.fit(X[training], y[training], X_val=X_val, y_val=y_val, sample_weight_val=given)

    weighted = fitted(X[judging], y[judging], weights[judging])
    assert same(weighted, fitted(X[judging][kept], y[judging][kept], weights[judging][kept]), X)
    assert not same(weighted, fitted(X[judging], y[judging], np.ones(20)), X)
    with pytest.raises(ValueError, match="sample_weight_val has shape"):
        fitted(X[judging], y[judging], np.ones(19))
    with pytest.raises(ValueError, match="sample_weight_val goes with X_val"):
        DualNetClassifier(2, **BUDGET).fit(X, y, sample_weight_val=np.ones(20))


def test_figures_are_weighted() -> None:
    """Validation rows of little weight have the wrong class."""
    X = np.random.default_rng(0).standard_normal((300, 3))
    y, judging, wrong = X[:, 1] > 0, slice(200, 300), np.arange(300) % 2 == 0
    y_val, weights = (y != wrong)[judging], np.where(wrong, 1e-3, 1.0)[judging]
    model = DualNetClassifier(1, max_batches=100, random_state=0)
    model.fit(X[:200], y[:200], X_val=X[judging], y_val=y_val, sample_weight_val=weights)
    assert model.validation_score_ > 0.9
    majority = np.bincount(y[:200]).argmax()
    assert model.baseline_score_ == pytest.approx(np.average(y_val == majority, weights=weights), rel=1e-6)
    assert model.signal_


def test_copies_of_rows_do_not_judge_what_was_learned_from_them() -> None:
    """Random labels of rows that stand there four times."""
    rng = np.random.default_rng(0)
    X, y = np.repeat(rng.standard_normal((60, 8)), 4, axis=0), np.repeat(rng.integers(0, 2, 60), 4)
    order = rng.permutation(len(y))
    model = DualNetClassifier(4, max_batches=300, random_state=0).fit(X[order], y[order])
    assert not model.signal_
    assert model.validation_score_ < 0.85


@pytest.mark.parametrize(
    ("rows", "targets", "kept"),
    [
        ([[1, 2], [1, 2], [3, 4], [5, 6]], [0, 0, 1, 1], 3),  # a copy
        ([[1, 2], [1, 2], [3, 4], [5, 6]], [0, 1, 1, 1], 4),  # equal rows of two classes
        ([[1, 2]] * 9 + [[3, 4]], [0] * 9 + [1], 10),  # two classes of a row each
        ([[1, 2]] * 20 + [[3, 4], [5, 6]], [0] * 20 + [1, 1], 22),  # few distinct rows
        ([[0.0, np.nan], [-0.0, np.nan], [3, 4], [5, 6]], [0, 0, 1, 1], 3),  # gaps, and zeros of either sign
    ],
)
def test_which_rows_without_weights_are_copies(rows: list[list[float]], targets: list[int], kept: int) -> None:
    X, y = np.array(rows, dtype=float), np.array(targets)
    part = count_copies(Part.whole(X, y, BinaryTask()))
    assert len(part.rows) == kept
    if kept == len(y):
        assert part.rows.tolist() == list(range(len(y)))
        assert part.weights is None
    else:
        assert sorted(part.weights) == pytest.approx([0.75, 0.75, 1.5])
        assert np.array_equal(part.target, y[part.rows])
    others = np.arange(len(y)) if kept < len(y) else np.zeros(len(y), dtype=int)
    apart = count_copies(Part.whole(X, y, BinaryTask(), groups=others))
    assert len(apart.rows) == len(y)  # copies of two groups are not joined


def test_the_order_of_a_weighted_table_is_one_of_its_content(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X, y, weights = rng.standard_normal((50, 6)), rng.standard_normal(50), rng.random(50)
    X[rng.random((50, 6)) < 0.5] = 0.0
    part = count_copies(Part.whole(X, y, RegressionTask(), weights=weights))
    order = rng.permutation(50)
    sparse = scipy.sparse.csr_array(X[order])
    shuffled = count_copies(Part.whole(sparse, y[order], RegressionTask(), weights=weights[order]))
    assert np.array_equal(part.rows, order[shuffled.rows])
    assert np.array_equal(part.weights, shuffled.weights)
    assert part.weights.mean() == pytest.approx(1)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    in_file = count_copies(Part.whole(mapped, y, RegressionTask(), weights=weights))
    assert in_file.rows.tolist() == list(range(50))  # a file is not searched


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(39), r"sample_weight has shape \(39,\), and the data has 40 rows"),
        (np.ones((40, 1)), r"sample_weight has shape \(40, 1\)"),
        (2.0, "sample_weight=2.0 must be an array of 40 weights"),
        (np.full(40, np.nan), "sample_weight contains NaN"),
        (np.full(40, np.inf), "sample_weight contains infinity"),
        (np.where(np.arange(40) == 7, -1.5, 1), "sample_weight holds negative weights, such as -1.5"),
        (np.zeros(40), "sample_weight: all weights are zero"),
        (np.arange(40) % 3 != 1, "sample_weight leaves the class 1 without any weight"),
        (["a"] * 40, "could not convert string to float"),
    ],
)
def test_weights_that_are_refused(weights: Any, message: str) -> None:
    X, y, _ = table()
    with pytest.raises(ValueError, match=message):
        DualNetClassifier(2, **BUDGET).fit(X, y, weights)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("equal", "class_weight='equal' must be None, 'balanced', or a dict"),
        ({3: 1.0}, "class_weight names the class 3, which y does not hold"),
        ({1: -1.0}, "class_weight of class 1 is -1.0"),
        ({1: float("nan")}, "class_weight of class 1 is nan"),
        ({1: "much"}, "class_weight of class 1 is 'much'"),
        ({1: 0.0}, "class_weight leaves the class 1 without any weight"),
    ],
)
def test_class_weights_that_are_refused(weight: Any, message: str) -> None:
    X, y, _ = table()
    with pytest.raises(ValueError, match=message):
        DualNetClassifier(2, class_weight=weight, **BUDGET).fit(X, y)


def test_what_is_left_of_a_target_of_numbers_must_vary() -> None:
    X, y, _ = table()
    with pytest.raises(ValueError, match="y is constant"):
        DualNetRegressor(2, **BUDGET).fit(X, y, y == 1)
    with pytest.raises(ValueError, match="above 0 in 1 row only"):
        DualNetRegressor(2, **BUDGET).fit(X, y, np.arange(40) == 1)


def test_weights_are_routed_through_pipelines_and_searches() -> None:
    X, y, weights = table()
    with sklearn.config_context(enable_metadata_routing=True):
        model = DualNetClassifier(2, **BUDGET).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model)
        routed.fit(X, y, sample_weight=weights)
        search = GridSearchCV(model, {"n_features_to_select": [2]}, cv=2).fit(X, y, sample_weight=weights)
    assert same(routed[-1], DualNetClassifier(2, **BUDGET).fit(StandardScaler().fit_transform(X), y, weights), X)
    assert same(search.best_estimator_, DualNetClassifier(2, **BUDGET).fit(X, y, weights), X)


def test_class_weights_are_kept_in_a_file(tmp_path: Path) -> None:
    X, y, _ = table()
    model = DualNetClassifier(2, class_weight={0: 2.0, 1: 1}, **BUDGET).fit(X, y)
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").class_weight == {0: 2.0, 1: 1}


@pytest.mark.parametrize("weights", ["classes", "rows"])
def test_weights_do_not_merge_the_cases_of_a_table_of_few_levels(weights: str) -> None:
    """The same levels with either label are different cases: as many rows are held out as without weights."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (1200, 3)).astype(float)
    y = (rng.random(1200) < np.where(X[:, 1] == 2, 0.8, 0.3)).astype(int)
    model = DualNetClassifier(1, class_weight="balanced" if weights == "classes" else None, **BUDGET)
    model.fit(X, y, None if weights == "classes" else rng.integers(1, 3, 1200))
    assert model.n_validation_ == 240
    assert model.get_support(indices=True) == [1]
    assert model.signal_


def test_a_weight_beside_which_others_are_nothing_is_refused() -> None:
    X, y, _ = table()
    weights = np.ones(len(y))
    weights[0] = 1e300
    with pytest.raises(ValueError, match=r"sample_weight"):
        DualNetClassifier(2, **BUDGET).fit(X, y, weights)
