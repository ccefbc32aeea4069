from __future__ import annotations

import pytest
import torch

from maskrank.core.config import DEFAULT, PAPER, TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import BinaryTask, Task
from maskrank.core.proposals.proposal import Proposal, SearchPolicy
from maskrank.core.proposals.registry import PROPOSERS, propose
from maskrank.core.proposals.top_list import Workers


def rows_of(d: int, n: int = 300) -> Rows:
    x = torch.randn((n, d), generator=torch.Generator().manual_seed(0))
    return Rows(x, (x[:, d - 1] * x[:, d - 2] > 0).long())


@pytest.mark.parametrize("config", [PAPER, DEFAULT.using(proposal__enabled=False)])
def test_without_proposals_all_features_are_searched_uniformly(config: TrainConfig, generator: torch.Generator) -> None:
    before = generator.get_state()
    proposal = propose(BinaryTask(), rows_of(400), 3, config=config, generator=generator)
    assert proposal.pool.tolist() == list(range(400))
    assert not proposal.groups
    assert proposal.policy == SearchPolicy.of(config)
    assert torch.equal(generator.get_state(), before)  # nothing is drawn


def test_the_config_names_the_proposer(monkeypatch: pytest.MonkeyPatch, generator: torch.Generator) -> None:
    class First:
        """Proposes the first s features."""

        def propose(
            self,
            task: Task,
            rows: Rows,
            size: int,
            *,
            config: TrainConfig,
            generator: torch.Generator,
            workers: Workers | None = None,
        ) -> Proposal:
            return Proposal(torch.arange(size), SearchPolicy.of(config), [(j,) for j in range(size)])

    monkeypatch.setitem(PROPOSERS, "first", First())
    config = DEFAULT.using(proposal__proposer="first")
    assert propose(BinaryTask(), rows_of(50), 3, config=config, generator=generator).groups == [(0,), (1,), (2,)]


def test_an_unknown_proposer_is_named_with_those_there_are(generator: torch.Generator) -> None:
    config = DEFAULT.using(proposal__proposer="guess")
    with pytest.raises(ValueError, match="proposer='guess' is not known; there are screening"):
        propose(BinaryTask(), rows_of(50), 3, config=config, generator=generator)
