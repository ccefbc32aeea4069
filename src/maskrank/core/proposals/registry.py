"""The proposers by name, and the one call that the pipeline makes."""

from __future__ import annotations

import torch

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.proposal import Proposal, Proposer, SearchPolicy
from maskrank.core.proposals.proposer import ScreeningProposer
from maskrank.core.proposals.top_list import Workers

PROPOSERS: dict[str, Proposer] = {"screening": ScreeningProposer()}


def propose(
    task: Task,
    rows: Rows,
    size: int,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    workers: Workers | None = None,
) -> Proposal:
    """What the proposer of the config suggests; all features and a uniform search where proposals are switched off.

    Parameters
    ----------
    rows : Rows
        Training rows. The proposal numbers features as they do.
    size : int
        s.
    workers : Workers, optional
        Threads for what takes long, and who is told of it.
    """
    if not config.proposal.enabled:
        return Proposal(torch.arange(rows.n_features), SearchPolicy.of(config))
    name = config.proposal.proposer
    if name not in PROPOSERS:
        raise ValueError(f"proposer={name!r} is not known; there are {', '.join(PROPOSERS)}")
    return PROPOSERS[name].propose(task, rows, size, config=config, generator=generator, workers=workers)
