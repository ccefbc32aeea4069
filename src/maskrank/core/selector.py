"""The selector f_S(m): the net that predicts the operator's loss from the subset alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from maskrank.core.nets import Tail, glorot


class Selector(nn.Module):
    """An MLP from a mask to one number.

    Parameters
    ----------
    n_features : int
    hidden : tuple of int
    activation : "sigmoid", "silu" or "relu"
    fan_in : int
        Number of inputs in Glorot's rule for the first layer: d in the paper.
    """

    def __init__(
        self,
        n_features: int,
        *,
        hidden: tuple[int, ...],
        activation: str,
        fan_in: int,
        generator: torch.Generator,
    ) -> None:
        super().__init__()
        self.weight = glorot(fan_in, hidden[0], (n_features, hidden[0]), generator=generator)
        self.bias = nn.Parameter(torch.zeros(hidden[0]))
        self.tail = Tail((*hidden, 1), activation, generator=generator)

    @property
    def n_features(self) -> int:
        return self.weight.shape[0]

    def forward(self, subsets: Tensor) -> Tensor:
        """Predicted losses of subsets: (masks, s) -> (masks,)."""
        hidden = F.embedding(subsets, self.weight).sum(dim=1) + self.bias  # (masks, h)
        return self.tail(hidden).squeeze(-1)  # type: ignore[no-any-return]

    def at_mask(self, mask: Tensor) -> Tensor:
        """Predicted loss at any point of the cube, not only at its corners: (..., d) -> (...)."""
        hidden = torch.matmul(mask, self.weight) + self.bias
        return self.tail(hidden).squeeze(-1)  # type: ignore[no-any-return]
