"""The final predictor trained on with more rows than memory holds: batch after batch, each row once a pass.

All nets of the ensemble are trained together, on the loss of their mean. Rows that no net learns from decide whether
the predictor is better for it; it is left as it was where it is not.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.data.weights import mean_of_rows
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.foreach import lerp_
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.engine.training_loop import BestMoment, cosine_annealing, train
from maskrank.core.method.tasks import Task
from maskrank.core.predictor.cycles import Listener, report_progress

_VALIDATIONS = 64  # at most


class RowBatch(NamedTuple):
    """Rows as the predictor takes them."""

    x: Tensor  # (rows, columns), scaled
    y: Tensor  # (rows,) or (rows, outputs)
    weights: Tensor | None = None  # (rows,)


def train_in_passes(
    predictor: StackedMLP,
    task: Task,
    batches: Callable[[], Iterator[RowBatch]],
    judging: RowBatch,
    *,
    steps: int,
    config: PredictorConfig,
    callbacks: Sequence[Listener] = (),
) -> StackedMLP | None:
    """Train a copy of the predictor.

    Parameters
    ----------
    predictor : StackedMLP
    batches : callable
        Begins a pass over all rows, in random order.
    judging : RowBatch
        Rows that are not among them.
    steps : int
        How many batches are learned from; passes begin anew until these are done.
    config : PredictorConfig

    Returns
    -------
    predictor : StackedMLP or None
        At its best moment; None where no moment was better than the predictor that was given.
    """
    nets = copy.deepcopy(predictor).float().train().requires_grad_(True)
    average = copy.deepcopy(nets)
    connected = [(weight != 0).to(weight.dtype) for weight in nets.weights]
    trained, averaged = ([*each.weights, *each.biases] for each in (nets, average))
    optimizer = Adam(trained, rate=config.pass_rate, betas=config.betas)
    best = BestMoment(average)
    best.keep(before := _loss(average, task, judging))
    rows, every = _endless(batches), max(config.validate_every, steps // _VALIDATIONS)

    def loss_of() -> Tensor:
        batch = next(rows)
        losses = task.loss(nets(batch.x).unsqueeze(0), batch.y)  # (1, rows)
        return mean_of_rows(losses, batch.weights).mean()

    def after(step: int, loss: Tensor) -> None:
        with torch.no_grad():
            for weight, mask in zip(nets.weights, connected, strict=True):
                weight.mul_(mask)
            lerp_(averaged, trained, 1 - min(config.averaging, step / (step + config.averaging_warmup)))
        if step % every == 0 or step == steps:
            best.update(_loss(average, task, judging))
            report_progress(callbacks, 0, steps, step, float(loss), best.value)

    train(optimizer, loss_of, steps=steps, schedule=cosine_annealing(config.pass_rate), after=after)
    best.restore()
    return average.eval().requires_grad_(False) if best.value < before else None


def _endless(batches: Callable[[], Iterator[RowBatch]]) -> Iterator[RowBatch]:
    """One pass after the other; a pass without a row ends it."""
    while True:
        n = 0
        for batch in batches():
            n += 1
            yield batch
        if not n:
            raise ValueError("the table has no row beside those of the sample")


@torch.no_grad()
def _loss(nets: StackedMLP, task: Task, rows: RowBatch) -> float:
    outputs = torch.cat([nets(part) for part in torch.split(rows.x, nets.rows_at_once)])
    return float(mean_of_rows(task.loss(outputs.unsqueeze(0), rows.y), rows.weights))
