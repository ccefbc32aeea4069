"""An operator of your own: any nn.Module whose forward takes the masked features and the mask."""

import torch
from torch import nn

from maskrank import DualNetRegressor
from maskrank.datasets import make_nonlinear_regression


class Residual(nn.Module):
    def __init__(self, n_features: int, n_outputs: int) -> None:
        super().__init__()
        self.first = nn.Linear(2 * n_features, 32)
        self.block = nn.Sequential(nn.SiLU(), nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 32))
        self.last = nn.Linear(32, n_outputs)

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        hidden = self.first(torch.cat([x, mask], dim=1))
        return self.last(hidden + self.block(hidden))


X, y, relevant = make_nonlinear_regression(512, random_state=0)
model = DualNetRegressor(4, operator=Residual, random_state=0).fit(X, y)
print(model.result_)
print("truly relevant:", ", ".join(f"x{i}" for i in relevant))
