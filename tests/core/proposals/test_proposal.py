from __future__ import annotations

import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.proposals.proposal import Proposal, SearchPolicy, features_of, pool_with_random, round_robin

POLICY = SearchPolicy.of(DEFAULT)


def test_a_pool_has_the_proposed_features_and_a_share_of_others(generator: torch.Generator) -> None:
    proposed = [9, 3, 200, 3, 57]
    pool = pool_with_random(proposed, 1_000, share=0.5, generator=generator)
    assert (pool.diff() > 0).all()
    assert set(proposed) <= set(pool.tolist())
    assert len(pool) == 4 + 2
    others = [pool_with_random(proposed, 1_000, share=0.5, generator=generator) for _ in range(5)]
    assert len({tuple(some.tolist()) for some in [pool, *others]}) > 1


def test_a_pool_of_nearly_all_features_is_all_of_them(generator: torch.Generator) -> None:
    assert pool_with_random(range(8), 10, share=0.25, generator=generator).tolist() == list(range(10))


def test_lists_are_interleaved_and_each_group_comes_once() -> None:
    assert round_robin([(1,), (2,), (3,)], [(2,)], [(4, 5), (1,)]) == [(1,), (2,), (4, 5), (3,)]
    assert features_of([(4, 5), (5,), (1,)]) == [4, 5, 1]


@pytest.mark.parametrize(
    ("subset", "satisfied"), [((1, 2, 3), True), ((1, 2, 5), False), ((1, 3, 7), False), ((1, 2, 4), False)]
)
def test_significant_groups_and_the_linear_order_must_be_in(subset: tuple[int, ...], satisfied: bool) -> None:
    proposal = Proposal(torch.arange(9), POLICY, [(1, 2)], {(1, 2): 3.0}, linear_order=[1, 2, 3, 4])
    assert proposal.is_satisfied_by(subset) is satisfied


def test_a_proposed_subset_is_satisfied_by_itself_alone() -> None:
    proposal = Proposal(torch.arange(9), POLICY, [(1, 2)], {(1, 2): 3.0}, elimination_order=[4, 5, 6, 7])
    assert proposal.is_satisfied_by((6, 4, 5))
    assert not proposal.is_satisfied_by((1, 2, 4))


def test_where_a_subset_is_proposed_the_search_is_short_and_losses_decide() -> None:
    policy = SearchPolicy.of_elimination(DEFAULT, few_rows=True)
    assert policy.max_batches == DEFAULT.phase1_batches + DEFAULT.proposal.phase2_batches < POLICY.max_batches
    longer = DEFAULT.using(phase1_batches=900)
    assert SearchPolicy.of_elimination(longer, few_rows=True).max_batches == 900 + DEFAULT.proposal.phase2_batches
    assert not policy.weighs_evidence
    assert policy.tournament_rounds == 1
    assert policy.may_reselect
    assert not SearchPolicy.of_elimination(DEFAULT, few_rows=False).may_reselect
    assert not SearchPolicy.of_elimination(DEFAULT.using(reselection__enabled=False), few_rows=True).may_reselect
    assert not POLICY.may_reselect


def test_a_summary_counts_features_and_pairs() -> None:
    found = Proposal(torch.arange(40), POLICY, [(1, 2), (3,), (4,)], {(1, 2): 3.0, (3,): 1.0})
    assert found.summary(2_000) == "screening: 1 features and 1 pairs beyond chance; 40 of 2,000 are searched"
    assert found.significant == [1, 2, 3]
    assert "all 9 features" in Proposal(torch.arange(9), POLICY).summary(9)
