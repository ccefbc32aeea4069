from __future__ import annotations

import copy
import math
from dataclasses import replace
from unittest import mock

import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import build_operator, build_selector
from maskrank.core.method.exploration import UniformExploration
from maskrank.core.method.tasks import BinaryTask
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.proposals.cross_fitting import crossfit
from maskrank.core.proposals.matching_pursuit import Hint
from maskrank.core.selection import tournament as contest
from maskrank.core.selection.tournament import _challengers, _winner, hold_contest

D = 12
CONFIG = DEFAULT.using(operator_hidden=(16,), selector_hidden=(16,), max_batches=40, calibration__n_subsets=32)


def xor_trainer(seed: int = 0) -> DualNetTrainer:
    """Class 1 where features 4 and 9 have the same sign; the nets are as they begin."""
    g = torch.Generator().manual_seed(seed)
    x = torch.randn((500, D), generator=g)
    y = (x[:, 4] * x[:, 9] > 0).long()
    task, rows = BinaryTask(), Rows(x[:400], y[:400])
    return DualNetTrainer(
        build_operator(task, D, 2, config=CONFIG, generator=g),
        build_selector(D, 2, config=CONFIG, generator=g),
        task,
        rows,
        Rows(x[400:], y[400:]),
        size=2,
        config=CONFIG,
        exploration=UniformExploration(D, 2, g),
        generator=g,
    )


def test_a_clear_pair_that_the_search_left_out_wins() -> None:
    chosen = hold_contest(xor_trainer(), torch.tensor([0, 1]), Hint([(4, 9)], {(4, 9): 5.0}, [], []))
    assert chosen.tolist() == [4, 9]


def test_noise_that_won_a_screen_by_chance_does_not_win_the_contest() -> None:
    hint = Hint([(2,), (3, 5), (4, 9)], {(2,): 30.0, (3, 5): 20.0, (4, 9): 1.0}, [], [])
    assert hold_contest(xor_trainer(), torch.tensor([4, 9]), hint).tolist() == [4, 9]


def test_a_unit_hardly_beyond_chance_does_not_displace_a_weak_feature_that_is_true() -> None:
    kept = 0
    for seed in range(4):
        trainer = xor_trainer(seed)
        x = trainer.rows.all().dense()
        g = torch.Generator().manual_seed(seed)
        y = (x[:, 0] + 0.3 * x[:, 1] + 0.7 * torch.randn(len(x), generator=g) > 0).long()
        trainer.rows = Rows(x, y)
        hint = Hint([(0,), (7,)], {(0,): 30.0, (7,): 0.1}, [], [])
        kept += hold_contest(trainer, torch.tensor([0, 1]), hint).tolist() == [0, 1]
    assert kept >= 3


def test_features_whose_lines_explain_most_together_challenge_too() -> None:
    trainer = xor_trainer()
    x = trainer.rows.all().dense()
    trainer.rows = Rows(x, (x[:, 4] + x[:, 9] > 0).long())
    assert hold_contest(trainer, torch.tensor([0, 1]), Hint([], {}, [], [4, 9, 2])).tolist() == [4, 9]


