"""Pairs of features of several columns: a category and a number, two categories, two groups.

Levels of two categories, each taken alone with each, are many products of few rows. The test of a pair takes all
products of an orthonormal basis of either at once, less the main effects of both. A sum over all products of two rows'
values is a product of two kernels, one of either feature, so that no product of columns is stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.proposals.atoms import ReadFeatures
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    cosine_of_ranks,
    orthonormal_blocks,
    quadratic_form_z,
    split_features,
    sum_by_owner,
    unit_length,
)

BLOCK_PAIR_TESTS = 4  # of each pair: this one, and those of single columns (`interactions.PAIR_TESTS`)
_KERNEL_ROWS = 256  # rows of a product of two kernels that its variance is estimated by


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
    """

    owner: Tensor
    x: Tensor
    basis: Tensor
    blocks: Blocks

    @classmethod
    def of(cls, read: ReadFeatures, config: ScreeningConfig) -> PairedBlocks:
        """Of the features read that may be in a pair."""
        chosen = read.in_pairs[read.blocks.starts[:-1].to(read.in_pairs.device)]  # (features,)
        blocks = read.blocks.only(chosen.nonzero().squeeze(1))
        basis = orthonormal_blocks(read.columns[read.in_pairs], blocks, config.max_block_rank)
        return cls(read.numbers[chosen], read.x[read.in_pairs], basis, blocks)

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
    freedom, half_variance : Tensor (p,)
        Of the quadratic form, for one direction of the target.
    taken : Tensor (p,) of bool
        Which pairs were projected out.
    config : ScreeningConfig
    """

    pairs: Tensor
    factors: list[tuple[Tensor, Tensor]]
    main: list[Tensor]
    freedom: Tensor
    half_variance: Tensor
    taken: Tensor
    config: ScreeningConfig

    @classmethod
    def promising(
        cls, paired: PairedBlocks, directions: Tensor, known: Tensor, config: ScreeningConfig
    ) -> BlockPairs | None:
        """The pairs of the highest z, one of their features with several columns; None where there is none.

        Parameters
        ----------
        directions : Tensor (n, q)
            Of the target.
        known : Tensor
            Features known to matter.
        """
        places = _best_partners(paired, directions, known, config)
        if not len(places):
            return None
        factors = [(paired.basis_of(first), paired.basis_of(second)) for first, second in places.tolist()]
        return cls(
            pairs=paired.owner[places.to(paired.owner.device)],
            factors=factors,
            main=[paired.main_effects(first, second, config) for first, second in places.tolist()],
            freedom=directions.new_tensor([float(len(left) * len(right)) for left, right in factors]),
            half_variance=torch.stack([_half_variance(left, right) for left, right in factors]),
            taken=torch.zeros(len(places), dtype=torch.bool, device=directions.device),
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
        q = directions.shape[1]
        forms = [self._form(place, directions) for place in range(len(self.factors))]
        z = quadratic_form_z(n**2 * torch.stack(forms), q * self.half_variance, q * self.freedom)
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

    def _form(self, place: int, directions: Tensor) -> Tensor:
        """Squared overlaps of the target's residual with all products of a pair, without the squares of rows: ()."""
        left, right = self.factors[place]
        main = self.main[place]
        rest = directions - main.t() @ (main @ directions)
        overlaps = [((left * direction) @ right.t()).square().sum() for direction in rest.t()]
        diagonal = left.square().sum(dim=0) * right.square().sum(dim=0) * rest.square().sum(dim=1)
        return torch.stack(overlaps).sum() - diagonal.sum()


def _half_variance(left: Tensor, right: Tensor) -> Tensor:
    """Sum of the squares off the diagonal of a product of two kernels, by some of its rows: ()."""
    n = left.shape[1]
    some = torch.arange(min(n, _KERNEL_ROWS), device=left.device)
    kernel = (left[:, some].t() @ left) * (right[:, some].t() @ right)  # (some, n)
    kernel[some, some] = 0.0
    return kernel.square().sum() * (n**2 * n / len(some))


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

    for some in split_features(paired.blocks, k, max(1, limits.SCREENED // len(basis)), basis.device):
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
        single = ~wide[some].unsqueeze(1) & ~wide
        yield z.masked_fill(alike | same | single, -torch.inf)
