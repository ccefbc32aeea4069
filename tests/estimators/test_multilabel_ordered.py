"""`DualNetClassifier` for several labels at once, and for classes in an order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse

from maskrank import DualNetClassifier, load
from maskrank.core.method.tasks import BinaryTask, MultilabelTask, OrderedTask
from maskrank.estimators.deployment import read_deployed
from maskrank.predictions import predictions_csv
from maskrank.results import facts

BUDGET = 24
GRADES = ["low", "middle", "high"]  # sorted by name: high, low, middle


@pytest.fixture(scope="module")
def labelled() -> tuple[np.ndarray, np.ndarray]:
    """The first label is about x1 and x4, the second about x6, the third about nothing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    Y = np.column_stack([X[:, 1] + X[:, 4] > 0, X[:, 6] > 0.5, rng.random(300) < 0.2])
    return X, Y.astype(int)


@pytest.fixture(scope="module")
def multilabel(labelled) -> DualNetClassifier:
    X, Y = labelled
    return DualNetClassifier(3, max_batches=300, random_state=0).fit(X, pd.DataFrame(Y, columns=["a", "b", "c"]))


@pytest.fixture(scope="module")
def graded() -> tuple[np.ndarray, pd.Series]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 8))
    grade = np.digitize(X[:, 1] - X[:, 4] + 0.3 * rng.standard_normal(300), [-0.7, 0.7])
    return X, pd.Series(pd.Categorical.from_codes(grade, GRADES, ordered=True))


@pytest.fixture(scope="module")
def ordered(graded) -> DualNetClassifier:
    return DualNetClassifier(2, ordered=True, max_batches=300, random_state=0).fit(*graded)


def test_the_features_of_all_labels_are_found(multilabel: DualNetClassifier) -> None:
    assert set(multilabel.result_.selected) == {"x1", "x4", "x6"}
    assert multilabel.task_ == MultilabelTask(3)
    assert multilabel.signal_
    assert multilabel.validation_score_ > 0.85 > multilabel.baseline_score_
    assert "log-loss" in dict(facts(multilabel, time="1 s"))["explained"]


def test_rare_labels_are_judged_by_auc() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    y = (X[:, :2] > 1.6).astype(int)  # one row in twenty has a label
    model = DualNetClassifier(2, random_state=0).fit(X, y)
    assert model.metric_.name == "roc_auc"
    assert model.baseline_score_ == 0.5


def test_labels_are_predicted_in_columns(multilabel: DualNetClassifier, labelled) -> None:
    X, Y = labelled
    predicted, probabilities = multilabel.predict(X), multilabel.predict_proba(X)
    assert predicted.shape == probabilities.shape == (300, 3)
    assert predicted.dtype.kind == "i"
    assert np.array_equal(predicted, probabilities > 0.5)
    assert (predicted == Y).mean() > 0.85
    assert multilabel.score(X, Y) == (predicted == Y).all(axis=1).mean()
    assert multilabel.classes_.tolist() == ["a", "b", "c"]


def test_explanations_of_labels_add_up_to_each_probability(multilabel: DualNetClassifier, labelled) -> None:
    X = labelled[0][:5]
    explained = multilabel.explain(X)
    assert explained.output_names == ["a", "b", "c"]
    assert explained.probabilities
    whole = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(whole, multilabel.predict_proba(X), atol=1e-12)


def test_predictions_of_labels_are_written_in_columns(multilabel: DualNetClassifier, labelled, tmp_path: Path) -> None:
    multilabel.save(tmp_path / "m")
    chosen = pd.DataFrame(multilabel.transform(labelled[0][:2]))
    lines = predictions_csv(read_deployed(tmp_path / "m"), chosen).splitlines()
    assert lines[0] == "prediction_a,prediction_b,prediction_c,probability_a,probability_b,probability_c"
    assert lines[1].split(",")[:3] == list(map(str, multilabel.predict(labelled[0][:1])[0]))


