"""Small nets side by side on the chosen columns: their shape, how each is trained, and what weight its answer has."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from maskrank.core.method.tasks import Task

_MOST_BINS = 16  # of a feature
_MOST_STEPS = 256  # bins of all features together
_ROWS_FOR_BINS = 1 << 14
_PICKS = 12


class Recipe(NamedTuple):
    """How a net is trained; rows it does not learn from tell which recipes suit the data.

    Attributes
    ----------
    decay : float
        Weight decay.
    share : float
        Of the chosen features, the first ones of the ranking, that it looks at: fewer may predict better.
    jitter : float
        Deviation of the noise on its inputs, which have a deviation of about 1: good where rows are few.
    steps : bool
        Whether it sees the features in steps too, as a tree does: good where the relation has edges.
    additive : bool
        Whether it is a sum of nets of one feature each: good where features do not interact.
    """

    decay: float
    share: float = 1.0
    jitter: float = 0.0
    steps: bool = False
    additive: bool = False


_RECIPES = (
    *(Recipe(decay) for decay in (0.1, 0.4)),
    Recipe(0.1, share=0.6),
    Recipe(0.1, additive=True),
    *(Recipe(0.1, jitter=jitter) for jitter in (0.5, 1.0)),
    Recipe(0.1, steps=True),
    Recipe(0.4, steps=True, additive=True),
    *(Recipe(0.1, steps=True, jitter=jitter) for jitter in (0.3, 0.6)),
    Recipe(0.4, share=0.6),
    *(Recipe(decay, share=share) for decay in (0.2, 0.8) for share in (1.0, 0.8)),
)


def recipes(n: int, *, varied: bool, steps: bool) -> list[Recipe]:
    """The first n recipes, from the start again where there are fewer; if not varied, the plain ones."""
    usable = [
        recipe
        for recipe in _RECIPES
        if (varied or not (recipe.jitter or recipe.steps or recipe.additive)) and (steps or not recipe.steps)
    ]
    return [usable[turn % len(usable)] for turn in range(n)]


def bins(s: int, n_rows: int) -> int:
    """How many bins each of s features has, no more in all than there are rows; 0 where that is too few."""
    each = min(_MOST_BINS, min(_MOST_STEPS, n_rows) // s)
    return each if each >= _MOST_BINS // 4 else 0


class Steps(nn.Module):
    """Features, and beside them how far a value is through each of the bins of its feature.

    Parameters
    ----------
    edges : Tensor (s, bins + 1)
        Not falling; a bin without width says nothing.
    centre, scale : Tensor (s, bins)
        Of the shares.
    """

    def __init__(self, edges: Tensor, centre: Tensor, scale: Tensor) -> None:
        super().__init__()
        self.register_buffer("edges", edges)
        self.register_buffer("centre", centre)
        self.register_buffer("scale", scale)

    @property
    def n_features(self) -> int:
        return len(self.get_buffer("edges"))

    @classmethod
    def of(cls, x: Tensor, bins: int) -> Steps:
        """Bins with about as many rows each: (n, s)."""
        x = x[:: -(-len(x) // _ROWS_FOR_BINS)]
        levels = torch.linspace(0, 1, bins + 1, dtype=x.dtype, device=x.device)
        edges = torch.quantile(x, levels, dim=0).T.contiguous()
        shares = _through(x, edges)
        deviation = shares.std(dim=0, correction=0)
        return cls(edges, shares.mean(dim=0), torch.where(deviation > 0, 0.5 / deviation, 0.0))

    def forward(self, x: Tensor) -> Tensor:
        """(..., s) -> (..., s + s * bins)."""
        shares = _through(x, self.get_buffer("edges"))
        return torch.cat([x, ((shares - self.get_buffer("centre")) * self.get_buffer("scale")).flatten(-2)], dim=-1)


def _through(x: Tensor, edges: Tensor) -> Tensor:
    """0 below a bin, 1 above it: (..., s) -> (..., s, bins)."""
    width = edges.diff(dim=1)
    return ((x.unsqueeze(-1) - edges[:, :-1]) / torch.where(width > 0, width, torch.inf)).clamp(0, 1)


def links(importance: Tensor, recipe: Recipe, bins: int, hidden: Sequence[int]) -> list[Tensor]:
    """What is linked with what in a net, of zeros and ones, for each layer but the last.

    A net looks at some of its inputs. In an additive one each hidden unit belongs to one feature, or, of more
    features than units, to a few.

    Parameters
    ----------
    importance : Tensor (s,)
        Scores of the features.

    Returns
    -------
    list of Tensor
        (s + s * bins, first of the hidden sizes), (first, second), ...
    """
    s, device = len(importance), importance.device
    place = importance.argsort(descending=True, stable=True).argsort()  # 0 for the most important
    seen = (place < max(1, round(recipe.share * s))).float()
    seen = torch.cat([seen, (seen * recipe.steps).repeat_interleave(bins)])
    numbers = torch.arange(s, device=device)
    owners = [torch.cat([numbers, numbers.repeat_interleave(bins)]) % min(s, *hidden)]
    owners += [torch.arange(units, device=device) % min(s, *hidden) for units in hidden]
    shared = [
        (a.unsqueeze(1) == b).float() if recipe.additive else torch.ones(len(a), len(b)) for a, b in pairwise(owners)
    ]
    return [seen.unsqueeze(1) * shared[0].to(device), *(part.to(device) for part in shared[1:])]


@torch.no_grad()
def blend(task: Task, outputs: Tensor, y: Tensor) -> Tensor:
    """Weights with which the mean of some outputs is good: a dozen times that one is added which helps most.

    Parameters
    ----------
    outputs : Tensor (recipes, n, outputs)
        For rows that were not learned from.

    Returns
    -------
    Tensor (recipes,)
        Of sum 1.
    """
    picked = torch.zeros(len(outputs), device=outputs.device)
    total = torch.zeros_like(outputs[0])
    for turn in range(1, _PICKS + 1):
        best = task.loss((total + outputs) / turn, y).mean(dim=1).argmin()
        picked[best] += 1
        total += outputs[best]
    return picked / _PICKS
