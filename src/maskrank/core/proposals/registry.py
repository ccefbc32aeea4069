"""Temporary."""

from __future__ import annotations

import torch

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.backward_elimination import few_rows
from maskrank.core.proposals.planning import plan_search
from maskrank.core.proposals.proposal import Proposal, SearchPolicy


def propose(task: Task, rows: Rows, size: int, *, config: TrainConfig, generator: torch.Generator) -> Proposal:
    """Adapt the old plan."""
    plan = plan_search(task, rows, size, config=config, generator=generator)
    f = plan.tried.tolist()
    h = plan.hint
    policy = SearchPolicy.of_elimination(config, few_rows=few_rows(rows)) if h.left else SearchPolicy.of(config)
    return Proposal(
        plan.tried,
        policy,
        [tuple(f[j] for j in u) for u in h.units],
        {tuple(f[j] for j in u): v for u, v in h.clear.items()},
        [f[j] for j in h.companions],
        [f[j] for j in h.straight],
        [f[j] for j in h.left],
    )
