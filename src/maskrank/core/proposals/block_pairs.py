"""Pairs of features of several columns: a category and a number, two categories, two groups.

Levels of two categories, each taken alone with each, are many products of few rows. The test of a pair takes all
products of an orthonormal basis of either at once, less the main effects of both. A sum over all products of two rows'
values is a product of two kernels, one of either feature, so that no product of columns is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.proposals.atoms import ReadFeatures
from maskrank.core.proposals.interactions import PAIR_TESTS
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    cosine_of_ranks,
    orthonormal_blocks,
    quadratic_form_z,
    split_features,
    sum_by_owner,
    tail_freedom,
    unit_length,
)
from maskrank.core.recorder import counted

BLOCK_PAIR_TESTS = PAIR_TESTS + 2  # of each pair: those of single columns, and in two bases those of all products
_KERNEL_VALUES = 1 << 17  # of a product of two kernels that are kept: some of its rows, to estimate variances by


@dataclass(frozen=True)
class PairedBlocks:
    """Features among which pairs are sought.

    Attributes
    ----------
    owner : Tensor (k,)
        The number of each feature; of the required ones, the same for all of them.
    x : Tensor (columns, n)
        Values of their columns.
    basis : Tensor (columns, n)
        Orthonormal rows of each feature, or 0.
    blocks : Blocks
        Their columns.
    searched : Tensor (k,) of bool
        One feature of a pair at least is one of these.
    """

    owner: Tensor
    x: Tensor
    basis: Tensor
    blocks: Blocks
    searched: Tensor

    @classmethod
    def of(cls, read: ReadFeatures, config: ScreeningConfig, *, curved: bool) -> PairedBlocks:
        """Of the features read that may be in a pair; numbers as they are, or by a cosine of their ranks.

        By a cosine, pairs of which neither feature has numbers are not searched: they are the same as without.
        """
        chosen = read.in_pairs[read.blocks.starts[:-1].to(read.in_pairs.device)]  # (features,)
        blocks = read.blocks.only(chosen.nonzero().squeeze(1))
        columns, numeric = read.columns, read.blocks.numeric.to(read.in_pairs.device)
        if curved:
            columns = columns.clone()
            columns[numeric] = cosine_of_ranks(read.order[numeric[read.pairable]], config.pair_cosine)
        basis = orthonormal_blocks(columns[read.in_pairs], blocks, config.max_block_rank)
        searched = torch.ones_like(chosen)[chosen]
        if curved:
            owner = blocks.feature_of.to(chosen.device)
            searched = sum_by_owner(numeric[read.in_pairs].float(), owner, len(blocks)) > 0
        return cls(read.numbers[chosen], read.x[read.in_pairs], basis, blocks, searched)

    def basis_of(self, place: int) -> Tensor:
        """Of one feature: (rank, n)."""
        rows = self.basis[self._columns(place)]
        return rows[rows.square().sum(dim=1) > 0.5]

    def main_effects(self, first: int, second: int, config: ScreeningConfig) -> Tensor:
        """Orthonormal columns and cosines of two features: (effects, n)."""
        effects = [self.basis_of(first), self.basis_of(second)]
        values = torch.cat([self.x[self._columns(j)][self.blocks.numeric[self._columns(j)]] for j in (first, second)])
        room = config.max_main_effects - len(effects[0]) - len(effects[1])
        if len(values) and room >= len(values):
            order = values.argsort(dim=1)
            frequencies = range(1, min(config.n_main_cosines, room // len(values)) + 1)
            effects += [cosine_of_ranks(order, k) for k in frequencies]
        both = torch.cat(effects)
        return orthonormal_blocks(both, Blocks.of_widths([len(both)]), len(both))

    def _columns(self, place: int) -> slice:
        return slice(int(self.blocks.starts[place]), int(self.blocks.starts[place + 1]))


@dataclass
class BlockPairs:
    """Pairs under the test of all products of their columns.

    Attributes
    ----------
    pairs : Tensor (p, 2)
    factors : list of (Tensor (rank, n), Tensor (rank, n))
        Orthonormal rows of either feature.
    main : list of Tensor (effects, n)
        Orthonormal main effects of both.
    kernels : list of Tensor (some, n)
        Squared products of their kernels, of the first rows, off the diagonal.
    moments : list of Tensor (3,)
        Of these products, for `tail_freedom`.
    taken : Tensor (p,) of bool
        Which pairs were projected out.
    config : ScreeningConfig
    """

    pairs: Tensor
    factors: list[tuple[Tensor, Tensor]]
    main: list[Tensor]
    kernels: list[Tensor]
    moments: list[Tensor]
    taken: Tensor
    config: ScreeningConfig

    @classmethod
    def promising(
        cls, tables: Iterable[PairedBlocks], directions: Tensor, known: Tensor, config: ScreeningConfig
    ) -> BlockPairs | None:
        """The pairs of the highest z, one of their features with several columns; None where there is none.

        Parameters
        ----------
        tables : iterable of PairedBlocks
            The same features in different bases; pairs are sought in each.
        directions : Tensor (n, q)
            Of the target.
        known : Tensor
            Features known to matter.
        """
        pairs, factors, main, kernels = [], [], [], []
        for paired in tables:
            for first, second in _best_partners(paired, directions, known, config).tolist():
                pairs.append(paired.owner[[first, second]])
                factors.append((paired.basis_of(first), paired.basis_of(second)))
                main.append(paired.main_effects(first, second, config))
                kernels.append(_product_of_kernels(*factors[-1]))
        if not pairs:
            return None
        return cls(
            pairs=torch.stack(pairs),
            factors=factors,
            main=main,
            kernels=[kernel.square() for kernel in kernels],
            moments=[_moments(kernel) for kernel in kernels],
            taken=torch.zeros(len(pairs), dtype=torch.bool, device=directions.device),
            config=config,
        )

    def evidence(self, directions: Tensor, n: int, d: int, known: Tensor) -> Tensor:
        """Evidence of each pair, corrected for the number of pairs; with a known feature, for its partners: (p,).

        Parameters
        ----------
        directions : Tensor (n, q)
            Of the residual.
        n : int
            Degrees of freedom that remain.
        d : int
            Features in all.
        known : Tensor
            Features known to matter.
        """
        z = quadratic_form_z(*(torch.stack(some) for some in zip(*self._forms(directions, n), strict=True)))
        with_known = torch.isin(self.pairs, known).any(dim=1)
        n_tests = torch.where(
            with_known, float(BLOCK_PAIR_TESTS * d * max(1, len(known))), BLOCK_PAIR_TESTS * d * (d - 1) / 2
        )
        return corrected_evidence(z, n_tests).masked_fill(self.taken, -torch.inf)

    def take(self, place: int, target: Tensor) -> Tensor:
        """What is projected out with a pair: (n, directions).

        All products of the two features, less main effects, where these are few; else what the products of all other
        rows tell of each row.
        """
        self.taken[place] = True
        left, right = self.factors[place]
        main = self.main[place]
        if len(left) * len(right) <= self.config.max_atom_share * len(target):
            products = unit_length((left.unsqueeze(1) * right.unsqueeze(0)).flatten(0, 1))
            return unit_length(products - (products @ main.t()) @ main).t()
        rest = target - main.t() @ (main @ target)
        overlap = torch.einsum("ar,br,rq->qab", left, right, rest)
        diagonal = left.square().sum(dim=0) * right.square().sum(dim=0)
        fitted = torch.einsum("ar,br,qab->rq", left, right, overlap) - diagonal.unsqueeze(1) * rest
        return unit_length(fitted.t()).t()

    def _forms(self, directions: Tensor, n: int) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Of each pair: its quadratic form, half the variance of this, and its degrees of freedom.

        The form sums the squared overlaps of the residual with all products, without the squares of rows. A residual
        that is large in the rows of a few levels alone, as where a value is missing, has a larger variance. That of a
        rare class is skewed: a few of its rows that coincide in a rare combination of levels are no surprise.
        """
        q = directions.shape[1]
        tested = zip(self.factors, self.main, self.kernels, self.moments, strict=True)
        for (left, right), main, kernel, moments in tested:
            rest = directions - main.t() @ (main @ directions)
            overlaps = [((left * direction) @ right.t()).square().sum() for direction in rest.t()]
            squares, share = rest.square(), kernel.shape[1] / len(kernel)  # (n, q)
            diagonal = (left.square().sum(dim=0) * right.square().sum(dim=0)) @ squares
            even = q * n**2 * share * kernel.sum()
            uneven = n**4 * share * (squares[: len(kernel)] * (kernel @ squares)).sum()
            half_variance = torch.maximum(even, uneven).clamp(min=1e-6)
            freedom = q * len(left) * len(right) * even / half_variance
            freedom = tail_freedom(freedom, rest, *moments)
            yield n**2 * (torch.stack(overlaps).sum() - diagonal.sum()), half_variance, freedom


