from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from maskrank import DualNetClassifier, DualNetRegressor, load
from maskrank.datasets import make_orange_skin
from maskrank.estimators.size_curve import SizeCurve
from tests.report.pages import curve_of

X, Y, _ = make_orange_skin(120, random_state=0)


def same(a: SizeCurve, b: SizeCurve) -> bool:
    arrays = all(np.array_equal(values, b.arrays()[name]) for name, values in a.arrays().items())
    return arrays and (a.figure, a.enough) == (b.figure, b.enough)


def test_a_table_with_a_row_for_each_size() -> None:
    frame = curve_of([0.2, 0.5, 0.6], 2).to_frame()
    assert list(frame) == ["size", "value", "value_std", "accuracy", "accuracy_std"]
    assert frame["size"].tolist() == [1, 2, 3]
    assert frame["accuracy"].tolist() == pytest.approx([0.6, 0.75, 0.8])
    assert list(curve_of([0.2], 1, "r2").to_frame())[3:] == ["r2", "r2_std"]
    assert type(curve_of([0.2], 1).to_frame("polars")).__module__.startswith("polars")


def test_it_is_said_in_a_line() -> None:
    line = "SizeCurve(sizes 1 to 3, 2 are enough: accuracy 0.750 ± 0.005)"
    assert repr(curve_of([0.2, 0.5, 0.6], 2)) == str(curve_of([0.2, 0.5, 0.6], 2)) == line
    assert repr(curve_of([0.2], 1, "r2")) == "SizeCurve(sizes 1 to 1, 1 is enough: r2 0.200 ± 0.010)"


@pytest.mark.parametrize("size", [1, 3, "auto", "all"])
def test_a_model_has_it_and_keeps_it_in_its_file(size: int | str, tmp_path: Path) -> None:
    model = DualNetClassifier(size, max_batches=16, random_state=0).fit(X[:, :6], Y)
    curve = model.size_curve_
    assert isinstance(curve, SizeCurve)
    assert curve.figure == "accuracy"
    assert curve.sizes.tolist() == list(range(1, {"auto": 5, "all": 6}.get(size, size) + 1))
    assert size != "auto" or model.n_features_ == curve.enough
    model.save(tmp_path / "model")
    for again in (load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        assert same(curve, again.size_curve_)
        assert again.n_features_ == model.n_features_
        assert repr(again.size_curve_) == repr(curve)


def test_numbers_have_a_curve_of_shares_of_the_variance() -> None:
    curve = DualNetRegressor(2, max_batches=16, random_state=0).fit(X, X[:, 0]).size_curve_
    assert curve.figure == "r2"
    assert np.array_equal(curve.values, curve.figures)


def test_the_paper_has_none_and_says_so(tmp_path: Path) -> None:
    model = DualNetClassifier(3, preset="paper", max_batches=8, random_state=0).fit(X, Y)
    assert model.size_curve_ is None
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").size_curve_ is None
    with pytest.raises(ValueError, match=r"there is no size curve.*preset='paper'"):
        model.plot_size_curve()
