from __future__ import annotations

from typing import Any

import pytest
import torch

from maskrank.core.config import DEFAULT
from maskrank.core.data.features import Pool
from maskrank.core.data.rows import Rows
from maskrank.core.method.construction import SearchSpace, build_trainer
from maskrank.core.method.tasks import BinaryTask, RegressionTask
from maskrank.core.proposals.proposal import Proposal, SearchPolicy, features_of
from maskrank.core.proposals.registry import propose


def product(d: int, n: int = 300) -> Rows:
    """Class 1 where the last two features have the same sign."""
    x = torch.randn((n, d), generator=torch.Generator().manual_seed(0))
    return Rows(x, (x[:, d - 1] * x[:, d - 2] > 0).long())


def many_effects(n: int, d: int) -> Rows:
    """Thirty features that tell a little each."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn((n, d), generator=g)
    return Rows(x, (x[:, :30].sum(dim=1) + torch.randn(n, generator=g) > 0).long())


def proposal_of(rows: Rows, size: int, *, seed: int = 0, **changes: Any) -> Proposal:
    config = DEFAULT.using(**{f"proposal__{name}": value for name, value in changes.items()})
    task = RegressionTask() if rows.y.is_floating_point() else BinaryTask()
    return propose(task, rows, size, config=config, generator=torch.Generator().manual_seed(seed))


def test_of_many_features_the_proposed_ones_and_some_at_random_are_searched() -> None:
    rows = product(400)
    first, again, other = (proposal_of(rows, 3, seed=seed) for seed in (0, 0, 1))
    assert torch.equal(first.pool, again.pool)
    assert (first.pool.diff() > 0).all()
    assert len(first.pool) < 200
    assert {398, 399} <= set(first.pool.tolist())
    assert first.policy == SearchPolicy.of(DEFAULT)
    proposed = {*features_of(first.groups), *first.correlated}
    random = set(first.pool.tolist()) - proposed
    assert len(random) >= len(proposed) // 4
    assert not random <= set(other.pool.tolist())


def test_of_few_features_all_are_searched() -> None:
    proposal = proposal_of(product(20), 3)
    assert proposal.pool.tolist() == list(range(20))
    assert proposal.groups[0] == (18, 19)


@pytest.mark.parametrize("size", [2, 15, 39])
def test_pairs_are_screened_whatever_the_size_and_of_a_large_one_all_features_are_searched(size: int) -> None:
    proposal = proposal_of(product(40), size)
    assert (38, 39) in proposal.evidence
    assert not proposal.elimination_order
    if size >= 15:
        assert proposal.pool.tolist() == list(range(40))


def test_where_many_features_are_significant_elimination_proposes_a_subset() -> None:
    rows = many_effects(1500, 60)
    proposal = proposal_of(rows, 6)
    assert set(proposal.elimination_order[:6]) <= set(range(30))
    assert set(proposal.elimination_order) <= set(proposal.pool.tolist())
    assert proposal.policy == SearchPolicy.of_elimination(DEFAULT, few_rows=False)  # there are rows enough
    assert not proposal.linear_order


def test_of_few_rows_an_eliminated_subset_may_be_reselected() -> None:
    rows = many_effects(50, 60)
    proposal = proposal_of(rows, 40)
    assert proposal.elimination_order
    assert proposal.policy == SearchPolicy.of_elimination(DEFAULT, few_rows=True)


@pytest.mark.parametrize("changes", [{"elimination__enabled": False}, {"elimination__max_ridge_features": 50}])
def test_without_elimination_significant_features_are_screened_as_ever(changes: dict[str, Any]) -> None:
    proposal = proposal_of(many_effects(1500, 60), 6, **changes)
    assert not proposal.elimination_order
    assert proposal.policy == SearchPolicy.of(DEFAULT)
    assert proposal.linear_order
    covered = proposal_of(product(40), 20, elimination__enabled=False)
    assert not covered.elimination_order
    assert covered.policy == SearchPolicy.of(DEFAULT)


def under_a_product() -> Rows:
    """A feature too weak to be seen before nets have learned the sign of a product, which no short basis spans."""
    g = torch.Generator().manual_seed(0)
    x = torch.randn((600, 40), generator=g)
    y = (x[:, 38] * x[:, 39]).sign() + 0.08 * x[:, 5]
    return Rows(x, y.unsqueeze(1))


def test_residuals_of_nets_on_the_significant_features_are_screened_again() -> None:
    rows = under_a_product()
    before, after = (proposal_of(rows, 4, screening__residual_rounds=rounds) for rounds in (0, 2))
    assert (38, 39) in before.evidence
    assert 5 not in before.significant
    assert 5 in after.significant


def test_of_few_features_no_residual_is_screened() -> None:
    with_rounds, without = (proposal_of(product(12), 3, screening__residual_rounds=rounds) for rounds in (2, 0))
    assert with_rounds.evidence == without.evidence
    assert with_rounds.groups == without.groups
    assert not with_rounds.linear_order


def test_features_that_the_significant_ones_predict_join_the_pool() -> None:
    g = torch.Generator().manual_seed(0)
    x = torch.randn((300, 300), generator=g)
    x[:, 20] = x[:, 0] - x[:, 1] + 0.5 * x[:, 20]
    rows = Rows(x, (x[:, 0] + x[:, 1] + 0.3 * torch.randn(300, generator=g)).unsqueeze(1))
    proposal = proposal_of(rows, 3)
    assert proposal.correlated == [20]
    assert 20 in proposal.pool.tolist()
    assert proposal_of(rows, 3, screening__correlated=False).correlated == []


def test_pairs_can_be_switched_off() -> None:
    rows = product(40)
    assert (38, 39) in proposal_of(rows, 3).evidence
    assert all(len(group) == 1 for group in proposal_of(rows, 3, screening__pairs=False).groups)


def test_draws_follow_the_proposal_unless_guided_exploration_is_switched_off() -> None:
    rows = product(40)

    def share_with_pair(enabled: bool) -> float:
        config, generator = DEFAULT.using(proposal__exploration__enabled=enabled), torch.Generator().manual_seed(0)
        proposal = propose(BinaryTask(), rows, 3, config=config, generator=generator)
        search = SearchSpace(Pool(proposal.pool), proposal.groups, 3)
        trainer = build_trainer(BinaryTask(), rows, rows, search, config=config, generator=generator)
        drawn = proposal.pool[trainer.explore(400)]  # (400, 3)
        return float(((drawn == 38).any(dim=1) & (drawn == 39).any(dim=1)).float().mean())

    assert share_with_pair(True) > 0.3
    assert share_with_pair(False) < 0.05  # 3 * 2 / (40 * 39) is expected


def test_few_rows_are_no_reason_to_fail(generator: torch.Generator) -> None:
    for n in (2, 5, 12):
        rows = Rows(torch.randn((n, 50), generator=generator), torch.arange(n) % 2)
        assert len(proposal_of(rows, 3).pool) >= 3


def test_where_rows_are_few_for_the_features_to_select_a_whole_subset_is_proposed() -> None:
    """Unless an interaction is significant, which asks for a search."""
    g = torch.Generator().manual_seed(0)
    noise = Rows(torch.randn((100, 400), generator=g), torch.arange(100) % 2)
    assert len(proposal_of(noise, 11).elimination_order) >= 11
    assert not proposal_of(noise, 9).elimination_order
    assert not proposal_of(noise, 11, elimination__rows_per_feature=9.0).elimination_order
    pair = proposal_of(product(400), 31)
    assert (398, 399) in pair.evidence
    assert not pair.elimination_order
