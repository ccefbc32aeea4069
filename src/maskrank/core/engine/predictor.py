"""The interface of a final predictor in torch, and its deployment as it is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn

from maskrank.core.engine.deployed import Array, Deployed


class Predictor(nn.Module, ABC):
    """A net on the chosen columns alone."""

    @abstractmethod
    def forward(self, x: Tensor) -> Tensor:
        """(rows, columns) -> (rows, outputs)."""

    @property
    @abstractmethod
    def rows_at_once(self) -> int:
        """How many rows one forward should hold, so that inner layers fit in memory."""

    @abstractmethod
    def spec(self) -> dict[str, Any]:
        """How to build it again, as JSON holds it; its ``kind`` and its tensors do the rest."""

    def deployed(self) -> Deployed:
        """What predicts once the fit is over; here the net itself, in double precision on the CPU."""
        return DeployedNet(self.cpu().double().eval().requires_grad_(False))


class DeployedNet(Deployed):
    """A net in torch.

    Parameters
    ----------
    predictor : Predictor
        In double precision.
    """

    threaded = False

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor

    @property
    def rows_at_once(self) -> int:
        return self.predictor.rows_at_once

    @torch.no_grad()
    def outputs(self, x: Array) -> Array:
        outputs: Array = self.predictor(torch.from_numpy(x)).numpy()
        return outputs

    def spec(self) -> dict[str, Any]:
        return self.predictor.spec()

    def arrays(self) -> dict[str, Array]:
        return {name: tensor.contiguous().numpy() for name, tensor in self.predictor.state_dict().items()}
