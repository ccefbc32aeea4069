from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.training import DualNetTrainer
from maskrank.core.proposals.proposal import Proposal, SearchPolicy
from maskrank.core.selection.tournament import best_candidate, hold_tournament
from tests.core.selection.trainers import CONFIG, D, xor_trainer


def proposal(evidence: dict[tuple[int, ...], float] | None = None, **found: Any) -> Proposal:
    return Proposal(torch.arange(D), SearchPolicy.of(CONFIG), evidence=evidence or {}, **found)


def eliminated(order: list[int], evidence: dict[tuple[int, ...], float] | None = None) -> Proposal:
    policy = SearchPolicy.of_elimination(CONFIG, few_rows=False)
    return Proposal(torch.arange(D), policy, evidence=evidence or {}, elimination_order=order)


def is_untouched(trainer: DualNetTrainer, optimal: torch.Tensor, proposed: Proposal) -> bool:
    """Whether the tournament leaves m_opt, and draws no random number: no net was trained."""
    before = trainer.generator.get_state()
    held = hold_tournament(trainer, optimal, proposed)
    return held is optimal and torch.equal(before, trainer.generator.get_state())


def test_a_significant_pair_that_the_search_left_out_wins() -> None:
    assert hold_tournament(xor_trainer(), torch.tensor([0, 1]), proposal({(4, 9): 5.0})).tolist() == [4, 9]


def test_features_of_a_pool_keep_their_numbers() -> None:
    trainer = xor_trainer(pool=(0, 1, 4, 9, 11))
    assert hold_tournament(trainer, torch.tensor([0, 1]), proposal({(4, 9): 5.0})).tolist() == [4, 9]


def test_noise_that_passed_a_screen_by_chance_does_not_win() -> None:
    proposed = proposal({(2,): 30.0, (3, 5): 20.0, (4, 9): 1.0})
    assert hold_tournament(xor_trainer(), torch.tensor([4, 9]), proposed).tolist() == [4, 9]


def test_a_group_hardly_beyond_chance_does_not_displace_a_weak_feature_that_is_true() -> None:
    kept = 0
    for seed in range(4):
        trainer = xor_trainer(seed)
        x = trainer.rows.all().dense()
        g = torch.Generator().manual_seed(seed)
        y = (x[:, 0] + 0.3 * x[:, 1] + 0.7 * torch.randn(len(x), generator=g) > 0).long()
        trainer.rows = Rows(x, y)
        kept += hold_tournament(trainer, torch.tensor([0, 1]), proposal({(0,): 30.0, (7,): 0.1})).tolist() == [0, 1]
    assert kept >= 3


def test_the_linear_elimination_order_is_a_candidate() -> None:
    trainer = xor_trainer()
    x = trainer.rows.all().dense()
    trainer.rows = Rows(x, (x[:, 4] + x[:, 9] > 0).long())
    proposed = proposal(linear_order=[4, 9, 2])
    assert hold_tournament(trainer, torch.tensor([0, 1]), proposed).tolist() == [4, 9]


def test_correlated_features_fill_the_room_that_significant_ones_leave() -> None:
    proposed = proposal({(4,): 9.0}, correlated=[9, 11])
    assert hold_tournament(xor_trainer(), torch.tensor([0, 1]), proposed).tolist() == [4, 9]


def test_a_handful_of_rows_holds_no_tournament() -> None:
    trainer = xor_trainer()
    trainer.rows = Rows(torch.randn(5, D), torch.tensor([0, 1, 0, 1, 0]))
    assert is_untouched(trainer, torch.tensor([0, 1]), proposal({(4, 9): 5.0}))


def test_no_net_is_trained_where_nothing_is_missing_or_it_is_switched_off() -> None:
    optimal = torch.tensor([4, 9])
    assert is_untouched(xor_trainer(), optimal, proposal({(4, 9): 5.0}))
    assert is_untouched(xor_trainer(), optimal, proposal(groups=[(1,)]))
    assert is_untouched(xor_trainer(), optimal, eliminated([9, 4, 1]))
    off = CONFIG.using(tournament__enabled=False)
    assert is_untouched(xor_trainer(config=off), torch.tensor([0, 1]), proposal({(4, 9): 5.0}))


