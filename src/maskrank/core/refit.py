"""The predictor that is deployed: a net on the chosen s columns and nothing else.

`collapse` turns the trained operator at m* into such a net, exactly. `refit_mlp` trains a small ensemble anew on
the chosen columns, which predicts better: the operator has to serve every subset, these serve one. A net of the
user's own is trained on at m* instead (`fine_tune`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from maskrank.core.config import TrainConfig
from maskrank.core.losses import Task, subset_losses
from maskrank.core.nets import ACTIVATIONS, Dense
from maskrank.core.operators import MaskedModule, SubsetMLP
from maskrank.core.optim import Adam
from maskrank.core.progress import Callback, Progress
from maskrank.core.rows import Rows

_VALIDATE_EVERY = 20  # steps
_DECAYS = (0.1, 0.2, 0.4, 0.8)  # weight decay of the members, in turn: the validation rows tell which fits the data
_SHARES = (1.0, 0.8, 0.6, 0.4)  # of the chosen features that a member looks at, in turn: fewer may predict better
_AVERAGING = 0.98  # decay of the running average of the weights, which is what is judged and kept
_WORTH_MORE = 0.015  # share by which the validation loss must fall in the last third of a cycle to begin another
_LARGEST_BATCH = 512
_VALUES_AT_ONCE = 1 << 18  # inputs of a net of the user's own in one forward
_FINE_TUNE_SHARE = 0.3  # of the operator's learning rate


class StackedMLP(nn.Module):
    """Several MLPs of one shape side by side, on the s chosen columns; the answer is the mean of their outputs.

    Parameters
    ----------
    weights : sequence of Tensor (members, inputs, outputs)
        One for each layer.
    biases : sequence of Tensor (members, 1, outputs)
    activation : "sigmoid", "silu" or "relu"
    """

    def __init__(self, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str) -> None:
        super().__init__()
        self.weights = nn.ParameterList(weights)
        self.biases = nn.ParameterList(biases)
        self.activation = activation

    def members(self, x: Tensor) -> Tensor:
        """Each member's outputs: (members, rows, s) -> (members, rows, outputs)."""
        hidden = x
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if layer:
                hidden = ACTIVATIONS[self.activation](hidden)
            hidden = torch.baddbmm(bias, hidden, weight)
        return hidden

    def forward(self, x: Tensor) -> Tensor:
        """(rows, s) -> (rows, outputs)."""
        return self.members(x.expand(len(self.weights[0]), -1, -1)).mean(dim=0)


