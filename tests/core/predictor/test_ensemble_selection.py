from __future__ import annotations

import pytest
import torch

from maskrank.core.method.tasks import RegressionTask
from maskrank.core.predictor.ensemble_selection import few_members, greedy_selection


def test_the_selected_mean_beats_its_best_model_and_leaves_out_what_does_not_help(generator: torch.Generator) -> None:
    y = torch.randn((200, 1), generator=generator)
    good = y + 0.5 * torch.randn((2, 200, 1), generator=generator)
    bad = torch.randn((1, 200, 1), generator=generator) * 5
    outputs = torch.cat([good, bad])
    weight = greedy_selection(RegressionTask(), outputs, y, n_picks=12)
    torch.testing.assert_close(weight.sum(), torch.tensor(1.0))
    assert weight[2] == 0
    mixed = ((weight.view(-1, 1, 1) * outputs).sum(dim=0) - y).square().mean()
    assert mixed < 0.7 * (outputs - y).square().mean(dim=(1, 2)).min()


def test_one_pick_is_the_best_model() -> None:
    y = torch.zeros((4, 1))
    outputs = torch.tensor([2.0, -1.0, 3.0]).view(3, 1, 1).expand(3, 4, 1)
    assert greedy_selection(RegressionTask(), outputs, y, n_picks=1).tolist() == [0.0, 1.0, 0.0]
    assert greedy_selection(RegressionTask(), outputs, y, n_picks=3)[1] == torch.tensor(2 / 3)  # 2 - 1 - 1 = 0


@pytest.mark.parametrize(("n_recipes", "n_folds", "n"), [(5, 10, 6), (3, 3, 6), (1, 10, 4), (8, 1, 6), (2, 3, 1)])
def test_few_members_stand_for_many(n_recipes: int, n_folds: int, n: int, generator: torch.Generator) -> None:
    recipes = torch.rand(n_recipes, generator=generator)
    weight = (recipes / recipes.sum() / n_folds).repeat_interleave(n_folds)
    few = few_members(weight, n_folds, n)
    assert 1 <= int((few > 0).sum()) <= n
    torch.testing.assert_close(few.sum(), weight.sum())
    shares = (few - weight).view(n_recipes, n_folds).sum(dim=1)
    assert shares.abs().max() <= 1 / n, "each recipe keeps its share, as far as it can"
    used = (few.view(n_recipes, n_folds).sum(dim=0) > 0).sum()
    assert used == min(n, n_folds), "as many folds as possible have a part"


def test_a_few_members_are_left_as_they_are() -> None:
    weight = torch.tensor([0.5, 0.0, 0.3, 0.2])
    assert few_members(weight, 2, 3) is weight
