"""Columns that are computed from a table: its numbers, whether a category has a level, whether a value is missing."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from maskrank.core.data.rows import Values, held_if_small, pick

MISSING = -1.0  # in place of a level: whether the value is missing


@dataclass(frozen=True)
class Code:
    """How columns are computed from others; all tensors are (columns,).

    Attributes
    ----------
    source : Tensor of int
        Which column of the table: numbers, or a category's levels as 0, 1, ...; NaN where a value is missing.
    level : Tensor
        NaN for the number itself, k for whether the category has level k, `MISSING` for whether the value is missing.
    flagged : Tensor of bool
        Whether another column of the same feature says that the value is missing.
    mean, scale : Tensor
        What is subtracted, and then divided by.
    fill : Tensor
        What stands, scaled, for a missing number, and for the level of a missing value that no column speaks of.
    """

    source: Tensor
    level: Tensor
    flagged: Tensor
    mean: Tensor
    scale: Tensor
    fill: Tensor

    def apply(self, raw: Tensor, columns: Tensor) -> Tensor:
        """Scaled columns: values of the table (..., k) and which columns they are for, broadcast to it -> (..., k)."""
        raw, level = raw.double(), self.level[columns]
        indicator = torch.where(level == MISSING, raw.isnan(), raw == level).double()
        indicator = indicator.masked_fill(raw.isnan() & ~self.flagged[columns], torch.nan)
        value = torch.where(level.isnan(), raw, indicator)
        scaled = (value - self.mean[columns]) / self.scale[columns]
        return torch.where(scaled.isnan(), self.fill[columns], scaled)

    def only(self, columns: Tensor) -> Code:
        """Some of the columns."""
        return Code(*(getattr(self, name)[columns] for name in self.__dataclass_fields__))


@dataclass(frozen=True)
class Encoded:
    """Values of such columns, computed where the table lives."""

    x: Tensor  # (rows of the table, columns of the table), of any floating type, in any order
    index: Tensor  # (n,) which rows of the table
    code: Code
    device: torch.device

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.index), len(self.code.source)

    def columns(self, rows: Tensor, subsets: Tensor) -> Tensor:
        rows, subsets = self.index[rows.cpu()], subsets.cpu()
        raw = pick(self.x, rows, self.code.source[subsets])
        return self.code.apply(raw, subsets.unsqueeze(1)).float().to(self.device)

    def dense(self, rows: Tensor) -> Tensor:
        return self.columns(rows, torch.arange(self.shape[1]).unsqueeze(0))[0]

    def only(self, features: Tensor) -> Values:
        return held_if_small(replace(self, code=self.code.only(features.cpu())))
