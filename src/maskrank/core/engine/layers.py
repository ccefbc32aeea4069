"""What both nets share: layers whose start comes from a generator that is handed in."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional as F

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"sigmoid": torch.sigmoid, "silu": F.silu, "relu": F.relu}


def glorot(fan_in: int, fan_out: int, shape: tuple[int, ...], *, generator: torch.Generator) -> nn.Parameter:
    """Uniform in ±sqrt(6 / (fan_in + fan_out))."""
    bound = math.sqrt(6.0 / (fan_in + fan_out))
    return nn.Parameter(torch.empty(shape).uniform_(-bound, bound, generator=generator))


class Dense(nn.Module):
    """An affine layer: Glorot-uniform weights (inputs, outputs), zero bias."""

    def __init__(self, n_in: int, n_out: int, *, generator: torch.Generator) -> None:
        super().__init__()
        self.weight = glorot(n_in, n_out, (n_in, n_out), generator=generator)
        self.bias = nn.Parameter(torch.zeros(n_out))

    def forward(self, x: Tensor) -> Tensor:
        flat = torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight)
        return flat.view(*x.shape[:-1], -1)


class Tail(nn.Module):
    """The layers behind the first one: activation and affine map, alternating."""

    def __init__(self, sizes: tuple[int, ...], activation: str, *, generator: torch.Generator) -> None:
        super().__init__()
        self.activation = activation
        self.layers = nn.ModuleList(Dense(n_in, n_out, generator=generator) for n_in, n_out in pairwise(sizes))

    def forward(self, hidden: Tensor) -> Tensor:
        activate = ACTIVATIONS[self.activation]
        for layer in self.layers:
            hidden = layer(activate(hidden))
        return hidden
