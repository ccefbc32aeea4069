"""A permutation test of association between target and features, in closed form.

Under the null hypothesis the targets are exchangeable: any order of them beside the rows is as likely as the one seen.
The test measures several statistics for the order seen and for random ones, by matrix products:

columns     the largest overlap of the target with a single standardised column
cosines     the same with cosines of its ranks, for effects that are not linear
products    the same with products of two or three columns, and of two cosines, where there are not too many
kernels     how alike targets of similar rows are, for many weak effects: a linear and a Gaussian kernel (HSIC, Gretton
            et al. 2005), without their diagonals

Each statistic is standardised by its mean and deviation over all orders, the one seen among them, and the largest
counts: the step of Westfall and Young (1993), which corrects for all tests at once and takes their dependence into
account. Its rank among all orders is the p-value, with the order seen counted (Phipson and Smyth 2010). So it is exact
for any table, whatever the statistics are, and uniform, because ties are broken at random.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig, SignalConfig
from maskrank.core.data.rows import Batch, Rows, take_weights
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.statistics import (
    cosine_of_ranks,
    split_features,
    standardised,
    sum_by_owner,
    target_directions,
    unit_length,
    values_of,
    wilson_hilferty,
)


@dataclass(frozen=True)
class Effort:
    """How much of a table is tested, so that the test stays cheap beside a fit.

    Attributes
    ----------
    n : int
        Rows.
    orders : int
        Of the targets, the one seen among them.
    cosines : int
        Cosines of each column's ranks; 0 for none.
    pairs, triples : bool
        Whether products of two and of three columns are tested.
    """

    n: int
    orders: int
    cosines: int
    pairs: bool
    triples: bool

    @classmethod
    def of(cls, n: int, columns: int, outputs: int, n_cosines: int, config: SignalConfig) -> Effort:
        """All of it where the multiplications allow; else fewer orders, then no cosines, then fewer rows."""
        n = min(n, config.max_rows)
        orders, cosines = config.max_orders, n_cosines
        if columns * (1 + cosines) * n * outputs * orders > config.flops:
            orders = config.min_orders
        if columns * (1 + cosines) * n * outputs * orders > config.flops:
            cosines = 0
        n = min(n, max(config.min_rows_of_wide, int(config.flops / (columns * outputs * orders))))
        pairs = columns * (columns - 1) // 2
        triples = pairs * (columns - 2) // 3
        each = n * outputs * orders
        return cls(n, orders, cosines, 2 * pairs * each <= config.flops, triples * each <= config.flops)


@torch.no_grad()
def association_pvalue(
    task: Task, rows: Rows, *, config: SignalConfig, screening: ScreeningConfig, generator: torch.Generator
) -> float | None:
    """The p-value of the null hypothesis that targets and features are independent; None where targets do not vary.

    Rows count the same here, whatever their weights are. With groups of rows, targets are permuted within groups where
    they vary most there, and else the means of whole groups are tested.

    Parameters
    ----------
    rows : Rows
        Of many, some are drawn. Required features are tested with the others.
    screening : ScreeningConfig
        How columns and targets are standardised, and how many cosines there are.
    """
    index = torch.randperm(len(rows), generator=generator)[: config.max_rows].to(rows.device)
    target, groups = task.as_numeric(rows.y[index]).reshape(len(index), -1), take_weights(rows.groups, index)
    if groups is not None and not _varies_within(target, groups):
        if len(index) * rows.blocks.n_columns > limits.HELD_TABLE:
            return None
        rows, groups = _means_of_groups(rows.take(index), target, groups), None
        target, index = rows.y, torch.arange(len(rows), device=rows.device)
    directions = target_directions(target, screening)  # (n, q)
    if not directions.shape[1] or len(index) < config.min_rows:
        return None
    columns, q = int(rows.blocks.n_columns), directions.shape[1]
    effort = Effort.of(len(index), columns, q, screening.n_cosines, config)
    batch, directions = rows.take(index[: effort.n]), directions[: effort.n]
    kept = None if groups is None else groups[: effort.n].cpu()
    orders = torch.stack([_random_order(effort.n, kept, generator) for _ in range(effort.orders)])
    orders[0] = torch.arange(effort.n)
    targets = directions[orders.to(rows.device)]  # (orders, n, q)
    largest = _statistics(batch, targets.transpose(0, 1).flatten(1), effort, screening)  # (statistics, orders)
    deviation = largest.std(dim=1, keepdim=True).clamp(min=1e-12)
    return rank_of_first(((largest - largest.mean(dim=1, keepdim=True)) / deviation).amax(dim=0), generator)


def _varies_within(target: Tensor, groups: Tensor) -> bool:
    """Whether most of the target's variance is within groups: (n, k), (n,)."""
    target, place = target.double(), torch.unique(groups, return_inverse=True)[1]
    means = _group_means(target, place)
    within, whole = (target - means[place]).square().sum(), (target - target.mean(dim=0)).square().sum()
    return bool(2 * within > whole)


