"""Predictions from any subset of the chosen features, for any row: the mean of the masked nets, shrunk by size.

It is what a `ValueFunction` is judged by, without the rows that judged it: small enough for a model file.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from maskrank.core.data.blocks import Blocks
from maskrank.core.engine.encoding import PiecewiseLinearEncoding
from maskrank.core.engine.stacked_mlp import StackedMLP
from maskrank.core.scoring.masked_nets import MaskedNets


def shrunk(outputs: Tensor, masks: Tensor, constant: Tensor, factors: Tensor) -> Tensor:
    """Outputs moved towards the constant answer, by the factor for the size of each subset.

    Parameters
    ----------
    outputs : Tensor (subsets, ..., outputs)
    masks : Tensor (subsets, ..., s) of bool
    constant : Tensor (outputs,)
    factors : Tensor (..., s + 1) or (s + 1,)
    """
    sizes = masks.sum(dim=-1, keepdim=True)  # (subsets, ..., 1)
    factor = factors.expand(*sizes.shape[:-1], -1).gather(-1, sizes)
    return constant + factor * (outputs - constant)


@dataclass(frozen=True)
class SubsetPredictor:
    """Predicts a row from any subset of its s features: the chosen ones, then the required ones.

    Attributes
    ----------
    nets : MaskedNets
        One net for each fold.
    constant : Tensor (outputs,)
        The best constant answer: the prediction from no feature.
    shrinkage : Tensor (s + 1,)
        The factor of the nets' outputs, apart from the constant, for each size of a subset; 0 for the empty one.
    """

    nets: MaskedNets
    constant: Tensor
    shrinkage: Tensor

    @property
    def n_features(self) -> int:
        """The number s of chosen and required features."""
        return len(self.shrinkage) - 1

    @property
    def n_required(self) -> int:
        """The last so many features come before the others in every order."""
        return self.nets.n_required

    def deployed(self) -> SubsetPredictor:
        """A copy on the CPU, with weights rounded to half precision, as a model file holds them."""
        nets = copy.deepcopy(self.nets.nets).cpu().requires_grad_(False)
        for parameter in nets.parameters():
            parameter.copy_(parameter.half())
        masked = MaskedNets(nets, self.nets.blocks, self.n_required)
        return SubsetPredictor(masked, self.constant.cpu(), self.shrinkage.cpu())

    def outputs(self, x: Tensor, masks: Tensor) -> Tensor:
        """The mean of all nets' outputs, shrunk by size.

        Parameters
        ----------
        x : Tensor (rows, columns)
        masks : Tensor (subsets, rows, s) of bool

        Returns
        -------
        Tensor (subsets, rows, outputs)
        """
        return self.of_rows(x)(masks)

    def of_rows(self, x: Tensor) -> Callable[[Tensor], Tensor]:
        """`outputs` of these rows (rows, columns), as a function of the masks alone.

        What each feature adds to the first layer is computed once, for all subsets.
        """
        inputs = self.nets.nets.inputs(x)
        n_nets = len(self.nets.nets.weights[0])
        added = self.nets.added_by_feature(inputs.expand(n_nets, -1, -1))  # (folds, rows, s, hidden)

        def outputs(masks: Tensor) -> Tensor:
            of_nets = self.nets.outputs(added, masks.unsqueeze(1).expand(-1, n_nets, -1, -1))
            return shrunk(of_nets.mean(dim=1), masks, self.constant, self.shrinkage)

        return outputs

    def spec(self) -> dict[str, Any]:
        """How to build its nets again, as JSON holds it."""
        return self.nets.nets.spec()

    def tensors(self) -> dict[str, Tensor]:
        """All its numbers, weights in half precision; those of the nets by the names of their ``state_dict``."""
        blocks = {"starts": self.nets.blocks.starts, "numeric": self.nets.blocks.numeric}
        required = {"n_required": torch.tensor([self.n_required])}
        return {
            "constant": self.constant,
            "shrinkage": self.shrinkage,
            **blocks,
            **required,
            **{name: value.detach().half() for name, value in self.nets.nets.named_parameters()},
            **dict(self.nets.nets.named_buffers()),
        }

    @classmethod
    def of(cls, spec: dict[str, Any], tensors: dict[str, Tensor]) -> SubsetPredictor:
        """From what ``spec`` and ``tensors`` gave."""
        weights, biases = (
            [tensors[f"{part}.{i}"].float() for i in range(spec["layers"])] for part in ("weights", "biases")
        )
        encoding = None
        if spec["encoded"]:
            edges, centre, scale = (tensors[f"encoding.{name}"] for name in ("edges", "centre", "scale"))
            # ``numeric`` is not there where all columns hold numbers.
            encoding = PiecewiseLinearEncoding(edges, centre, scale, tensors.get("encoding.numeric"))
        nets = StackedMLP(weights, biases, spec["activation"], encoding).eval().requires_grad_(False)
        blocks = Blocks(tensors["starts"], tensors["numeric"])
        masked = MaskedNets(nets, blocks, int(tensors["n_required"]))
        return cls(masked, tensors["constant"], tensors["shrinkage"])
