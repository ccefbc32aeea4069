"""Groups of columns that one mask bit switches on, and columns that are always in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import maskrank
from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import make_xor

BUDGET = 32


def quick(size: Any = 2, **settings: Any) -> DualNetClassifier:
    return DualNetClassifier(size, max_batches=BUDGET, random_state=0, **settings)


@pytest.fixture(scope="module")
def pathways() -> tuple[pd.DataFrame, np.ndarray, dict[str, list[str]]]:
    """Twelve groups of three to eight columns, of which two matter by the sums of their columns."""
    rng = np.random.default_rng(0)
    widths = rng.integers(3, 9, 12)
    names = {f"pathway {k}": [f"gene {k}.{i}" for i in range(width)] for k, width in enumerate(widths)}
    X = pd.DataFrame(rng.standard_normal((300, widths.sum())), columns=[one for some in names.values() for one in some])
    strength = sum(X[names[f"pathway {k}"]].sum(axis=1) / np.sqrt(widths[k]) for k in (2, 7))
    return X, (strength + 0.3 * rng.standard_normal(300) > 0).astype(int).to_numpy(), names


@pytest.fixture(scope="module")
def grouped(pathways: Any) -> DualNetClassifier:
    X, y, groups = pathways
    return quick(groups=groups).fit(X, y)


def test_groups_are_chosen_as_one_and_columns_share_what_they_are_worth(
    pathways: Any, grouped: DualNetClassifier
) -> None:
    (X, y, groups), model = pathways, grouped
    assert set(model.result_.selected) == {"pathway 2", "pathway 7"}
    assert (model.n_features_, int(model.support_.sum())) == (2, len(groups["pathway 2"]) + len(groups["pathway 7"]))
    of = dict(zip(X.columns, model.feature_importances_, strict=True))
    rank = dict(zip(X.columns, model.ranking_, strict=True))
    for name in model.result_.selected:
        assert len({rank[column] for column in groups[name]}) == 1
        place = model.result_.names.index(name)
        assert sum(of[column] for column in groups[name]) == pytest.approx(model.result_.scores[place])
    assert model.feature_importances_.sum() == pytest.approx(model.result_.explained)
    assert list(model.transform(X[:3])[0]) == pytest.approx(X.loc[0, model.support_].tolist())
    assert model.score(X, y) > 0.85


def test_a_model_with_groups_survives_its_file_and_explains_groups(
    tmp_path: Path, pathways: Any, grouped: DualNetClassifier
) -> None:
    X = pathways[0]
    grouped.save(tmp_path / "model.maskrank")
    loaded = maskrank.load(tmp_path / "model.maskrank")
    np.testing.assert_array_equal(loaded.predict_proba(X), grouped.predict_proba(X))
    assert loaded.result_.names == grouped.result_.names
    explained = loaded.explain(X[:5])
    assert set(explained.feature_names) == {"pathway 2", "pathway 7"}


def test_groups_of_one_column_give_bit_for_bit_the_answer_without_groups() -> None:
    X, y, _ = make_xor(200, random_state=0)
    plain = quick(3).fit(X, y)
    grouped = quick(3, groups={f"group {j}": [j] for j in range(10)}).fit(X, y)
    for name in ("ranking_", "feature_importances_", "raw_scores_", "support_"):
        np.testing.assert_array_equal(getattr(grouped, name), getattr(plain, name))
    np.testing.assert_array_equal(grouped.predict_proba(X), plain.predict_proba(X))


def test_groups_may_overlap_and_leave_columns_to_themselves() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 6))
    y = (X[:, 1] + X[:, 2] > 0).astype(int)
    model = quick(1, groups={"a": [0, 1], "b": [1, 2], "c": [3, 4]}).fit(X, y)
    assert model.result_.names == ("a", "b", "c", "x5")
    assert model.result_.selected == ("b",)
    assert np.flatnonzero(model.support_).tolist() == [1, 2]


def test_what_is_required_is_always_in_and_not_counted() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.standard_normal((300, 8)), columns=list("abcdefgh"))
    X["copy"] = X["a"] + 0.1 * rng.standard_normal(300)
    y = (2 * X["a"] + X["c"] > 0).astype(int).to_numpy()
    free = quick(1).fit(X, y)
    assert free.result_.selected[0] in ("a", "copy")
    model = quick(1, required=["a"]).fit(X, y)
    assert model.result_.selected == ("c",), "beyond a, its copy adds nothing"
    assert (model.n_features_, int(model.support_.sum())) == (1, 2)
    assert model.support_[0]
    assert model.ranking_[0] == 0
    order = np.argsort(-model.feature_importances_)[:2]
    assert set(order.tolist()) == {0, 2}
    assert model.score(X, y) > 0.9
    assert set(model.explain(X[:4]).feature_names) == {"a", "c"}


def test_required_features_in_a_regression_and_a_model_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 6))
    y = X[:, 0] + X[:, 3]
    model = DualNetRegressor(1, required=[0], max_batches=BUDGET, random_state=0).fit(X, y)
    assert np.flatnonzero(model.support_).tolist() == [0, 3]
    model.save(tmp_path / "m.maskrank")
    np.testing.assert_array_equal(maskrank.load(tmp_path / "m.maskrank").predict(X), model.predict(X))
    assert model.score(X, y) > 0.9


def test_auto_and_all_count_beyond_the_required() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((300, 6))
    y = (X[:, 0] + X[:, 3] > 0).astype(int)
    auto = quick("auto", required=[0]).fit(X, y)
    assert auto.n_features_ <= 2
    assert auto.support_[[0, 3]].all()
    everything = quick("all", required=[0]).fit(X, y)
    assert everything.support_.all()
    assert everything.n_features_ == 5


def test_columns_are_named_as_the_frame_names_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(6)
    X = pd.DataFrame(rng.standard_normal((60, 4)), columns=[3, 1, 2, 0])
    y = (X[1] > 0).astype(int).to_numpy()
    model = quick(1, required=X.columns[:1], groups={"pair": X.columns[2:]}).fit(X, y)
    assert model.support_.tolist() == [True, True, False, False]
    model.save(tmp_path / "m.maskrank")
    np.testing.assert_array_equal(maskrank.load(tmp_path / "m.maskrank").predict(X), model.predict(X))
    X.columns = pd.MultiIndex.from_product([["a", "b"], ["u", "v"]])
    assert quick(1, required=[("a", "u")]).fit(X, y).support_[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"groups": {"one": ["a", "bx"]}}, r"group 'one' names columns that the data does not have: 'bx' \(did you"),
        ({"groups": {"one": []}}, "group 'one' is empty"),
        ({"groups": {"one": "a"}}, "must be a list of columns"),
        ({"groups": ["a"]}, "must be a dict"),
        ({"groups": {"b": ["a"]}}, "'b' is the name of a group and of a column"),
        ({"required": ["z"]}, "required names columns that the data does not have: 'z'"),
        ({"required": ["a", "b", "c"]}, "required names all 3 features"),
        ({"categorical_features": ["q"]}, "categorical_features names columns"),
        ({"categorical_features": [True, False]}, "is a mask of 2 columns; the data has 3"),
        ({"categorical_features": "all"}, "must be 'from_dtype'"),
    ],
)
def test_bad_groups_and_requirements_are_named(settings: dict[str, Any], message: str) -> None:
    X = pd.DataFrame(np.random.default_rng(5).standard_normal((40, 3)), columns=["a", "b", "c"])
    with pytest.raises(ValueError, match=message):
        quick(1, **settings).fit(X, np.arange(40) % 2)
