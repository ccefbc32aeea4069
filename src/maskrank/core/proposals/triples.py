"""Triples of features that act only together, such as a parity of three: a search over all of them, and a test.

For each column j the products of all columns before it with j and the residual, times all columns behind it, are one
matrix product: all triples i < j < k are looked at once, d³/6 of them. A number stands in the product by a cosine of
its ranks, which is bounded: the product of three heavy tails would be large in a few rows. A triple counts in so far
as neither main effects of its features nor products of two of them predict its product.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig, WideSearchConfig
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.interactions import main_effects, without_effects
from maskrank.core.proposals.matching_pursuit import Residual
from maskrank.core.proposals.proposal import FeatureGroup
from maskrank.core.proposals.statistics import (
    chi_squared_of,
    corrected_evidence,
    cosine_of_ranks,
    standardised,
    unit_length,
    values_of,
    wilson_hilferty,
)
from maskrank.core.proposals.top_list import Offer, TopList, Workers


def n_triple_columns(n: int, q: int, config: WideSearchConfig) -> int:
    """Columns among which all triples can be looked at by the budget, with n rows and q directions of the target."""
    return int((3 * config.triple_flops / (n * q)) ** (1 / 3))  # k³/6 triples, of 2 n q operations each


def n_triples(k: int) -> float:
    """Triples of k columns."""
    return k * (k - 1) * (k - 2) / 6


@dataclass(frozen=True)
class Triples:
    """Triples under test.

    Attributes
    ----------
    groups : list of FeatureGroup
        Their features.
    products, interactions : Tensor (t, n)
        The products of three columns, and these without main effects and products of two: each of length 1 or 0.
    n_tests : float
        What their evidence is corrected for.
    config : ScreeningConfig
    """

    groups: list[FeatureGroup]
    products: Tensor
    interactions: Tensor
    n_tests: float
    config: ScreeningConfig

    @classmethod
    def promising(
        cls,
        batch: Batch,
        features: Tensor,
        directions: Tensor,
        n_columns: int,
        screening: ScreeningConfig,
        config: WideSearchConfig,
        workers: Workers,
    ) -> Triples:
        """The strongest triples among some features, of those that may be significant.

        Parameters
        ----------
        features : Tensor (k,)
        directions : Tensor (n, q)
            Of the residual.
        n_columns : int
            Columns of the table, for the number of tests.
        """
        n, q = directions.shape
        x, blocks = values_of(batch, features), batch.blocks.only(features)
        columns, numeric = standardised(x, screening.clip), blocks.numeric.to(x.device)
        kept = (numeric | (columns.square().amax(dim=1) * n <= screening.clip**2)).nonzero().squeeze(1)
        owner, columns, numeric = features[blocks.feature_of.to(x.device)][kept], columns[kept], numeric[kept]
        order = x[kept].argsort(dim=1)
        factors = torch.where(numeric.unsqueeze(1), cosine_of_ranks(order, config.triple_cosine), columns)
        n_tests = max(1.0, n_triples(n_columns) / config.triple_level)
        z = math.sqrt(2 * config.evidence_share * math.log(n_tests))
        places = strongest_triples(
            factors,
            owner,
            directions,
            n_triples=config.n_triples,
            min_strength=chi_squared_of(z, q) / n**3,
            max_correlation=screening.max_pair_correlation,
            workers=workers,
        )
        sides = list(places.unbind(dim=1))
        products = unit_length(math.prod((factors[side] for side in sides), start=columns.new_ones(())))
        of_two = [unit_length(factors[one] * factors[other]) for one, other in combinations(sides, 2)]
        effects = torch.cat([main_effects(sides, columns, order, screening), torch.stack(of_two, dim=1)], dim=1)
        interactions = without_effects(products.unsqueeze(1), effects, screening).squeeze(1)
        groups = [tuple(sorted(some)) for some in owner[places].tolist()]
        return cls(groups, products, interactions, n_tests, screening)

    def pursue(self, residual: Residual, groups: dict[FeatureGroup, float], wanted: int) -> None:
        """Add significant triples, the highest evidence given those before it first.

        Parameters
        ----------
        residual : Residual
            Updated.
        groups : dict of FeatureGroup to float
            Extended, up to ``wanted``.
        """
        while self.groups and len(groups) < wanted:
            directions, n = residual.directions(), len(residual.target) - residual.basis.shape[1]
            if directions.shape[1] == 0:
                return
            new = (self.interactions.square().sum(dim=1)) - (self.interactions @ residual.basis).square().sum(dim=1)
            squares = (self.interactions @ directions).square().sum(dim=1)
            z = wilson_hilferty(n * squares / new.clamp(min=self.config.min_new), directions.shape[1])
            evidence = corrected_evidence(z, self.n_tests).masked_fill(new < self.config.min_new, -torch.inf)
            best = int(evidence.argmax())
            if float(evidence[best]) <= 0:
                return
            taken = residual.project_out(torch.stack([self.interactions[best], self.products[best]], dim=1))
            if taken.shape[1] == 0:
                return
            groups.setdefault(self.groups[best], float(evidence[best]))


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
