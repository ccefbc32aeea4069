"""Cycles of cosine annealing with warm restarts (Loshchilov and Hutter 2017) for the nets of an ensemble.

The learning rate is annealed to 0 in a cycle. The first one is a trial of all recipes, and the better half of them goes
on (successive halving, Jamieson and Talwalkar 2016); a third cycle follows, of the best recipes alone, where the loss
was still falling at the end of the second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from maskrank.core.checkpoint import Checkpoint, Loop
from maskrank.core.config.predictor import PredictorConfig
from maskrank.core.data.rows import take_weights
from maskrank.core.data.weights import WeightedDraws
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.encoding import EncodedRows
from maskrank.core.engine.training_loop import cosine_annealing, train
from maskrank.core.method.tasks import Task
from maskrank.core.predictor.folds import Folds
from maskrank.core.predictor.members import Members, share_of
from maskrank.core.recorder import Progress

Listener = Callable[[Progress], Any]
Report = Callable[[int, float, float], None]  # (step, training loss, validation loss)


@dataclass(frozen=True)
class TrainingTable:
    """All rows as the members see them, and the held-out rows of each fold."""

    inputs: EncodedRows
    y: Tensor  # (n,) or (n, outputs)
    held_inputs: Tensor  # (folds, rows, inputs)
    held_y: Tensor  # (folds, rows, ...)
    held_weights: Tensor | None  # (folds, rows)
    draws: WeightedDraws | None  # of the rows that each fold learns from, by weight

    @classmethod
    def of(cls, members: Members, x: Tensor, y: Tensor, folds: Folds, weights: Tensor | None) -> TrainingTable:
        inputs = EncodedRows(x, members.nets.encoding)
        draws = None if weights is None else WeightedDraws(weights[folds.learned])
        held_weights = take_weights(weights, folds.held_out)
        return cls(inputs, y, inputs.take(folds.held_out), y[folds.held_out], held_weights, draws)


@dataclass(frozen=True)
class Trained:
    """The members of the last cycle, the rows as these see them, and how many cycles there were."""

    members: Members
    table: TrainingTable
    n_cycles: int


def train_cycles(
    members: Members,
    task: Task,
    x: Tensor,
    y: Tensor,
    folds: Folds,
    *,
    n_batch: int,
    config: PredictorConfig,
    generator: torch.Generator,
    weights: Tensor | None = None,
    callbacks: Sequence[Listener] = (),
    checkpoint: Checkpoint | None = None,
) -> Trained:
    """Train members for a trial and a cycle, and for further cycles while they are worth it.

    Parameters
    ----------
    x : Tensor (n, columns)
    y : Tensor (n,) or (n, outputs)
    n_batch : int
        Rows of a batch of each member.
    weights : Tensor (n,), optional
        By which rows are drawn, and the losses of held-out rows averaged.
    checkpoint : Checkpoint, optional
        Of the fit: cycles go on from it.
    """
    table = TrainingTable.of(members, x, y, folds, weights)
    finished, total = 0, sum(config.cycles)
    min_drop = config.min_drop if task.probabilistic else config.min_drop_regression
    for n_cycles, steps in enumerate(config.cycles, start=1):
        if n_cycles > 1:
            members = members.best_recipes(-(-members.n_recipes // 2))
            table = TrainingTable.of(members, x, y, folds, weights)
        report = partial(report_progress, callbacks, finished, total)
        optimizer = Adam(members.nets.parameters(), rate=config.rate, betas=config.betas)
        loop = None if checkpoint is None else checkpoint.loop(f"cycle-{n_cycles}", members, optimizer)
        _train_cycle(
            members,
            optimizer,
            task,
            table,
            steps,
            n_batch,
            config=config,
            generator=generator,
            report=report,
            loop=loop,
        )
        finished += steps
        if n_cycles > 1 and not _still_falling(members.watched, min_drop):
            break
    return Trained(members, table, n_cycles)


def _train_cycle(
    members: Members,
    optimizer: Adam,
    task: Task,
    table: TrainingTable,
    steps: int,
    n_batch: int,
    *,
    config: PredictorConfig,
    generator: torch.Generator,
    report: Report,
    loop: Loop | None,
) -> None:
    """One cycle, or less of it where nothing gets better."""
    patience = max(1, share_of(steps, config.patience_share))

    def loss_of() -> Tensor:
        index = members.draw(n_batch, generator, table.draws)  # (members, batch)
        outputs = members.nets.members(members.add_noise(table.inputs.take(index), generator))
        # One task call sees all members' rows; the factor leaves each member its own mean loss.
        loss = task.loss(outputs.flatten(0, 1).unsqueeze(0), table.y[index].flatten(0, 1)).mean()
        return loss * len(members)

    def after(step: int, loss: Tensor) -> bool:
        members.follow(optimizer.rate, step)
        if step % config.validate_every and step != steps:
            return False
        members.validate(task, table.held_inputs, table.held_y, step, table.held_weights)
        members.watched.append(members.watched_loss)
        report(step, float(loss) / len(members), float(members.lowest.min()))
        return step - members.best_step >= patience

    train(optimizer, loss_of, steps=steps, schedule=cosine_annealing(config.rate), after=after, loop=loop)


def _still_falling(losses: Sequence[float], min_drop: float) -> bool:
    """Whether the loss fell by this share in the last third of a cycle."""
    return losses[-1] <= (1 - min_drop) * losses[2 * len(losses) // 3 - 1]


def report_progress(
    callbacks: Sequence[Listener], finished: int, total: int, step: int, loss: float, validation: float
) -> None:
    """Tell of a step of a cycle, after the steps of finished cycles."""
    for callback in callbacks:
        callback(Progress("predict", finished + step, total, loss, 0.0, validation))
