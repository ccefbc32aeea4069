"""Where the rows of the data set come from: an object with ``sample(n)``.

A batch knows its rows, not their values: an operator asks it for the columns of its subsets, so that a step on s
of d features reads s values a row. The values may be held in memory, ready to use (`Held`), or be read and scaled
where they live: an array of the user's, perhaps a memory-mapped file (`InPlace`), or a sparse matrix (`SparseRows`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.subsets import with_required
from maskrank.core.data.weights import WeightedDraws

_RANDOM_READ = 64  # a value read alone costs as much as this many side by side


class Values(Protocol):
    """A table of n rows and d columns that gives what a step needs of it, as 32-bit floats."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""

    @property
    def device(self) -> torch.device:
        """Where the nets that learn from it live."""

    def columns(self, rows: Tensor, subsets: Tensor) -> Tensor:
        """The values of each subset's features: (batch,), (masks, s) -> (masks, batch, s)."""

    def dense(self, rows: Tensor) -> Tensor:
        """All features of these rows: (batch,) -> (batch, d)."""

    def only(self, features: Tensor) -> Values:
        """The same rows of some features."""


def read_in_runs(run: int, wanted: int) -> bool:
    """Whether to copy whole runs of neighbouring values and choose among them, and not to fetch each alone."""
    return run <= _RANDOM_READ * wanted


def pick(x: Tensor, rows: Tensor, subsets: Tensor) -> Tensor:
    """The values of each subset's features in some rows, as a copy: (n, d), (batch,), (masks, s) -> (masks, batch, s).

    Values that lie side by side are copied in runs where that is cheaper: the rows of a table that is stored row by
    row, the columns of one that is stored column by column.
    """
    (masks, s), features = subsets.shape, subsets.flatten()
    if x.stride(1) <= x.stride(0) and read_in_runs(x.shape[1], masks * s):
        some_rows = torch.split(rows, max(1, limits.TABLE_PART // x.shape[1]))
        parts = [x.index_select(0, some).t().index_select(0, features) for some in some_rows]
        return torch.cat(parts, dim=1).view(masks, s, -1).transpose(1, 2)
    if x.stride(0) <= x.stride(1) and read_in_runs(x.shape[0], len(rows)):
        whole = x.t().index_select(0, features)  # (masks * s, n)
        return whole.index_select(1, rows).view(masks, s, -1).transpose(1, 2)
    return x[rows[None, :, None], subsets[:, None, :]]


@dataclass(frozen=True)
class Held:
    """Values in memory, ready to use."""

    x: Tensor  # (n, d)

    @property
    def shape(self) -> tuple[int, int]:
        return self.x.shape[0], self.x.shape[1]

    @property
    def device(self) -> torch.device:
        return self.x.device

    def columns(self, rows: Tensor, subsets: Tensor) -> Tensor:
        return pick(self.x, rows, subsets)

    def dense(self, rows: Tensor) -> Tensor:
        return self.x[rows]

    def only(self, features: Tensor) -> Held:
        return Held(self.x[:, features])


@dataclass(frozen=True)
class Scale:
    """What turns a value into the one a net sees: (value - mean) / scale, both (d,) of 64-bit floats."""

    mean: Tensor
    scale: Tensor

    def apply(self, values: Tensor, features: Tensor) -> Tensor:
        """The scaled values, as 32-bit floats: (..., s), and features that broadcast to it."""
        return ((values.double() - self.mean[features]) / self.scale[features]).float()

    def only(self, features: Tensor) -> Scale:
        return Scale(self.mean[features], self.scale[features])


@dataclass(frozen=True)
class InPlace:
    """Values read where they live, and scaled on the way."""

    x: Tensor  # (rows of the table, columns of the table), of any floating type, in any order
    index: Tensor  # (n,) which rows of the table
    features: Tensor  # (d,) which columns of the table
    scale: Scale
    device: torch.device

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.index), len(self.features)

    def columns(self, rows: Tensor, subsets: Tensor) -> Tensor:
        rows, subsets = self.index[rows.cpu()], subsets.cpu()
        values = pick(self.x, rows, self.features[subsets])
        return self.scale.apply(values, subsets.unsqueeze(1)).to(self.device)

    def dense(self, rows: Tensor) -> Tensor:
        values = self.x[self.index[rows.cpu()]][:, self.features]
        return self.scale.apply(values, torch.arange(len(self.features))).to(self.device)

    def only(self, features: Tensor) -> Values:
        features = features.cpu()
        return held_if_small(replace(self, features=self.features[features], scale=self.scale.only(features)))


@dataclass(frozen=True)
class SparseRows:
    """Values of a sparse matrix in compressed rows, spread out for the rows of a batch and scaled on the way."""

    starts: Tensor  # (rows of the table + 1,) where each row's entries begin
    places: Tensor  # (entries,) the column of each entry
    entries: Tensor  # (entries,)
    index: Tensor  # (n,) which rows of the table
    features: Tensor  # (d,) which columns of the table
    scale: Scale
    device: torch.device

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.index), len(self.features)

    def columns(self, rows: Tensor, subsets: Tensor) -> Tensor:
        subsets = subsets.cpu()
        needed, where = torch.unique(self.features[subsets], return_inverse=True)
        spread = torch.cat([self._spread(some, needed) for some in torch.split(rows.cpu(), limits.SPARSE_ROWS)])
        return self.scale.apply(spread[:, where].transpose(0, 1), subsets.unsqueeze(1)).to(self.device)

    def dense(self, rows: Tensor) -> Tensor:
        return self.scale.apply(self._spread(rows.cpu(), self.features), torch.arange(len(self.features))).to(
            self.device
        )

    def only(self, features: Tensor) -> Values:
        features = features.cpu()
        return held_if_small(replace(self, features=self.features[features], scale=self.scale.only(features)))

    def _spread(self, rows: Tensor, needed: Tensor) -> Tensor:
        """Some sorted columns of some rows, with their zeros: (batch, needed)."""
        first, last = self.starts[self.index[rows]].long(), self.starts[self.index[rows] + 1].long()
        counts = last - first
        row = torch.arange(len(rows)).repeat_interleave(counts)
        entry = torch.arange(len(row)) + (first - counts.cumsum(0) + counts).repeat_interleave(counts)
        column = self.places[entry].long()
        place = torch.searchsorted(needed, column).clamp_(max=len(needed) - 1)
        wanted = needed[place] == column
        spread = torch.zeros((len(rows), len(needed)), dtype=self.entries.dtype)
        return spread.index_put_((row[wanted], place[wanted]), self.entries[entry[wanted]])


