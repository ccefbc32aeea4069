"""How clearly features and pairs go with a target: the statistics behind the screens.

A feature is a row of n values here. It is judged by its line, clipped so that an outlier counts for little, and by
cosines of its rank; a pair by the product of two lines or of two bends, or by two bends of each and all products of
these. What is explained by chance is a sum of squares of normal numbers, which is brought to the scale of one.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core.data.rows import Batch

COSINES = 5
AT_ONCE = 1 << 19  # values
_CLIP = 3.0  # standard deviations: an outlier should not make a pair
_MOST_OUTPUTS, _MOST_DIRECTIONS = 64, 8  # of the target: columns that are looked at, and what is kept of their span
KINDS = 3  # of pairs among which chance has its choice: of lines, of bends, of both bends together
_ALIKE = 0.8  # correlation of two features whose product tells little that a curve of one does not
_OWN_WAVES = range(1, 9)  # cosines of a feature that count as its own curve
_LEAST_LEFT = 0.1  # of a product's length, below which it is rounding
_RIDGE = 0.02  # of a column's squared length


def values_of(batch: Batch, features: Tensor) -> Tensor:
    """Some columns, each as a row: (features, n)."""
    return batch.columns(features.unsqueeze(0)).squeeze(0).t().contiguous()


def target_directions(y: Tensor) -> Tensor:
    """The target as orthonormal, centred columns without outliers; of many, those that span most of it."""
    y = y.reshape(len(y), -1).double()
    y = y[:, y.var(dim=0).argsort(descending=True, stable=True)[:_MOST_OUTPUTS]]
    return orthonormal(lines_of(y.t()).t())[:, :_MOST_DIRECTIONS].float()


def orthonormal(columns: Tensor, least: float = 1e-5) -> Tensor:
    """An orthonormal basis of what some columns span, but for directions of hardly any size: (n, k) -> (n, rank)."""
    u, size, _ = torch.linalg.svd(columns, full_matrices=False)
    basis: Tensor = u[:, size > least]
    return basis


def lines_of(x: Tensor) -> Tensor:
    """Each column standardised and clipped, of length 1: (features, n)."""
    return unit_length(_clipped(_clipped(x)))  # twice, as an outlier widens the spread that it is judged by


def _clipped(x: Tensor) -> Tensor:
    """No value further from its column's mean than three standard deviations: (columns, n)."""
    x = x / x.abs().amax(dim=1, keepdim=True).clamp(min=1e-30)
    spread = x.std(dim=1, keepdim=True).clamp(min=1e-12)
    return x.sub_(x.mean(dim=1, keepdim=True)).div_(spread).clamp_(-_CLIP, _CLIP)


def unit_length(x: Tensor) -> Tensor:
    x = x - x.mean(dim=1, keepdim=True)
    return x.div_(x.norm(dim=1, keepdim=True).clamp_(min=1e-12))


def _wave(n: int, k: int, device: torch.device) -> Tensor:
    """A cosine of k halves over n ranks, of length 1: (n,)."""
    return torch.cos((torch.arange(n, device=device) + 0.5) * (math.pi * k / n)) * math.sqrt(2 / n)


def waves_at(places: Tensor, k: int) -> Tensor:
    """The wave at each value's rank, from where the sorted values stand: (features, n)."""
    wave = _wave(places.shape[1], k, places.device).expand(places.shape)
    return torch.empty_like(wave).scatter_(1, places, wave)


