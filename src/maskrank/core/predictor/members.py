"""The nets of the predictor in training: the rows each learns from, its average, and its best moment."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.method.tasks import Task
from maskrank.core.predictor.ensemble import Recipe, blend

_MOST_JUDGES = 1 << 15  # rows held out that judge; more would take long and tell little more
_JUDGED_AT_ONCE = 1 << 24  # inputs of rows held out, of all nets, in one forward, so that they fit in memory
_AVERAGING = 0.98  # decay of the running average of the weights, which is what is judged and kept


@dataclass(frozen=True)
class Refitted:
    """Nets on the chosen columns.

    Attributes
    ----------
    predictor : nn.Module
        (rows, s) -> (rows, outputs).
    judged : nn.Module
        What of it did not learn from the validation rows, which may judge it.
    """

    predictor: nn.Module
    judged: nn.Module


class Parts(NamedTuple):
    """Rows by number, one line for each way to hold some out.

    Attributes
    ----------
    learned : Tensor (ways, rows learned from)
    held : Tensor (ways, rows held out)
        In the first way the validation rows, or some of very many.
    """

    learned: Tensor
    held: Tensor


def hold_out(y: Tensor, n_rows: int, generator: torch.Generator, *, ways: int) -> Parts:
    """Hold out the validation rows, which come last; and, in further ways, others, no row in two ways.

    These are as many, or, in more ways than there are such parts, fewer.

    Parameters
    ----------
    y : Tensor (n,) or (n, outputs)
        Every part gets its share of each class, or of small and large targets, where rows suffice.
    n_rows : int
        Rows before the validation rows; at least one for each further way.
    """
    numbers, n_held = torch.arange(len(y)), len(y) - n_rows
    held = [numbers[n_rows :: -(-n_held // _MOST_JUDGES)]]
    if ways > 1:
        mixed = torch.randperm(n_rows, generator=generator)
        order = mixed[y.cpu().reshape(len(y), -1)[mixed, 0].argsort(stable=True)]
        parts = max(ways - 1, n_rows // n_held)  # with about as many rows each as are validated on
        held += [order[first::parts] for first in range(ways - 1)]
    learned = [numbers[:n_rows], *(numbers[~torch.isin(numbers, part)] for part in held[1:])]
    return Parts(*(_stacked(parts, generator).to(y.device) for parts in (learned, held)))


def _stacked(parts: Sequence[Tensor], generator: torch.Generator) -> Tensor:
    """Lists of rows as lines of one length: a shorter list begins again, with rows by lot."""
    longest = max(len(part) for part in parts)
    lines = []
    for part in parts:
        again = torch.randperm(len(part), generator=generator)[: longest % len(part)]
        lines.append(torch.cat([part.repeat(longest // len(part)), part[again]]))
    return torch.stack(lines)


class Members:
    """The nets of an ensemble in training, the running average of each, and each average at its best moment.

    Parameters
    ----------
    nets : StackedMLP
        Every recipe once for each way to hold rows out.
    parts : Parts
    followed : sequence of Recipe
        Of each net.
    linked : sequence of Tensor (members, inputs of a layer, outputs)
        1 where a member has a weight, else 0; of each layer but the last.
    lowest : Tensor (members,), optional
        What the nets were judged at so far.
    """

    def __init__(
        self,
        nets: StackedMLP,
        parts: Parts,
        followed: Sequence[Recipe],
        linked: Sequence[Tensor],
        lowest: Tensor | None = None,
    ) -> None:
        self.nets, self._parts, self._followed, self._linked = nets, parts, followed, linked
        device = parts.held.device
        self._decay = torch.tensor([recipe.decay for recipe in followed], device=device).view(-1, 1, 1)
        self._jitter = torch.tensor([recipe.jitter for recipe in followed], device=device).view(-1, 1, 1)
        self._noisy = self._jitter.flatten().nonzero().flatten()
        self._way = torch.arange(len(followed), device=device) % len(parts.held)
        self.lowest = torch.full((len(followed),), torch.inf, device=device) if lowest is None else lowest
        self.best_step = 0
        self._weights: list[Tensor] = list(nets.weights)  # looked up once: it is slow
        self._moving: list[Tensor] = list(nets.parameters())
        self._shrink(0.0)
        self._average, self._best = copy.deepcopy(nets), copy.deepcopy(nets)
        self._following: list[Tensor] = list(self._average.parameters())

    def __len__(self) -> int:
        return len(self._followed)

    def draw(self, n: int, generator: torch.Generator) -> Tensor:
        """Rows for each member, of those it learns from: (members, n)."""
        places = torch.randint(self._parts.learned.shape[1], (len(self), n), generator=generator)
        return self._parts.learned[self._way.unsqueeze(1), places.to(self._way.device)]

    def with_jitter(self, inputs: Tensor, generator: torch.Generator) -> Tensor:
        """Inputs with noise, one for all recipes, each with as much of it as it wants: (members, rows, inputs)."""
        if len(self._noisy):
            noise = torch.randn(inputs.shape[1:], generator=generator).to(inputs.device)
            inputs[self._noisy] += self._jitter[self._noisy] * noise
        return inputs

    @torch.no_grad()
    def moved(self, rate: float, step: int) -> None:
        """After a step of the optimiser: decay, and the averages follow."""
        self._shrink(rate)
        follow = 1 - min(_AVERAGING, step / (step + 10))
        torch._foreach_lerp_(self._following, self._moving, follow)

    @torch.no_grad()
    def _shrink(self, rate: float) -> None:
        """Weight decay, and no weight where nothing is linked."""
        kept = 1 - rate * self._decay
        for weight in self._weights:
            weight.mul_(kept)
        for weight, linked in zip(self._weights, self._linked, strict=False):
            weight.mul_(linked)

    @torch.no_grad()
    def judge(self, task: Task, inputs: Tensor, y: Tensor, step: int) -> None:
        """Compare the averages on the rows held out, (ways, rows, inputs), and keep those that are better than ever."""
        outputs = self._answers(self._average, inputs)
        losses = [task.loss(outputs[:, way], target).mean(dim=1) for way, target in enumerate(y)]
        self.update(torch.stack(losses, dim=1).flatten(), step)

    def _answers(self, nets: StackedMLP, inputs: Tensor) -> Tensor:
        """For the rows held out: (recipes, ways, rows, outputs)."""
        times = len(self) // len(inputs)
        at_once = max(1, _JUDGED_AT_ONCE // (len(self) * inputs.shape[2]))
        some = inputs.split(at_once, dim=1)  # type: ignore[no-untyped-call]
        outputs = torch.cat([nets.members(part.repeat(times, 1, 1)) for part in some], dim=1)
        return outputs.view(times, *inputs.shape[:2], -1)

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
        """The mean of the lower half of the recipes' best figures."""
        figures = self._figures()
        return float(figures.sort().values[: max(1, len(figures) // 2)].mean())

    def _figures(self) -> Tensor:
        """Of each recipe, over its members."""
        return self.lowest.view(-1, len(self._parts.held)).mean(dim=1)

    def best(self, n: int) -> Members:
        """The n recipes with the lowest figures, each member at its best moment."""
        figures, ways = self._figures(), len(self._parts.held)
        order = figures.argsort()[: max(1, n)]
        chosen = (order.unsqueeze(1) * ways + torch.arange(ways, device=order.device)).flatten()
        followed = [self._followed[i] for i in chosen.tolist()]
        nets = self._best.take(chosen)
        linked = [part[chosen] for part in self._linked]
        linked[:1] = [part[:, : nets.weights[0].shape[1]] for part in linked[:1]]
        return Members(nets, self._parts, followed, linked, self.lowest[chosen])

    @torch.no_grad()
    def weighed(self, task: Task, inputs: Tensor, y: Tensor) -> Refitted:
        """All members at their best moments, weighed by the rows held out."""
        answers = self._answers(self._best, inputs)
        weight = blend(task, answers.flatten(1, 2), y.flatten(0, 1)).repeat_interleave(len(inputs))
        return self._refitted(weight)

    def alike(self) -> Refitted:
        """All members at their best moments, with one weight."""
        return self._refitted(torch.ones_like(self.lowest))

    def _refitted(self, weight: Tensor) -> Refitted:
        return Refitted(self._best.weighted(weight), self._best.weighted(weight * (self._way == 0)))
