"""Nets of a user's own."""

from __future__ import annotations

import torch
from torch import nn


class TwoLayers(nn.Module):
    """A net of a user's own, with dropout, so that it draws random numbers while it learns."""

    def __init__(self, n_features: int, n_outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(2 * n_features, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, n_outputs))

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        return self.layers(torch.cat([x, mask], dim=1))