def test_the_scores_follow_a_new_choice() -> None:
    trainer = xor_trainer()
    optimal, hint = torch.tensor([0, 1]), Hint([(4, 9)], {(4, 9): 5.0}, [], [])
    operator, selector = (copy.deepcopy(net.state_dict()) for net in (trainer.operator, trainer.selector))
    chosen = hold_contest(trainer, optimal, hint)
    assert chosen.tolist() == [4, 9]
    for net, before in ((trainer.operator, operator), (trainer.selector, selector)):
        assert any(not torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_a_handful_of_rows_holds_no_contest() -> None:
    trainer, optimal = xor_trainer(), torch.tensor([0, 1])
    trainer.rows = Rows(torch.randn(5, D), torch.tensor([0, 1, 0, 1, 0]))
    assert hold_contest(trainer, optimal, Hint([(4, 9)], {(4, 9): 5.0}, [], [])) is optimal


def test_without_a_missing_unit_no_net_is_trained() -> None:
    optimal = torch.tensor([4, 9])
    with mock.patch.object(contest, "crossfit", side_effect=AssertionError):
        for hint in (Hint([(4, 9)], {(4, 9): 5.0}, [], []), Hint([(1,)], {}, [], [])):
            assert hold_contest(xor_trainer(), optimal, hint) is optimal


def test_of_subsets_that_cannot_be_told_apart_the_one_with_more_evidence_wins() -> None:
    g = torch.Generator().manual_seed(0)
    losses = 0.5 + 0.1 * torch.randn((3, 400), generator=g)
    losses[2] += 0.1  # clearly worse
    lowest = int(losses.mean(dim=1).argmin())
    assert _winner(losses, torch.tensor([1.0, 3.0, 9.0])) == 1
    assert _winner(losses, torch.tensor([3.0, 1.0, 9.0])) == 0
    for seen in ([1.0, 1.0, 1.0], [1.0, 1.4, 9.0], [1.4, 1.0, 9.0]):
        assert _winner(losses, torch.tensor(seen)) == lowest


@pytest.mark.parametrize(
    ("errors", "more", "wins"), [(0.1, 0.4, 0), (0.1, 0.6, 1), (2, 2.4, 0), (2, 2.6, 1), (4, 8.6, 1)]
)
def test_what_was_seen_makes_up_for_a_higher_loss_by_half_its_square(errors: float, more: float, wins: int) -> None:
    """A mean that lies so many standard errors higher needs half their square, and a half, in what the screens saw."""
    difference = torch.randn(400, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    difference = (difference - difference.mean()) / difference.std() + errors / math.sqrt(400)
    losses = torch.stack([torch.ones(400, dtype=torch.float64), 1 + difference])
    assert _winner(losses, torch.tensor([1.0, 1.0 + more])) == wins


def test_challengers_have_the_size_of_the_subset_and_hold_what_was_missing() -> None:
    best, importance = torch.tensor([0, 1, 2, 3]), torch.tensor([0.4, 0.3, 0.2, 0.1, *[0.0] * 8])
    made = _challengers(best, Hint([], {(7, 8): 3.0, (0,): 2.0, (9,): 1.0}, [11], []), importance)
    assert made[0] == (0, 7, 8, 9)  # all that is clear
    assert (0, 1, 7, 8) in made  # the least important leave first
    assert (0, 1, 2, 9) in made
    assert all(len(set(subset)) == 4 and list(subset) == sorted(subset) for subset in made)
    assert len(set(made)) == len(made)
    assert tuple(best.tolist()) not in made


def test_companions_fill_what_room_is_left() -> None:
    best, importance = torch.tensor([0, 1, 2, 3]), torch.zeros(12)
    made = _challengers(best, Hint([], {(7,): 3.0}, [10, 11], []), importance)
    assert any({7, 10, 11} < set(subset) for subset in made)


def test_crossfit_judges_rows_that_its_nets_did_not_learn_from() -> None:
    """On labels drawn by lot, no net can be better than chance on other rows, and any net is on its own."""
    g = torch.Generator().manual_seed(0)
    rows = Rows(torch.randn((90, 6), generator=g), torch.randint(2, (90,), generator=g))
    fitted = crossfit(BinaryTask(), rows, torch.tensor([[0, 1, 2, 3]]), config=DEFAULT, generator=g)
    assert float(fitted.losses.mean()) > 0.65
    assert sorted(fitted.rows.tolist()) == list(range(90))
    residual = fitted.unexplained[0, :, 0]
    targets = rows.y[fitted.rows].float()
    assert ((residual >= 0) == (targets == 1)).all()  # target minus prediction


def test_crossfit_treats_equal_subsets_alike() -> None:
    trainer = xor_trainer()
    subsets = torch.tensor([[4, 9], [4, 9], [0, 1]])
    fitted = crossfit(trainer.task, trainer.rows, subsets, config=CONFIG, generator=trainer.generator)
    torch.testing.assert_close(fitted.losses[0], fitted.losses[1], rtol=1e-3, atol=1e-4)
    assert fitted.losses[0].mean() < 0.4 < fitted.losses[2].mean()


def test_what_an_elimination_leaves_wins_by_its_nets_alone() -> None:
    chosen = hold_contest(xor_trainer(), torch.tensor([0, 1]), Hint(clear={(0,): 30.0, (1,): 30.0}, left=[9, 4]))
    assert chosen.tolist() == [4, 9]
    kept = hold_contest(xor_trainer(), torch.tensor([4, 9]), Hint(clear={(0,): 30.0, (1,): 30.0}, left=[0, 1]))
    assert kept.tolist() == [4, 9]


def test_a_contest_is_shorter_where_an_elimination_proposes() -> None:
    hints = Hint(clear={(0,): 30.0}, left=[9, 4]), Hint([(4, 9)], {(4, 9): 5.0}, [], [])
    with (
        mock.patch.object(contest, "crossfit", wraps=crossfit) as nets,
        mock.patch.object(contest, "settle", wraps=contest.settle) as settled,
    ):
        for hint in hints:
            assert hold_contest(xor_trainer(), torch.tensor([0, 1]), hint).tolist() == [4, 9]
    assert [call.kwargs["most_steps"] for call in nets.call_args_list] == [200, 300]
    assert [call.kwargs["batches"] for call in settled.call_args_list] == [80, 160]


def test_nets_take_no_more_steps_than_they_may() -> None:
    trainer = xor_trainer()
    losses = [
        crossfit(
            trainer.task,
            trainer.rows,
            torch.tensor([[4, 9]]),
            config=replace(CONFIG, max_batches=most_batches),
            generator=torch.Generator().manual_seed(0),
            most_steps=most_steps,
        ).losses
        for most_batches, most_steps in ((100, 30), (30, 300), (60, 60))
    ]
    assert torch.equal(losses[0], losses[1])
    assert not torch.equal(losses[0], losses[2])


def test_a_clear_pair_competes_beside_what_an_elimination_leaves() -> None:
    chosen = hold_contest(xor_trainer(), torch.tensor([0, 1]), Hint(clear={(0,): 9.0, (4, 9): 1.0}, left=[0, 2]))
    assert chosen.tolist() == [4, 9]


def test_no_contest_where_the_search_found_what_the_elimination_leaves() -> None:
    optimal = torch.tensor([4, 9])
    with mock.patch.object(contest, "crossfit") as crossfit_:
        assert hold_contest(xor_trainer(), optimal, Hint(left=[9, 4, 1])) is optimal
    assert not crossfit_.called
