"""The operator f_O(x⊗m, m): the net that learns the task on any subset of the features.

An operator is any module with ``forward(batch, subsets)``: (batch of rows, (masks, s)) -> (masks, batch, outputs).
``SubsetMLP`` is the paper's MLP; ``MaskedModule`` makes an operator of a net that takes x⊗m and m, and ``ImageCNN``
is such a net, the one of the paper's Yale faces.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from maskrank.core.data.rows import Batch
from maskrank.core.data.subsets import to_mask
from maskrank.core.engine.costs import dense_layer
from maskrank.core.engine.gathered import subset_affine
from maskrank.core.engine.layers import Tail, glorot

_VALUES_AT_ONCE = 1 << 19  # inputs of a net of the user's own in one forward


class SubsetMLP(nn.Module):
    """An MLP on the concatenation of x⊗m and m, computed from the chosen columns alone.

    The first layer is (x⊗m) W_x + m W_m + b. All but s entries of m are zero, so that is the product of s columns
    of x with s rows of W_x, plus the sum of s rows of W_m.

    Parameters
    ----------
    n_features, n_outputs : int
    hidden : tuple of int
    activation : "sigmoid", "silu" or "relu"
    fan_in : int
        Number of inputs in Glorot's rule for the first layer: 2d in the paper.
    by_rows : bool
        Whether the first layer's gradients are sparse tensors of the touched rows.
    """

    def __init__(
        self,
        n_features: int,
        n_outputs: int,
        *,
        hidden: tuple[int, ...],
        activation: str,
        fan_in: int,
        generator: torch.Generator,
        by_rows: bool = False,
    ) -> None:
        super().__init__()
        self.by_rows = by_rows
        shape = (n_features, hidden[0])
        self.weight_x = glorot(fan_in, hidden[0], shape, generator=generator)
        self.weight_m = glorot(fan_in, hidden[0], shape, generator=generator)
        self.bias = nn.Parameter(torch.zeros(hidden[0]))
        self.tail = Tail((*hidden, n_outputs), activation, generator=generator)

    def forward(self, batch: Batch, subsets: Tensor) -> Tensor:
        d, h = self.weight_x.shape
        masks, s = subsets.shape
        dense = not self.by_rows and dense_layer(d, s, h, masks, len(batch))
        hidden = self._dense(batch, subsets) if dense else self._gathered(batch, subsets)  # (masks, batch, h)
        return self.tail(hidden)  # type: ignore[no-any-return]

    def _gathered(self, batch: Batch, subsets: Tensor) -> Tensor:
        """The first layer, from s columns of x and s rows of each weight."""
        columns = batch.columns(subsets)  # (masks, batch, s)
        return subset_affine(columns, subsets, self.weight_x, self.weight_m, self.bias, sparse=self.by_rows)

    def _dense(self, batch: Batch, subsets: Tensor) -> Tensor:
        """The first layer with its zeros: worth it where most features are switched on."""
        mask = to_mask(subsets, len(self.weight_x), dtype=self.weight_x.dtype)  # (masks, d)
        shift = torch.addmm(self.bias, mask, self.weight_m)  # (masks, h)
        masked = batch.dense() * mask.unsqueeze(1)  # (masks, batch, d)
        return torch.matmul(masked, self.weight_x).add_(shift.unsqueeze(1))


class MaskedModule(nn.Module):
    """An operator made of any net with ``forward(x, mask)``.

    Parameters
    ----------
    net : nn.Module
        Takes x⊗m and m, both (rows, width), and returns (rows, outputs).
    columns : Tensor (d,)
        Where the d features stand in the net's input; what is left of its width is never switched on.
    width : int
    """

    def __init__(self, net: nn.Module, columns: Tensor, width: int) -> None:
        super().__init__()
        self.net = net
        self.register_buffer("columns", columns)
        self.width = width

    @property
    def rows_at_once(self) -> int:
        """How many masked rows one forward should hold, so that a net's inner layers fit in memory."""
        return max(1, _VALUES_AT_ONCE // self.width)

    def places(self, subsets: Tensor) -> Tensor:
        """Where the features of subsets stand in the net's input."""
        return self.get_buffer("columns")[subsets]

    def forward(self, batch: Batch, subsets: Tensor) -> Tensor:
        at_once = max(1, self.rows_at_once // len(subsets))
        if len(batch) > at_once and not torch.is_grad_enabled():
            return torch.cat([self(part, subsets) for part in batch.split(at_once)], dim=1)
        dense = batch.dense()  # (batch, d)
        x = dense.new_zeros((len(batch), self.width)).index_copy(1, self.get_buffer("columns"), dense)
        mask = to_mask(self.places(subsets), self.width, dtype=x.dtype)  # (masks, width)
        shape = (len(subsets), len(batch), self.width)
        masked = (x.unsqueeze(0) * mask.unsqueeze(1)).flatten(0, 1)  # (masks * batch, width)
        mask = mask.unsqueeze(1).expand(shape).flatten(0, 1)  # (masks * batch, width)
        return self.net(masked, mask).unflatten(0, shape[:2])  # type: ignore[no-any-return]


class ImageCNN(nn.Module):
    """The convolutional net of the paper's supplement, Table 1 (Yale faces).

    Two input channels, x⊗m and m; three convolutions of 32, 64 and 128 channels with kernels 5, 3 and 3, each
    followed by max-pooling; two dense layers of 30; ReLU throughout.

    Parameters
    ----------
    n_features, n_outputs : int
    image_shape : (height, width)
        Their product is n_features; both at least 8, as three poolings halve them three times.
    """

    def __init__(self, n_features: int, n_outputs: int, *, image_shape: tuple[int, int]) -> None:
        super().__init__()
        height, width = image_shape
        if height * width != n_features or min(height, width) < 8:
            raise ValueError(
                f"image_shape={image_shape} does not fit {n_features} features: height * width must be the number "
                "of features, and both must be at least 8"
            )
        self.image_shape = (height, width)
        self.convolutions = nn.Sequential(
            *self._block(2, 32, kernel=5), *self._block(32, 64, kernel=3), *self._block(64, 128, kernel=3)
        )
        self.head = nn.Sequential(
            nn.Flatten(),
            nn.Linear(128 * (height // 8) * (width // 8), 30),
            nn.ReLU(),
            nn.Linear(30, 30),
            nn.ReLU(),
            nn.Linear(30, n_outputs),
        )
        for layer in self.modules():
            if isinstance(layer, nn.Conv2d | nn.Linear):
                nn.init.xavier_uniform_(layer.weight)
                nn.init.constant_(layer.bias, 0.0)  # type: ignore[arg-type]

    @staticmethod
    def _block(n_in: int, n_out: int, *, kernel: int) -> tuple[nn.Module, ...]:
        return nn.Conv2d(n_in, n_out, kernel, padding=kernel // 2), nn.ReLU(), nn.MaxPool2d(2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        channels = torch.stack([x, mask], dim=1).reshape(-1, 2, *self.image_shape)  # (rows, 2, height, width)
        return self.head(self.convolutions(channels))  # type: ignore[no-any-return]
