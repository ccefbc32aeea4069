"""What each feature adds to a row's prediction, through the estimators."""

from __future__ import annotations

import functools
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
import torch
from matplotlib import pyplot
from matplotlib.figure import Figure
from sklearn.exceptions import NotFittedError

from maskrank import DualNetClassifier, DualNetRegressor, Explanation, ImageCNN, load
from tests.estimators.nets import TwoLayers

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 8))
LABELS = np.array(["no", "yes"])[(X[:, 1] + X[:, 4] > 0).astype(int)]
CLASSES = (X[:, 1] > 0).astype(int) + (X[:, 4] > 0)
NUMBERS = 50 + 10 * X[:, 2] - 5 * X[:, 6]
quick = {"max_batches": 24, "random_state": 0}


@functools.cache
def binary(size: int = 3) -> DualNetClassifier:
    return DualNetClassifier(size, **quick).fit(X, LABELS)


@functools.cache
def multiclass() -> DualNetClassifier:
    return DualNetClassifier(3, **quick).fit(X, CLASSES)


@functools.cache
def regression(outputs: int = 1) -> DualNetRegressor:
    targets = np.column_stack([NUMBERS, X[:, 0] / 1000])
    return DualNetRegressor(3, **quick).fit(X, NUMBERS if outputs == 1 else targets)


@pytest.fixture(autouse=True)
def _no_figures_are_left() -> Iterator[None]:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def test_values_add_up_to_what_the_model_says() -> None:
    cases = [
        (binary(), binary().predict_proba(X)[:, 1], (120, 3)),
        (multiclass(), multiclass().predict_proba(X), (120, 3, 3)),
        (regression(), regression().predict(X), (120, 3)),
        (regression(2), regression(2).predict(X), (120, 3, 2)),
    ]
    for model, said, shape in cases:
        explained = model.explain(X)
        assert explained.values.shape == shape
        assert explained.base_values.shape == said.shape
        np.testing.assert_allclose(explained.base_values + explained.values.sum(axis=1), said, atol=1e-6, rtol=0)
        np.testing.assert_array_equal(explained.predictions, said)
        np.testing.assert_array_equal(explained.data, X[:, model.support_])
        assert explained.feature_names == list(model.get_feature_names_out())
        assert len(explained) == 120


def test_adjustments_tell_how_far_the_model_lies_from_the_nets_of_the_values() -> None:
    table = rng.standard_normal((300, 4))
    model = DualNetRegressor(2, max_batches=150, random_state=0)
    explained = model.fit(table, 10 * table[:, 0] + table[:, 1]).explain(table)
    assert explained.adjustments.shape == explained.predictions.shape
    assert np.abs(explained.adjustments).mean() > 0
    moved = np.abs(explained.predictions - explained.base_values)
    assert np.abs(explained.adjustments).mean() < 0.3 * moved.mean()
    nets = explained.predictions - explained.adjustments  # what the nets of the values say
    assert np.corrcoef(nets, explained.predictions)[0, 1] > 0.95
    assert multiclass().explain(X).adjustments.sum(axis=1) == pytest.approx(0, abs=1e-6)


def test_base_values_are_the_answer_without_any_feature() -> None:
    assert regression().explain(X).base_values == pytest.approx(NUMBERS.mean(), abs=1.0)
    assert binary().explain(X).base_values == pytest.approx((LABELS == "yes").mean(), abs=0.05)
    np.testing.assert_allclose(
        multiclass().explain(X).base_values[0], np.bincount(CLASSES) / len(CLASSES), atol=0.05, rtol=0
    )


def test_values_of_a_linear_target_are_its_terms_in_the_units_of_y() -> None:
    table = rng.standard_normal((600, 4))
    model = DualNetRegressor(3, max_batches=150, random_state=0)
    model.fit(table, 100 + table @ np.array([20.0, 10.0, -15.0, 0.0]))
    terms = (table - table.mean(axis=0)) * [20.0, 10.0, -15.0, 0.0]
    values = model.explain(table).values
    assert np.corrcoef(values.ravel(), terms[:, model.support_].ravel())[0, 1] >= 0.98
    assert np.abs(values - terms[:, model.support_]).mean() < 3


