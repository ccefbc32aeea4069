from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Rows
from maskrank.core.data.subsets import draw_subsets, to_mask
from maskrank.core.method.operators import SubsetMLP
from maskrank.core.method.selector import Selector
from maskrank.core.method.tasks import BinaryTask, MulticlassTask, RegressionTask, selector_loss, subset_losses
from maskrank.core.probabilities import of_classes, of_two_classes


def test_a_subset_and_its_mask_have_one_predicted_loss(generator: torch.Generator) -> None:
    selector = Selector(9, hidden=(8, 4), activation="sigmoid", fan_in=9, generator=generator).double()
    subsets = draw_subsets(5, 9, 3, generator=generator)
    masks = to_mask(subsets, 9, dtype=torch.float64)
    torch.testing.assert_close(
        selector(subsets), selector.tail(masks @ selector.weight + selector.bias).squeeze(-1), rtol=0, atol=1e-12
    )


def test_eq_2a_is_the_mean_over_all_pairs_of_row_and_mask(generator: torch.Generator) -> None:
    operator = SubsetMLP(Blocks.single(6), 1, hidden=(4,), activation="silu", fan_in=12, generator=generator)
    rows = Rows(torch.randn((8, 6), generator=generator), torch.randn((8, 1), generator=generator))
    subsets = draw_subsets(3, 6, 2, generator=generator)
    losses = subset_losses(operator, RegressionTask(), rows.all(), subsets)
    one_by_one = [
        (operator(rows.take(torch.tensor([row])), subsets[[mask]]).squeeze() - rows.y[row, 0]) ** 2
        for mask in range(3)
        for row in range(8)
    ]
    torch.testing.assert_close(losses.mean(), torch.stack(one_by_one).mean())


def test_eq_2b_weighs_and_halves() -> None:
    predicted, observed = torch.tensor([1.0, 2.0]), torch.tensor([0.0, 4.0])
    assert selector_loss(predicted, observed) == 0.5 * (1 + 4) / 2
    assert selector_loss(predicted, observed, torch.tensor([10.0, 5.0])) == 0.5 * (10 + 20) / 2


def test_an_undecided_net_pays_the_logarithm_of_the_number_of_classes() -> None:
    labels = torch.tensor([0, 1, 1])
    assert BinaryTask().loss(torch.zeros(2, 3, 1), labels).flatten().tolist() == pytest.approx([math.log(2)] * 6)
    assert MulticlassTask(5).loss(torch.zeros(2, 3, 5), labels).flatten().tolist() == pytest.approx([math.log(5)] * 6)


def test_two_classes_cost_the_same_as_one_output_or_as_two(generator: torch.Generator) -> None:
    logits = torch.randn((1, 4, 1), generator=generator)
    labels = torch.tensor([0, 1, 0, 1])
    both = torch.cat([torch.zeros_like(logits), logits], dim=-1)
    torch.testing.assert_close(BinaryTask().loss(logits, labels), MulticlassTask(2).loss(both, labels))
    np.testing.assert_allclose(of_two_classes(logits.numpy()), of_classes(both.numpy()), rtol=1e-5)
    assert torch.equal(BinaryTask().error(logits, labels), MulticlassTask(2).error(both, labels))


def test_several_outputs_are_averaged() -> None:
    loss = RegressionTask(2).loss(torch.tensor([[[1.0, 5.0]]]), torch.tensor([[0.0, 2.0]]))
    assert loss.tolist() == [[5.0]]
