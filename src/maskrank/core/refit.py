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
_WORTH_MORE = 0.025  # share by which the validation loss must fall in the last third of a cycle to begin another
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

    def repeated(self, times: int) -> StackedMLP:
        """So many copies of all members, one after the other."""
        weights, biases = (
            [value.detach().repeat(times, 1, 1) for value in values] for values in (self.weights, self.biases)
        )
        return StackedMLP(weights, biases, self.activation)

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
    begins, with the better half alone, where the validation loss was still falling at the end of the first.

    Parameters
    ----------
    subset : Tensor (s,)
        The chosen features.
    importance : Tensor (s,)
        Their scores.
    """
    x, x_validation = (part.all().columns(subset.unsqueeze(0))[0].contiguous() for part in (rows, validation))
    n_batch = _batch_size(config, rows)
    sizes = (x.shape[1], *config.refit_hidden, task.n_outputs)
    ensemble = start_nets(config.refit_members, sizes, config.activation, generator).to(x.device)
    decay = torch.tensor(_DECAYS, device=x.device)[torch.arange(config.refit_members) % len(_DECAYS)].view(-1, 1, 1)
    members = _Members(ensemble, decay, _visible(importance, config.refit_members))

    done, total = 0, sum(config.refit_cycles)
    for turn, cycle in enumerate(config.refit_cycles):
        optimizer = Adam(members.nets.parameters(), rate=config.refit_rate, betas=(0.9, 0.99))
        figures = []  # after each judgement
        for step in range(1, cycle + 1):
            optimizer.rate = config.refit_rate * 0.5 * (1 + math.cos(math.pi * (step - 1) / cycle))
            index = torch.randint(len(rows), (len(members), n_batch), generator=generator).to(x.device)
            outputs = members.nets.members(x[index])  # (members, batch, outputs)
            # One task call sees all members' rows; the factor leaves each member its own mean loss.
            loss = task.loss(outputs.flatten(0, 1).unsqueeze(0), rows.y[index].flatten(0, 1)).mean()
            optimizer.zero_grad()
            (loss * len(members)).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            members.moved(optimizer.rate, step)
            if step % _VALIDATE_EVERY == 0 or step == cycle:
                members.judge(task, x_validation, validation.y, step)
                figures.append(members.figure)
                for callback in callbacks:
                    told = Progress("refit", done + step, total, float(loss.detach()), 0.0, float(members.lowest.min()))
                    callback(told)
                if step - members.best_step >= max(1, cycle // 3):
                    break
        done += cycle
        members = members.at_best() if turn else members.better_half()
        if figures[-1] > (1 - _WORTH_MORE) * figures[2 * len(figures) // 3 - 1]:
            break
    return members.nets


class _Members:
    """The nets of an ensemble in training, the running average of each, and each average at its best moment.

    Parameters
    ----------
    nets : StackedMLP
    decay : Tensor (members, 1, 1)
        Weight decay of each.
    seen : Tensor (members, s, 1)
        1 for the features that a member looks at, else 0.
    lowest : Tensor (members,), optional
        What the nets were judged at so far.
    """

    def __init__(self, nets: StackedMLP, decay: Tensor, seen: Tensor, lowest: Tensor | None = None) -> None:
        self.nets, self._decay, self._seen = nets, decay, seen
        self.lowest = torch.full_like(decay.flatten(), torch.inf) if lowest is None else lowest
        self.best_step = 0
        self._weights: list[Tensor] = list(nets.weights)  # looked up once: it is slow
        self._moving: list[Tensor] = list(nets.parameters())
        self._shrink(0.0)
        self._average, self._best = copy.deepcopy(nets), copy.deepcopy(nets)
        self._following: list[Tensor] = list(self._average.parameters())

    def __len__(self) -> int:
        return len(self.lowest)

    @torch.no_grad()
    def moved(self, rate: float, step: int) -> None:
        """After a step of the optimiser: decay, and the averages follow."""
        self._shrink(rate)
        follow = 1 - min(_AVERAGING, step / (step + 10))
        torch._foreach_lerp_(self._following, self._moving, follow)

    @torch.no_grad()
    def _shrink(self, rate: float) -> None:
        """Weight decay, and nothing from the features a member does not look at."""
        kept = 1 - rate * self._decay
        for weight in self._weights:
            weight.mul_(kept)
        self._weights[0].mul_(self._seen)

    @torch.no_grad()
    def judge(self, task: Task, x: Tensor, y: Tensor, step: int) -> None:
        """Compare the averages on some rows, and keep those that are better than ever."""
        self.update(task.loss(self._average.members(x.expand(len(self), -1, -1)), y).mean(dim=1), step)

    @torch.no_grad()
    def update(self, judged: Tensor, step: int) -> None:
        """Keep the members that are better than ever: (members,) figures."""
        better = judged < self.lowest
        self.lowest = torch.where(better, judged, self.lowest)
        for old, new in zip(self._best.parameters(), self._average.parameters(), strict=True):
            old[better] = new[better]
        if bool(better.any()):
            self.best_step = step

    @property
    def figure(self) -> float:
        """The mean of the lower half of the members' best figures."""
        return float(self.lowest.sort().values[: max(1, len(self) // 2)].mean())

    def better_half(self) -> _Members:
        """The half of the members with the lowest figures, each at its best moment."""
        return self._take(self.lowest.argsort()[: max(1, len(self) // 2)])

    def at_best(self) -> _Members:
        """All members, each at its best moment."""
        return self._take(torch.arange(len(self)))

    def _take(self, chosen: Tensor) -> _Members:
        nets = StackedMLP(
            [weight.detach()[chosen].clone() for weight in self._best.weights],
            [bias.detach()[chosen].clone() for bias in self._best.biases],
            self._best.activation,
        )
        return _Members(nets, self._decay[chosen], self._seen[chosen], self.lowest[chosen])


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


def start_nets(members: int, sizes: tuple[int, ...], activation: str, generator: torch.Generator) -> StackedMLP:
    """Nets of these layer sizes before any training."""
    weights = [
        torch.randn((members, n_in, n_out), generator=generator) / math.sqrt(n_in) for n_in, n_out in pairwise(sizes)
    ]
    return StackedMLP(weights, [torch.zeros((members, 1, n_out)) for n_out in sizes[1:]], activation)
