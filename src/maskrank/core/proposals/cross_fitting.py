"""Cross-fitting: small nets on given subsets, judged on rows they did not learn from.

All subsets share rows, folds, batches and initial weights, so that their losses are compared pairwise. The residuals
of the held-out rows are what is screened next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import CrossFittingConfig, TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.stacked_mlp import StackedMLP, start_nets
from maskrank.core.engine.training_loop import linear_decay, train
from maskrank.core.method.tasks import Task


@dataclass(frozen=True)
class CrossFit:
    """Held-out losses of subsets.

    Attributes
    ----------
    rows : Tensor (n,)
        Which rows.
    losses : Tensor (subsets, n)
    residuals : Tensor (subsets, n, outputs)
        Minus the derivative of the loss by the net's outputs: target minus prediction.
    """

    rows: Tensor
    losses: Tensor
    residuals: Tensor


def enough_rows(rows: Rows, config: CrossFittingConfig) -> bool:
    """Whether there are rows enough to learn from and to judge by."""
    return len(rows) >= config.min_rows


def cross_fit(
    task: Task,
    rows: Rows,
    subsets: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    max_steps: int,
) -> CrossFit:
    """Train nets of every subset on all folds but one, for each fold, and judge them on that one.

    Each subset is judged by the weight decay of the lower held-out loss.

    Parameters
    ----------
    rows : Rows
        Of many, some are drawn.
    subsets : Tensor (subsets, s)
        The nets see the required features, too. A narrower subset has zeros where a wider one has columns.
    max_steps : int
        Of each net; ``config.max_batches`` is a bound, too.
    """
    settings = config.cross_fitting
    folds, decays = settings.folds, settings.decays
    n = min(len(rows), settings.max_rows) // folds * folds
    index = torch.randperm(len(rows), generator=generator)[:n].to(rows.device)
    batch = rows.take(index)
    subsets, y = batch.with_required(subsets), batch.y
    values = batch.columns(subsets)  # (subsets, n, columns of the widest subset)
    held_out = torch.arange(n).view(folds, -1)
    sizes = (values.shape[2], *settings.hidden, task.n_outputs)
    n_models = len(subsets) * len(decays)  # of one subset and one decay; each has a net for every fold
    nets = start_nets(folds, sizes, config.activation, generator).take(torch.arange(folds).repeat(n_models))
    nets = _scaled_to_inputs(nets, rows.blocks.column_counts(subsets)).to(rows.device)

    def outputs_on(places: Tensor) -> Tensor:
        """Of each fold's nets on its own rows: (folds, some) -> (subsets * decays, folds * some, outputs)."""
        inputs = values[:, places].unsqueeze(1).expand(-1, len(decays), -1, -1, -1)
        return nets.members(inputs.flatten(0, 2)).view(n_models, places.numel(), task.n_outputs)

    learned = torch.stack([torch.cat([held_out[:f].flatten(), held_out[f + 1 :].flatten()]) for f in range(folds)])

    def loss_of_batch() -> Tensor:
        drawn = torch.randint(learned.shape[1], (folds, settings.batch_size), generator=generator)
        places = learned.gather(1, drawn)
        return task.loss(outputs_on(places), y[places.flatten()]).mean() * n_models * folds

    decay = torch.tensor(decays, device=rows.device).repeat_interleave(folds).repeat(len(subsets)).view(-1, 1, 1)
    _train(nets, loss_of_batch, decay, steps=min(max_steps, config.max_batches), config=settings)
    with torch.no_grad():
        outputs = outputs_on(held_out)
        losses = task.loss(outputs, y).mean(dim=1).view(len(subsets), len(decays))
        outputs = outputs.unflatten(0, losses.shape)[torch.arange(len(subsets)), losses.argmin(dim=1)]  # type: ignore[no-untyped-call]
    return _judged(task, index, outputs, y)


@torch.no_grad()
def _scaled_to_inputs(nets: StackedMLP, n_columns: Tensor) -> StackedMLP:
    """Start weights of variance 1 / inputs, in place, for nets of subsets with so many columns: (subsets,)."""
    first = nets.weights[0]  # (subsets * nets of each, columns of the widest subset, hidden)
    factor = (first.shape[1] / n_columns).sqrt().repeat_interleave(len(first) // len(n_columns))
    first.mul_(factor.view(-1, 1, 1))
    return nets


def _train(
    nets: StackedMLP, loss_of: Callable[[], Tensor], decay: Tensor, *, steps: int, config: CrossFittingConfig
) -> None:
    """Adam with a weight decay of each net's own, decoupled from the gradient: (nets, 1, 1)."""
    optimizer = Adam(nets.parameters(), rate=config.rate, betas=config.betas)
    weights = list(nets.weights)

    @torch.no_grad()
    def decay_weights(step: int, loss: Tensor) -> None:
        kept = 1 - optimizer.rate * decay
        for weight in weights:
            weight.mul_(kept)

    train(optimizer, loss_of, steps=steps, schedule=linear_decay(config.rate), after=decay_weights)


def _judged(task: Task, index: Tensor, outputs: Tensor, y: Tensor) -> CrossFit:
    outputs.requires_grad_(True)
    losses = task.loss(outputs, y)
    (slope,) = torch.autograd.grad(losses.sum(), outputs)
    return CrossFit(index, losses.detach(), -slope)
