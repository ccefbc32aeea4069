"""What small nets of their own make of some subsets, on rows they did not learn from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.losses import Task
from maskrank.core.optim import Adam
from maskrank.core.refit import start_nets
from maskrank.core.rows import Rows

_FOLDS = 3
_STEPS, _BATCH, _RATE, _DECAY = 300, 64, 2e-2, 0.3
_MOST_ROWS = 2048


@dataclass(frozen=True)
class CrossFit:
    """Judgements of subsets on some rows.

    Attributes
    ----------
    rows : Tensor (n,)
        Which rows.
    losses : Tensor (subsets, n)
    unexplained : Tensor (subsets, n, outputs)
        Minus the derivative of the loss by the net's outputs: target minus prediction.
    """

    rows: Tensor
    losses: Tensor
    unexplained: Tensor


def crossfit(task: Task, rows: Rows, subsets: Tensor, *, config: TrainConfig, generator: torch.Generator) -> CrossFit:
    """Train nets for each subset, three on two thirds of the rows each, and judge them on the other third.

    All subsets have the same rows, folds, batches and first weights, so that their differences are their own.

    Parameters
    ----------
    rows : Rows
        At most 2,048 of them are used.
    subsets : Tensor (subsets, s)
    """
    n = min(len(rows), _MOST_ROWS) // _FOLDS * _FOLDS
    index = torch.randperm(len(rows), generator=generator)[:n].to(rows.device)
    batch = rows.take(index)
    values, y, masks = batch.columns(subsets), batch.y, len(subsets)  # (masks, n, s)
    held_out = torch.arange(n).view(_FOLDS, -1)
    shown = torch.stack([torch.cat([held_out[:f].flatten(), held_out[f + 1 :].flatten()]) for f in range(_FOLDS)])
    sizes = (subsets.shape[1], *config.refit_hidden, task.n_outputs)
    nets = start_nets(_FOLDS, sizes, config.activation, generator).repeated(masks).to(rows.device)

    def outputs_on(places: Tensor) -> Tensor:
        """Of each fold's nets on its own rows: (folds, some) -> (masks, folds * some, outputs)."""
        outputs = nets.members(values[:, places].flatten(0, 1))
        return outputs.view(masks, places.numel(), task.n_outputs)

    optimizer = Adam(nets.parameters(), rate=_RATE, betas=(0.9, 0.99), decay=_DECAY)
    for step in range(_STEPS):
        optimizer.rate = _RATE * (1 - step / _STEPS)
        places = shown.gather(1, torch.randint(shown.shape[1], (_FOLDS, _BATCH), generator=generator))
        loss = task.loss(outputs_on(places), y[places.flatten()]).mean()
        optimizer.zero_grad()
        (loss * masks * _FOLDS).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    with torch.no_grad():
        outputs = outputs_on(held_out)
    outputs.requires_grad_(True)
    losses = task.loss(outputs, y)
    (slope,) = torch.autograd.grad(losses.sum(), outputs)
    return CrossFit(index, losses.detach(), -slope)