def test_outputs_are_named_by_classes_and_numbers() -> None:
    assert binary().explain(X).output_names == ["yes"]
    assert multiclass().explain(X).output_names == [0, 1, 2]
    assert regression().explain(X).output_names == [0]
    assert regression(2).explain(X).output_names == [0, 1]
    explained = multiclass().explain(X)
    values, base, predictions = explained.of_output(2)
    np.testing.assert_array_equal(values, explained.values[:, :, 2])
    np.testing.assert_array_equal(base, explained.base_values[:, 2])
    np.testing.assert_array_equal(predictions, multiclass().predict_proba(X)[:, 2])
    np.testing.assert_allclose(explained.values.sum(axis=2), 0, atol=1e-9)  # what one class gains, others lose
    assert repr(explained) == "Explanation of 120 rows by 3 features; outputs: 0, 1, 2"
    with pytest.raises(ValueError, match="output=None: several outputs are explained, give one of 0, 1, 2"):
        explained.plot_beeswarm()
    with pytest.raises(ValueError, match="output='no' is not explained here: give one of 'yes'"):
        binary().explain(X).to_frame("no")


def test_a_saved_model_explains_the_same_bit_for_bit(tmp_path: Path) -> None:
    for model in (binary(), multiclass(), regression(2)):
        model.save(tmp_path / "model")
        expected = model.explain(X)
        for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
            explained = again.explain(X)
            np.testing.assert_array_equal(explained.values, expected.values)
            np.testing.assert_array_equal(explained.base_values, expected.base_values)


def test_more_features_than_all_subsets_of_which_fit_are_sampled_by_a_fixed_seed() -> None:
    wide = rng.standard_normal((80, 14))
    y = wide[:, 0] + wide[:, 5]
    model = DualNetRegressor(12, **quick).fit(wide, y)
    state = torch.random.get_rng_state(), np.random.get_state()[1].tolist(), torch.get_num_threads()  # noqa: NPY002
    explained = model.explain(wide)
    added = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(added, model.predict(wide), atol=1e-6, rtol=0)
    np.testing.assert_array_equal(model.explain(wide).values, explained.values)
    np.testing.assert_array_equal(model.explain(wide, random_state=0).values, explained.values)
    assert not np.array_equal(model.explain(wide, random_state=1).values, explained.values)
    np.testing.assert_allclose(model.explain(wide[3:4]).values[0], explained.values[3], atol=1e-5)
    with pytest.raises(ValueError, match="random_state='no' must be"):
        model.explain(wide, random_state="no")
    after = torch.random.get_rng_state(), np.random.get_state()[1].tolist(), torch.get_num_threads()  # noqa: NPY002
    assert torch.equal(state[0], after[0])
    assert state[1:] == after[1:]


def test_arrays_frames_and_sparse_matrices_are_explained_alike() -> None:
    names = [f"f{i}" for i in range(8)]
    model = DualNetClassifier(3, **quick).fit(pd.DataFrame(X, columns=names), LABELS)
    of_pandas = model.explain(pd.DataFrame(X, columns=names))
    of_polars = model.explain(pl.DataFrame(X, schema=names))
    np.testing.assert_array_equal(of_pandas.values, of_polars.values)
    assert isinstance(of_pandas.to_frame(), pd.DataFrame)
    assert isinstance(of_polars.to_frame(), pl.DataFrame)
    expected = binary().explain(X)
    np.testing.assert_allclose(binary().explain(scipy.sparse.csr_matrix(X)).values, expected.values, atol=1e-9)
    chosen = binary().explain_selected(X[:, binary().support_])
    np.testing.assert_array_equal(chosen.values, expected.values)
    with pytest.raises(ValueError, match="feature names should match"):
        model.explain(pd.DataFrame(X, columns=names[::-1]))


@pytest.mark.parametrize("operator", [functools.partial(ImageCNN, image_shape=(8, 8)), TwoLayers], ids=["cnn", "own"])
def test_any_operator_is_explained_by_the_same_nets(operator: object) -> None:
    images = rng.standard_normal((40, 64))
    y = np.arange(40) % 2
    model = DualNetClassifier(4, operator=operator, n_subsets=4, **{**quick, "max_batches": 8}).fit(images, y)
    explained = model.explain(images)
    added = explained.base_values + explained.values.sum(axis=1)
    np.testing.assert_allclose(added, model.predict_proba(images)[:, 1], atol=1e-6, rtol=0)


def test_one_feature_gets_all_and_one_row_is_enough() -> None:
    model = binary(1)
    explained = model.explain(X[:1])
    assert explained.values.shape == (1, 1)
    assert explained.values[0, 0] == pytest.approx(model.predict_proba(X[:1])[0, 1] - explained.base_values[0])
    explained.plot_beeswarm(ax=Figure().subplots())
    explained.plot_waterfall(0, ax=Figure().subplots())


