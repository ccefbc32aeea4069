from __future__ import annotations

import numpy as np
import torch
from torch import nn

from maskrank import DualNetClassifier, DualNetRegressor
from maskrank.datasets import make_nonlinear_regression, make_orange_skin
from maskrank.estimators.all_features import all_features_figures


def test_all_features_do_about_as_well_as_the_relevant_ones_and_far_better_than_none() -> None:
    X, y, _ = make_orange_skin(300, random_state=0)
    model = DualNetClassifier(4, random_state=0, max_batches=200).fit(X, y)
    figures = all_features_figures(model, X, y)
    assert figures is not None
    assert model.baseline_score_ + 0.2 < figures["accuracy"].value <= 1
    again = all_features_figures(model, X, y)
    assert again is not None
    assert {name: figure.value for name, figure in figures.items()} == {
        name: figure.value for name, figure in again.items()
    }


def test_a_regression_is_measured_in_the_units_of_its_target() -> None:
    X, y, _ = make_nonlinear_regression(300, random_state=0)
    y = 100 * y + 5
    model = DualNetRegressor(4, random_state=0, max_batches=200).fit(X, y)
    figures = all_features_figures(model, X, y)
    assert figures is not None
    assert 100 * 0.7 < figures["rmse"].value < 0.8 * model.figures_["rmse"].baseline


def test_all_features_have_the_nets_that_the_chosen_ones_have() -> None:
    """On a target with edges, where nets that see features in steps are far ahead; one feature more is no harm."""
    random = np.random.default_rng(2)
    X = random.uniform(-1, 1, (300, 4))
    y = 2.0 * (X[:, 0] > 0.2) + np.floor(4 * X[:, 1]) % 2 + 0.05 * random.standard_normal(300)
    model = DualNetRegressor(3, random_state=0, max_batches=200).fit(X, y)
    figures = all_features_figures(model, X, y)
    assert figures is not None
    assert figures["mse"].value < 2 * model.figures_["mse"].value


def test_columns_that_do_not_vary_do_no_harm() -> None:
    X, y, _ = make_orange_skin(200, random_state=0)
    X[:, 9] = 3.0
    model = DualNetClassifier(4, random_state=0, max_batches=64).fit(X, y)
    assert all_features_figures(model, X, y) is not None


def test_there_is_no_figure_for_a_net_of_the_users_own_nor_for_very_many_features() -> None:
    class Own(nn.Module):
        def __init__(self, n_features: int, n_outputs: int) -> None:
            super().__init__()
            self.layer = nn.Linear(2 * n_features, n_outputs)

        def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return self.layer(torch.cat([x, mask], dim=1))

    X, y, _ = make_orange_skin(60, random_state=0)
    model = DualNetClassifier(4, operator=Own, random_state=0, max_batches=16).fit(X, y)
    assert all_features_figures(model, X, y) is None
    wide = np.random.default_rng(0).standard_normal((60, 5_001))
    model = DualNetClassifier(4, random_state=0, max_batches=16).fit(wide, y)
    assert all_features_figures(model, wide, y) is None
