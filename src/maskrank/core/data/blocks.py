"""Which columns each feature switches on: one number, the indicators of a category's levels, a group of columns.

The columns of a feature lie side by side, so that a feature is a block of columns; a column that belongs to two groups
stands in the table twice. Where every feature is one column, numbers of features and of columns are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Blocks:
    """The columns of the features 0..d-1: feature j has the columns starts[j], ..., starts[j + 1] - 1.

    Attributes
    ----------
    starts : Tensor (d + 1,)
        Rising by at least 1; the last one is the number of columns.
    numeric : Tensor (columns,) of bool
        Which columns hold numbers; the others are indicators, of a level or of a missing value.

    Examples
    --------
    >>> import torch
    >>> from maskrank.core.data.blocks import Blocks
    >>> blocks = Blocks.of_widths([1, 3, 2])
    >>> blocks.columns_of(torch.tensor([0, 2])).tolist()
    [0, 4, 5]
    >>> blocks.expand(torch.tensor([[0, 1], [0, 2]])).tolist()  # 6 is no column
    [[0, 1, 2, 3], [0, 4, 5, 6]]
    """

    starts: Tensor
    numeric: Tensor

    @classmethod
    def of_widths(cls, widths: Sequence[int], numeric: Sequence[bool] | None = None) -> Blocks:
        """Of the number of columns of each feature; all columns hold numbers unless told otherwise."""
        starts = torch.tensor([0, *widths]).cumsum(0)
        n_columns = int(starts[-1])
        is_numeric = torch.ones(n_columns, dtype=torch.bool) if numeric is None else torch.tensor(list(numeric))
        return cls(starts, is_numeric.bool())

    @classmethod
    def single(cls, d: int) -> Blocks:
        """Every feature is one column of numbers."""
        return cls(torch.arange(d + 1), torch.ones(d, dtype=torch.bool))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def n_columns(self) -> int:
        """The number of columns of all features."""
        return len(self.numeric)

    @cached_property
    def widths(self) -> Tensor:
        """The number of columns of each feature: (d,)."""
        return self.starts.diff()

    @cached_property
    def is_single(self) -> bool:
        """Whether every feature is one column."""
        return len(self) == self.n_columns

    @property
    def n_numeric(self) -> int:
        """The number of columns that hold numbers."""
        return int(self.numeric.sum())

    @cached_property
    def feature_of(self) -> Tensor:
        """The feature of each column: (columns,)."""
        return torch.arange(len(self)).repeat_interleave(self.widths)

    def columns_of(self, subset: Tensor) -> Tensor:
        """All columns of some features, feature by feature: (s,) -> (columns,)."""
        return subset if self.is_single else self.expand(subset.unsqueeze(0))[0]

    def expand(self, subsets: Tensor) -> Tensor:
        """The columns of each subset, feature by feature: (masks, s) -> (masks, columns of the widest subset).

        Behind the columns of a narrower subset stands the number of all columns, which no column has.
        """
        if self.is_single:
            return subsets
        chosen = subsets.cpu()
        widths = self.widths[chosen]  # (masks, s)
        ends = widths.cumsum(dim=1)
        place = torch.arange(int(ends[:, -1].max()) if chosen.numel() else 0)
        feature = torch.searchsorted(ends, place.expand(len(chosen), -1).contiguous(), right=True)  # (masks, places)
        inside = feature < chosen.shape[1]
        feature = feature.clamp(max=chosen.shape[1] - 1)
        first = (self.starts[chosen] - ends + widths).gather(1, feature)
        return torch.where(inside, first + place, self.n_columns).to(subsets.device)

    def column_counts(self, subsets: Tensor) -> Tensor:
        """The number of columns of each subset: (masks, s) -> (masks,)."""
        return self.widths[subsets.cpu()].sum(dim=1)

    def mean_width(self, subsets: Tensor) -> float:
        """The mean number of columns of some subsets: (masks, s)."""
        return subsets.shape[1] if self.is_single else float(self.column_counts(subsets).double().mean())

    def of_similar_width(self, subsets: Tensor) -> list[Tensor]:
        """The numbers of the subsets (masks, s), in parts whose subsets can be padded to one width at little cost.

        In a part no subset has more than twice the columns of another.
        """
        widths, order = self.column_counts(subsets).sort()
        parts, narrowest = [0], int(widths[0])
        while 2 * narrowest < int(widths[-1]):
            parts.append(int(torch.searchsorted(widths, 2 * narrowest, right=True)))
            narrowest = int(widths[parts[-1]])
        return [order[a:b].to(subsets.device) for a, b in pairwise([*parts, len(order)])]

    def of_inputs(self, n_bins: int) -> Tensor:
        """The feature of each input of a net that takes all columns, then so many bins of each numeric column."""
        return torch.cat([self.feature_of, self.feature_of[self.numeric].repeat_interleave(n_bins)])

    def only(self, features: Tensor) -> Blocks:
        """The blocks of some features, numbered anew: (k,)."""
        if self.is_single:
            return Blocks(torch.arange(len(features) + 1), self.numeric[features.cpu()])
        columns = self.columns_of(features).cpu()
        starts = torch.cat([torch.zeros(1, dtype=torch.long), self.widths[features.cpu()].cumsum(0)])
        return Blocks(starts, self.numeric[columns])
