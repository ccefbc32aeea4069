"""The convolutional operator of the paper's Yale faces (supplement, Table 1): a net that takes x⊗m and m as images."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn


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

    def spec(self) -> dict[str, Any]:
        """How to build it again, as JSON holds it."""
        return {"kind": "image_cnn", "image_shape": list(self.image_shape)}

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """(rows, d), (rows, d) -> (rows, outputs)."""
        channels = torch.stack([x, mask], dim=1).reshape(-1, 2, *self.image_shape)  # (rows, 2, height, width)
        return self.head(self.convolutions(channels))  # type: ignore[no-any-return]
