"""Triples of features that act only together, such as a parity of three: a search over all of them, and a test.

For each column j the products of all columns before it with j and the residual, times all columns behind it, are one
matrix product: all triples i < j < k are looked at once, d³/6 of them. The strongest are tested as `tuples` are.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig, WideSearchConfig
from maskrank.core.proposals.statistics import chi_squared_of
from maskrank.core.proposals.top_list import Offer, TopList, Workers
from maskrank.core.proposals.tuples import BoundedColumns, Tuples


def n_triple_columns(n: int, q: int, config: WideSearchConfig) -> int:
    """Columns among which all triples can be looked at by the budget, with n rows and q directions of the target."""
    return int((3 * config.triple_flops / (n * q)) ** (1 / 3))  # k³/6 triples, of 2 n q operations each


def n_triples(k: int) -> float:
    """Triples of k columns."""
    return k * (k - 1) * (k - 2) / 6


def promising_triples(
    columns: BoundedColumns,
    directions: Tensor,
    n_columns: int,
    screening: ScreeningConfig,
    config: WideSearchConfig,
    workers: Workers,
) -> Tuples:
    """The strongest triples of some columns, of those that may be significant.

    Parameters
    ----------
    columns : BoundedColumns
    directions : Tensor (n, q)
        Of the residual.
    n_columns : int
        Columns of the table, for the number of tests.
    """
    n, q = directions.shape
    n_tests = max(1.0, n_triples(n_columns) / config.triple_level)
    z = math.sqrt(2 * config.evidence_share * math.log(n_tests))
    places = strongest_triples(
        columns.factors,
        columns.owner,
        directions,
        n_triples=config.n_triples,
        min_strength=chi_squared_of(z, q) / n**3,
        max_correlation=screening.max_pair_correlation,
        workers=workers,
    )
    return Tuples.of(columns, places, n_tests, screening)


def strongest_triples(
    columns: Tensor,
    owner: Tensor,
    directions: Tensor,
    *,
    n_triples: int,
    min_strength: float,
    max_correlation: float,
    workers: Workers,
) -> Tensor:
    """The triples of columns whose products have the largest sum of squared overlaps with some directions.

    Parameters
    ----------
    columns : Tensor (k, n)
        Of length 1.
    owner : Tensor (k,)
        The feature of each column; two columns of one feature are in no triple.
    directions : Tensor (n, q)
        Orthonormal.
    n_triples : int
        At most so many.
    min_strength : float
        Triples below it are left out.
    max_correlation : float
        Columns correlated more than this are in no triple: their product is the square of either.

    Returns
    -------
    Tensor (triples, 3)
        Places of the columns, rising; strongest first.
    """
    k = len(columns)
    best = TopList(n_triples, 3, min_strength, columns.device)
    alike = ((columns @ columns.t()).abs() > max_correlation) | (owner.unsqueeze(1) == owner)

    def work(number: int) -> Offer:
        middle = number + 1
        with_middle = directions * columns[middle].unsqueeze(1)  # (n, q)
        values, places = best.candidates(columns[:middle], columns[middle + 1 :], with_middle)
        first, last = places[:, 0], places[:, 1] + middle + 1
        kept = ~(alike[first, last] | alike[first, middle] | alike[middle, last])
        triples = torch.stack([first, torch.full_like(first, middle), last], dim=1)
        return values[kept], triples[kept]

    costs = [float(middle * (k - 1 - middle)) for middle in range(1, k - 1)]
    for offer in workers.run("triples", work, costs):
        best.offer(offer)
    return best.places