def _means_of_groups(batch: Batch, target: Tensor, groups: Tensor) -> Rows:
    """A table with one row a group, the means of its rows: under the null hypothesis groups are exchangeable."""
    place = torch.unique(groups, return_inverse=True)[1]
    return Rows(_group_means(batch.dense(), place), _group_means(target.double(), place), batch.blocks)


def _group_means(values: Tensor, place: Tensor) -> Tensor:
    """(n, k), and the number of each row's group: (n,) -> (groups, k)."""
    counts = torch.bincount(place)
    return sum_by_owner(values, place, len(counts)) / counts.unsqueeze(1)


def _random_order(n: int, groups: Tensor | None, generator: torch.Generator) -> Tensor:
    """A random order of n rows, that leaves every row within its group: (n,)."""
    if groups is None:
        return torch.randperm(n, generator=generator)
    mixed = torch.randperm(n, generator=generator)
    order = torch.empty_like(mixed)
    order[groups.argsort(stable=True)] = mixed[groups[mixed].argsort(stable=True)]
    return order


def rank_of_first(values: Tensor, generator: torch.Generator) -> float:
    """The rank of the first value from above, over their number; among equal ones a random place: (k,)."""
    above, ties = int((values[1:] > values[0]).sum()), int((values[1:] == values[0]).sum())
    ahead = int(torch.randint(ties + 1, (), generator=generator))
    return (1 + above + ahead) / len(values)


def _statistics(batch: Batch, targets: Tensor, effort: Effort, config: ScreeningConfig) -> Tensor:
    """Each statistic for each order of the targets: (n, orders * q) -> (statistics, orders)."""
    largest = _Largest(targets, effort.orders)
    similar = targets.new_zeros((effort.n, effort.n))
    kept: list[tuple[Tensor, Tensor]] = []  # of few columns: themselves, and the second cosines of their ranks
    n_features = len(batch.blocks)
    for features in split_features(batch.blocks, n_features, limits.SCREENED // effort.n, targets.device):
        x, numeric = values_of(batch, features), batch.blocks.only(features).numeric.to(targets.device)
        columns = standardised(x, config.clip)
        largest.add("columns", columns)
        similar += columns.t() @ columns
        order = x[numeric].argsort(dim=1)
        for k in range(1, effort.cosines + 1):
            largest.add("cosines", cosine_of_ranks(order, k))
        if effort.pairs:
            kept.append((columns, cosine_of_ranks(order, config.pair_cosine)))
    if effort.pairs:
        columns, waves = (torch.cat(some) for some in zip(*kept, strict=True))
        for name, some, size in (("pairs", columns, 2), ("cosine pairs", waves, 2), ("triples", columns, 3)):
            for products in _products(some, size) if size == 2 or effort.triples else ():
                largest.add(name, products)
    return torch.stack([*largest.deviates(), *_of_kernels(similar, targets, effort.orders)])


class _Largest:
    """The largest squared overlap of the targets with any of many columns, by the name of their kind."""

    def __init__(self, targets: Tensor, orders: int) -> None:
        self._targets, self._orders = targets, orders
        self._found: dict[str, Tensor] = {}

    def add(self, name: str, columns: Tensor) -> None:
        """More columns of a kind, each of length 1: (k, n)."""
        if not len(columns):  # such as products of three among two columns
            return
        n_outputs = self._targets.shape[1] // self._orders
        for some in columns.split(max(1, limits.SCREENED // self._targets.shape[1])):  # type: ignore[no-untyped-call]
            squares = (some @ self._targets).square().view(len(some), self._orders, n_outputs).sum(dim=2)
            best = squares.amax(dim=0)
            self._found[name] = best if name not in self._found else torch.maximum(best, self._found[name])

    def deviates(self) -> list[Tensor]:
        """Of each kind, as standard normal deviates: (orders,) each."""
        n, n_outputs = len(self._targets), self._targets.shape[1] // self._orders
        return [wilson_hilferty(n * best, n_outputs) for best in self._found.values()]


def _products(columns: Tensor, size: int) -> Iterator[Tensor]:
    """Products of so many different columns, each of length 1, some at a time: (k, n) -> (products, n)."""
    places = torch.tensor(list(combinations(range(len(columns)), size)), dtype=torch.long).view(-1, size)
    for some in places.split(max(1, limits.SCREENED // columns.shape[1])):  # type: ignore[no-untyped-call]
        yield unit_length(columns[some.to(columns.device)].prod(dim=1))


def _of_kernels(similar: Tensor, targets: Tensor, orders: int) -> list[Tensor]:
    """Sums over pairs of rows of their targets' products by how alike the rows are: (n, n) -> 2 x (orders,)."""
    squares = similar.diagonal()
    distances = squares.unsqueeze(0) + squares.unsqueeze(1) - 2 * similar
    width = distances.mean().clamp(min=1e-12)
    found = []
    for kernel in (similar.clone(), torch.exp(-distances / width)):
        kernel = kernel - kernel.mean(dim=0) - kernel.mean(dim=1, keepdim=True) + kernel.mean()
        kernel.fill_diagonal_(0.0)
        sums = (targets * (kernel @ targets)).sum(dim=0)
        found.append(sums.view(orders, -1).sum(dim=1))
    return found
