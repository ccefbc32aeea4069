"""What small nets of their own make of some subsets, on rows they did not learn from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.stacked_mlp import start_nets
from maskrank.core.method.tasks import Task

_FOLDS = 3
STEPS = 300
_BATCH, _RATE = 64, 2e-2
_DECAYS = (0.3, 2.5)  # weight decay of the nets; the rows they did not learn from tell which of them fits the data
_LEAST_ROWS, _MOST_ROWS = 30, 2048


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


def enough_rows(rows: Rows, config: object = None) -> bool:
    """Whether there is something to learn from and to judge by."""
    return len(rows) >= _LEAST_ROWS


def cross_fit(
    task: Task,
    rows: Rows,
    subsets: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    max_steps: int = STEPS,
) -> CrossFit:
    """Train nets for each subset on two thirds of the rows, three times, and judge them on the other third.

    All subsets have the same rows, folds, batches and first weights, so that their differences are their own. Each
    is judged by the stronger or the weaker weight decay, whichever does better by it.

    Parameters
    ----------
    rows : Rows
        At most 2,048 of them are used.
    subsets : Tensor (subsets, s)
    max_steps : int
        Of each net; ``config.max_batches`` is a bound, too.
    """
    n = min(len(rows), _MOST_ROWS) // _FOLDS * _FOLDS
    index = torch.randperm(len(rows), generator=generator)[:n].to(rows.device)
    batch = rows.take(index)
    values, y = batch.columns(subsets), batch.y  # (masks, n, s)
    held_out = torch.arange(n).view(_FOLDS, -1)
    shown = torch.stack([torch.cat([held_out[:f].flatten(), held_out[f + 1 :].flatten()]) for f in range(_FOLDS)])
    sizes = (subsets.shape[1], *config.predictor.hidden, task.n_outputs)
    kinds = len(subsets) * len(_DECAYS)  # nets of one mask and one decay, for each fold
    nets = (
        start_nets(_FOLDS, sizes, config.activation, generator).take(torch.arange(_FOLDS).repeat(kinds)).to(rows.device)
    )
    decay = torch.tensor(_DECAYS, device=rows.device).repeat_interleave(_FOLDS).repeat(len(subsets)).view(-1, 1, 1)

    def outputs_on(places: Tensor) -> Tensor:
        """Of each fold's nets on its own rows: (folds, some) -> (masks * decays, folds * some, outputs)."""
        chosen = values[:, places].unsqueeze(1).expand(-1, len(_DECAYS), -1, -1, -1)
        return nets.members(chosen.flatten(0, 2)).view(kinds, places.numel(), task.n_outputs)

    weights, optimizer = list(nets.weights), Adam(nets.parameters(), rate=_RATE, betas=(0.9, 0.99))
    steps = min(max_steps, config.max_batches)
    for step in range(steps):
        optimizer.rate = _RATE * (1 - step / steps)
        places = shown.gather(1, torch.randint(shown.shape[1], (_FOLDS, _BATCH), generator=generator))
        loss = task.loss(outputs_on(places), y[places.flatten()]).mean()
        optimizer.zero_grad()
        (loss * kinds * _FOLDS).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        with torch.no_grad():
            kept = 1 - optimizer.rate * decay
            for weight in weights:
                weight.mul_(kept)
    with torch.no_grad():
        outputs = outputs_on(held_out)
        judged = task.loss(outputs, y).mean(dim=1).view(len(subsets), len(_DECAYS))
        outputs = outputs.unflatten(0, judged.shape)[torch.arange(len(subsets)), judged.argmin(dim=1)]  # type: ignore[no-untyped-call]
    outputs.requires_grad_(True)
    losses = task.loss(outputs, y)
    (slope,) = torch.autograd.grad(losses.sum(), outputs)
    return CrossFit(index, losses.detach(), -slope)