def as_normal(explained: Tensor, freedom: int) -> Tensor:
    """A sum of squares of so many standard normal numbers as one such number (Wilson and Hilferty)."""
    spread = 2 / (9 * freedom)
    return ((explained / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)


def surprise(evidence: Tensor, among: Tensor | float) -> Tensor:
    """Above 0 where the best of so many would not have as much by chance."""
    return evidence.clamp(min=0).square() / 2 - torch.as_tensor(among, device=evidence.device).log()


def single_surprise(evidence: Tensor, d: int) -> Tensor:
    """Of d features' lines and cosines: (some, 1 + 5). The lines have as good a chance as all cosines together."""
    among = torch.full((evidence.shape[1],), 2.0 * COSINES * d, device=evidence.device)
    among[0] = 2.0 * d
    return surprise(evidence, among)


def surprise_alone(batch: Batch, d: int, directions: Tensor) -> Tensor:
    """How surprisingly well each feature alone goes with the target: (d,)."""
    n, q = len(batch), directions.shape[1]
    if q == 0:
        return torch.full((d,), -math.log(2 * d), device=directions.device)
    waves = torch.stack([_wave(n, k, directions.device) for k in range(1, COSINES + 1)])  # (5, n)
    parts = []
    for features in torch.split(torch.arange(d, device=directions.device), max(1, AT_ONCE // (n * q))):
        x = values_of(batch, features)
        by_rank = directions[x.argsort(dim=1)]  # (some, n, q)
        curve = torch.matmul(waves, by_rank).square().sum(dim=2)  # (some, 5)
        line = (lines_of(x) @ directions).square().sum(dim=1, keepdim=True)
        parts.append(single_surprise(as_normal(n * torch.cat([line, curve], dim=1), q), d).amax(dim=1))
    return torch.cat(parts)


def best_partners(
    tables: list[tuple[Tensor, Tensor]],
    lines: Tensor,
    directions: Tensor,
    known: Tensor,
    *,
    pairs: int,
    partners: int,
) -> Tensor:
    """The features whose products with their best partner go most clearly with the target; several of the known.

    Parameters
    ----------
    tables : list of (Tensor (k, n), Tensor (k, n))
        A pair's products are those of its first feature in a left table and its second in the right one.
    lines : Tensor (k, n)
        By which two features are too much alike for a pair: their product is the square of either.
    directions : Tensor (n, q)
    known : Tensor
        Places of known features.
    pairs, partners : int
        How many are named, in all and of each known feature.

    Returns
    -------
    Tensor (pairs, 2)
        Places in the tables, sorted and distinct.
    """
    k = len(tables[0][0])

    def strengths(first: Tensor) -> Tensor:
        """Of the products of some features with all: (some, k)."""
        strength = tables[0][0].new_zeros((len(first), k))
        for left, right in tables:
            for direction in directions.t():
                strength += ((left[first] * direction) @ right.t()).square_()
        strength.masked_fill_((lines[first] @ lines.t()).abs() > _ALIKE, -1.0)
        strength[torch.arange(len(first)), first] = -1.0
        return strength

    blocks = torch.split(torch.arange(k, device=directions.device), max(1, AT_ONCE // k))
    best = [strengths(first).max(dim=1) for first in blocks]
    strength, partner = (torch.cat(parts) for parts in zip(*best, strict=True))
    chosen = strength.argsort(descending=True, stable=True)[:pairs]
    chosen = chosen[strength[chosen] >= 0]  # some have no partner that is unlike
    found = [torch.stack([chosen, partner[chosen]], dim=1)]
    if len(known):
        others = strengths(known).topk(min(partners, k), dim=1)  # (known, partners)
        both = torch.stack([known.unsqueeze(1).expand_as(others.indices), others.indices], dim=2)
        found.append(both[others.values >= 0])
    distinct: Tensor = torch.unique(torch.cat(found).sort(dim=1).values, dim=0)
    return distinct


def interaction(products: Tensor, first: Tensor, second: Tensor, lines: Tensor, places: Tensor) -> Tensor:
    """Of the products of pairs, what no smooth function of either feature holds; of length 1, or 0 where all is held.

    Parameters
    ----------
    products : Tensor (pairs, kinds, n)
    first, second : Tensor (pairs,)
        Which features.
    lines, places : Tensor (k, n)
        Of all features: their lines, and where the sorted values stand.
    """
    kept = []
    for some in torch.split(
        torch.arange(len(first), device=first.device), max(1, AT_ONCE // ((2 * len(_OWN_WAVES) + 2) * lines.shape[1]))
    ):
        sides = (first[some], second[some])
        own = torch.stack(
            [part for side in sides for part in (lines[side], *(waves_at(places[side], k) for k in _OWN_WAVES))], dim=1
        )  # (some, 18, n)
        gram = own @ own.transpose(1, 2) + _RIDGE * torch.eye(own.shape[1]).to(own)
        part = products[some] - products[some].mean(dim=2, keepdim=True)
        rest = part - torch.linalg.solve(gram, own @ part.transpose(1, 2)).transpose(1, 2) @ own
        size = rest.norm(dim=2, keepdim=True)
        held = size < _LEAST_LEFT * part.norm(dim=2, keepdim=True)
        kept.append(torch.where(held, 0.0, rest / size.clamp(min=1e-12)))
    return torch.cat(kept)


def explained_by(overlap: Tensor, gram: Tensor) -> Tensor:
    """How much of some directions the span of each group of columns holds: (groups,).

    Parameters
    ----------
    overlap : Tensor (groups, w, q)
        Of the groups' columns with the directions.
    gram : Tensor (groups, w, w)
        Of the columns among themselves; a little is added, as columns may depend on each other.
    """
    factor, failed = torch.linalg.cholesky_ex(gram + _RIDGE * torch.eye(gram.shape[-1]).to(gram))
    half = torch.linalg.solve_triangular(factor, overlap, upper=False)
    held: Tensor = half.square().sum(dim=(1, 2)).masked_fill(failed > 0, 0.0)
    return held