def _moments(kernel: Tensor) -> Tensor:
    """Sums of cubes, of fourth powers and of squared sums of rows, against the sum of squares: (some, n) -> (3,)."""
    share, squares = kernel.shape[1] / len(kernel), kernel.double().square()
    total = (share * squares.sum()).clamp(min=1e-30)
    cubes, fourths, rows = (squares * kernel).sum(), squares.square().sum(), squares.sum(dim=1).square().sum()
    moments = torch.stack([cubes.clamp(min=0) / total**1.5, fourths / total**2, rows / total**2])
    return (share * moments).to(kernel.dtype)


def _product_of_kernels(left: Tensor, right: Tensor) -> Tensor:
    """Some rows of the product of two kernels, 0 on the diagonal: (some, n)."""
    n = left.shape[1]
    some = torch.arange(min(n, max(1, _KERNEL_VALUES // n)), device=left.device)
    kernel = (left[:, some].t() @ left) * (right[:, some].t() @ right)
    kernel[some, some] = 0.0
    return kernel


def _best_partners(paired: PairedBlocks, directions: Tensor, known: Tensor, config: ScreeningConfig) -> Tensor:
    """Places of the pairs of the highest z: the best partner of each feature, several of a known one: (pairs, 2)."""
    strength, partner = [], []
    for z in _strengths(paired, directions, config):
        best = z.topk(min(config.n_block_partners, z.shape[1]), dim=1)
        strength.append(best.values)
        partner.append(best.indices)
    values, partners = torch.cat(strength), torch.cat(partner)  # (k, partners)
    own = torch.arange(len(values), device=values.device).unsqueeze(1).expand_as(partners)
    pairs = torch.stack([own, partners], dim=2)
    is_known = torch.isin(paired.owner, known)
    found = [_first(pairs[:, 0], values[:, 0], config.n_block_pairs)]
    if bool(is_known.any()):
        found.append(_first(pairs[is_known].flatten(0, 1), values[is_known].flatten(), config.n_block_pairs))
    distinct: Tensor = torch.unique(torch.cat(found).sort(dim=1).values, dim=0)
    return distinct.cpu()


def _first(pairs: Tensor, strength: Tensor, wanted: int) -> Tensor:
    """The strongest pairs, without those that are none: (pairs, 2)."""
    order = strength.argsort(descending=True, stable=True)[:wanted]
    return pairs[order[strength[order] > -torch.inf]]


def _strengths(paired: PairedBlocks, directions: Tensor, config: ScreeningConfig) -> Iterator[Tensor]:
    """The z of pairs of some features with all, as if features were independent; -inf where there is no pair."""
    n, q, k = len(directions), directions.shape[1], len(paired.blocks)
    basis, owner = paired.basis, paired.blocks.feature_of.to(paired.basis.device)
    leverages = sum_by_owner(basis.square(), owner, k)  # (k, n)
    rank = leverages.sum(dim=1)
    off_diagonal = rank - leverages.square().sum(dim=1)
    wide = (paired.blocks.widths > 1).to(rank.device)

    def by_features(of_columns: Tensor, some: Tensor, own: Tensor) -> Tensor:
        """Sums over the columns of both features: (some columns, columns) -> (some, k)."""
        return sum_by_owner(sum_by_owner(of_columns, own, len(some)).t(), owner, k).t()

    runs = split_features(paired.blocks, k, max(1, limits.SCREENED // len(basis)), basis.device)
    for some in counted(runs, "pairs"):
        inside = (owner >= some[0]) & (owner <= some[-1])
        rows, own = basis[inside], owner[inside] - some[0]
        squares = basis.new_zeros((len(rows), len(basis)))
        for direction in directions.t():
            squares += ((rows * direction) @ basis.t()).square_()
        diagonal = (leverages[some] * directions.square().sum(dim=1)) @ leverages.t()
        form = n**2 * (by_features(squares, some, own) - diagonal)
        half_variance = off_diagonal[some].unsqueeze(1) * off_diagonal
        freedom = rank[some].unsqueeze(1) * rank
        z = quadratic_form_z(form, q * half_variance, q * freedom)
        common = by_features((rows @ basis.t()).square_(), some, own)
        alike = common > config.max_pair_correlation**2 * torch.minimum(rank[some].unsqueeze(1), rank)
        same = paired.owner[some].unsqueeze(1) == paired.owner
        either = (wide[some].unsqueeze(1) | wide) & (paired.searched[some].unsqueeze(1) | paired.searched)
        yield z.masked_fill(alike | same | ~either, -torch.inf)
