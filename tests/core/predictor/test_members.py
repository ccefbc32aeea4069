from __future__ import annotations

import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.config.predictor import Recipe
from maskrank.core.data.blocks import Blocks
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.tasks import RegressionTask
from maskrank.core.predictor.folds import Folds
from maskrank.core.predictor.members import Members, share_of, start_members

CONFIG = DEFAULT.predictor
PLAIN = Recipe(decay=0.0)
ONE_FOLD = Folds(torch.tensor([[0]]), torch.tensor([[1]]))
TWO_FOLDS = Folds(torch.tensor([[1], [0]]), torch.tensor([[0], [1]]))


def constants(*values: float) -> StackedMLP:
    """Nets that answer with these numbers, whatever they see."""
    n = len(values)
    return StackedMLP([torch.zeros((n, 1, 1))], [torch.tensor(values, dtype=torch.float32).view(n, 1, 1)], "silu")


def biases(nets: StackedMLP) -> list[float]:
    return nets.biases[0].flatten().tolist()


def test_the_best_recipes_are_kept_each_at_its_best_moment() -> None:
    members = Members(constants(0, 0, 0, 0), ONE_FOLD, [PLAIN] * 4, [], CONFIG)
    for step, losses in ((20, [4.0, 1.0, 3.0, 2.0]), (40, [5.0, 5.0, 0.5, 5.0])):
        for average in members.average.parameters():
            average.data.fill_(step)
        members.keep_better(torch.tensor(losses), step)
    assert members.best_step == 40
    assert members.watched_loss == 0.75
    assert biases(members.best_recipes(2).nets) == [40.0, 20.0]
    assert biases(members.best) == [20.0, 20.0, 40.0, 20.0]


def test_of_cross_fitted_recipes_the_best_over_the_further_folds_is_kept() -> None:
    members = Members(constants(0, 1, 2, 3), TWO_FOLDS, [PLAIN] * 4, [], CONFIG)
    members.keep_better(torch.tensor([0.0, 9.0, 5.0, 3.0]), 20)
    best = members.best_recipes(1)
    assert biases(best.nets) == [2.0, 3.0]
    assert best.fold.tolist() == [0, 1]
    assert best.lowest.tolist() == [3.0, 3.0]
    assert members.watched_loss == 3.0


def test_rows_held_out_in_the_first_fold_choose_nothing() -> None:
    """Two runs that differ in the first fold's losses alone keep the same nets at the same moments."""
    kept = []
    for first in ([1.0, 9.0, 9.0], [9.0, 9.0, 1.0]):
        members = Members(constants(0, 0, 0, 0), TWO_FOLDS, [PLAIN] * 4, [], CONFIG)
        for step, (own, further) in enumerate(zip(first, [4.0, 2.0, 3.0], strict=True), start=1):
            for average in members.average.parameters():
                average.data.fill_(step)
            members.keep_better(torch.tensor([own, further, 2 * own, further + 1]), step)
        kept.append((biases(members.best), members.lowest.tolist(), members.best_step, members.watched_loss))
    assert kept[0] == kept[1]
    assert kept[0][0] == [2.0] * 4


def test_each_net_is_judged_by_the_rows_it_did_not_learn_from() -> None:
    members = Members(constants(1, 2), TWO_FOLDS, [PLAIN] * 2, [], CONFIG)
    assert members.draw(3, torch.Generator()).tolist() == [[1, 1, 1], [0, 0, 0]]
    members.validate(RegressionTask(), torch.zeros((2, 1, 1)), torch.tensor([[[1.0]], [[2.0]]]), 20)
    assert members.lowest.tolist() == [0.0, 0.0]


def test_noise_and_decay_are_those_of_each_recipe(generator: torch.Generator) -> None:
    nets = StackedMLP([torch.ones((2, 1, 1))], [torch.zeros((2, 1, 1))], "silu")
    members = Members(nets, ONE_FOLD, [PLAIN, Recipe(decay=0.5, input_noise=2.0)], [], CONFIG)
    noise = members.add_noise(torch.zeros((2, 1000, 1)), generator).std(dim=1).flatten()
    assert noise[0] == 0
    assert 1.9 < noise[1] < 2.1
    members.follow(0.1, 1)
    torch.testing.assert_close(members.nets.weights[0].detach().flatten(), torch.tensor([1.0, 0.95]))


def test_averages_forget_the_start_soon_and_then_move_by_a_fiftieth() -> None:
    members = Members(constants(0.0), ONE_FOLD, [PLAIN], [], CONFIG)
    members.nets.biases[0].data.fill_(1.0)
    members.follow(0.0, 1)
    assert biases(members.average) == pytest.approx([10 / 11])
    members.average.biases[0].data.fill_(0.0)
    members.follow(0.0, 10_000)
    assert biases(members.average) == pytest.approx([0.02])


def test_members_start_connected_as_their_recipes_say_and_leave_an_encoding_none_of_the_best_sees(
    generator: torch.Generator,
) -> None:
    x = torch.randn((50, 2), generator=generator)
    members = start_members(
        [PLAIN, Recipe(decay=0.0, encoded=True)],
        ONE_FOLD,
        PiecewiseLinearEncoding.fit(x, 4, CONFIG),
        torch.ones(2, dtype=torch.bool),
        Blocks.single(2),
        n_outputs=1,
        activation="silu",
        config=CONFIG,
        generator=generator,
    )
    first = members.nets.weights[0]  # (members, 2 + 2 * 4, units)
    assert first.shape[:2] == (2, 10)
    assert (first != 0).any(dim=2).tolist() == [[True] * 2 + [False] * 8, [True] * 10]
    assert first[0, :2].std() > 1.5 * first[1].std()  # fewer inputs, larger weights
    for losses, width in (([1.0, 2.0], 2), ([2.0, 1.0], 10)):
        members.lowest = torch.tensor(losses)
        best = members.best_recipes(1)
        assert best.nets.weights[0].shape[1] == width
        assert (best.nets.encoding is None) == (width == 2)


@pytest.mark.parametrize("n", [1, 2, 3, 40, 59, 60, 200, 600, 700])
def test_a_share_is_rounded_down_as_whole_numbers_are(n: int) -> None:
    assert share_of(n, 1 / 3) == n // 3
    assert share_of(n, 0.5) == n // 2