def test_labels_may_be_sparse_or_truth_values(labelled) -> None:
    X, Y = labelled
    fits = [
        DualNetClassifier(2, max_batches=BUDGET, random_state=0).fit(X, some)
        for some in (Y, Y.astype(bool), scipy.sparse.csr_matrix(Y))
    ]
    for fit in fits[1:]:
        assert np.array_equal(fit.predict_proba(X), fits[0].predict_proba(X))
    assert fits[0].classes_.tolist() == [0, 1, 2]


def test_own_validation_rows_of_labels(labelled) -> None:
    X, Y = labelled
    model = DualNetClassifier(2, max_batches=BUDGET, random_state=0)
    model.fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:])
    assert 0 < model.validation_score_ < 1
    with pytest.raises(ValueError, match="it must have 3 columns"):
        model.fit(X[:200], Y[:200], X_val=X[200:], y_val=Y[200:, :2])


@pytest.mark.parametrize("kind", ["multilabel", "ordered"])
def test_a_loaded_model_predicts_the_same_bit_for_bit(
    kind: str, request: pytest.FixtureRequest, labelled, tmp_path: Path
) -> None:
    model = request.getfixturevalue(kind)
    model.save(tmp_path / "model")
    loaded, X = load(tmp_path / "model"), labelled[0]
    assert loaded.task_ == model.task_
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert loaded.get_params()["ordered"] == model.get_params()["ordered"]


def test_bad_labels_are_named_in_a_line() -> None:
    X = np.random.default_rng(0).standard_normal((6, 3))
    with pytest.raises(ValueError, match="holds the label 2: the columns of several labels hold 0 and 1"):
        DualNetClassifier(2).fit(X, np.array([[1, 2], [2, 1]] * 3))
    with pytest.raises(ValueError, match="the same labels in every row"):
        DualNetClassifier(2).fit(X, np.array([[1, 0]] * 6))
    with pytest.raises(ValueError, match="y has 2 columns, and must be one column of classes"):
        DualNetClassifier(2, ordered=True).fit(X, np.array([[1, 0], [0, 1]] * 3))


def test_ordered_categories_keep_their_order(ordered: DualNetClassifier, graded) -> None:
    X, y = graded
    assert ordered.classes_.tolist() == GRADES
    assert ordered.task_ == OrderedTask(2)
    assert set(ordered.result_.selected) == {"x1", "x4"}
    assert ordered.signal_
    assert ordered.score(X, y) > 0.75
    probabilities = ordered.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    risen = np.zeros((3, 8))
    risen[:, 1] = [-3, 0, 3]
    assert ordered.predict(risen).tolist() == GRADES


def test_an_enum_of_polars_has_an_order_too(graded) -> None:
    X, y = graded
    enum = pl.Series(y.astype(str).tolist(), dtype=pl.Enum(GRADES))
    model = DualNetClassifier(2, ordered=True, max_batches=BUDGET, random_state=0).fit(X, enum)
    assert model.classes_.tolist() == GRADES
    same = DualNetClassifier(2, ordered=True, max_batches=BUDGET, random_state=0).fit(X, y)
    assert np.array_equal(model.predict_proba(X), same.predict_proba(X))


def test_classes_are_sorted_where_their_type_has_no_order(graded) -> None:
    X, y = graded
    plain = DualNetClassifier(2, ordered=True, max_batches=BUDGET, random_state=0).fit(X, y.astype(str))
    assert plain.classes_.tolist() == sorted(GRADES)
    unordered = DualNetClassifier(2, max_batches=BUDGET, random_state=0).fit(X, y)
    assert unordered.classes_.tolist() == sorted(GRADES)


def test_two_ordered_classes_are_two_classes(graded) -> None:
    X, y = graded
    two = (y == "high").astype(int)
    ordered, plain = (
        DualNetClassifier(2, ordered=order, max_batches=BUDGET, random_state=0).fit(X, two) for order in (True, False)
    )
    assert ordered.task_ == BinaryTask()
    assert np.array_equal(ordered.predict_proba(X), plain.predict_proba(X))


def test_own_validation_rows_of_ordered_classes(graded) -> None:
    X, y = graded
    model = DualNetClassifier(2, ordered=True, max_batches=200, random_state=0)
    model.fit(X[:200], y[:200], X_val=X[200:], y_val=y[200:])
    assert model.validation_score_ == pytest.approx(model.score(X[200:], y[200:]))
