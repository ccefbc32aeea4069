"""The atoms of a matching pursuit that are single columns: columns and cosines of features, products of two columns."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.interactions import PairedColumns, best_partners, without_main_effects
from maskrank.core.proposals.statistics import cosine_of_ranks, how_many_fit, standardised, unit_length, values_of
from maskrank.core.proposals.univariate import tests_of_columns


@dataclass(frozen=True)
class ReadFeatures:
    """The features of the highest univariate evidence, and the required ones behind them.

    Attributes
    ----------
    numbers : Tensor (k,)
        Of the features; the required ones count as one feature, the one behind those to choose from.
    blocks : Blocks
        Their columns.
    x, columns : Tensor (columns, n)
        Values, and standardised.
    n_singles : int
        The first so many features have atoms of their own.
    in_pairs : Tensor (columns,) of bool
        Columns of features among which pairs are sought.
    pairable : Tensor (columns,) of bool
        Columns that are tested one by one in pairs: numbers, and indicators that are not rare.
    order : Tensor (pairable, n)
        ``argsort`` of the values of these.
    """

    numbers: Tensor
    blocks: Blocks
    x: Tensor
    columns: Tensor
    n_singles: int
    in_pairs: Tensor
    pairable: Tensor
    order: Tensor

    @classmethod
    def of(
        cls,
        batch: Batch,
        univariate: Tensor,
        q: int,
        config: ScreeningConfig,
        partners: Tensor | None = None,
        *,
        among_partners: bool = False,
    ) -> ReadFeatures:
        """As many features as time and memory allow, of univariate evidence (d,), and partners in pairs: (p,).

        With ``among_partners`` these alone are paired.
        """
        n, d, device = len(batch), len(univariate), univariate.device
        ranked = univariate.argsort(descending=True, stable=True)
        n_paired = n_paired_features(batch, ranked, q, config)
        n_singles = how_many_fit(_atoms_of(batch.blocks, config).to(device)[ranked], config.max_pursuit_values // n)
        if partners is not None and n_paired:
            first = ranked[: 0 if among_partners else n_paired]
            paired = torch.cat([first, partners[~torch.isin(partners, first)]])
            ranked, n_paired = torch.cat([paired, ranked[~torch.isin(ranked, paired)]]), len(paired)
        chosen = ranked[: max(n_paired, n_singles)]
        required = torch.arange(d, len(batch.blocks), device=device)
        features = torch.cat([chosen, required])
        blocks = batch.blocks.only(features)
        x = values_of(batch, features)
        columns = standardised(x, config.clip)
        place = blocks.feature_of.to(device)
        in_pairs = (place < n_paired) | (place >= len(chosen)) if config.pairs else torch.zeros_like(place).bool()
        numeric = blocks.numeric.to(device)
        pairable = numeric if bool(numeric.all()) else numeric | (columns.square().amax(dim=1) * n <= config.clip**2)
        order = (x if bool(pairable.all()) else x[pairable]).argsort(dim=1)
        return cls(features.clamp(max=d), blocks, x, columns, n_singles, in_pairs, pairable, order)

    @property
    def owner(self) -> Tensor:
        """The feature of each column: (columns,)."""
        return self.numbers[self.blocks.feature_of.to(self.numbers.device)]

    def singles(self, d: int, config: ScreeningConfig) -> tuple[Tensor, Tensor, Tensor]:
        """Columns, and cosines of numbers: their features (a,), their numbers of tests (a,), and themselves (a, n)."""
        end = int(self.blocks.starts[self.n_singles])
        numeric = self.blocks.numeric.to(self.owner.device)
        numeric = numeric & (torch.arange(len(numeric), device=numeric.device) < end)
        order = self.order[numeric[self.pairable]]
        curves = torch.stack([cosine_of_ranks(order, k) for k in range(1, config.n_cosines + 1)], dim=1)
        n_tests = tests_of_columns(self.blocks, d, config.n_cosines).to(numeric.device)
        return (
            torch.cat([self.owner[:end], self.owner[numeric].repeat_interleave(config.n_cosines)]),
            torch.cat([n_tests[:end, 0], n_tests[numeric, 1:].flatten()]),
            torch.cat([self.columns[:end], curves.flatten(0, 1)]),
        )

    def paired_columns(self) -> tuple[PairedColumns, Tensor]:
        """Columns among which pairs are sought one by one, and which of them hold numbers: (c,)."""
        chosen = self.in_pairs & self.pairable
        columns = PairedColumns(self.owner[chosen], self.columns[chosen], self.order[chosen[self.pairable]])
        return columns, self.blocks.numeric.to(chosen.device)[chosen]

    def n_pairable(self, blocks: Blocks, d: int) -> Tensor:
        """Columns of each feature of a table that may be in a pair, and behind them those of all required: (d + 1,).

        Of features that were not read, rare indicators are not known; as many as there are numbers are counted, or one.
        """
        of_all = _count(blocks.numeric, blocks)
        counts = torch.cat([of_all[:d], of_all[d:].sum().reshape(1)]).to(self.owner.device)
        seen = torch.zeros_like(counts).index_add_(0, self.owner, self.pairable.long())
        return torch.maximum(counts, seen).clamp(min=1)


@dataclass(frozen=True)
class ColumnPairs:
    """Products of two columns of different features.

    Attributes
    ----------
    pairs : Tensor (p, 2)
        The features.
    products, interactions : Tensor (p, n)
        The products, and these without main effects: each of length 1 or 0.
    """

    pairs: Tensor
    products: Tensor
    interactions: Tensor

    @classmethod
    def none(cls, columns: Tensor) -> ColumnPairs:
        """No pair, of columns of this length: (k, n)."""
        return cls(torch.zeros((0, 2), dtype=torch.long, device=columns.device), columns[:0], columns[:0])

    @classmethod
    def promising(
        cls, paired: PairedColumns, numeric: Tensor, directions: Tensor, known: Tensor, config: ScreeningConfig
    ) -> ColumnPairs:
        """Pairs by products of standardised columns, and by products of cosines of numbers.

        Parameters
        ----------
        numeric : Tensor (k,) of bool
            Which columns hold numbers.
        directions : Tensor (n, q)
        known : Tensor
            Features known to matter.
        """
        found = cls.none(paired.columns)
        numbers = paired if bool(numeric.all()) else paired.only(numeric.nonzero().squeeze(1))
        for some, cosines in ((paired, False), (numbers, True)):
            if len(some.owner) < 2:
                continue
            table = cosine_of_ranks(some.order, config.pair_cosine) if cosines else some.columns
            partners = best_partners(
                [(table, table)],
                some.columns,
                some.owner,
                directions,
                some.places_of(known),
                n_pairs=config.n_pairs,
                n_partners=config.n_partners,
                max_correlation=config.max_pair_correlation,
            )
            first, second = partners.unbind(dim=1)
            product = unit_length(table[first] * table[second])
            rest = without_main_effects(product.unsqueeze(1), first, second, some.columns, some.order, config)
            found = cls(
                torch.cat([found.pairs, some.owner[partners]]),
                torch.cat([found.products, product]),
                torch.cat([found.interactions, rest.squeeze(1)]),
            )
        return found


def n_paired_features(batch: Batch, ranked: Tensor, q: int, config: ScreeningConfig) -> int:
    """How many of some ranked features have all their pairs tested, with q directions of the target: (d,)."""
    if not config.pairs:
        return 0
    max_paired = min(config.max_pair_features, max(2, int(math.sqrt(config.pair_flops / (2 * len(batch) * q)))))
    widths = batch.blocks.widths.to(ranked.device)[ranked]
    return max(min(2, len(ranked)), how_many_fit(widths, max_paired))


def _atoms_of(blocks: Blocks, config: ScreeningConfig) -> Tensor:
    """How many columns the atoms of each feature have: (features,)."""
    numeric = _count(blocks.numeric, blocks)
    return blocks.widths + config.n_cosines * numeric + torch.where(blocks.widths > 1, blocks.widths, 0)


def _count(chosen: Tensor, blocks: Blocks) -> Tensor:
    """How many of each feature's columns are chosen: (columns,) of bool -> (features,)."""
    return torch.zeros(len(blocks), dtype=torch.long).index_add_(0, blocks.feature_of, chosen.long())
