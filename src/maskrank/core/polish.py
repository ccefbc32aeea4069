"""After training: the selector learns once more, from losses measured on all training rows
(or on a few thousand of them, where there are more).

In training its targets are losses on a few rows, and most of their scatter is the rows' own. With the operator at
rest, the loss of a subset is one number, and the selector's gradient becomes a score that can be trusted.
"""

from __future__ import annotations

import torch
from torch import Tensor

from maskrank.core.losses import selector_loss, subset_losses
from maskrank.core.subsets import perturb
from maskrank.core.training import DualNetTrainer

_MOST_ROWS = 4096
_ROWS_AT_ONCE = 1 << 16  # rows times subsets in one forward of the operator


def polish_selector(trainer: DualNetTrainer, optimal: Tensor) -> Tensor:
    """Fit the selector to the resting operator around m_opt, and search it again.

    Half of the subsets are random, half differ from m_opt in one or two features.

    Returns
    -------
    Tensor (s,)
        m*.
    """
    config, selector = trainer.config, trainer.selector
    if config.polish_subsets:
        subsets = _neighbourhood(trainer, optimal)
        losses = measured_losses(trainer, subsets)
        targets = losses - losses.mean()
        optimizer = torch.optim.Adam(selector.parameters(), lr=config.selector_rate, fused=True)
        for step in range(config.polish_steps):
            optimizer.param_groups[0]["lr"] = config.selector_rate * (1 - step / config.polish_steps)
            loss = selector_loss(selector(subsets), targets)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    return trainer.find_optimal(max_rounds=config.final_rounds)


def _neighbourhood(trainer: DualNetTrainer, optimal: Tensor) -> Tensor:
    quarter = trainer.config.polish_subsets // 4
    near = [
        perturb(optimal.cpu(), quarter, trainer.rows.n_features, changes, generator=trainer.generator)
        for changes in (1, 2)
    ]
    return torch.cat([optimal.unsqueeze(0), *(part.to(trainer.device) for part in near), trainer.explore(2 * quarter)])


@torch.no_grad()
def measured_losses(trainer: DualNetTrainer, subsets: Tensor) -> Tensor:
    """Mean loss of each subset over the training rows, at most 4,096 of them: (masks,)."""
    trainer.operator.eval()
    rows = trainer.rows
    batch = rows.all() if len(rows) <= _MOST_ROWS else rows.sample(_MOST_ROWS, generator=trainer.generator)
    parts = torch.split(subsets, max(1, _ROWS_AT_ONCE // len(batch)))
    return torch.cat([subset_losses(trainer.operator, trainer.task, batch, part) for part in parts])
