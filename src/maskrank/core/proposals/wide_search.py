"""What is looked for beyond a screen, within a budget: pairs among very many features, and triples.

A screen tests all pairs of some thousand features. Here the residual of what it found is compared with all pairs of
more features, and with all triples of fewer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig, WideSearchConfig
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.atoms import n_paired_features
from maskrank.core.proposals.interactions import PAIR_TESTS
from maskrank.core.proposals.larger_tuples import extend_tuples
from maskrank.core.proposals.matching_pursuit import Residual
from maskrank.core.proposals.proposal import Coverage, FeatureGroup, features_of
from maskrank.core.proposals.statistics import how_many_fit
from maskrank.core.proposals.top_list import Workers
from maskrank.core.proposals.triples import n_triple_columns, promising_triples
from maskrank.core.proposals.tuples import BoundedColumns
from maskrank.core.proposals.wide_pairs import n_wide_columns, pair_partners


class WideSearch:
    """One search of one residual; it remembers what was looked at.

    Parameters
    ----------
    size : int
        s. With ``only_with_room`` nothing is looked for where the significant features fill a subset of this size.
    workers : Workers

    Attributes
    ----------
    coverage : Coverage or None
        None before a search.
    """

    def __init__(self, size: int, screening: ScreeningConfig, config: WideSearchConfig, workers: Workers) -> None:
        self.size = size
        self.coverage: Coverage | None = None
        self._screening, self._config, self._workers = screening, config, workers

    def partners(
        self, batch: Batch, univariate: Tensor, directions: Tensor, groups: Mapping[FeatureGroup, float]
    ) -> Tensor | None:
        """Features of the strongest pairs, where more can be looked at than a screen does; None if there are none.

        Parameters
        ----------
        univariate : Tensor (d,)
            Evidence of single features: those of the highest are looked at.
        directions : Tensor (n, q)
            Of the residual.
        groups : mapping of FeatureGroup to float
            Found before.
        """
        d, n, q = len(univariate), len(batch), max(1, directions.shape[1])
        ranked = univariate.argsort(descending=True, stable=True)
        screened = n_paired_features(batch, ranked, q, self._screening)
        self.coverage = Coverage(d, screened, None)
        n_columns = n_wide_columns(n, q, self._config)
        if screened in (0, d) or directions.shape[1] == 0 or not self._has_room(groups):
            return None
        looked_at = how_many_fit(batch.blocks.widths.to(ranked.device)[ranked], n_columns)
        if looked_at <= screened:
            return None
        self.coverage = Coverage(d, looked_at, None)
        found = pair_partners(
            batch,
            ranked[:looked_at].sort().values,
            directions,
            PAIR_TESTS * d * (d - 1) / 2,
            self._screening,
            self._config,
            self._workers,
        )
        return found if len(found) else None

    def add_tuples(
        self,
        batch: Batch,
        univariate: Tensor,
        residual: Residual,
        groups: dict[FeatureGroup, float],
        wanted: int,
    ) -> None:
        """Add significant triples, and extensions of significant pairs and triples, to the groups.

        There are at most ``wanted`` groups; what is added is projected out of the residual.
        """
        d, directions = len(univariate), residual.directions()
        assert self.coverage is not None  # pairs come first
        if min(d, self.size) < 3 or directions.shape[1] == 0 or not self._has_room(groups) or not self._screening.pairs:
            return
        ranked = univariate.argsort(descending=True, stable=True)
        widths = batch.blocks.widths.to(ranked.device)[ranked]
        n_columns = int(widths.sum())
        if self._could_be_told(len(batch), d):
            looked_at = int((widths.cumsum(0) <= n_triple_columns(len(batch), directions.shape[1], self._config)).sum())
            if looked_at < self._config.min_triple_share * d:
                looked_at = 0
            self.coverage = replace(self.coverage, in_triples=looked_at)
            if looked_at >= 3:
                columns = self._columns(batch, ranked[:looked_at])
                found = promising_triples(columns, directions, n_columns, self._screening, self._config, self._workers)
                found.pursue(residual, groups, wanted)
        interacting = features_of(group for group in groups if len(group) > 1)
        if interacting and self._has_room(groups):
            first = ranked[: how_many_fit(widths, self._screening.max_pursuit_values // len(batch))]
            columns = self._columns(batch, torch.unique(torch.cat([first, first.new_tensor(interacting)])))
            extend_tuples(columns, residual, groups, wanted, n_columns, self._screening, self._config)

    def _columns(self, batch: Batch, features: Tensor) -> BoundedColumns:
        return BoundedColumns.of(batch, features.sort().values, self._screening, self._config)

    def _could_be_told(self, n: int, d: int) -> bool:
        """Whether n rows suffice to tell a triple of d features from the best of chance."""
        return n * self._config.triple_effect / 2 > math.log(math.comb(d, 3) / self._config.triple_level)

    def _has_room(self, groups: Mapping[FeatureGroup, float]) -> bool:
        return not self._config.only_with_room or len(features_of(groups)) < self.size
