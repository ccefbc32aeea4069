"""The interface of a deployed predictor: a net on the chosen columns that can say how to build it again."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from torch import Tensor, nn


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
        """How to build it again, as JSON holds it; its ``kind`` and its tensors do the rest.

        `maskrank.core.predictor.specs.predictor_from_spec` reads it.
        """
