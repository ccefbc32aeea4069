from __future__ import annotations

import pytest
import torch
from maskrank.core.predictor.ensemble import Recipe
from maskrank.core.predictor.refit import _ways, fine_tune, refit_mlp
from torch import nn

from maskrank.core.config import DEFAULT
from maskrank.core.data.rows import Rows
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.operators import MaskedModule
from maskrank.core.method.tasks import BinaryTask, RegressionTask, Task, subset_losses
from maskrank.core.predictor.members import Members, Parts, Refitted, _stacked, hold_out
from maskrank.core.recorder import Progress

SUBSET = torch.tensor([0, 2, 3])
ONE_WAY = Parts(torch.tensor([[0]]), torch.tensor([[1]]))


def some_rows(generator: torch.Generator, n: int = 80) -> tuple[Rows, Rows]:
    x = torch.randn((n, 5), generator=generator)
    y = (x[:, 0] * x[:, 2]).unsqueeze(1)
    return Rows(x[: n // 2], y[: n // 2]), Rows(x[n // 2 :], y[n // 2 :])


def test_members_look_at_all_or_at_the_first_features_of_the_ranking(generator: torch.Generator) -> None:
    rows, validation = some_rows(generator)
    config = DEFAULT.using(predictor__cycles=(40,))
    importance = torch.tensor([0.5, 0.9, 0.1])  # of features 0, 2 and 3
    ensemble = refit_mlp(RegressionTask(), rows, validation, SUBSET, importance, config=config, generator=generator)
    used = ensemble.predictor.weights[0].abs().sum(dim=2) > 0  # (members, s)
    assert len(used) == DEFAULT.predictor.n_recipes // 2
    for member in used.tolist():
        assert member in ([True, True, True], [True, True, False])
    assert len({tuple(member) for member in used.tolist()}) > 1


def test_the_best_recipes_are_kept_each_at_its_best_moment() -> None:
    nets = StackedMLP([torch.zeros((4, 1, 1))], [torch.zeros((4, 1, 1))], "silu")
    members = Members(nets, ONE_WAY, [Recipe(0.0)] * 4, [])
    for step, judged in ((20, [4.0, 1.0, 3.0, 2.0]), (40, [5.0, 5.0, 0.5, 5.0])):
        for average in members._average.parameters():
            average.data.fill_(step)
        members.update(torch.tensor(judged), step)
    assert members.best_step == 40
    assert members.figure == 0.75
    assert members.best(2).nets.weights[0].flatten().tolist() == [40.0, 20.0]
    assert members.alike().predictor.weights[0].flatten().tolist() == [20.0, 20.0, 40.0, 20.0]


def test_of_recipes_followed_several_times_the_best_on_average_is_kept() -> None:
    nets = StackedMLP([torch.arange(4.0).view(4, 1, 1)], [torch.zeros((4, 1, 1))], "silu")
    two_ways = Parts(torch.tensor([[0], [1]]), torch.tensor([[1], [0]]))
    members = Members(nets, two_ways, [Recipe(0.0)] * 4, [])
    members.update(torch.tensor([0.0, 9.0, 2.0, 3.0]), 20)
    assert members.best(1).nets.weights[0].flatten().tolist() == [2.0, 3.0]
    assert members.best(1).alike().judged.weights[0].flatten().tolist() == [2.0]


def test_nets_learn_from_validation_rows_only_where_they_may_and_rows_are_not_very_many(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With targets of the validation rows that nothing in the training rows tells of."""
    x = torch.randn((100, 3), generator=generator)
    rows, validation = Rows(x[:80], torch.zeros((80, 1))), Rows(x[80:], torch.ones((20, 1)))

    def refitted(**options: bool) -> Refitted:
        subset, importance = torch.arange(3), torch.ones(3)
        again = torch.Generator().manual_seed(3)
        config = DEFAULT.using(predictor__cycles=(60,))
        return refit_mlp(
            RegressionTask(), rows, validation, subset, importance, config=config, generator=again, **options
        )

    def mean(net: nn.Module) -> float:
        with torch.no_grad():
            return float(net(x[80:]).mean())

    apart, together = refitted(), refitted(learn_all=True)
    assert mean(together.predictor) > 0.15
    assert abs(mean(apart.predictor)) < 0.05
    assert abs(mean(together.judged)) < 0.05
    monkeypatch.setattr("maskrank.core.predictor.refit._MOST_IN_TURN", 99)
    torch.testing.assert_close(refitted(learn_all=True).predictor(x), apart.predictor(x))


def test_rows_that_are_judged_in_parts_are_judged_alike(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, validation = some_rows(generator)
    config, x = DEFAULT.using(predictor__cycles=(40,)), torch.randn((20, 3), generator=generator)

    def answers() -> torch.Tensor:
        again = torch.Generator().manual_seed(3)
        refitted = refit_mlp(
            RegressionTask(), rows, validation, SUBSET, torch.ones(3), config=config, generator=again, learn_all=True
        )
        return refitted.predictor(x)

    whole = answers()
    monkeypatch.setattr("maskrank.core.predictor.members._JUDGED_AT_ONCE", 1)
    torch.testing.assert_close(answers(), whole)


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_a_handful_of_rows_is_enough(n: int, generator: torch.Generator) -> None:
    x = torch.randn((n, 5), generator=generator)
    rows, validation = Rows(x[:-1], x[:-1, :1]), Rows(x[-1:], x[-1:, :1])
    config = DEFAULT.using(predictor__cycles=(20,))
    refitted = refit_mlp(
        RegressionTask(), rows, validation, SUBSET, torch.ones(3), config=config, generator=generator, learn_all=True
    )
    assert refitted.predictor(x[:, SUBSET]).isfinite().all()


def test_noise_and_decay_are_those_of_each_recipe(generator: torch.Generator) -> None:
    nets = StackedMLP([torch.ones((2, 1, 1))], [torch.zeros((2, 1, 1))], "silu")
    members = Members(nets, ONE_WAY, [Recipe(0.0), Recipe(0.5, jitter=2.0)], [])
    noise = members.with_jitter(torch.zeros((2, 1000, 1)), generator).std(dim=1).flatten()
    assert noise[0] == 0
    assert 1.9 < noise[1] < 2.1
    members.moved(0.1, 1)
    torch.testing.assert_close(members.nets.weights[0].detach().flatten(), torch.tensor([1.0, 0.95]))


def test_an_additive_net_is_a_sum_of_nets_of_one_feature_each(generator: torch.Generator) -> None:
    """Also after training: what one feature changes does not depend on the others."""
    x = torch.randn((200, 3), generator=generator)
    y = (x[:, :1].sin() + x[:, 1:2].abs() + 0.1 * x[:, :1] * x[:, 2:]).float()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("maskrank.core.predictor.ensemble._RECIPES", (Recipe(0.1, additive=True),))
        refitted = refit_mlp(
            RegressionTask(),
            Rows(x[:160], y[:160]),
            Rows(x[160:], y[160:]),
            torch.arange(3),
            torch.ones(3),
            config=DEFAULT.using(predictor__cycles=(60, 60), predictor__n_recipes=2),
            generator=generator,
            learn_all=True,
        )
    one, other = torch.randn((2, 50, 3), generator=generator)

    def change(rest: torch.Tensor) -> torch.Tensor:
        """By moving the first feature, beside some values of the rest."""
        there, here = (refitted.predictor(torch.cat([first[:, :1], rest[:, 1:]], dim=1)) for first in (one, other))
        return there - here

    torch.testing.assert_close(change(one), change(other), atol=1e-4, rtol=1e-3)
    assert change(one).std() > 0.1


def test_each_net_is_judged_by_the_rows_it_did_not_learn_from() -> None:
    nets = StackedMLP([torch.zeros((2, 1, 1))], [torch.tensor([1.0, 2.0]).view(2, 1, 1)], "silu")
    two_ways = Parts(torch.tensor([[1], [0]]), torch.tensor([[0], [1]]))
    members = Members(nets, two_ways, [Recipe(0.0)] * 2, [])
    members.judge(RegressionTask(), torch.zeros((2, 1, 1)), torch.tensor([[[1.0]], [[2.0]]]), 20)
    assert members.lowest.tolist() == [0.0, 0.0]


def test_edges_in_the_target_are_met_by_nets_with_steps_whose_bins_know_the_training_rows_alone(
    generator: torch.Generator,
) -> None:
    x = torch.rand((200, 1), generator=generator)
    x[160:] *= 2
    y = (4 * x).floor() % 2
    rows, validation = Rows(x[:160], y[:160]), Rows(x[160:], y[160:])
    config, only = DEFAULT.using(predictor__cycles=(100,)), torch.zeros(1, dtype=torch.long)
    refitted = refit_mlp(
        RegressionTask(), rows, validation, only, torch.ones(1), config=config, generator=generator, learn_all=True
    )
    assert isinstance(refitted.predictor, StackedMLP)
    assert refitted.predictor.steps is not None
    assert refitted.predictor.steps.get_buffer("edges").max() <= x[:160].max()


def test_a_shorter_list_of_rows_begins_again_with_rows_by_lot(generator: torch.Generator) -> None:
    again = set()
    for _ in range(20):
        longer, shorter = _stacked([torch.arange(5), torch.tensor([7, 8])], generator).tolist()
        assert longer == [0, 1, 2, 3, 4]
        assert shorter[:4] == [7, 8, 7, 8]
        again.add(shorter[4])
    assert again == {7, 8}


def test_of_very_many_validation_rows_some_judge_and_none_is_learned_from(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("maskrank.core.predictor.members._MOST_JUDGES", 4)
    parts = hold_out(torch.zeros(30), 20, generator, ways=1)
    assert parts.held.tolist() == [[20, 23, 26, 29]]
    assert parts.learned.tolist() == [list(range(20))]


def test_in_many_ways_fewer_rows_are_held_out_in_each_and_more_learned_from(generator: torch.Generator) -> None:
    parts = hold_out(torch.arange(100) % 2, 80, generator, ways=10)
    assert [len(set(held.tolist())) for held in parts.held] == [20, *[9] * 8, 8]
    assert set(parts.held.flatten().tolist()) == set(range(100))
    for learned, held in zip(parts.learned, parts.held, strict=True):
        assert not set(learned.tolist()) & set(held.tolist())
        assert len(set(learned.tolist())) == 100 - len(set(held.tolist()))


@pytest.mark.parametrize("ways", [3, 5])
def test_no_row_is_held_out_twice_and_each_part_has_its_share_of_the_classes(
    ways: int, generator: torch.Generator
) -> None:
    y = torch.arange(100) % 2
    parts = hold_out(y, 80, generator, ways=ways)
    assert parts.held[0].tolist() == list(range(80, 100))
    assert parts.held.shape == (ways, 20)
    assert len(set(parts.held.flatten().tolist())) == 20 * ways
    assert all(y[held].sum() == 10 for held in parts.held)
    for learned, held in zip(parts.learned.tolist(), parts.held.tolist(), strict=True):
        assert sorted(learned + held) == list(range(100))


@pytest.mark.parametrize(
    ("rows", "held", "ways"),
    [
        (8, 2, 3),
        (24, 6, 5),
        (80, 20, 10),
        (150, 38, 8),
        (300, 75, 4),
        (410, 102, 3),
        (4000, 1000, 3),
        (20_000, 5_000, 1),
        (1, 1, 1),
    ],
)
def test_the_fewer_rows_are_held_out_the_more_ways_there_are(rows: int, held: int, ways: int) -> None:
    assert _ways(rows, held) == ways


def test_an_ensemble_answers_with_the_mean_of_its_members(generator: torch.Generator) -> None:
    weights = [torch.randn((3, 2, 4), generator=generator), torch.randn((3, 4, 1), generator=generator)]
    biases = [torch.randn((3, 1, 4), generator=generator), torch.randn((3, 1, 1), generator=generator)]
    x = torch.randn((6, 2), generator=generator)
    single = [StackedMLP([w[[k]] for w in weights], [b[[k]] for b in biases], "silu")(x) for k in range(3)]
    torch.testing.assert_close(StackedMLP(weights, biases, "silu")(x), torch.stack(single).mean(dim=0))


class OneLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(5, 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


def test_fine_tuning_never_ends_worse_on_the_validation_rows(generator: torch.Generator) -> None:
    rows, validation = some_rows(generator)
    operator = MaskedModule(OneLayer(), torch.arange(5), 5)
    task = RegressionTask()
    before = float(subset_losses(operator, task, validation.all(), SUBSET.unsqueeze(0)).detach())
    told: list[Progress] = []
    wild = DEFAULT.using(operator_rate=30.0, predictor__cycles=(60,))
    fine_tune(operator, task, rows, validation, SUBSET, config=wild, generator=generator, callbacks=[told.append])
    after = float(subset_losses(operator, task, validation.all(), SUBSET.unsqueeze(0)).detach())
    assert after == pytest.approx(min(before, told[-1].validation))


@pytest.mark.parametrize("task", [RegressionTask(), BinaryTask()])
@pytest.mark.parametrize(("worth", "steps"), [(-1.0, 60), (2.0, 20)])
def test_another_cycle_begins_while_the_last_was_worth_it(
    worth: float, steps: int, task: Task, generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers and classes have a threshold each."""
    numbers = isinstance(task, RegressionTask)
    mine, other = ("_WORTH_MORE_NUMBERS", "_WORTH_MORE") if numbers else ("_WORTH_MORE", "_WORTH_MORE_NUMBERS")
    monkeypatch.setattr(f"maskrank.core.predictor.refit.{mine}", worth)
    monkeypatch.setattr(f"maskrank.core.predictor.refit.{other}", 1.0 - worth)
    monkeypatch.setattr("maskrank.core.predictor.refit._VALIDATE_EVERY", 5)
    parts = some_rows(generator)
    if not numbers:
        parts = tuple(Rows(part.all().dense(), (part.y[:, 0] > 0).long()) for part in parts)
    told: list[Progress] = []
    config = DEFAULT.using(predictor__cycles=(20, 40), predictor__rate=1e-3)
    importance = torch.tensor([0.1, 0.9, 0.5])
    refit_mlp(task, *parts, SUBSET, importance, config=config, generator=generator, callbacks=[told.append])
    assert told[-1].batch == steps
