"""v(S): the loss saved over the best constant answer by predicting from S alone, on rows that were not learned from.

S is any subset of the chosen features m*, and of the required ones, which come before these: of S they are all in where
any other is. The predictions are those of nets trained with random masks (`masked_nets`),
shrunk towards the constant answer by a factor for each size of S, because a net that has little to go by overfits.
Other rows than those it is applied to choose the factor: what is measured on a row, the row had no part in.
Where rows have weights, the values of a row are multiplied by its weight, of mean 1: plain means over the rows are then
weighted means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from maskrank.core.config import ScoreConfig, TrainConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import take_weights
from maskrank.core.data.weights import error_of_scatter, mean_of_rows
from maskrank.core.method.tasks import Task
from maskrank.core.scoring.masked_nets import MaskedNets, train_masked_nets
from maskrank.core.scoring.scored_rows import ScoredRows, cross_fitted_rows
from maskrank.core.scoring.shapley import Game, Shares, exact_shares, in_precedence, sampled_shares
from maskrank.core.scoring.subset_predictor import SubsetPredictor, shrunk


@dataclass(frozen=True)
class JudgedTable:
    """The columns of the chosen features, and which rows each net learns from and is judged on.

    Attributes
    ----------
    x : Tensor (n, columns)
    y : Tensor (n,) or (n, outputs)
    blocks : Blocks
        The columns of each of the s features.
    n_required : int
        The last so many features are required.
    rows : ScoredRows
    numbers : Tensor (folds, rows)
        Of the rows held out, as the caller counts them.
    """

    x: Tensor
    y: Tensor
    blocks: Blocks
    n_required: int
    rows: ScoredRows
    numbers: Tensor


@dataclass(frozen=True)
class ValueFunction:
    """What subsets of m* are worth, row by row.

    Attributes
    ----------
    table : JudgedTable
    predictor : SubsetPredictor
        The nets, one for each fold, and the best constant answer.
    inputs : Tensor (folds, rows, inputs)
        Of the rows held out, as the nets take them.
    y : Tensor (folds, rows, ...)
        Of these rows.
    shrinkage : Tensor (folds, rows, s + 1)
        The factor of the nets' outputs, apart from the constant, for each row and size of a subset; other rows chose
        it. The predictor's own factors are chosen by all rows.
    unit : float
        Values are in multiples of it: 1 for classes, whose values are in nats, and the loss of the constant answer for
        numbers, whose values are shares of the variance, and for counts and survival, of the deviance.
    """

    task: Task
    table: JudgedTable
    predictor: SubsetPredictor
    inputs: Tensor
    y: Tensor
    shrinkage: Tensor
    unit: float

    @property
    def n_rows(self) -> int:
        """Rows on which subsets are judged."""
        return self.inputs.shape[0] * self.inputs.shape[1]

    @property
    def n_features(self) -> int:
        """The number s of chosen and required features."""
        return self.shrinkage.shape[2] - 1

    @property
    def n_required(self) -> int:
        """The last so many of them are required."""
        return self.table.n_required

    @property
    def baseline(self) -> float:
        """The loss of the constant answer, in units: the most that there is to be saved."""
        return float(self._constant_losses.mean()) / self.unit

    @property
    def weights(self) -> Tensor | None:
        """Of the judging rows, of mean 1: (rows,)."""
        weights = self.table.rows.weights
        return None if weights is None else weights.flatten()

    @property
    def groups(self) -> Tensor | None:
        """Of the judging rows: (rows,)."""
        groups = self.table.rows.groups
        return None if groups is None else groups.flatten()

    @cached_property
    def _constant_losses(self) -> Tensor:
        """Of the constant answer, times the weights: (rows,)."""
        return self._times_weights(_constant_losses(self.task, self.predictor.constant, self.y.flatten(0, 1)))

    def _times_weights(self, values: Tensor) -> Tensor:
        """Values of rows times their weights: (..., rows)."""
        return values if self.weights is None else values * self.weights.to(values)

    def __call__(self, masks: Tensor) -> Tensor:
        """The loss that each row saves by each subset: (subsets, rows, s) of bool -> (subsets, rows)."""
        return self.saved(self.outputs(masks))

    def saved(self, outputs: Tensor) -> Tensor:
        """The loss that outputs save over the constant answer: (subsets, rows, outputs) -> (subsets, rows)."""
        losses = self._times_weights(self.task.loss(outputs, self.y.flatten(0, 1)))
        return (self._constant_losses - losses) / self.unit

    def errors(self, outputs: Tensor) -> Tensor:
        """What the task's metric is the mean of: (subsets, rows, outputs) -> (subsets, rows)."""
        return self._times_weights(self.task.error(outputs, self.y.flatten(0, 1)))

    def outputs(self, masks: Tensor) -> Tensor:
        """The shrunk outputs for each row and subset: (subsets, rows, s) of bool -> (subsets, rows, outputs)."""
        folds = masks.unflatten(1, self.inputs.shape[:2]).to(self.inputs.device)  # type: ignore[no-untyped-call]
        nets, constant = self.predictor.nets, self.predictor.constant
        return shrunk(nets.outputs(self._added, folds), folds, constant, self.shrinkage).flatten(1, 2)

    @cached_property
    def _added(self) -> Tensor:
        """What each feature of each row adds to the first layer: (folds, rows, s, hidden)."""
        return self.predictor.nets.added_by_feature(self.inputs)

    def along(self, order: Tensor, *, config: TrainConfig, generator: torch.Generator) -> ValueFunction:
        """The same nets, trained on for the first 1, 2, ... features of each fold's order alone: (folds, s).

        They are worth more there than nets for every subset, and only there they may be asked. Required features come
        first in an order, and are in all of these subsets.
        """
        table = self.table
        nets = train_masked_nets(
            self.task,
            table.x,
            table.y,
            table.rows,
            blocks=table.blocks,
            n_required=table.n_required,
            order=order,
            start=self.predictor.nets,
            config=config,
            generator=generator,
        )
        places = order.argsort(dim=1).unsqueeze(1).expand(-1, table.rows.held_out.shape[1], -1)
        return _judged(self.task, table, nets, self.predictor.constant, places, config.score)

    def shares(self, config: ScoreConfig, generator: torch.Generator) -> Shares:
        """Shapley shares of the value of all features; required ones come before the others in every order."""
        games = in_precedence(self, self.n_rows, self.n_features, self.n_required)
        parts = [self._shares_of(game, s, config, generator) for game, s in games]
        shares = parts[0] if len(parts) == 1 else Shares.of(torch.cat([part.of_rows for part in parts], dim=1))
        return replace(shares, errors=self.standard_errors(shares.of_rows.t()))

    def _shares_of(self, game: Game, s: int, config: ScoreConfig, generator: torch.Generator) -> Shares:
        n = self.n_rows
        if s <= config.max_exact_size:
            return exact_shares(game, n, s)
        affordable = max(config.min_pairs, config.max_evaluations // (2 * s * n))
        return sampled_shares(
            game,
            n,
            s,
            min_pairs=config.min_pairs,
            max_pairs=min(config.max_pairs, affordable),
            sampling_share=config.sampling_share,
            generator=generator,
        )

    def standard_errors(self, of_rows: Tensor) -> Tensor:
        """Of means over the rows: (values, rows) -> (values,).

        A share of the constant answer's loss is a ratio of two means over the same rows, and so is a weighted mean. Its
        error is that of a ratio (the delta method); a row far out, or of a large weight, adds to both.
        """
        n = of_rows.shape[1]
        if n < 2:
            return torch.full((len(of_rows),), torch.inf, dtype=of_rows.dtype)
        whole = self.weights if self.task.probabilistic else self._constant_losses / self.unit
        if whole is not None:
            of_rows = of_rows - of_rows.mean(dim=1, keepdim=True) * whole.cpu()
        return error_of_scatter(of_rows, self.groups)


def fit_value_function(
    task: Task,
    x: Tensor,
    y: Tensor,
    *,
    blocks: Blocks | None = None,
    n_required: int = 0,
    n_training: int | None = None,
    weights: Tensor | None = None,
    groups: Tensor | None = None,
    config: TrainConfig,
    generator: torch.Generator,
) -> ValueFunction:
    """Train nets on the chosen columns with random masks, and learn how far to trust them.

    Parameters
    ----------
    x : Tensor (n, columns)
        Of the chosen features; of many rows, some are drawn.
    y : Tensor (n,) or (n, outputs)
    blocks : Blocks, optional
        The columns of each feature; without, every column is a feature.
    n_required : int
        The last so many features are required: they come before the others in every order.
    n_training : int, optional
        Only the first so many rows may be learned from, and the others judge. None cross-fits over all rows.
    weights : Tensor (n,), optional
        What each row counts, where it is learned from and where it judges.
    groups : Tensor (n,) of int, optional
        Rows of one group are in one fold.
    """
    settings, blocks = config.score, Blocks.single(x.shape[1]) if blocks is None else blocks
    s = len(blocks)
    most = max(1, settings.max_evaluations // _subsets_of_a_row(s, n_required, settings))
    if n_training is None:
        kept = torch.randperm(len(y), generator=generator)[: settings.max_rows].to(y.device)
        x, y, weights, groups = x[kept], y[kept], take_weights(weights, kept), take_weights(groups, kept)
        rows = cross_fitted_rows(
            y, n_folds=settings.folds, max_held_out=most // settings.folds, generator=generator, groups=groups
        )
    else:
        learned, judging = (
            first + torch.randperm(n, generator=generator)[:bound].to(y.device)
            for first, n, bound in ((0, n_training, settings.max_rows), (n_training, len(y) - n_training, most))
        )
        rows = ScoredRows(learned.unsqueeze(0), judging.unsqueeze(0))
    numbers = rows.held_out if n_training is not None else kept[rows.held_out]
    rows = rows.weighted(weights)
    seen = slice(None) if n_training is None else rows.learned[0]
    constant = task.constant(y[seen], None if weights is None else weights[seen]).to(x.dtype)
    table = JudgedTable(x, y, blocks, n_required, rows, numbers)
    nets = train_masked_nets(task, x, y, rows, blocks=blocks, n_required=n_required, config=config, generator=generator)
    keys = torch.rand((*rows.held_out.shape, s), generator=generator)
    keys[..., s - n_required :] -= 1.0
    places = keys.argsort(dim=2) if not n_required else keys.argsort(dim=2).argsort(dim=2)
    return _judged(task, table, nets, constant, places, settings)


def _judged(
    task: Task, table: JudgedTable, nets: MaskedNets, constant: Tensor, places: Tensor, config: ScoreConfig
) -> ValueFunction:
    """The value function of trained nets; places (folds, rows, s) of the features in an order of each row."""
    held_out = table.rows.held_out
    inputs, y = nets.nets.inputs(table.x[held_out]), table.y[held_out]
    weights = None if table.rows.weights is None else table.rows.weights.flatten()
    of_rows, by_size = _fit_shrinkage(
        task, nets, inputs, y, constant, places.to(inputs.device), weights=weights, config=config
    )
    without = _constant_losses(task, constant, y.flatten(0, 1))
    unit = 1.0 if task.probabilistic else float(mean_of_rows(without, weights))
    predictor = SubsetPredictor(nets, constant, by_size)
    return ValueFunction(task, table, predictor, inputs, y, of_rows, unit if unit > 0 else 1.0)


@torch.no_grad()
def _fit_shrinkage(
    task: Task,
    nets: MaskedNets,
    inputs: Tensor,
    y: Tensor,
    constant: Tensor,
    places: Tensor,
    *,
    weights: Tensor | None = None,
    config: ScoreConfig,
) -> tuple[Tensor, Tensor]:
    """The factor of the lowest loss for each size: by other rows (folds, rows, s + 1), and by all rows (s + 1,).

    Parameters
    ----------
    places : Tensor (folds, rows, s)
        Of the features in an order of each row; its first 1, 2, ... features are tried.
    weights : Tensor (folds * rows,), optional
    """
    n_folds, n, s = places.shape
    masks = places < torch.arange(1, s + 1, device=inputs.device).view(-1, 1, 1, 1)  # (s, folds, rows, s)
    away = nets.outputs(nets.added_by_feature(inputs), masks).flatten(1, 2) - constant  # (s, folds * rows, outputs)
    losses = torch.stack([task.loss(constant + factor * away, y.flatten(0, 1)) for factor in config.shrinkage])
    losses = losses if weights is None else losses * weights.to(losses)
    part = torch.arange(n_folds * n, device=inputs.device) % config.shrinkage_parts
    own = torch.zeros((*losses.shape[:2], config.shrinkage_parts), device=inputs.device)  # (factors, s, parts)
    own.index_add_(2, part, losses)
    everyone = own.sum(dim=2, keepdim=True)
    best = torch.cat([everyone - own, everyone], dim=2).argmin(dim=0)  # (s, parts + 1)
    factors = torch.tensor(config.shrinkage, device=inputs.device)[best]
    by_size = torch.cat([torch.zeros_like(factors[:1]), factors]).t()  # of no feature, the constant answer itself
    return by_size[part].view(n_folds, n, s + 1), by_size[-1].contiguous()


def _constant_losses(task: Task, constant: Tensor, y: Tensor) -> Tensor:
    """Of the constant answer for each row: (rows,)."""
    return task.loss(constant.expand(1, len(y), -1), y)[0]


def _subsets_of_a_row(s: int, n_required: int, config: ScoreConfig) -> int:
    """How many subsets of each row are evaluated at least: of the required features, and of the others."""
    sizes = (s - n_required, n_required) if n_required else (s,)
    return sum(2**k if k <= config.max_exact_size else 2 * k * config.min_pairs for k in sizes)
