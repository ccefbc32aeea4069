from __future__ import annotations

import pytest
import torch

from maskrank.core.data.rows import Rows
from maskrank.core.data.weights import WeightedDraws, error_of_mean, joined_weights, mean_of_rows


def test_a_weighted_mean_is_that_of_repeated_rows(generator: torch.Generator) -> None:
    values, weights = torch.randn((3, 6), generator=generator), torch.tensor([1, 3, 0, 2, 1, 1])
    torch.testing.assert_close(mean_of_rows(values, weights), values.repeat_interleave(weights, dim=1).mean(dim=1))
    assert torch.equal(mean_of_rows(values, None), values.mean(dim=1))


def test_the_error_of_a_weighted_mean_is_its_scatter_over_samples(generator: torch.Generator) -> None:
    values = torch.randn((4000, 200), generator=generator) + 3
    weights = torch.rand((4000, 200), generator=generator).square() + 0.05
    means = (values * weights).sum(dim=1) / weights.sum(dim=1)
    errors = torch.stack([error_of_mean(*pair) for pair in zip(values[:400], weights[:400], strict=True)])
    assert float(errors.mean()) == pytest.approx(float(means.std()), rel=0.03)
    torch.testing.assert_close(error_of_mean(values, torch.full((200,), 7.0)), error_of_mean(values, None))


def test_rows_of_a_group_vary_together(generator: torch.Generator) -> None:
    groups = torch.arange(20).repeat_interleave(5)
    of_groups = torch.randn((4000, 20), generator=generator)[:, groups]
    values = of_groups + 0.5 * torch.randn((4000, 100), generator=generator)
    assert float(error_of_mean(values, None, groups).mean()) == pytest.approx(float(values.mean(dim=1).std()), rel=0.03)
    assert float(error_of_mean(values, None).mean()) < 0.6 * float(values.mean(dim=1).std())
    alone = error_of_mean(values, None, torch.arange(100))
    torch.testing.assert_close(alone, error_of_mean(values, None))


def test_draws_are_in_proportion_to_weights_and_lists_have_their_own(generator: torch.Generator) -> None:
    weights = torch.tensor([[1.0, 0.0, 3.0, 0.0], [0.0, 2.0, 0.0, 0.0]])
    drawn = WeightedDraws(weights).places((2, 50, 80), generator=generator)
    assert drawn.shape == (2, 50, 80)
    shares = torch.bincount(drawn[0].flatten(), minlength=4) / 4000
    torch.testing.assert_close(shares, torch.tensor([0.25, 0.0, 0.75, 0.0]), atol=0.03, rtol=0)
    assert bool((drawn[1] == 1).all())


def test_rows_of_a_table_are_drawn_by_weight_and_then_count_the_same(generator: torch.Generator) -> None:
    rows = Rows(torch.arange(4.0).unsqueeze(1), torch.zeros(4), weights=torch.tensor([1.0, 1.0, 0.0, 6.0]))
    batch = rows.sample(4000, generator=generator)
    assert batch.weights is None
    shares = torch.bincount(batch.index, minlength=4) / 4000
    torch.testing.assert_close(shares, torch.tensor([0.125, 0.125, 0.0, 0.75]), atol=0.03, rtol=0)


def test_parts_without_weights_have_ones_beside_others() -> None:
    assert joined_weights([None, None], [2, 3]) is None
    joined = joined_weights([None, torch.tensor([2.0])], [2, 1])
    assert joined is not None
    assert joined.tolist() == [1.0, 1.0, 2.0]