def test_a_constant_chosen_column_adds_next_to_nothing() -> None:
    table = np.column_stack([X[:, 1], np.ones(120), np.zeros(120)])
    model = DualNetClassifier(2, **{**quick, "max_batches": 200}).fit(table, LABELS)
    assert model.support_[0]  # the other one is constant
    values = model.explain(table).values
    assert np.isfinite(values).all()
    assert np.abs(values[:, 1]).mean() < 0.1 * np.abs(values[:, 0]).mean()
    model.explain(table).plot_beeswarm(ax=Figure().subplots())


def test_what_can_not_be_explained_is_said_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(NotFittedError):
        DualNetClassifier(3).explain(X)
    with pytest.raises(ValueError, match="X has 7 features, but DualNetClassifier is expecting 8"):
        binary().explain(X[:, :7])
    with pytest.raises(ValueError, match="infinity"):
        binary().explain(np.where(X > 2, np.inf, X))
    derived = DualNetClassifier(3, preset="paper", max_batches=8, random_state=0).fit(X, LABELS)
    derived.save(tmp_path / "model")
    for model in (derived, load(tmp_path / "model")):
        with pytest.raises(ValueError, match=r"^explain is not offered for this model.*fit it with preset='default'$"):
            model.explain(X)
    with pytest.raises(ValueError, match=r"row=120 must lie in 0\.\.119: 120 rows are explained"):
        binary().explain(X).plot_waterfall(120)
    with pytest.raises(ValueError, match="n=0 must be at least 1"):
        binary().explain(X).plot_beeswarm(n=0)


def test_frames_have_a_line_a_row_and_output() -> None:
    explained = regression().explain(X)
    frame = explained.to_frame()
    assert list(frame.columns) == ["prediction", "base_value", *explained.feature_names]
    np.testing.assert_allclose(frame["prediction"], regression().predict(X))
    frame = multiclass().explain(X).to_frame()
    assert list(frame.columns[:4]) == ["row", "output", "prediction", "base_value"]
    assert frame["output"].tolist() == [0, 1, 2] * 120
    said = multiclass().predict_proba(X)
    np.testing.assert_allclose(frame["prediction"].to_numpy().reshape(120, 3), said, atol=1e-9)
    one = multiclass().explain(X).to_frame(1)
    np.testing.assert_array_equal(one.iloc[:, 4:], multiclass().explain(X).values[:, :, 1])


def test_a_feature_may_have_the_name_of_another_column() -> None:
    zeros = np.zeros((1, 2))
    explained = Explanation(
        zeros, np.ones(1), np.ones(1), np.zeros(1), zeros, ["prediction", "row"], ["b"], probabilities=True
    )
    assert list(explained.to_frame().columns) == ["row_", "output", "prediction_", "base_value", "prediction", "row"]


def test_a_beeswarm_has_a_dot_for_each_row_and_the_largest_effects_on_top() -> None:
    explained = binary().explain(X)
    ax = explained.plot_beeswarm(n=2)
    size = np.abs(explained.values).mean(axis=0)
    shown = [explained.feature_names[i] for i in np.argsort(-size)[:2]]
    assert [label.get_text() for label in ax.get_yticklabels()] == shown
    for place, dots in enumerate(ax.collections):
        values = explained.values[:, explained.feature_names.index(shown[place])]
        np.testing.assert_allclose(dots.get_offsets()[:, 0], values)
        assert np.abs(dots.get_offsets()[:, 1] - place).max() <= 0.4
    assert ax.get_xlabel() == "added to the probability of yes"


def test_a_waterfall_leads_from_the_base_value_to_the_prediction() -> None:
    explained = regression().explain(X)
    ax = explained.plot_waterfall(5)
    bars = ax.patches
    assert bars[0].get_x() == pytest.approx(explained.base_values[5])
    assert bars[-1].get_x() + bars[-1].get_width() == pytest.approx(regression().predict(X)[5])
    sizes = [abs(bar.get_width()) for bar in bars]
    assert sizes == sorted(sizes, reverse=True)
    figure = Figure()
    axes = figure.subplots()
    assert explained.plot_waterfall(0, ax=axes) is axes


def test_shap_takes_it() -> None:
    shap = pytest.importorskip("shap", reason="the extra explain is not installed")
    for model in (binary(), multiclass()):
        explained = model.explain(X)
        given = explained.to_shap()
        assert isinstance(given, shap.Explanation)
        np.testing.assert_array_equal(given.values, explained.values)
        np.testing.assert_array_equal(given.base_values, explained.base_values)
        assert list(given.feature_names) == explained.feature_names


def test_without_shap_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shap", None)
    with pytest.raises(ImportError, match=r"shap is not installed: pip install 'maskrank\[explain\]' brings it"):
        binary().explain(X).to_shap()
