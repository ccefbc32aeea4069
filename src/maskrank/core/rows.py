"""Where the rows of the data set come from: an object with ``sample(n)``.

A batch knows its rows, not their values: an operator asks it for the columns of its subsets, so that a step on s
of d features reads s values a row.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """Some rows of a table and their targets."""

    x: Tensor  # (n, d), the whole table
    index: Tensor  # (batch,), which of its rows
    y: Tensor  # (batch,) or (batch, outputs)

    def columns(self, subsets: Tensor) -> Tensor:
        """The values of each subset's features: (masks, s) -> (masks, batch, s)."""
        return self.x[self.index[None, :, None], subsets[:, None, :]]

    def dense(self) -> Tensor:
        """All features of the rows: (batch, d)."""
        return self.x[self.index]

    def __len__(self) -> int:
        return self.index.shape[0]


class Rows:
    """A table in memory, sampled with replacement.

    Parameters
    ----------
    x : Tensor (n, d)
    y : Tensor (n,) or (n, outputs)
    """

    def __init__(self, x: Tensor, y: Tensor) -> None:
        self.x = x
        self.y = y

    def __len__(self) -> int:
        return self.x.shape[0]

    @property
    def n_features(self) -> int:
        return self.x.shape[1]

    def sample(self, n: int, *, generator: torch.Generator) -> Batch:
        """Draw n rows with replacement."""
        return self.take(torch.randint(len(self), (n,), generator=generator).to(self.x.device))

    def take(self, index: Tensor) -> Batch:
        """The rows of this index."""
        return Batch(self.x, index, self.y[index])

    def all(self) -> Batch:
        """Every row, in order."""
        return Batch(self.x, torch.arange(len(self), device=self.x.device), self.y)
