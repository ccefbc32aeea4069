"""Cross-fitting: small nets on given subsets, judged on rows they did not learn from.

All subsets share rows, folds, batches and initial weights, so that their losses are compared pairwise. The residuals
of the held-out rows are what is screened next.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core.config import CrossFittingConfig, TrainConfig
from maskrank.core.data.grouping import count_groups, deal_folds
from maskrank.core.data.rows import Rows, take_weights
from maskrank.core.data.weights import WeightedDraws, mean_of_rows
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
        The task's: target minus prediction, in the units of the net's outputs.
    weights, groups : Tensor (n,), optional
        Of the rows.
    """

    rows: Tensor
    losses: Tensor
    residuals: Tensor
    weights: Tensor | None = None
    groups: Tensor | None = None


def enough_rows(rows: Rows, config: CrossFittingConfig) -> bool:
    """Whether there are rows enough to learn from and to judge by, and, where rows have groups, two of these."""
    return len(rows) >= config.min_rows and (rows.groups is None or count_groups(rows.groups) > 1)


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

    Each subset is judged by the weight decay of the lower held-out loss. Batches are drawn, and losses averaged, by the
    weights of the rows.

    Parameters
    ----------
    rows : Rows
        Of many, some are drawn. Groups of rows stay in one fold.
    subsets : Tensor (subsets, s)
        The nets see the required features, too. A narrower subset has zeros where a wider one has columns.
    max_steps : int
        Of each net; ``config.max_batches`` is a bound, too.
    """
    settings = config.cross_fitting
    index, split = _split(rows, settings, generator)
    folds, decays = len(split.held_out), settings.decays
    n_batch = min(settings.batch_size, max(settings.few_rows_batch, len(index) // 2))
    batch = rows.take(index)
    subsets, y = batch.with_required(subsets), batch.y
    values = batch.columns(subsets)  # (subsets, n, columns of the widest subset)
    sizes = (values.shape[2], *settings.hidden, task.n_outputs)
    n_models = len(subsets) * len(decays)  # of one subset and one decay; each has a net for every fold
    nets = start_nets(folds, sizes, config.activation, generator).take(torch.arange(folds).repeat(n_models))
    nets = _scaled_to_inputs(nets, rows.blocks.column_counts(subsets)).to(rows.device)

    def outputs_on(places: Tensor) -> Tensor:
        """Of each fold's nets on its own rows: (folds, some) -> (subsets * decays, folds * some, outputs)."""
        inputs = values[:, places].unsqueeze(1).expand(-1, len(decays), -1, -1, -1)
        return nets.members(inputs.flatten(0, 2)).view(n_models, places.numel(), task.n_outputs)

    def loss_of_batch() -> Tensor:
        places = split.draw(n_batch, generator)
        return task.loss(outputs_on(places), y[places.flatten()]).mean() * n_models * folds

    decay = torch.tensor(decays, device=rows.device).repeat_interleave(folds).repeat(len(subsets)).view(-1, 1, 1)
    _train(nets, loss_of_batch, decay, steps=min(max_steps, config.max_batches), config=settings)
    with torch.no_grad():
        outputs = split.by_row(outputs_on(split.held_out))
        losses = mean_of_rows(task.loss(outputs, y), batch.weights).view(len(subsets), len(decays))
        outputs = outputs.unflatten(0, losses.shape)[torch.arange(len(subsets)), losses.argmin(dim=1)]  # type: ignore[no-untyped-call]
    fitted = _judged(task, index, outputs, y)
    return replace(fitted, weights=batch.weights, groups=take_weights(rows.groups, index))


@dataclass(frozen=True)
class _Split:
    """Which of n rows each fold holds out, and how the others are drawn.

    Attributes
    ----------
    held_out : Tensor (folds, rows)
        Every row is in one fold. A fold of fewer rows than another repeats its own.
    learned : Tensor (folds, others), optional
        The other rows, where all are drawn alike.
    draws : WeightedDraws, optional
        Of each fold, where they are not.
    places : Tensor (n,), optional
        Of the rows among those held out, where these are not in their order.
    """

    held_out: Tensor
    learned: Tensor | None = None
    draws: WeightedDraws | None = None
    places: Tensor | None = None

    def draw(self, n: int, generator: torch.Generator) -> Tensor:
        """Rows that each fold does not hold out: (folds, n)."""
        shape = (len(self.held_out), n)
        if self.draws is not None:
            return self.draws.places(shape, generator=generator)
        assert self.learned is not None
        return self.learned.gather(1, torch.randint(self.learned.shape[1], shape, generator=generator))

    def by_row(self, outputs: Tensor) -> Tensor:
        """Outputs for the rows held out, in the order of the rows: (models, folds * rows, k) -> (models, n, k)."""
        return outputs if self.places is None else outputs[:, self.places.to(outputs.device)]


def _split(rows: Rows, config: CrossFittingConfig, generator: torch.Generator) -> tuple[Tensor, _Split]:
    """Rows at random (n,), and their folds."""
    mixed = torch.randperm(len(rows), generator=generator)
    if rows.groups is not None:
        return _grouped_split(rows, mixed, config, generator)
    folds = config.folds
    index = mixed[: min(len(rows), config.max_rows) // folds * folds].to(rows.device)
    held_out = torch.arange(len(index)).view(folds, -1)
    if rows.weights is not None:
        return index, _Split(held_out, draws=_draws_beside(held_out, rows.weights[index]))
    others = [torch.cat([held_out[:f].flatten(), held_out[f + 1 :].flatten()]) for f in range(folds)]
    return index, _Split(held_out, learned=torch.stack(others))


def _grouped_split(
    rows: Rows, mixed: Tensor, config: CrossFittingConfig, generator: torch.Generator
) -> tuple[Tensor, _Split]:
    """The same with whole groups in each fold; of fewer groups than folds, a fold each."""
    assert rows.groups is not None
    if len(mixed) > config.max_rows:  # a row of each group first, so that none is lost
        _, group = torch.unique(rows.groups.cpu()[mixed], return_inverse=True)
        first = torch.full((int(group.max()) + 1,), len(mixed)).scatter_reduce(
            0, group, torch.arange(len(mixed)), "amin"
        )
        later = torch.ones(len(mixed), dtype=torch.long).index_fill(0, first, 0)
        mixed = mixed[later.argsort(stable=True)[: config.max_rows].sort().values]
    index = mixed.to(rows.device)
    groups = rows.groups[index]
    n_folds = min(config.folds, count_groups(groups))
    fold = deal_folds(groups, rows.y[index], n_folds, generator=generator).cpu()
    lists = [(fold == f).nonzero().squeeze(1) for f in range(n_folds)]
    longest = max(len(some) for some in lists)
    held_out = torch.stack([some[torch.arange(longest) % len(some)] for some in lists])
    places = torch.empty(len(index), dtype=torch.long)
    for f, some in enumerate(lists):
        places[some] = f * longest + torch.arange(len(some))
    weights = torch.ones(len(index)) if rows.weights is None else rows.weights[index]
    return index, _Split(held_out, draws=_draws_beside(held_out, weights), places=places)


def _draws_beside(held_out: Tensor, weights: Tensor) -> WeightedDraws:
    """Draws of the rows that each fold does not hold out, by weight: (folds, rows), (n,)."""
    return WeightedDraws(weights.cpu().repeat(len(held_out), 1).scatter(1, held_out, 0.0))


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
    losses = losses.detach()
    return CrossFit(index, losses, task.residuals(slope, losses))
