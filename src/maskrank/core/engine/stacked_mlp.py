"""Several MLPs of one shape side by side, as one module: one batched product a layer instead of many small ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn

from maskrank.core.engine.layers import ACTIVATIONS


class StackedMLP(nn.Module):
    """Several MLPs of one shape side by side, on the s chosen columns; the answer is the mean of their outputs.

    Parameters
    ----------
    weights : sequence of Tensor (members, inputs, outputs)
        One for each layer.
    biases : sequence of Tensor (members, 1, outputs)
    activation : "sigmoid", "silu" or "relu"
    steps : Steps, optional
        What makes the inputs of the first layer of the columns.
    """

    def __init__(
        self, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str, steps: nn.Module | None = None
    ) -> None:
        super().__init__()
        self.weights = nn.ParameterList(weights)
        self.biases = nn.ParameterList(biases)
        self.activation = activation
        self.steps = steps

    def inputs(self, x: Tensor) -> Tensor:
        """(..., s) -> (..., inputs)."""
        return x if self.steps is None else self.steps(x)

    def members(self, inputs: Tensor) -> Tensor:
        """Each member's outputs: (members, rows, inputs) -> (members, rows, outputs)."""
        hidden = inputs
        for layer, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            if layer:
                hidden = ACTIVATIONS[self.activation](hidden)
            hidden = torch.baddbmm(bias, hidden, weight)
        return hidden

    def take(self, members: Tensor) -> StackedMLP:
        """Some of the members, copied; without the steps where none of them looks at these."""
        weights, biases = ([value.detach()[members] for value in values] for values in (self.weights, self.biases))
        steps = self.steps
        if steps is not None and not bool(weights[0][:, steps.n_features :].any()):
            weights[0], steps = weights[0][:, : steps.n_features].contiguous(), None
        return StackedMLP(weights, biases, self.activation, steps)

    def weighted(self, weight: Tensor) -> StackedMLP:
        """The members with a weight, scaled so that the mean of their outputs is the weighted mean: (members,)."""
        used = weight.nonzero().flatten()
        factor = (weight[used] / weight.sum() * len(used)).view(-1, 1, 1)
        kept = self.take(used)
        with torch.no_grad():
            for last in (kept.weights[-1], kept.biases[-1]):
                last.mul_(factor)
        return kept

    def forward(self, x: Tensor) -> Tensor:
        """(rows, s) -> (rows, outputs)."""
        return self.members(self.inputs(x).expand(len(self.weights[0]), -1, -1)).mean(dim=0)


def start_nets(members: int, sizes: tuple[int, ...], activation: str, generator: torch.Generator) -> StackedMLP:
    """Nets of these layer sizes before any training."""
    weights = [
        torch.randn((members, n_in, n_out), generator=generator) / math.sqrt(n_in) for n_in, n_out in pairwise(sizes)
    ]
    return StackedMLP(weights, [torch.zeros((members, 1, n_out)) for n_out in sizes[1:]], activation)