class MaskedPredictor(nn.Module):
    """A net of the user's own at m*: the s chosen columns are put in their places, all others are zero."""

    def __init__(self, net: nn.Module, places: Tensor, width: int) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("places", places)
        self.width = width

    @property
    def rows_at_once(self) -> int:
        """How many rows one forward should hold, so that the net's inner layers fit in memory."""
        return max(1, _VALUES_AT_ONCE // self.width)

    def forward(self, x: Tensor) -> Tensor:
        """(rows, s) -> (rows, outputs)."""
        places = self.get_buffer("places").expand(len(x), -1)
        full = torch.zeros((len(x), self.width), dtype=x.dtype, device=x.device)
        mask = torch.zeros_like(full).scatter_(1, places, 1.0)
        return self.net(full.scatter(1, places, x), mask)  # type: ignore[no-any-return]


def collapse(operator: nn.Module, subset: Tensor) -> nn.Module:
    """The operator at one subset, as a net on its s columns."""
    if isinstance(operator, SubsetMLP):
        first_weight = operator.weight_x[subset]
        first_bias = operator.bias + operator.weight_m[subset].sum(dim=0)
        layers = [layer for layer in operator.tail.layers if isinstance(layer, Dense)]
        weights = [first_weight, *(layer.weight for layer in layers)]
        biases = [first_bias, *(layer.bias for layer in layers)]
        return StackedMLP(
            [weight.detach().clone().unsqueeze(0) for weight in weights],
            [bias.detach().clone()[None, None, :] for bias in biases],
            operator.tail.activation,
        )
    if isinstance(operator, MaskedModule):
        return MaskedPredictor(copy.deepcopy(operator.net), operator.places(subset), operator.width)
    raise TypeError(f"no predictor can be made of an operator of type {type(operator).__name__}")


def refit_mlp(
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    importance: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    callbacks: Sequence[Callback] = (),
) -> StackedMLP:
    """Train ``config.refit_members`` nets on the chosen columns and keep the better half.

    The members differ in their start, their batches, their weight decay and in how many of the chosen features they
    look at: all, or the first ones of the ranking. Of each, the running average of its weights is judged on the
    validation rows every few steps, and its best moment is kept. The learning rate falls to 0 in a cycle; another one
    begins where the validation loss was still falling at the end of the last.

    Parameters
    ----------
    subset : Tensor (s,)
        The chosen features.
    importance : Tensor (s,)
        Their scores.
    """
    x, x_validation = (part.all().columns(subset.unsqueeze(0))[0].contiguous() for part in (rows, validation))
    members, n_batch = config.refit_members, _batch_size(config, rows)
    sizes = (x.shape[1], *config.refit_hidden, task.n_outputs)
    ensemble = _start(members, sizes, config.activation, generator).to(x.device)
    decay = torch.tensor(_DECAYS, device=x.device)[torch.arange(members) % len(_DECAYS)].view(-1, 1, 1)
    seen = _visible(importance, members)  # (members, s, 1)
    _shrink(ensemble, 0 * decay, seen)
    average = copy.deepcopy(ensemble)
    best = _BestMembers(ensemble)
    optimizer = Adam(ensemble.parameters(), rate=config.refit_rate, betas=(0.9, 0.99))

    before, total = 0, sum(config.refit_cycles)
    for cycle in config.refit_cycles:
        for step in range(before + 1, before + cycle + 1):
            rate = config.refit_rate * 0.5 * (1 + math.cos(math.pi * (step - before - 1) / cycle))
            optimizer.rate = rate
            index = torch.randint(len(rows), (members, n_batch), generator=generator).to(x.device)
            outputs = ensemble.members(x[index])  # (members, batch, outputs)
            # One task call sees all members' rows; the factor leaves each member its own mean loss.
            loss = task.loss(outputs.flatten(0, 1).unsqueeze(0), rows.y[index].flatten(0, 1)).mean()
            optimizer.zero_grad()
            (loss * members).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            _shrink(ensemble, rate * decay, seen)
            _move_towards(average, ensemble, 1 - min(_AVERAGING, step / (step + 10)))
            if step % _VALIDATE_EVERY == 0 or step == before + cycle:
                with torch.no_grad():
                    judged = task.loss(average.members(x_validation.expand(members, -1, -1)), validation.y).mean(dim=1)
                best.update(judged, average, step)
                for callback in callbacks:
                    lowest = float(best.lowest.min())
                    callback(Progress("refit", step, total, float(loss.detach()), 0.0, lowest))
                if step - best.step >= max(1, cycle // 3):
                    break
        before += cycle
        if best.figure_at(before) > (1 - _WORTH_MORE) * best.figure_at(before - cycle // 3):
            break
    return best.better_half()


class _BestMembers:
    """Each member of an ensemble at its own best moment."""

    def __init__(self, ensemble: StackedMLP) -> None:
        self._kept = copy.deepcopy(ensemble)
        self.lowest = torch.full((len(ensemble.weights[0]),), torch.inf, device=ensemble.weights[0].device)
        self.step = 0
        self._figures: list[tuple[int, float]] = []

    @torch.no_grad()
    def update(self, judged: Tensor, ensemble: StackedMLP, step: int) -> None:
        """Keep the members that are better than ever."""
        better = judged < self.lowest
        self.lowest = torch.where(better, judged, self.lowest)
        for old, new in zip(self._kept.parameters(), ensemble.parameters(), strict=True):
            old[better] = new[better]
        if bool(better.any()):
            self.step = step
        self._figures.append((step, float(self.lowest[self._better_half()].mean())))

    def figure_at(self, step: int) -> float:
        """The mean figure of the better half of the members as it stood at a step."""
        known = [figure for judged, figure in self._figures if judged <= step]
        return known[-1] if known else math.inf

    def better_half(self) -> StackedMLP:
        """The half of the members with the lowest figures."""
        chosen = self._better_half()
        return StackedMLP(
            [weight.detach()[chosen].clone() for weight in self._kept.weights],
            [bias.detach()[chosen].clone() for bias in self._kept.biases],
            self._kept.activation,
        )

    def _better_half(self) -> Tensor:
        return self.lowest.argsort()[: max(1, len(self.lowest) // 2)]


@torch.no_grad()
def _shrink(ensemble: StackedMLP, share: Tensor, seen: Tensor) -> None:
    """Weight decay, and nothing from the features a member does not look at."""
    for weight in ensemble.weights:
        weight.mul_(1 - share)
    ensemble.weights[0].mul_(seen)


@torch.no_grad()
def _move_towards(average: StackedMLP, ensemble: StackedMLP, share: float) -> None:
    torch._foreach_lerp_(list(average.parameters()), list(ensemble.parameters()), share)


def fine_tune(
    operator: nn.Module,
    task: Task,
    rows: Rows,
    validation: Rows,
    subset: Tensor,
    *,
    config: TrainConfig,
    generator: torch.Generator,
    callbacks: Sequence[Callback] = (),
) -> None:
    """Train the operator on at one subset, in place, and leave it at its best moment on the validation rows."""
    subsets = subset.unsqueeze(0)
    optimizer = Adam(operator.parameters(), rate=_FINE_TUNE_SHARE * config.operator_rate)
    lowest = _judge(operator, task, validation, subsets)
    kept = copy.deepcopy(operator.state_dict())
    n_batch = _batch_size(config, rows)
    total = sum(config.refit_cycles)
    for step in range(1, total + 1):
        batch = rows.sample(n_batch, generator=generator)
        loss = subset_losses(operator, task, batch, subsets).mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if step % _VALIDATE_EVERY == 0 or step == total:
            value = _judge(operator, task, validation, subsets)
            if value < lowest:
                lowest, kept = value, copy.deepcopy(operator.state_dict())
            for callback in callbacks:
                callback(Progress("refit", step, total, float(loss.detach()), 0.0, lowest))
    operator.load_state_dict(kept)


def _batch_size(config: TrainConfig, rows: Rows) -> int:
    """More rows, larger batches: the steps stay as many."""
    return min(_LARGEST_BATCH, max(config.refit_batch, len(rows) // 50))


@torch.no_grad()
def _judge(operator: nn.Module, task: Task, validation: Rows, subsets: Tensor) -> float:
    operator.eval()
    value = float(subset_losses(operator, task, validation.all(), subsets))
    operator.train()
    return value


def _visible(importance: Tensor, members: int) -> Tensor:
    """Which of the chosen features each member looks at: (s,) -> (members, s, 1) of zeros and ones."""
    s = len(importance)
    place = importance.argsort(descending=True, stable=True).argsort()  # 0 for the most important
    turn = (torch.arange(members, device=importance.device) // len(_DECAYS)) % len(_SHARES)
    shown = (torch.tensor(_SHARES, device=importance.device)[turn] * s).round().clamp(min=1)
    return (place < shown.unsqueeze(1)).float().unsqueeze(2)


def _start(members: int, sizes: tuple[int, ...], activation: str, generator: torch.Generator) -> StackedMLP:
    weights = [
        torch.randn((members, n_in, n_out), generator=generator) / math.sqrt(n_in) for n_in, n_out in pairwise(sizes)
    ]
    return StackedMLP(weights, [torch.zeros((members, 1, n_out)) for n_out in sizes[1:]], activation)
