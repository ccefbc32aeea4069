"""Nets that predict from any part of the chosen features: cross-fitted MLPs, trained with random masks.

It is the paper's operator once more, on the columns of m* alone and with masks of every size. A mask bit switches all
inputs of a feature: its columns, and the piecewise-linear encoding of those that hold numbers. A masked input is 0: a
column's mean, and an encoding that no value has. Such nets give on-manifold Shapley values (Frye et al. 2021; Jethani
et al. 2022), and random masks keep them from overfitting. Required features come before all others: masks have a part
of the required ones alone, or all of them and a part of the others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScoreConfig, TrainConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.foreach import lerp_
from maskrank.core.engine.stacked_mlp import StackedMLP, start_nets
from maskrank.core.engine.training_loop import cosine_annealing, train
from maskrank.core.method.tasks import Task
from maskrank.core.scoring.scored_rows import ScoredRows


class MaskedNets:
    """One net for each fold, which predicts from any subset of s features.

    Parameters
    ----------
    nets : StackedMLP
        On all columns of the features.
    blocks : Blocks, optional
        The columns of each feature; without, every column is a feature.
    n_required : int
        The last so many features come before the others in every order.
    """

    def __init__(self, nets: StackedMLP, blocks: Blocks | None = None, n_required: int = 0) -> None:
        encoding, n_inputs = nets.encoding, nets.weights[0].shape[1]
        n_columns = n_inputs if encoding is None else encoding.n_columns
        self.nets, self.n_required = nets, n_required
        self.blocks = Blocks.single(n_columns) if blocks is None else blocks
        self._n_bins = (n_inputs - n_columns) // self.blocks.n_numeric if n_inputs > n_columns else 0
        self._feature = self.blocks.of_inputs(self._n_bins).to(nets.weights[0].device)  # (inputs,)
        # Whether every feature is one column with as many bins as the others have.
        self._alike = self.blocks.is_single and (not self._n_bins or bool(self.blocks.numeric.all()))

    def copy(self) -> MaskedNets:
        """The same nets once more, to be trained."""
        return MaskedNets(copy.deepcopy(self.nets).requires_grad_(True), self.blocks, self.n_required)

    def masked(self, inputs: Tensor, masks: Tensor) -> Tensor:
        """The inputs with 0 where a feature is masked: (..., inputs), (..., s) -> (..., inputs)."""
        bits = masks.to(inputs.dtype)
        if not self._alike:
            bits = bits.index_select(-1, self._feature)
        elif self._n_bins:  # faster than an index
            bits = torch.cat([bits, bits.repeat_interleave(self._n_bins, dim=-1)], dim=-1)
        return inputs * bits

    @torch.no_grad()
    def added_by_feature(self, inputs: Tensor) -> Tensor:
        """What each feature adds to the first layer of each net: (folds, rows, inputs) -> (folds, rows, s, hidden).

        The layer is linear, so that this is computed once for all subsets.
        """
        weights, n_bins, s = self.nets.weights[0], self._n_bins, len(self.blocks)
        if not self._alike:
            own = [(self._feature == feature).nonzero().flatten() for feature in range(s)]
            return torch.stack([inputs[..., some] @ weights[:, some] for some in own], dim=2)
        n_folds, n = inputs.shape[:2]
        by_columns = torch.einsum("frs,fsh->frsh", inputs[..., :s], weights[:, :s])
        if not n_bins:
            return by_columns
        bins, on_bins = inputs[..., s:].reshape(n_folds, n, s, n_bins), weights[:, s:].reshape(n_folds, s, n_bins, -1)
        return by_columns + torch.einsum("frsb,fsbh->frsh", bins, on_bins)

    @torch.no_grad()
    def outputs(self, added: Tensor, masks: Tensor) -> Tensor:
        """Each fold's net on its own rows.

        Parameters
        ----------
        added : Tensor (folds, rows, s, hidden)
            What `added_by_feature` says of these rows.
        masks : Tensor (subsets, folds, rows, s) of bool

        Returns
        -------
        Tensor (subsets, folds, rows, outputs)
        """
        n_folds, n = added.shape[:2]
        widest = max(weight.shape[2] for weight in self.nets.weights)
        parts = []
        for some in torch.split(masks, max(1, limits.VALUED // (n_folds * n * widest))):
            bits = some.permute(1, 2, 0, 3).to(added.dtype)  # (folds, rows, subsets, s)
            hidden = (bits @ added).flatten(1, 2) + self.nets.biases[0]  # (folds, rows * subsets, hidden)
            outputs = self.nets.after_first_layer(hidden)
            parts.append(outputs.view(n_folds, n, len(some), -1).permute(2, 0, 1, 3))
        return torch.cat(parts)


def train_masked_nets(
    task: Task,
    x: Tensor,
    y: Tensor,
    rows: ScoredRows,
    *,
    blocks: Blocks,
    n_required: int = 0,
    order: Tensor | None = None,
    start: MaskedNets | None = None,
    config: TrainConfig,
    generator: torch.Generator,
) -> MaskedNets:
    """Train a net for each fold; the running average of its weights is what is kept (Polyak and Juditsky 1992).

    Nothing is chosen by rows that were held out: they stay honest judges.

    Parameters
    ----------
    x : Tensor (n, columns)
    y : Tensor (n,) or (n, outputs)
    rows : ScoredRows
        The rows that each net learns from, and by which weights they are drawn.
    blocks : Blocks
        The columns of each feature.
    n_required : int
        The last so many features are required.
    order : Tensor (folds, s), optional
        Masks are the first 0, 1, ... features of the fold's order alone (nested dropout, Rippel et al. 2014), not any
        subset. Required features come first in it, and are in all masks.
    start : MaskedNets, optional
        Nets to go on with, for fewer steps, in place of new ones.
    """
    settings, (n_folds, n_rows), s = config.score, rows.learned.shape, len(blocks)
    if start is None:
        nets = _untrained(task, x, blocks.numeric, n_folds, n_rows, config, generator)
        masked = MaskedNets(nets, blocks, n_required)
    else:
        masked = start.copy()
    nets, inputs = masked.nets, masked.nets.inputs(x)
    n_batch = min(settings.max_batch, max(settings.min_batch, n_rows // settings.batches_per_pass))
    draw = rows.draws(generator)

    def loss_of() -> Tensor:
        index = draw(n_batch)  # (folds, batch)
        masks = draw_masks(
            (n_folds, n_batch), s, generator, order, n_required=n_required, required_share=settings.required_share
        ).to(x.device)
        outputs = nets.members(masked.masked(inputs[index], masks))
        return task.loss(outputs.flatten(0, 1).unsqueeze(0), y[index].flatten(0, 1)).mean() * n_folds

    steps = max(settings.min_steps, min(settings.max_steps, settings.steps_per_feature * s))
    steps = min(steps if start is None else settings.further_steps, config.max_batches)
    masked.nets = _averaged_training(nets, loss_of, steps=steps, config=settings)
    return masked


def _untrained(
    task: Task,
    x: Tensor,
    numeric: Tensor,
    n_folds: int,
    n_rows: int,
    config: TrainConfig,
    generator: torch.Generator,
) -> StackedMLP:
    """New nets for the columns of x, with an encoding of those that hold numbers where the rows suffice."""
    settings, n_numeric = config.score, int(numeric.sum())
    n_bins = _bins_per_column(n_numeric, n_rows, settings)
    encoding = PiecewiseLinearEncoding.fit(x, n_bins, config.predictor, numeric).to(x.device) if n_bins else None
    sizes = (x.shape[1] + n_numeric * n_bins, *settings.hidden, task.n_outputs)
    return start_nets(n_folds, sizes, config.activation, generator, encoding).to(x.device)


def draw_masks(
    shape: tuple[int, ...],
    s: int,
    generator: torch.Generator,
    order: Tensor | None = None,
    *,
    n_required: int = 0,
    required_share: float = 0.0,
) -> Tensor:
    """Random masks of every size 0..s, size k with a probability proportional to k + 1: (shape..., s) of bool.

    Larger ones are drawn more often because interactions can be learned from them alone. With an order (s,), all sizes
    are equally likely, and a mask is of the first features; of several orders (folds, s), each first index has its own.

    Parameters
    ----------
    n_required : int
        The last so many features are required, and come first in an order. A mask has part of them and none of the
        others, or all of them and part of the others; with an order, all of them.
    required_share : float
        The share of masks with part of the required features.
    """
    if order is not None:
        places = order.argsort(dim=-1).cpu()
        places = places if order.dim() == 1 else places.unsqueeze(1)
        return places < torch.randint(n_required, s + 1, (*shape, 1), generator=generator)
    masks = torch.rand((*shape, s), generator=generator) < torch.rand((*shape, 1), generator=generator).sqrt()
    if not n_required:
        return masks
    of_required = torch.rand((*shape, 1), generator=generator) < required_share
    required = torch.arange(s) >= s - n_required
    return torch.where(required, masks | ~of_required, masks & ~of_required)


def _averaged_training(
    nets: StackedMLP, loss_of: Callable[[], Tensor], *, steps: int, config: ScoreConfig
) -> StackedMLP:
    """Adam with decoupled weight decay under one cosine annealing; the averages of the weights."""
    average = copy.deepcopy(nets).requires_grad_(False)
    optimizer = Adam(nets.parameters(), rate=config.rate, betas=config.betas)
    weights, trained, averaged = list(nets.weights), list(nets.parameters()), list(average.parameters())

    @torch.no_grad()
    def follow(step: int, loss: Tensor) -> None:
        for weight in weights:
            weight.mul_(1 - optimizer.rate * config.decay)
        lerp_(averaged, trained, 1 - min(config.averaging, step / (step + config.averaging_warmup)))

    train(optimizer, loss_of, steps=steps, schedule=cosine_annealing(config.rate), after=follow)
    return average


def _bins_per_column(n_numeric: int, n_rows: int, config: ScoreConfig) -> int:
    """How many bins of the encoding the rows allow each column of numbers; 0 where these are too few."""
    in_all = min(config.max_bins_in_all, n_rows // config.rows_per_bin)
    each = min(config.max_bins, in_all // n_numeric) if n_numeric else 0
    return each if each >= config.min_bins else 0
