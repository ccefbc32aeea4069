"""The selector f_S(m): the net that predicts the operator's loss from the subset alone."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from maskrank.core.data.subsets import to_mask
from maskrank.core.engine.costs import dense_sum
from maskrank.core.engine.gathered import sum_of_rows
from maskrank.core.engine.layers import Tail, glorot


class Selector(nn.Module):
    """An MLP from a mask to one number.

    Parameters
    ----------
    n_features : int
    hidden : tuple of int
    activation : "sigmoid", "silu" or "relu"
    fan_in : int
        Number of inputs in Glorot's rule for the first layer: d in the paper.
    by_rows : bool
        Whether the first layer's gradient is a sparse tensor of the touched rows.
    """

    def __init__(
        self,
        n_features: int,
        *,
        hidden: tuple[int, ...],
        activation: str,
        fan_in: int,
        generator: torch.Generator,
        by_rows: bool = False,
    ) -> None:
        super().__init__()
        self.hidden = hidden
        self.by_rows = by_rows
        self.weight = glorot(fan_in, hidden[0], (n_features, hidden[0]), generator=generator)
        self.bias = nn.Parameter(torch.zeros(hidden[0]))
        self.tail = Tail((*hidden, 1), activation, generator=generator)

    @property
    def n_features(self) -> int:
        return self.weight.shape[0]

    def forward(self, subsets: Tensor) -> Tensor:
        """Predicted losses of subsets: (masks, s) -> (masks,)."""
        return self.tail(self.hidden_at(subsets)).squeeze(-1)  # type: ignore[no-any-return]

    def hidden_at(self, subsets: Tensor) -> Tensor:
        """The first layer before its activation: (masks, s) -> (masks, h)."""
        if not self.by_rows and dense_sum(self.n_features, self.weight.shape[1], subsets.shape[1]):
            return self._dense(subsets)
        return self._gathered(subsets)

    def _gathered(self, subsets: Tensor) -> Tensor:
        return sum_of_rows(subsets, self.weight, sparse=self.by_rows) + self.bias

    def _dense(self, subsets: Tensor) -> Tensor:
        mask = to_mask(subsets, self.n_features, dtype=self.weight.dtype)  # (masks, d)
        return torch.addmm(self.bias, mask, self.weight)

    def hidden_at_share(self, share: float) -> Tensor:
        """The same at the point (share, ..., share) inside the cube: (h,)."""
        return share * self.weight.sum(dim=0) + self.bias

    def on_features(self, features: Tensor) -> Selector:
        """A copy that knows some features alone, and calls them 0, 1, ...: (features,) of sorted indices."""
        small = Selector(
            len(features),
            hidden=self.hidden,
            activation=self.tail.activation,
            fan_in=len(features),
            generator=torch.Generator(),
        )
        small.load_state_dict({**self.state_dict(), "weight": self.weight.detach()[features]})
        return small.to(self.weight.device, self.weight.dtype)

    @torch.no_grad()
    def take_over(self, small: Selector, features: Tensor, left: float) -> None:
        """Take what a copy `on_features` has learned; of the weights of the other features, keep a share."""
        self.weight.mul_(left).index_copy_(0, features, small.weight)
        self.bias.copy_(small.bias)
        self.tail.load_state_dict(small.tail.state_dict())
