"""All pairs among very many columns: blocked products with a running list of the strongest.

A table of products of all pairs is never held: one block of it at a time is computed, compared with the weakest pair
of the list, and forgotten. What is found joins the features that `interactions` pairs and tests.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig, WideSearchConfig
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.statistics import chi_squared_of, cosine_of_ranks, split_features, standardised, values_of
from maskrank.core.proposals.top_list import Offer, TopList, Workers

WIDE_TABLES = {"pairs, by products": False, "pairs, by cosines": True}  # whether columns are cosines of ranks


def n_wide_columns(n: int, q: int, config: WideSearchConfig) -> int:
    """Columns among which all pairs can be looked at by the budget, with n rows and q directions of the target."""
    affordable = math.isqrt(int(config.pair_flops / (len(WIDE_TABLES) * n * q)))  # of a product of k columns: n k² / 2
    return min(affordable, config.max_values // n)


def pair_partners(
    batch: Batch,
    features: Tensor,
    directions: Tensor,
    n_tests: float,
    screening: ScreeningConfig,
    config: WideSearchConfig,
    workers: Workers,
) -> Tensor:
    """Features of the strongest pairs among some features, sorted: those of products that may be significant.

    Parameters
    ----------
    features : Tensor (k,)
    directions : Tensor (n, q)
        Of the target, or of its residual.
    n_tests : float
        Pairs of the whole table, as a significant one is corrected for.
    """
    n, q = directions.shape
    z = math.sqrt(2 * config.evidence_share * math.log(n_tests))
    found = []
    for what, curved in WIDE_TABLES.items():
        columns, owner = _read(batch, features, screening, curved=curved)
        pairs = strongest_pairs(
            columns,
            owner,
            directions,
            n_pairs=config.n_pairs,
            min_strength=chi_squared_of(z, q) / n**2,
            max_correlation=screening.max_pair_correlation,
            workers=workers,
            what=what,
        )
        found.append(owner[pairs.flatten()])
    partners: Tensor = torch.unique(torch.cat(found))
    return partners


def strongest_pairs(
    columns: Tensor,
    owner: Tensor,
    directions: Tensor,
    *,
    n_pairs: int,
    min_strength: float,
    max_correlation: float,
    workers: Workers,
    what: str = "pairs",
) -> Tensor:
    """The pairs of columns whose products have the largest sum of squared overlaps with some directions.

    Parameters
    ----------
    columns : Tensor (k, n)
        Of length 1.
    owner : Tensor (k,)
        The feature of each column; two columns of one feature are no pair.
    directions : Tensor (n, q)
        Orthonormal.
    n_pairs : int
        At most so many.
    min_strength : float
        Pairs below it are left out.
    max_correlation : float
        Columns correlated more than this make no pair: their product is the square of either.
    what : str
        What the workers are told.

    Returns
    -------
    Tensor (pairs, 2)
        Places of the columns, the first below the second; strongest first.
    """
    k, n = columns.shape
    size = limits.PAIR_BLOCK
    starts = range(0, k, size)
    blocks = [(first, second) for first in starts for second in starts if second >= first]
    best = TopList(n_pairs, 2, min_strength, columns.device)

    def work(number: int) -> Offer:
        first, second = blocks[number]
        left, right = columns[first : first + size], columns[second : second + size]
        values, places = best.candidates(left, right, directions, ordered=first == second)
        places = places + torch.tensor([first, second]).to(places)
        parts = torch.split(places, limits.SCREENED // n + 1)
        alike = [torch.einsum("pn,pn->p", columns[some[:, 0]], columns[some[:, 1]]).abs() for some in parts]
        kept = (torch.cat(alike) <= max_correlation) & (owner[places[:, 0]] != owner[places[:, 1]])
        return values[kept], places[kept]

    costs = [float(min(size, k - first) * min(size, k - second)) for first, second in blocks]
    for offer in workers.run(what, work, costs):
        best.offer(offer)
    return best.places


def _read(batch: Batch, features: Tensor, config: ScreeningConfig, *, curved: bool) -> tuple[Tensor, Tensor]:
    """Columns of numbers and of indicators that are not rare, standardised or by a cosine of ranks: (k, n), (k,)."""
    n, blocks = len(batch), batch.blocks.only(features)
    parts, owners = [], []
    for some in split_features(blocks, len(blocks), max(1, limits.PAIR_READ // n), features.device):
        x, own = values_of(batch, features[some]), blocks.only(some)
        columns, numeric = standardised(x, config.clip), own.numeric.to(x.device)
        kept = numeric if curved else numeric | (columns.square().amax(dim=1) * n <= config.clip**2)
        chosen = slice(None) if bool(kept.all()) else kept
        parts.append(cosine_of_ranks(x[chosen].argsort(dim=1), config.pair_cosine) if curved else columns[chosen])
        owners.append(features[some][own.feature_of.to(x.device)][chosen])
    return torch.cat(parts), torch.cat(owners)
