"""The nets of an ensemble in training: the running average of each one's weights, and each average at its best moment.

Where there are several folds, the rows held out in the first one choose nothing, so that they can judge: the best
moment of a net of the first fold is that of its recipe's nets in the other folds, and these say which recipes go on,
and when the training ends.
Averages of weights along the way of an optimiser: Polyak and Juditsky 1992, Izmailov et al. 2018.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config.predictor import PredictorConfig, Recipe
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.weights import WeightedDraws, mean_of_rows
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.foreach import lerp_
from maskrank.core.engine.stacked_mlp import StackedMLP, start_nets
from maskrank.core.method.tasks import Task
from maskrank.core.predictor.folds import Folds
from maskrank.core.predictor.recipes import connectivity

_NETS, _MEASURED = ("nets", "average", "best"), ("lowest", "best_step", "watched")


class Members:
    """One net for each recipe and fold, trained side by side.

    Parameters
    ----------
    nets : StackedMLP
        In the order of the recipes, and of the folds within a recipe.
    folds : Folds
    recipes : sequence of Recipe
        Of each net.
    connected : sequence of Tensor (members, inputs of a layer, outputs)
        1 where a member has a weight, else 0; of each layer but the last.
    config : PredictorConfig
    lowest : Tensor (members,), optional
        The lowest loss by which each net was kept so far.

    Attributes
    ----------
    nets : StackedMLP
        What the optimiser updates.
    average : StackedMLP
        The running averages, which are validated.
    best : StackedMLP
        Each average at its best moment: when its own loss was lowest or, of several folds' first, the mean loss of its
        recipe's nets in the other folds.
    lowest : Tensor (members,)
        These losses.
    best_step : int
        When any of them fell last.
    watched : list of float
        The watched loss after each validation.
    fold : Tensor (members,)
        The number of each net's fold.
    """

    def __init__(
        self,
        nets: StackedMLP,
        folds: Folds,
        recipes: Sequence[Recipe],
        connected: Sequence[Tensor],
        config: PredictorConfig,
        lowest: Tensor | None = None,
    ) -> None:
        self.nets, self._folds, self._recipes, self._connected = nets, folds, recipes, connected
        self._config = config
        device = folds.held_out.device
        self._decay = torch.tensor([recipe.decay for recipe in recipes], device=device).view(-1, 1, 1)
        self._noise = torch.tensor([recipe.input_noise for recipe in recipes], device=device).view(-1, 1, 1)
        self._noisy = self._noise.flatten().nonzero().flatten()
        self.fold = torch.arange(len(recipes), device=device) % len(folds)
        self.lowest = torch.full((len(recipes),), torch.inf, device=device) if lowest is None else lowest
        self.best_step = 0
        self.watched: list[float] = []
        self._weights: list[Tensor] = list(nets.weights)  # looked up once: it is slow
        self._trained: list[Tensor] = list(nets.parameters())
        self._shrink(0.0)
        self.average, self.best = copy.deepcopy(nets), copy.deepcopy(nets)
        self._averaged: list[Tensor] = list(self.average.parameters())

    def __len__(self) -> int:
        return len(self._recipes)

    def draw(self, n: int, generator: torch.Generator, draws: WeightedDraws | None = None) -> Tensor:
        """Rows for each member, of those it learns from: (members, n).

        Parameters
        ----------
        draws : WeightedDraws, optional
            Of the rows that each fold learns from, where they have weights.
        """
        if draws is None:
            places = torch.randint(self._folds.learned.shape[1], (len(self), n), generator=generator)
        else:
            n_folds = len(self._folds)
            of_folds = draws.places((n_folds, len(self) // n_folds, n), generator=generator)
            places = of_folds.transpose(0, 1).reshape(len(self), n)
        return self._folds.learned[self.fold.unsqueeze(1), places.to(self.fold.device)]

    def add_noise(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        """Inputs (members, rows, inputs) with each recipe's strength of the same noise, in place."""
        if len(self._noisy):
            noise = torch.randn(inputs.shape[1:], generator=generator).to(inputs.device)
            inputs[self._noisy] += self._noise[self._noisy] * noise
        return inputs

    @torch.no_grad()
    def follow(self, rate: float, step: int) -> None:
        """After an update of the optimiser: weight decay, then the averages follow."""
        self._shrink(rate)
        decay = min(self._config.averaging, step / (step + self._config.averaging_warmup))
        lerp_(self._averaged, self._trained, 1 - decay)

    @torch.no_grad()
    def _shrink(self, rate: float) -> None:
        """Decoupled weight decay, and zero where nothing is connected."""
        kept = 1 - rate * self._decay
        for weight in self._weights:
            weight.mul_(kept)
        for weight, connected in zip(self._weights, self._connected, strict=False):
            weight.mul_(connected)

    @torch.no_grad()
    def validate(self, task: Task, inputs: Tensor, y: Tensor, step: int, weights: Tensor | None = None) -> None:
        """Measure the averages on held-out rows (folds, rows, inputs), and keep those that are better than ever.

        Parameters
        ----------
        weights : Tensor (folds, rows), optional
            Of the held-out rows.
        """
        outputs = self.outputs(self.average, inputs)
        losses = [
            mean_of_rows(task.loss(outputs[:, fold], target), None if weights is None else weights[fold])
            for fold, target in enumerate(y)
        ]
        self.keep_better(torch.stack(losses, dim=1).flatten(), step)

    @torch.no_grad()
    def keep_better(self, losses: Tensor, step: int) -> None:
        """Keep the averages that are better than ever, by the losses on each one's held-out rows: (members,)."""
        judged = _without_first_fold(losses.view(-1, len(self._folds))).flatten()
        better = judged < self.lowest
        self.lowest = torch.where(better, judged, self.lowest)
        for old, new in zip(self.best.parameters(), self.average.parameters(), strict=True):
            old[better] = new[better]
        if bool(better.any()):
            self.best_step = step

    def outputs(self, nets: StackedMLP, inputs: Tensor) -> Tensor:
        """Of all nets for held-out rows: (folds, rows, inputs) -> (recipes, folds, rows, outputs)."""
        n_recipes = len(self) // len(inputs)
        at_once = max(1, limits.JUDGED // (len(self) * inputs.shape[2]))
        some = inputs.split(at_once, dim=1)  # type: ignore[no-untyped-call]
        outputs = torch.cat([nets.members(rows.repeat(n_recipes, 1, 1)) for rows in some], dim=1)
        return outputs.view(n_recipes, *inputs.shape[:2], -1)

    def state_dict(self) -> dict[str, Any]:
        """Of all nets, and what was measured of them, for a checkpoint."""
        nets = {name: getattr(self, name).state_dict() for name in _NETS}
        return {**nets, **{name: getattr(self, name) for name in _MEASURED}}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put members of the same recipes and folds into a state."""
        for name in _NETS:
            getattr(self, name).load_state_dict(state_dict[name])
        for name in _MEASURED:
            setattr(self, name, state_dict[name])

    @property
    def n_recipes(self) -> int:
        return len(self) // len(self._folds)

    @property
    def watched_loss(self) -> float:
        """The mean over the better recipes of their lowest losses."""
        losses = self._recipe_losses()
        return float(losses.sort().values[: max(1, share_of(len(losses), self._config.better_share))].mean())

    def _recipe_losses(self) -> Tensor:
        """The mean of the lowest losses over the folds, of several without the first: (recipes,)."""
        lowest = self.lowest.view(-1, len(self._folds))
        return lowest[:, min(1, len(self._folds) - 1) :].mean(dim=1)

    def best_recipes(self, n: int) -> Members:
        """The n recipes of the lowest loss, to be trained from each member's best moment on."""
        losses, n_folds = self._recipe_losses(), len(self._folds)
        order = losses.argsort()[: max(1, n)]
        chosen = (order.unsqueeze(1) * n_folds + torch.arange(n_folds, device=order.device)).flatten()
        recipes = [self._recipes[i] for i in chosen.tolist()]
        nets = self.best.take(chosen)
        connected = [mask[chosen] for mask in self._connected]
        connected[:1] = [mask[:, : nets.weights[0].shape[1]] for mask in connected[:1]]
        return Members(nets, self._folds, recipes, connected, self._config, self.lowest[chosen])


def start_members(
    recipes: Sequence[Recipe],
    folds: Folds,
    encoding: PiecewiseLinearEncoding | None,
    useful: Tensor,
    blocks: Blocks,
    *,
    n_outputs: int,
    activation: str,
    config: PredictorConfig,
    generator: torch.Generator,
) -> Members:
    """Untrained members, one for each recipe and fold; weights are scaled by how many inputs a unit really has.

    Parameters
    ----------
    useful : Tensor (s,) of bool
        Which of the s features the nets see.
    blocks : Blocks
        Columns of the s features.
    """
    of_each = [recipe for recipe in recipes for _ in range(len(folds))]
    n_bins = 0 if encoding is None else encoding.n_bins
    masks = [connectivity(useful, recipe, blocks, n_bins, config.hidden) for recipe in of_each]
    connected = [torch.stack(layer) for layer in zip(*masks, strict=True)]
    sizes = (connected[0].shape[1], *config.hidden, n_outputs)
    nets = start_nets(len(of_each), sizes, activation, generator, encoding).to(useful.device)
    members = Members(nets, folds, of_each, connected, config)
    with torch.no_grad():
        for weight, mask in zip(nets.weights, connected, strict=False):
            weight.mul_((mask.shape[1] / mask.sum(dim=1, keepdim=True).clamp(min=1)).sqrt())
    return members


def _without_first_fold(losses: Tensor) -> Tensor:
    """The same losses, of several folds with the mean of the others in place of the first's: (recipes, folds)."""
    if losses.shape[1] == 1:
        return losses
    others = losses[:, 1:]
    return torch.cat([others.mean(dim=1, keepdim=True), others], dim=1)


def share_of(n: int, share: float) -> int:
    """A share of n things, rounded down; a third of 600 is 200, whatever a third is in binary."""
    return math.floor(n * share + 1e-9)