@dataclass(frozen=True)
class Joined:
    """The rows of two tables of the same columns, those of the second behind those of the first."""

    first: Values
    second: Values

    @property
    def shape(self) -> tuple[int, int]:
        return self.first.shape[0] + self.second.shape[0], self.first.shape[1]

    @property
    def device(self) -> torch.device:
        return self.first.device

    def columns(self, rows: Tensor, subsets: Tensor) -> Tensor:
        n, behind = self.first.shape[0], rows >= self.first.shape[0]
        parts = [self.first.columns(rows[~behind], subsets), self.second.columns(rows[behind] - n, subsets)]
        return torch.cat(parts, dim=1)[:, self._places(behind)]

    def dense(self, rows: Tensor) -> Tensor:
        n, behind = self.first.shape[0], rows >= self.first.shape[0]
        return torch.cat([self.first.dense(rows[~behind]), self.second.dense(rows[behind] - n)])[self._places(behind)]

    def only(self, features: Tensor) -> Joined:
        return Joined(self.first.only(features), self.second.only(features))

    @staticmethod
    def _places(behind: Tensor) -> Tensor:
        """Where each row stands when those of the first table come first."""
        return behind.long().argsort(stable=True).argsort()


def take_weights(weights: Tensor | None, index: Tensor) -> Tensor | None:
    """The weights (or groups) of some rows; None where there are none."""
    return None if weights is None else weights[index]


