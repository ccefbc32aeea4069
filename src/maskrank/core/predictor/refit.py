"""The predictor that is deployed: a net on the chosen s columns and nothing else.

`collapse` turns the trained operator at m* into such a net, exactly. `refit_mlp` trains small nets anew on the chosen
columns, which predict better: the operator has to serve every subset, these serve one. A net of the
user's own is trained on at m* instead (`fine_tune`).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.engine.adam import Adam
from maskrank.core.engine.layers import Dense
from maskrank.core.engine.stacked_mlp import StackedMLP, start_nets
from maskrank.core.method.operators import MaskedModule, SubsetMLP
from maskrank.core.method.tasks import Task, subset_losses
from maskrank.core.predictor.ensemble import Steps, bins, links, recipes
from maskrank.core.predictor.members import Members, Refitted, hold_out
from maskrank.core.recorder import Callback, Progress

_VALIDATE_EVERY = 20  # steps
_MANY_JUDGES = 300  # rows held out that tell nets apart well enough to choose among all recipes and to weigh them
_LEAST_WAYS, _MOST_WAYS = 3, 10  # to hold rows out, where nets may learn from all rows in turn
_LEAST_PART = 5  # rows held out in one of many ways
_MOST_IN_TURN = 20_000  # rows beyond which a fifth more is not worth several times the nets
# By which share the validation loss must fall in the last third of a cycle to begin another. Classes are told apart
# before their probabilities are known well; what is left of a number's error counts in full.
_WORTH_MORE, _WORTH_MORE_NUMBERS = 0.05, 0.015
_GO_ON = 5  # recipes of the lowest loss, that are followed in another cycle
_LARGEST_BATCH = 512
_MOST_ENCODED = 1 << 24  # inputs of all rows that are kept in memory
_VALUES_AT_ONCE = 1 << 18  # inputs of a net of the user's own in one forward
_FINE_TUNE_SHARE = 0.3  # of the operator's learning rate


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
    learn_all: bool = False,
    callbacks: Sequence[Callback] = (),
) -> Refitted:
    """Train nets after ``config.predictor.n_recipes`` recipes on the chosen columns, and weigh their answers.

    Of each net, the running average of its weights is judged every few steps on rows it does not learn from, and its
    best moment is kept. These are the validation rows; with ``learn_all`` each recipe is followed three to ten times,
    with other rows held out each time, so that more rows judge and all rows are learned from. Where too few rows
    judge, the plain recipes are followed alone, and the better half of the nets answers with one weight.

    The learning rate falls to 0 in a cycle; another one begins, with the best five recipes alone, where the
    loss was still falling at the end of the first.

    Parameters
    ----------
    subset : Tensor (s,)
        The chosen features.
    importance : Tensor (s,)
        Their scores.
    learn_all : bool
        Whether nets may learn from validation rows.
    """
    x = torch.cat([part.all().columns(subset.unsqueeze(0))[0] for part in (rows, validation)])
    y = torch.cat([rows.y, validation.y])
    parts = hold_out(y, len(rows), generator, ways=_ways(len(rows), len(validation)) if learn_all else 1)
    varied = len(parts.held) > 1 or len(validation) >= _MANY_JUDGES
    n_bins = bins(len(subset), len(rows)) if varied else 0
    usable = recipes(config.predictor.n_recipes, varied=varied, steps=n_bins > 0)
    followed = [recipe for recipe in usable for _ in range(len(parts.held))]
    n_bins = n_bins if any(recipe.steps for recipe in followed) else 0
    of_each = [links(importance, recipe, n_bins, config.predictor.hidden) for recipe in followed]
    linked = [torch.stack(layer) for layer in zip(*of_each, strict=True)]
    sizes = (linked[0].shape[1], *config.predictor.hidden, task.n_outputs)
    nets = start_nets(len(followed), sizes, config.activation, generator).to(x.device)
    nets.steps = Steps.of(x[: len(rows)], n_bins) if n_bins else None
    members = Members(nets, parts, followed, linked)
    with torch.no_grad():
        for weight, layer in zip(nets.weights, linked, strict=False):
            weight.mul_((layer.shape[1] / layer.sum(dim=1, keepdim=True).clamp(min=1)).sqrt())

    n_batch = _batch_size(config, rows)
    shown = _Inputs(members.nets, x, parts.held)
    held_y = y[parts.held]
    done, total = 0, sum(config.predictor.cycles)
    least_fall = _WORTH_MORE_NUMBERS if y.dtype.is_floating_point else _WORTH_MORE
    for turn, cycle in enumerate(config.predictor.cycles):
        optimizer = Adam(members.nets.parameters(), rate=config.predictor.rate, betas=(0.9, 0.99))
        figures = []  # after each judgement
        for step in range(1, cycle + 1):
            optimizer.rate = config.predictor.rate * 0.5 * (1 + math.cos(math.pi * (step - 1) / cycle))
            index = members.draw(n_batch, generator)
            outputs = members.nets.members(members.with_jitter(shown.rows(index), generator))
            # One task call sees all members' rows; the factor leaves each member its own mean loss.
            loss = task.loss(outputs.flatten(0, 1).unsqueeze(0), y[index].flatten(0, 1)).mean()
            optimizer.zero_grad()
            (loss * len(members)).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            members.moved(optimizer.rate, step)
            if step % _VALIDATE_EVERY == 0 or step == cycle:
                members.judge(task, shown.held, held_y, step)
                figures.append(members.figure)
                for callback in callbacks:
                    told = Progress(
                        "predict", done + step, total, float(loss.detach()), 0.0, float(members.lowest.min())
                    )
                    callback(told)
                if step - members.best_step >= max(1, cycle // 3):
                    break
        done += cycle
        worth_more = figures[-1] <= (1 - least_fall) * figures[2 * len(figures) // 3 - 1]
        if turn == len(config.predictor.cycles) - 1 or not worth_more:
            break
        members = members.best(_GO_ON)
        shown = _Inputs(members.nets, x, parts.held)
    if varied:
        return members.weighed(task, shown.held, held_y)
    return (members if turn else members.best(config.predictor.n_recipes // 2)).alike()


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
    total = sum(config.predictor.cycles)
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
                callback(Progress("predict", step, total, float(loss.detach()), 0.0, lowest))
    operator.load_state_dict(kept)


class _Inputs:
    """What nets see of the rows, encoded once where that fits in memory."""

    def __init__(self, nets: StackedMLP, x: Tensor, held: Tensor) -> None:
        self._nets, self._x = nets, x
        width = nets.weights[0].shape[1]
        self._encoded = nets.inputs(x) if len(x) * width <= _MOST_ENCODED else None
        self.held = self.rows(held)  # (ways, rows held out, inputs)

    def rows(self, index: Tensor) -> Tensor:
        """(...,) -> (..., inputs), a copy."""
        return self._nets.inputs(self._x[index]) if self._encoded is None else self._encoded[index]


def _ways(n_rows: int, n_held: int) -> int:
    """In how many ways rows are held out: the fewer judge, the more, while a part has some rows to judge by.

    In more ways than there are parts as large as the validation rows, nets learn from more rows.
    """
    if n_rows + n_held > _MOST_IN_TURN:
        return 1
    most = min(_MOST_WAYS, n_rows // _LEAST_PART + 1)
    wanted = max(_LEAST_WAYS, min(most, -(-_MANY_JUDGES // n_held)))
    return wanted if n_rows >= wanted - 1 else 1  # each part has a row at least


def _batch_size(config: TrainConfig, rows: Rows) -> int:
    """More rows, larger batches: the steps stay as many."""
    return min(_LARGEST_BATCH, max(config.predictor.min_batch, len(rows) // 50))


@torch.no_grad()
def _judge(operator: nn.Module, task: Task, validation: Rows, subsets: Tensor) -> float:
    operator.eval()
    value = float(subset_losses(operator, task, validation.all(), subsets))
    operator.train()
    return value