def test_of_subsets_that_cannot_be_told_apart_the_one_with_more_evidence_wins() -> None:
    g = torch.Generator().manual_seed(0)
    losses = 0.5 + 0.1 * torch.randn((3, 400), generator=g)
    losses[2] += 0.1  # clearly worse
    lowest = int(losses.mean(dim=1).argmin())
    assert best_candidate(losses, torch.tensor([1.0, 3.0, 9.0]), margin=0.5) == 1
    assert best_candidate(losses, torch.tensor([3.0, 1.0, 9.0]), margin=0.5) == 0
    for evidence in ([1.0, 1.0, 1.0], [1.0, 1.4, 9.0], [1.4, 1.0, 9.0]):
        assert best_candidate(losses, torch.tensor(evidence), margin=0.5) == lowest
    for evidence in ([1.0, 30.0, 9.0], [30.0, 1.0, 9.0]):
        assert best_candidate(losses, torch.tensor(evidence), margin=math.inf) == lowest


@pytest.mark.parametrize(
    ("errors", "more", "wins"), [(0.1, 0.4, 0), (0.1, 0.6, 1), (2, 2.4, 0), (2, 2.6, 1), (4, 8.6, 1)]
)
def test_evidence_makes_up_for_a_higher_loss_by_half_its_square(errors: float, more: float, wins: int) -> None:
    """A mean that lies so many standard errors higher needs half their square, and the margin, in evidence."""
    difference = torch.randn(400, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    difference = (difference - difference.mean()) / difference.std() + errors / math.sqrt(400)
    losses = torch.stack([torch.ones(400, dtype=torch.float64), 1 + difference])
    assert best_candidate(losses, torch.tensor([1.0, 1.0 + more]), margin=0.5) == wins


def test_the_survivors_of_an_elimination_win_by_their_losses_alone() -> None:
    against = {(0,): 30.0, (1,): 30.0}
    assert hold_tournament(xor_trainer(), torch.tensor([0, 1]), eliminated([9, 4], against)).tolist() == [4, 9]
    assert hold_tournament(xor_trainer(), torch.tensor([4, 9]), eliminated([0, 1], against)).tolist() == [4, 9]


def test_a_significant_pair_competes_beside_the_survivors_of_an_elimination() -> None:
    proposed = eliminated([0, 2], {(0,): 9.0, (4, 9): 1.0})
    assert hold_tournament(xor_trainer(), torch.tensor([0, 1]), proposed).tolist() == [4, 9]


def test_the_policy_of_an_elimination_is_a_shorter_search_in_which_losses_decide() -> None:
    config: TrainConfig = CONFIG.using(max_batches=2_000, phase1_batches=160)
    usual, short = SearchPolicy.of(config), SearchPolicy.of_elimination(config, few_rows=True)
    assert (usual.max_batches, short.max_batches) == (2_000, 160 + config.proposal.phase2_batches)
    assert (usual.cross_fitting_steps, short.cross_fitting_steps) == (300, 200)
    assert usual.weighs_evidence
    assert not short.weighs_evidence
    assert short.may_reselect
    assert not usual.may_reselect
    off = config.using(reselection__enabled=False)
    assert not SearchPolicy.of_elimination(off, few_rows=True).may_reselect
    assert not SearchPolicy.of_elimination(config, few_rows=False).may_reselect


def test_the_policy_says_for_how_many_steps_candidates_are_cross_fitted() -> None:
    """Each step draws a batch: other numbers of steps end elsewhere in the random stream."""
    states = []
    for steps in (4, 8, 8):
        trainer, proposed = xor_trainer(), proposal({(4, 9): 5.0})
        policy = replace(proposed.policy, cross_fitting_steps=steps, tournament_rounds=1)
        hold_tournament(trainer, torch.tensor([4, 10]), replace(proposed, policy=policy))
        states.append(trainer.generator.get_state())
    assert not torch.equal(states[0], states[1])
    assert torch.equal(states[1], states[2])


def test_evidence_may_be_left_out_of_the_decision() -> None:
    """Noise with overwhelming evidence beats other noise, unless losses alone decide."""
    chosen = []
    for weighs in (True, False):
        trainer = xor_trainer(config=CONFIG.using(tournament__weighs_evidence=weighs, cross_fitting__steps=1))
        chosen.append(hold_tournament(trainer, torch.tensor([0, 1]), proposal({(2,): 40.0})).tolist())
    assert 2 in chosen[0]
    assert chosen[0] != chosen[1]