def held_if_small(values: Values) -> Values:
    """The values in memory, where they do not take much of it."""
    n, d = values.shape
    if n * d > limits.HELD_TABLE:
        return values
    everything = torch.arange(d).unsqueeze(0)
    rows = torch.arange(n, device=values.device).split(max(1, limits.TABLE_PART // d))  # type: ignore[no-untyped-call]
    return Held(torch.cat([values.columns(some, everything).squeeze(0) for some in rows]))


@dataclass(frozen=True)
class Batch:
    """Some rows of a table and their targets."""

    values: Values
    index: Tensor  # (batch,), which of its rows
    y: Tensor  # (batch,) or (batch, outputs)
    blocks: Blocks
    n_required: int = 0  # the last so many features are in every subset
    weights: Tensor | None = None  # (batch,); None where all rows count the same

    def columns(self, subsets: Tensor) -> Tensor:
        """The values of each subset's features: (masks, s) -> (masks, batch, columns of the widest subset).

        The columns stand as in `Blocks.expand`; behind those of a narrower subset come zeros.
        """
        return self.at(self.blocks.expand(subsets))

    def at(self, places: Tensor) -> Tensor:
        """The values of columns as `Blocks.expand` numbers them, and zeros: (masks, k) -> (masks, batch, k)."""
        if self.blocks.is_single:
            return self.values.columns(self.index, places)
        there = places < self.blocks.n_columns
        values = self.values.columns(self.index, torch.where(there, places, 0))
        return values if bool(there.all()) else values * there.unsqueeze(1)

    def with_required(self, subsets: Tensor) -> Tensor:
        """The subsets and the required features, behind them: (masks, s) -> (masks, s + required)."""
        return with_required(subsets, len(self.blocks), self.n_required)

    def dense(self) -> Tensor:
        """All columns of the rows: (batch, columns)."""
        return self.values.dense(self.index)

    def split(self, n: int) -> list[Batch]:
        """The same rows, at most n at a time."""
        parts = torch.arange(len(self), device=self.index.device).split(n)  # type: ignore[no-untyped-call]
        return [
            replace(self, index=self.index[some], y=self.y[some], weights=take_weights(self.weights, some))
            for some in parts
        ]

    def __len__(self) -> int:
        return self.index.shape[0]


class Rows:
    """A table and its targets, sampled with replacement.

    Parameters
    ----------
    x : Values, or a Tensor (n, columns) that is used as it is
    y : Tensor (n,) or (n, outputs)
    blocks : Blocks, optional
        The columns of each feature; without, every column is a feature.
    n_required : int
        The last so many features of the blocks are in every subset: they are not searched, and not counted.
    weights : Tensor (n,), optional
        What each row counts, above 0; a batch draws rows in proportion to it. None where all count the same.
    groups : Tensor (n,) of int, optional
        Rows of one group, such as those of one patient, are never on both sides of a split.
    """

    def __init__(
        self,
        x: Values | Tensor,
        y: Tensor,
        blocks: Blocks | None = None,
        n_required: int = 0,
        weights: Tensor | None = None,
        groups: Tensor | None = None,
    ) -> None:
        self.values: Values = Held(x) if isinstance(x, Tensor) else x
        self.y = y
        self.blocks = Blocks.single(self.values.shape[1]) if blocks is None else blocks
        self.n_required = n_required
        self.weights, self.groups = weights, groups
        self._draws = None if weights is None else WeightedDraws(weights)

    def __len__(self) -> int:
        return self.values.shape[0]

    @property
    def n_features(self) -> int:
        """The number d of features to choose from; the required ones have the numbers behind them."""
        return len(self.blocks) - self.n_required

    @property
    def required(self) -> Tensor:
        """The features that are in every subset: (required,)."""
        return torch.arange(self.n_features, len(self.blocks), device=self.device)

    @property
    def device(self) -> torch.device:
        return self.values.device

    def only(self, features: Tensor) -> Rows:
        """The same rows and targets with some of the features, and with the required ones behind them."""
        features = torch.cat([features, self.required.to(features.device)]) if self.n_required else features
        columns = self.blocks.columns_of(features)
        blocks = self.blocks.only(features)
        return Rows(self.values.only(columns), self.y, blocks, self.n_required, self.weights, self.groups)

    def chosen(self, subset: Tensor) -> tuple[Tensor, Blocks]:
        """All rows of a subset and of the required features behind it: (s,) -> (n, columns), and which are whose."""
        batch = self.all()
        features = batch.with_required(subset.unsqueeze(0))
        return batch.columns(features)[0], self.blocks.only(features[0])

    def active_columns(self, size: int) -> int:
        """How many columns a subset of this size has on average, with the required features: a net's inputs."""
        if self.blocks.is_single:
            return size + self.n_required
        widths = self.blocks.widths.double()
        return round(size * float(widths[: self.n_features].mean()) + float(widths[self.n_features :].sum()))

    def sample(self, n: int, *, generator: torch.Generator) -> Batch:
        """Draw n rows with replacement, in proportion to their weights: in the batch all rows count the same."""
        if self._draws is None:
            return self.take(torch.randint(len(self), (n,), generator=generator).to(self.device))
        return replace(self.take(self._draws.places((n,), generator=generator).to(self.device)), weights=None)

    def take(self, index: Tensor) -> Batch:
        """The rows of this index."""
        weights = take_weights(self.weights, index)
        return Batch(self.values, index, self.y[index], self.blocks, self.n_required, weights)

    def all(self) -> Batch:
        """Every row, in order."""
        everything = torch.arange(len(self), device=self.device)
        return Batch(self.values, everything, self.y, self.blocks, self.n_required, self.weights)
