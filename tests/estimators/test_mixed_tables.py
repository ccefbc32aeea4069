"""Tables as people have them: text, categories, dates and gaps, in frames of any library and in arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import maskrank
from maskrank import DualNetClassifier, DualNetRegressor

BUDGET = 32


def passengers(n: int = 240, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """A table like that of the Titanic: sex decides, then class; age and cabin have gaps, names are all distinct."""
    rng = np.random.default_rng(seed)
    sex, deck = rng.choice(["male", "female"], n), rng.choice(["1st", "2nd", "3rd"], n)
    age = np.where(rng.random(n) < 0.2, np.nan, rng.normal(35, 12, n).round())
    chance = 0.1 + 0.6 * (sex == "female") + 0.25 * (deck == "1st")
    frame = pd.DataFrame(
        {
            "name": [f"passenger {i}" for i in range(n)],
            "sex": sex,
            "deck": pd.Categorical(deck, categories=["3rd", "2nd", "1st"]),
            "age": age,
            "cabin": np.where(rng.random(n) < 0.7, None, rng.choice(["A", "B", "C"], n)),
            "boarded": pd.Timestamp("1912-04-10") + pd.to_timedelta(rng.integers(0, 5, n), unit="D"),
            "fare": rng.lognormal(3, 1, n),
            "alone": rng.random(n) < 0.5,
        }
    )
    return frame, (rng.random(n) < chance).astype(int)


def quick(size: Any = 2, **settings: Any) -> DualNetClassifier:
    return DualNetClassifier(size, max_batches=BUDGET, random_state=0, **settings)


@pytest.fixture(scope="module")
def table() -> tuple[pd.DataFrame, np.ndarray]:
    return passengers()


@pytest.fixture(scope="module")
def fitted(table: tuple[pd.DataFrame, np.ndarray]) -> DualNetClassifier:
    return quick().fit(*table)


@pytest.fixture(scope="module")
def as_text(table: tuple[pd.DataFrame, np.ndarray]) -> DualNetClassifier:
    return quick().fit(table[0].assign(deck=table[0]["deck"].astype(str)), table[1])


def test_a_table_of_many_kinds_is_ranked_as_it_comes(fitted: DualNetClassifier) -> None:
    assert fitted.result_.selected[0] == "sex"
    assert not fitted.support_[0], "a text of distinct values tells nothing"
    assert fitted.ranking_.shape == fitted.feature_importances_.shape == (8,)


def test_features_say_how_each_column_was_read(fitted: DualNetClassifier) -> None:
    read = {column.name: column for column in fitted.features_}
    kinds = ["categorical", "categorical", "categorical", "numeric", "categorical", "date", "numeric", "categorical"]
    assert [column.kind for column in fitted.features_] == kinds
    assert read["deck"].levels == ("3rd", "2nd", "1st")
    assert (read["name"].n_levels, read["name"].note) == (240, "constant")
    assert 0.1 < read["age"].missing < 0.3
    assert read["fare"].missing == 0


def test_every_row_is_answered_whatever_is_missing_or_new(
    fitted: DualNetClassifier, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X = table[0].copy()
    X.loc[:20, "sex"] = None
    X.loc[10:30, "sex"] = "unheard of"
    X["deck"] = X["deck"].astype(object).where(np.arange(len(X)) % 2 == 0, None)
    probabilities = fitted.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_array_equal(probabilities[1:9:2], np.repeat(probabilities[1:2], 4, axis=0))


def test_a_level_never_seen_is_answered_like_a_gap() -> None:
    X, y = passengers()
    X.loc[::7, "sex"] = None
    model = quick(1).fit(X[["sex", "fare"]], y)
    new, gap = X[["sex", "fare"]].copy(), X[["sex", "fare"]].copy()
    new["sex"], gap["sex"] = "other", None
    np.testing.assert_array_equal(model.predict_proba(new), model.predict_proba(gap))


def test_columns_that_were_not_chosen_have_no_influence(
    fitted: DualNetClassifier, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    X = table[0].copy()
    for name in X.columns[~fitted.support_]:
        X[name] = None
    np.testing.assert_array_equal(fitted.predict(X), fitted.predict(table[0]))
    chosen = table[0][list(fitted.get_feature_names_out())]
    np.testing.assert_array_equal(fitted.predict_selected(chosen), fitted.predict(table[0]))


@pytest.mark.parametrize("convert", ["polars", "arrow", "pyarrow-backed"])
def test_frames_of_other_libraries_give_the_same_model(
    convert: str, table: tuple[pd.DataFrame, np.ndarray], as_text: DualNetClassifier
) -> None:
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    X = table[0].assign(deck=table[0]["deck"].astype(str))  # whose levels are sorted in each library
    frame = {
        "polars": lambda: pl.from_pandas(X),
        "arrow": lambda: pa.Table.from_pandas(X),
        "pyarrow-backed": lambda: X.convert_dtypes(dtype_backend="pyarrow"),
    }[convert]()
    model = quick().fit(frame, table[1])
    np.testing.assert_array_equal(model.support_, as_text.support_)
    np.testing.assert_array_equal(model.predict_proba(frame), as_text.predict_proba(X))


def test_a_model_file_keeps_levels_and_encodings(
    tmp_path: Path, fitted: DualNetClassifier, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    fitted.save(tmp_path / "model.maskrank")
    loaded = maskrank.load(tmp_path / "model.maskrank")
    np.testing.assert_array_equal(loaded.predict_proba(table[0]), fitted.predict_proba(table[0]))
    assert loaded.features_ == fitted.features_
    np.testing.assert_array_equal(loaded.ranking_, fitted.ranking_)
    np.testing.assert_allclose(loaded.explain(table[0]).values, fitted.explain(table[0]).values)


def test_explanations_add_up_and_show_the_values_as_they_came(
    fitted: DualNetClassifier, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    explained = fitted.explain(table[0])
    np.testing.assert_allclose(
        explained.base_values + explained.values.sum(axis=1), fitted.predict_proba(table[0])[:, 1], atol=1e-9
    )
    sex = explained.feature_names.index("sex")
    assert set(explained.data[:, sex]) == {"male", "female"}
    women = explained.values[explained.data[:, sex] == "female", sex]
    assert women.mean() > 0 > explained.values[explained.data[:, sex] == "male", sex].mean()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_transform_returns_the_chosen_columns_as_they_came_in(
    library: str, fitted: DualNetClassifier, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    pl = pytest.importorskip("polars")
    X = pl.from_pandas(table[0]) if library == "polars" else table[0]
    chosen = fitted.transform(X)
    names = list(fitted.get_feature_names_out())
    assert list(chosen.columns) == names
    assert type(chosen) is type(X)
    assert [chosen[name].dtype for name in names] == [X[name].dtype for name in names]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_it_selects_in_a_pipeline_and_a_grid_search_without_a_column_transformer(
    library: str, table: tuple[pd.DataFrame, np.ndarray]
) -> None:
    pl = pytest.importorskip("polars")
    X = pl.from_pandas(table[0]) if library == "polars" else table[0]
    search = GridSearchCV(quick(), {"n_features_to_select": [1, 2]}, cv=2).fit(X, table[1])
    assert search.best_score_ > 0.6
    model = quick(3).set_output(transform=library)
    if library == "pandas":
        numeric = ["age", "fare", "alone"]
        pipeline = make_pipeline(model, HistGradientBoostingClassifier(max_iter=5)).fit(X[numeric], table[1])
        assert pipeline.predict(X[numeric]).shape == table[1].shape
    assert type(model.fit(X, table[1]).transform(X)) is type(X)


def test_arrays_name_their_categories_by_number_or_mask() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 6, 300)
    X = np.column_stack([rng.standard_normal((300, 3)), codes])
    y = np.isin(codes, [0, 3, 5]).astype(int)
    by_number = quick(1, categorical_features=[3]).fit(X, y)
    by_mask = quick(1, categorical_features=np.arange(4) == 3).fit(X, y)
    assert by_number.features_[3].levels == tuple(map(float, range(6)))
    assert by_number.support_.tolist() == [False, False, False, True]
    assert by_number.score(X, y) > 0.95
    np.testing.assert_array_equal(by_number.predict_proba(X), by_mask.predict_proba(X))


def test_an_array_of_text_and_numbers_is_read_by_its_columns() -> None:
    rng = np.random.default_rng(4)
    colour = rng.choice(["red", "green", "blue"], 200)
    X = np.column_stack([rng.standard_normal(200).round(2), colour]).astype(object)
    X[:, 0] = X[:, 0].astype(float)
    model = quick(1).fit(X, (colour == "red").astype(int))
    assert [column.kind for column in model.features_] == ["numeric", "categorical"]
    assert model.support_.tolist() == [False, True]


def test_whether_a_value_is_missing_can_matter() -> None:
    rng = np.random.default_rng(5)
    X = rng.standard_normal((400, 8))
    y = rng.integers(0, 2, 400)
    X[(y == 1) & (rng.random(400) < 0.8), 3] = np.nan
    X[rng.random(400) < 0.2, 5] = np.nan
    model = quick(1).fit(X, y)
    assert np.flatnonzero(model.support_).tolist() == [3]
    assert model.score(X, y) > 0.8


def test_a_date_counts_by_its_weekday() -> None:
    rng = np.random.default_rng(6)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, 400), unit="D")
    X = pd.DataFrame({"a": rng.standard_normal(400), "day": day, "b": rng.standard_normal(400)})
    y = (day.day_of_week >= 5).astype(int)
    model = quick(1).fit(X, y)
    assert model.result_.selected == ("day",)
    assert model.score(X, y) > 0.9


def test_a_category_of_very_many_levels_neither_memorises_nor_costs_a_column_each() -> None:
    rng = np.random.default_rng(7)
    town = rng.integers(0, 150, 3000)
    effect = rng.standard_normal(150)
    X = pd.DataFrame({"id": [f"id {i}" for i in range(3000)], "x": rng.standard_normal(3000), "town": town.astype(str)})
    y = effect[town] + 0.5 * rng.standard_normal(3000)
    model = DualNetRegressor(1, max_batches=BUDGET, random_state=0).fit(X[:2000], y[:2000])
    assert model.result_.selected == ("town",)
    assert model.score(X[2000:], y[2000:]) > 0.6
    noise = DualNetRegressor("all", max_batches=BUDGET, random_state=0).fit(X[:2000], rng.standard_normal(2000))
    assert noise.result_.explained < 0.02


def test_ordered_categories_are_numbers() -> None:
    rng = np.random.default_rng(8)
    level = rng.integers(0, 4, 300)
    names = np.array(["none", "low", "mid", "high"])
    sizes = pd.Categorical(names[level], categories=list(names), ordered=True)
    X = pd.DataFrame({"dose": sizes, "x": rng.standard_normal(300)})
    model = quick(1).fit(X, (level >= 2).astype(int))
    assert model.features_[0].kind == "ordered"
    assert model._encoding.widths.tolist() == [1]
    assert model.score(X, (level >= 2).astype(int)) > 0.95


@pytest.mark.parametrize("columns", [[0, 1, 2], [("a", 1), ("a", 2), ("b", 1)]])
def test_frames_with_other_names_than_text_are_read(columns: list[Any]) -> None:
    rng = np.random.default_rng(9)
    kind = rng.choice(["u", "v"], 120)
    X = pd.DataFrame({0: rng.standard_normal(120), 1: kind, 2: rng.standard_normal(120)})
    X.columns = pd.MultiIndex.from_tuples(columns) if isinstance(columns[0], tuple) else columns
    model = quick(1).fit(X, (kind == "u").astype(int))
    assert np.flatnonzero(model.support_).tolist() == [1]
    assert model.result_.selected == (("a / 2",) if isinstance(columns[0], tuple) else ("1",))


def test_dates_of_any_type_are_dates() -> None:
    pa, pl = pytest.importorskip("pyarrow"), pytest.importorskip("polars")
    days = pd.date_range("2024-01-01", periods=60, freq="D")
    y, other = np.arange(60) % 2, np.random.default_rng(0).standard_normal(60)
    objects = pd.DataFrame({"day": [day.date() for day in days], "x": other})
    tables = {
        "time zone": pd.DataFrame({"day": days.tz_localize("Europe/Berlin"), "x": other}),
        "objects": objects,
        "arrow": pa.Table.from_pandas(objects),
        "polars": pl.DataFrame({"day": objects["day"].tolist(), "x": other}),
    }
    for name, X in tables.items():
        model = quick(1).fit(X, y)
        assert [column.kind for column in model.features_] == ["date", "numeric"], name
        assert np.isfinite(model.predict_proba(X)).all()


def test_lists_of_rows_and_arrow_dictionaries_are_read() -> None:
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(1)
    colour = rng.choice(["red", "blue"], 80)
    rows = [[float(number), str(name)] for number, name in zip(rng.standard_normal(80), colour, strict=True)]
    y = (colour == "red").astype(int)
    model = quick(1).fit(rows, y)
    assert model.support_.tolist() == [False, True]
    np.testing.assert_array_equal(model.predict_selected([[row[1]] for row in rows]), model.predict(rows))
    dictionary = pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))
    frame = pd.DataFrame({"x": [row[0] for row in rows], "colour": pd.array(colour.tolist(), dtype=dictionary)})
    np.testing.assert_array_equal(quick(1).fit(frame, y).predict_proba(frame), model.predict_proba(rows))


def test_a_flipped_table_with_gaps_is_read() -> None:
    X = np.random.default_rng(2).standard_normal((100, 4))
    y = (X[:, 1] > 0).astype(int)
    X[3, 0] = np.nan
    flipped = quick(1).fit(X[::-1, ::-1], y[::-1])
    assert flipped.support_.tolist() == [False, False, True, False]
