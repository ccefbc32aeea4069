"""Tuples of three and more features under test, such as a parity of three.

A number stands in the product of a tuple by a cosine of its ranks, which is bounded: the product of several heavy tails
would be large in a few rows. A tuple counts in so far as neither main effects of its features nor products of fewer of
them predict its product.
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
    corrected_evidence,
    cosine_of_ranks,
    standardised,
    unit_length,
    values_of,
    wilson_hilferty,
)


@dataclass(frozen=True)
class BoundedColumns:
    """Numbers, and indicators that are not rare, as products of several take them.

    Attributes
    ----------
    owner : Tensor (k,)
        The feature of each column.
    columns, order : Tensor (k, n)
        Standardised columns, and the ``argsort`` of the values.
    factors : Tensor (k, n)
        What enters products: a cosine of the ranks of a number, an indicator as it is.
    """

    owner: Tensor
    columns: Tensor
    order: Tensor
    factors: Tensor

    @classmethod
    def of(cls, batch: Batch, features: Tensor, screening: ScreeningConfig, config: WideSearchConfig) -> BoundedColumns:
        """Of some features: (k,)."""
        x, blocks = values_of(batch, features), batch.blocks.only(features)
        columns, numeric = standardised(x, screening.clip), blocks.numeric.to(x.device)
        kept = (numeric | (columns.square().amax(dim=1) * len(batch) <= screening.clip**2)).nonzero().squeeze(1)
        order = x[kept].argsort(dim=1)
        factors = torch.where(numeric[kept].unsqueeze(1), cosine_of_ranks(order, config.triple_cosine), columns[kept])
        return cls(features[blocks.feature_of.to(x.device)][kept], columns[kept], order, factors)


@dataclass(frozen=True)
class Tuples:
    """Tuples of one size under test.

    Attributes
    ----------
    groups : list of FeatureGroup
        Their features.
    products, interactions : Tensor (t, n)
        The products of their columns, and these without main effects and products of fewer: each of length 1 or 0.
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
    def of(cls, columns: BoundedColumns, places: Tensor, n_tests: float, config: ScreeningConfig) -> Tuples:
        """Tuples of some columns: (t, k)."""
        sides = list(places.unbind(dim=1))

        def product(some: tuple[Tensor, ...]) -> Tensor:
            return unit_length(math.prod((columns.factors[side] for side in some), start=places.new_ones(())))

        products = product(tuple(sides))
        of_fewer = [product(some) for k in range(2, len(sides)) for some in combinations(sides, k)]
        effects = [main_effects(sides, columns.columns, columns.order, config), torch.stack(of_fewer, dim=1)]
        interactions = without_effects(products.unsqueeze(1), torch.cat(effects, dim=1), config).squeeze(1)
        groups = [tuple(sorted(some)) for some in columns.owner[places].tolist()]
        return cls(groups, products, interactions, n_tests, config)

    def pursue(self, residual: Residual, groups: dict[FeatureGroup, float], wanted: int) -> None:
        """Add significant tuples, the highest evidence given those before it first.

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
