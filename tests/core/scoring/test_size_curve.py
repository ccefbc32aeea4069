"""How many of the ranked features are enough."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.method.tasks import BinaryTask, RegressionTask
from maskrank.core.scoring.size_curve import (
    SizeCurve,
    cross_fitted_orders,
    enough_features,
    size_curve,
    values_by_size,
)
from maskrank.core.scoring.value_function import fit_value_function


def test_the_smallest_size_within_one_standard_error_of_the_best_is_enough() -> None:
    rows = torch.linspace(-3, 3, 400)  # what rows have in common says nothing about sizes
    scatter = 0.2 * torch.tensor([1.0, -1.0]).repeat(200)  # a standard error of 0.01
    best = rows + 0.5
    within, beyond = best - 0.008 + scatter, best - 0.012 + scatter
    assert enough_features(torch.stack([rows, within, best, within])) == 2
    assert enough_features(torch.stack([rows, beyond, best, within])) == 3
    assert enough_features(torch.zeros((3, 10))) == 1
    assert enough_features(torch.tensor([[0.0], [1.0]])) == 2  # one row has no standard error


def test_relevant_features_are_enough_and_noise_adds_nothing() -> None:
    g = torch.Generator().manual_seed(1)
    x = torch.randn((800, 6), generator=g)
    y = (x[:, 0] * x[:, 1] > 0).long()
    value = fit_value_function(BinaryTask(), x, y, config=DEFAULT, generator=g)
    order = torch.tensor([1, 0, 5, 4, 3, 2]).expand(len(value.inputs), -1)
    along = value.along(order, config=DEFAULT, generator=g)
    curve = size_curve(along, *values_by_size(along, order))
    assert curve.enough == curve.best == 2
    assert curve.figure == "accuracy"
    assert curve.figures[0] < 0.6 < 0.85 < curve.figures[1]
    assert curve.share(2) > 1
    assert (curve.values_std[1:] > 0).all()


def test_of_numbers_the_figure_is_the_share_of_the_variance() -> None:
    g = torch.Generator().manual_seed(2)
    x = torch.randn((600, 3), generator=g)
    value = fit_value_function(RegressionTask(), x, x[:, :1] + x[:, 1:2], config=DEFAULT, generator=g)
    order = torch.tensor([0, 1, 2]).expand(len(value.inputs), -1)
    along = value.along(order, config=DEFAULT, generator=g)
    curve = size_curve(along, *values_by_size(along, order))
    assert curve.figure == "r2"
    np.testing.assert_array_equal(curve.figures, curve.values)
    assert curve.values[0] == pytest.approx(0.5, abs=0.08)
    assert curve.enough == 2


def test_a_row_has_no_part_in_the_order_by_which_it_judges() -> None:
    of_rows = torch.tensor([[9.0, 0.0, 1.0], [9.0, 0.0, 1.0], [0.0, 5.0, 1.0], [0.0, 5.0, 1.0]])
    assert cross_fitted_orders(of_rows, 2).tolist() == [[1, 2, 0], [0, 2, 1]]
    assert cross_fitted_orders(of_rows, 1).tolist() == [[0, 1, 2]]  # a single fold has no others


def test_of_noise_the_curve_promises_nothing() -> None:
    z = []
    for seed in range(8):
        g = torch.Generator().manual_seed(seed)
        x, y = torch.randn((100, 20), generator=g), torch.randn((100, 1), generator=g)
        value = fit_value_function(RegressionTask(), x, y, config=DEFAULT, generator=g)
        shares = value.shares(DEFAULT.score, g)
        orders = cross_fitted_orders(shares.of_rows, len(value.inputs))
        along = value.along(orders, config=DEFAULT, generator=g)
        curve = size_curve(along, *values_by_size(along, orders))
        z.append(curve.values[curve.enough - 1] / max(curve.values_std[curve.enough - 1], 1e-12))
    assert max(z) < 2.5
    assert sum(z) / len(z) < 1


def test_curves_are_joined_and_cut() -> None:
    def curve(*values: float) -> SizeCurve:
        array = np.array(values)
        return SizeCurve(np.arange(1, len(values) + 1), array, array, array, array, "r2", 1)

    joined = curve(1, 2).followed_by(curve(9, 8, 7, 6))
    assert joined.values.tolist() == [1, 2, 7, 6]
    assert joined.sizes.tolist() == [1, 2, 3, 4]
    cut = joined.up_to(3, enough=2)
    assert (cut.values.tolist(), cut.enough, cut.best) == ([1, 2, 7], 2, 3)
    assert np.isnan(curve(-1, -2).share(1))


def test_required_features_come_first_in_an_order_whatever_they_are_worth() -> None:
    of_rows = torch.tensor([[9.0, 0.0, 1.0, -3.0], [9.0, 0.0, 1.0, -3.0], [0.0, 5.0, 1.0, 7.0], [0.0, 5.0, 1.0, 7.0]])
    assert cross_fitted_orders(of_rows, 2, n_required=1).tolist() == [[3, 1, 2, 0], [3, 0, 2, 1]]
