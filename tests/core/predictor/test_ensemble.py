from __future__ import annotations

import pytest
import torch
from maskrank.core.predictor.ensemble import Recipe, Steps, bins, blend, links, recipes

from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.tasks import RegressionTask


def test_steps_tell_how_far_a_value_is_through_each_bin() -> None:
    edges, blank = torch.tensor([[0.0, 1.0, 3.0, 3.0]]), torch.zeros((1, 3))
    steps = Steps(edges, blank, blank + 1)
    values = torch.tensor([[-1.0], [0.25], [2.0], [7.0]])
    expected = [[-1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.0, 0.0], [2.0, 1.0, 0.5, 0.0], [7.0, 1.0, 1.0, 0.0]]
    assert steps(values).tolist() == expected


def test_bins_hold_as_many_rows_each_and_a_feature_of_few_values_has_empty_ones(generator: torch.Generator) -> None:
    x = torch.stack([torch.randn(1000, generator=generator), (torch.arange(1000) % 10 == 0).float()], dim=1)
    steps = Steps.of(x, 4)
    edges = steps.get_buffer("edges")
    counts = torch.histogram(x[:, 0], edges[0])[0]
    assert counts.tolist() == [250.0] * 4
    assert edges[1].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]
    inputs = steps(x)
    assert inputs.shape == (1000, 10)
    assert inputs.isfinite().all()
    torch.testing.assert_close(inputs[:, 2:].mean(dim=0), torch.zeros(8), atol=1e-5, rtol=0)
    assert inputs[:, 6:9].eq(0).all()


@pytest.mark.parametrize(
    ("s", "rows", "each"),
    [(1, 500, 16), (16, 500, 16), (35, 500, 7), (64, 500, 4), (65, 500, 0), (20, 100, 5), (49, 120, 0)],
)
def test_many_features_or_few_rows_have_fewer_bins_or_none(s: int, rows: int, each: int) -> None:
    assert bins(s, rows) == each


def test_recipes_with_steps_are_followed_where_there_are_bins() -> None:
    for steps in (True, False):
        assert any(recipe.steps for recipe in recipes(10, varied=True, steps=steps)) == steps


def test_members_that_look_at_no_steps_leave_them_behind() -> None:
    x = torch.rand((50, 2), generator=torch.Generator().manual_seed(0))
    weights = torch.ones((2, 2 + 2 * 4, 1))
    weights[1, 2:] = 0
    nets = StackedMLP([weights], [torch.zeros((2, 1, 1))], "silu", Steps.of(x, 4))
    assert nets.take(torch.tensor([0, 1])).steps is not None
    plain = nets.take(torch.tensor([1]))
    assert plain.steps is None
    torch.testing.assert_close(plain(x), x.sum(dim=1, keepdim=True))


def test_plain_recipes_are_without_noise_and_steps() -> None:
    assert all(recipe.jitter == 0 and not recipe.steps for recipe in recipes(20, varied=False, steps=True))
    assert len(recipes(20, varied=False, steps=True)) == 20


def test_a_net_sees_the_first_features_and_their_steps() -> None:
    def seen(recipe: Recipe, bins: int) -> list[float]:
        first, second = links(torch.tensor([0.1, 0.9, 0.5]), recipe, bins, (6, 4))
        assert first.eq(first[:, :1]).all()  # by every unit
        assert second.shape == (6, 4)
        assert second.all()
        return first[:, 0].tolist()

    assert seen(Recipe(0.1, share=0.6), 2) == [0, 1, 1, 0, 0, 0, 0, 0, 0]
    assert seen(Recipe(0.1, share=0.4, steps=True), 2) == [0, 1, 0, 0, 0, 1, 1, 0, 0]
    assert seen(Recipe(0.1, share=0.01), 0) == [0, 1, 0]


@pytest.mark.parametrize("s", [1, 3, 5])
def test_in_an_additive_net_no_way_leads_from_two_features_to_one_unit(s: int) -> None:
    layers = links(torch.ones(s), Recipe(0.1, steps=True, additive=True), 2, (6, 7, 6))
    reached = layers[0]
    for layer in layers[1:]:
        reached = reached @ layer
    by_feature = torch.stack([reached[j] + reached[s + 2 * j : s + 2 * j + 2].sum(dim=0) for j in range(s)]) > 0
    assert by_feature.sum(dim=0).max() == 1
    assert by_feature.any(dim=1).all()


def test_a_blend_is_no_worse_than_its_best_part_and_leaves_out_what_does_not_help(generator: torch.Generator) -> None:
    y = torch.randn((200, 1), generator=generator)
    good = y + 0.5 * torch.randn((2, 200, 1), generator=generator)
    bad = torch.randn((1, 200, 1), generator=generator) * 5
    outputs = torch.cat([good, bad])
    weight = blend(RegressionTask(), outputs, y)
    torch.testing.assert_close(weight.sum(), torch.tensor(1.0))
    assert weight[2] == 0
    mixed = ((weight.view(-1, 1, 1) * outputs).sum(dim=0) - y).square().mean()
    assert mixed < 0.7 * (outputs - y).square().mean(dim=(1, 2)).min()


def test_weighted_members_answer_with_the_weighted_mean(generator: torch.Generator) -> None:
    x = torch.randn((50, 2), generator=generator)
    weights = [torch.randn((3, 6, 4), generator=generator), torch.randn((3, 4, 1), generator=generator)]
    weights[0][:2, 2:] = 0  # only the last member sees steps
    biases = [torch.randn((3, 1, 4), generator=generator), torch.randn((3, 1, 1), generator=generator)]
    nets = StackedMLP(weights, biases, "silu", Steps.of(x, 2))
    weight = torch.tensor([0.25, 0.75, 0.0])
    expected = (weight.view(-1, 1, 1) * nets.members(nets.inputs(x).expand(3, -1, -1))).sum(dim=0)
    kept = nets.weighted(weight)
    torch.testing.assert_close(kept(x), expected)
    assert (len(kept.weights[0]), kept.steps) == (2, None)
    assert nets.weighted(torch.tensor([0.5, 0.0, 0.5])).steps is not None
