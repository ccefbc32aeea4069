"""Columns that are computed from a table where it lives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core.data.code import Code
from maskrank.core.data.rows import Values, held_if_small, pick


@dataclass(frozen=True)
class Encoded:
    """Values of such columns, computed from the table's whenever they are asked for."""

    x: Tensor  # (rows of the table, columns of the table), of any floating type, in any order
    index: Tensor  # (n,) which rows of the table
    code: Code
    device: torch.device

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.index), len(self.code.source)

    def columns(self, rows: Tensor, subsets: Tensor) -> Tensor:
        rows, subsets = self.index[rows.cpu()], subsets.cpu()
        raw = pick(self.x, rows, torch.from_numpy(self.code.source)[subsets])
        columns = self.code.apply(raw.double().numpy(), subsets.unsqueeze(1).numpy())
        return torch.from_numpy(columns).float().to(self.device)

    def dense(self, rows: Tensor) -> Tensor:
        return self.columns(rows, torch.arange(self.shape[1]).unsqueeze(0))[0]

    def only(self, features: Tensor) -> Values:
        return held_if_small(replace(self, code=self.code.only(features.cpu().numpy())))
