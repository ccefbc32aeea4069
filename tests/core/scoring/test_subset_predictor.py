"""Predictions from subsets of features: the mean of the nets, shrunk by size."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import DEFAULT
from maskrank.core.method.tasks import MulticlassTask, RegressionTask
from maskrank.core.scoring.masked_nets import draw_masks
from maskrank.core.scoring.subset_predictor import SubsetPredictor, shrunk
from maskrank.core.scoring.value_function import ValueFunction, fit_value_function

S = 4
CONFIG = DEFAULT.using(score__min_steps=30)


def value_function(n: int = 200, config=CONFIG) -> tuple[ValueFunction, Tensor]:  # type: ignore[no-untyped-def]
    g = torch.Generator().manual_seed(0)
    x = torch.randn((n, S), generator=g)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()
    return fit_value_function(MulticlassTask(3), x, y, config=config, generator=g), x


def masks_of(n_subsets: int, n: int) -> Tensor:
    return draw_masks((n_subsets, n), S, torch.Generator().manual_seed(1))


@pytest.mark.parametrize("n", [200, 40], ids=["encoded", "plain columns"])
def test_outputs_are_the_mean_of_the_nets_on_masked_inputs_shrunk_by_size(n: int) -> None:
    value, x = value_function(n)
    predictor, masks = value.predictor, masks_of(7, n)
    nets = predictor.nets
    assert (nets.nets.encoding is None) == (n == 40)
    inputs = nets.nets.inputs(x).expand(len(nets.nets.weights[0]), -1, -1)
    with torch.no_grad():
        mean = torch.stack([nets.nets.members(nets.masked(inputs, mask)).mean(dim=0) for mask in masks])
    expected = shrunk(mean, masks, predictor.constant, predictor.shrinkage)
    torch.testing.assert_close(predictor.outputs(x, masks), expected, atol=1e-5, rtol=1e-4)


def test_no_feature_is_the_constant_answer() -> None:
    value, x = value_function()
    outputs = value.predictor.outputs(x, torch.zeros((1, len(x), S), dtype=torch.bool))
    assert (outputs == value.predictor.constant).all()


def test_all_rows_choose_the_factor_that_most_of_their_parts_choose() -> None:
    value, _ = value_function(600)
    by_size, of_rows = value.predictor.shrinkage, value.shrinkage.flatten(0, 1)
    assert by_size.shape == (S + 1,)
    assert set(by_size.tolist()) <= {0.0, *torch.tensor(CONFIG.score.shrinkage).tolist()}
    assert ((by_size - of_rows).abs() <= 0.35).all()  # of neighbours in the list of factors


def test_a_row_does_not_depend_on_those_beside_it_nor_on_memory_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    value, x = value_function()
    masks = masks_of(9, len(x))
    together = value.predictor.outputs(x, masks)
    torch.testing.assert_close(value.predictor.outputs(x[3:5], masks[:, 3:5]), together[:, 3:5], atol=1e-6, rtol=1e-5)
    monkeypatch.setattr(limits, "VALUED", 1)
    torch.testing.assert_close(value.predictor.outputs(x, masks), together, atol=1e-6, rtol=1e-5)


def test_a_copy_is_of_its_own_and_is_built_again_from_its_tensors() -> None:
    value, x = value_function()
    copied, masks = value.predictor.deployed(), masks_of(3, len(x))
    again = SubsetPredictor.of(copied.spec(), copied.tensors())
    expected = copied.outputs(x, masks)
    torch.testing.assert_close(expected, value.predictor.outputs(x, masks), atol=5e-3, rtol=5e-3)  # in half precision
    with torch.no_grad():
        value.predictor.nets.nets.weights[0].zero_()
    assert torch.equal(copied.outputs(x, masks), expected)
    assert torch.equal(again.outputs(x, masks), expected)
    assert again.spec()["kind"] == "mlp"


def test_one_feature_and_one_row() -> None:
    g = torch.Generator().manual_seed(0)
    x = torch.randn((50, 1), generator=g)
    predictor = fit_value_function(RegressionTask(), x, x, config=CONFIG, generator=g).predictor
    assert predictor.n_features == 1
    assert predictor.outputs(x[:1], torch.ones((1, 1, 1), dtype=torch.bool)).shape == (1, 1, 1)
