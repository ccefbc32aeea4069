"""A batched ensemble of MLPs of one shape: one ``baddbmm`` a layer in place of many small products."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from maskrank.core import limits
from maskrank.core.engine.deployed import Array, Bins, DeployedMLP
from maskrank.core.engine.layers import ACTIVATIONS
from maskrank.core.engine.predictor import Predictor


class Encoding(nn.Module, ABC):
    """Makes the inputs of a first layer: the columns themselves come first, what is computed from them follows."""

    @property
    @abstractmethod
    def n_columns(self) -> int:
        """The number of columns that come in."""

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """Of the first layer: the columns and what is computed."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """(..., columns) -> (..., inputs)."""

    @abstractmethod
    def bins(self, weights: Array) -> Bins:
        """Its deployment with the members' weights on what is computed: (members, computed inputs, units)."""


class StackedMLP(Predictor):
    """MLPs of one shape on the chosen columns; the prediction is the mean of their outputs.

    Parameters
    ----------
    weights : sequence of Tensor (members, inputs, outputs)
        One for each layer.
    biases : sequence of Tensor (members, 1, outputs)
    activation : "sigmoid", "silu" or "relu"
    encoding : Encoding, optional
        None where the first layer takes the columns as they are.
    """

    def __init__(
        self, weights: Sequence[Tensor], biases: Sequence[Tensor], activation: str, encoding: Encoding | None = None
    ) -> None:
        super().__init__()
        self.weights = nn.ParameterList(weights)
        self.biases = nn.ParameterList(biases)
        self.activation = activation
        self.encoding = encoding

    @property
    def rows_at_once(self) -> int:
        return limits.PREDICTED_ROWS

    def spec(self) -> dict[str, Any]:
        encoded = self.encoding is not None
        return {"kind": "mlp", "layers": len(self.weights), "activation": self.activation, "encoded": encoded}

    def inputs(self, x: Tensor) -> Tensor:
        """(..., columns) -> (..., inputs)."""
        return x if self.encoding is None else self.encoding(x)

    def members(self, inputs: Tensor) -> Tensor:
        """Each member's outputs: (members, rows, inputs) -> (members, rows, outputs)."""
        return self.after_first_layer(torch.baddbmm(self.biases[0], inputs, self.weights[0]))

    def after_first_layer(self, hidden: Tensor) -> Tensor:
        """The outputs of the other layers: (members, rows, hidden) -> (members, rows, outputs)."""
        for weight, bias in zip(list(self.weights)[1:], list(self.biases)[1:], strict=True):
            hidden = torch.baddbmm(bias, ACTIVATIONS[self.activation](hidden), weight)
        return hidden

    def take(self, members: Tensor) -> StackedMLP:
        """Some of the members, copied; without the encoding where none of them has a weight on it."""
        weights, biases = ([value.detach()[members] for value in values] for values in (self.weights, self.biases))
        encoding = self.encoding
        if encoding is not None and not bool(weights[0][:, encoding.n_columns :].any()):
            weights[0], encoding = weights[0][:, : encoding.n_columns].contiguous(), None
        return StackedMLP(weights, biases, self.activation, encoding)

    def weighted(self, weight: Tensor) -> StackedMLP:
        """The members with a weight, scaled so that the mean of their outputs is the weighted mean: (members,)."""
        used = weight.nonzero().flatten()
        factor = (weight[used] / weight.sum() * len(used)).view(-1, 1, 1)
        kept = self.take(used)
        with torch.no_grad():
            for last in (kept.weights[-1], kept.biases[-1]):
                last.mul_(factor)
        return kept

    def deployed(self) -> DeployedMLP:
        """Weights in half precision; members that have none on what the encoding computes come last."""
        weights: list[Array] = [weight.detach().cpu().double().numpy() for weight in self.weights]
        biases: list[Array] = [bias.detach().cpu().double().numpy()[:, 0] for bias in self.biases]
        weights[-1], biases[-1] = weights[-1] / len(weights[-1]), biases[-1] / len(biases[-1])
        bins = None
        if self.encoding is not None:
            computed = weights[0][:, self.encoding.n_columns :]
            sees = computed.any(axis=(1, 2))
            order = np.argsort(~sees, kind="stable")
            weights, biases = ([value[order] for value in values] for values in (weights, biases))
            bins = self.encoding.bins(computed[sees].astype(np.float16)) if sees.any() else None
            weights[0] = weights[0][:, : self.encoding.n_columns]
        weights, biases = (
            [np.ascontiguousarray(value, dtype=np.float16) for value in values] for values in (weights, biases)
        )
        return DeployedMLP(weights, biases, self.activation, bins)

    def forward(self, x: Tensor) -> Tensor:
        return self.members(self.inputs(x).expand(len(self.weights[0]), -1, -1)).mean(dim=0)


def start_nets(
    members: int,
    sizes: tuple[int, ...],
    activation: str,
    generator: torch.Generator,
    encoding: Encoding | None = None,
) -> StackedMLP:
    """Untrained nets of these layer sizes: Gaussian weights of variance 1 / inputs, zero biases."""
    weights = [
        torch.randn((members, n_in, n_out), generator=generator) / math.sqrt(n_in) for n_in, n_out in pairwise(sizes)
    ]
    return StackedMLP(weights, [torch.zeros((members, 1, n_out)) for n_out in sizes[1:]], activation, encoding)
