"""Orthogonal matching pursuit over a dictionary of features and pairs (Pati et al. 1993; Tropp 2004).

The atoms are standardised columns and cosines of ranks of single features, whole features of several columns,
interactions of pairs, and pairs under joint tests. Each step takes the atom of the highest evidence and projects it out
of the target and of all other atoms. A feature that correlates with the target only through a better one loses its
evidence. A weak effect gains it when the strong ones are projected out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.atoms import ColumnPairs, ReadFeatures
from maskrank.core.proposals.block_pairs import BlockPairs, PairedBlocks
from maskrank.core.proposals.block_tests import BlockTests
from maskrank.core.proposals.interactions import PAIR_TESTS, JointPairs
from maskrank.core.proposals.proposal import FeatureGroup, features_of
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    orthonormal_basis,
    skewness_corrected,
    standardised,
    values_of,
    wilson_hilferty,
)


@dataclass
class Residual:
    """The target less its projection on the atoms taken so far.

    Attributes
    ----------
    target : Tensor (n, q)
    basis : Tensor (n, taken)
        Orthonormal; what was projected out.
    min_new : float
        Share of a column's squared length that must be orthogonal to the basis to extend it.
    n_given : int
        Directions of the basis, in front, that were projected out before any atom: those of required features.
    """

    target: Tensor
    basis: Tensor
    min_new: float
    n_given: int = 0

    @classmethod
    def of(cls, target: Tensor, config: ScreeningConfig, given: Tensor | None = None) -> Residual:
        """Nothing is projected out yet but some given columns: (n, q), (n, k)."""
        residual = cls(target, target[:, :0], config.min_new)
        if given is not None:
            residual.n_given = residual.project_out(given).shape[1]
        return residual

    def copy(self) -> Residual:
        """The same, for a pursuit of its own."""
        return Residual(self.target, self.basis, self.min_new, self.n_given)

    @property
    def given(self) -> Tensor | None:
        """What was projected out before any atom: (n, k)."""
        return self.basis[:, : self.n_given] if self.n_given else None

    def directions(self) -> Tensor:
        """An orthonormal basis of the residual: (n, at most q)."""
        return orthonormal_basis(self.target)

    def project_out(self, columns: Tensor) -> Tensor:
        """Project some columns out of the target; returns the directions that are new in them: (n, new)."""
        for _ in range(2):  # twice, against rounding errors
            columns = columns - self.basis @ (self.basis.t() @ columns)
        new = orthonormal_basis(columns, min_size=0.5 * math.sqrt(self.min_new))
        self.target = self.target - new @ (new.t() @ self.target)
        self.basis = torch.cat([self.basis, new], dim=1)
        return new


@dataclass
class Dictionary:
    """The atoms of a pursuit.

    Attributes
    ----------
    d : int
        Features to choose from, for the number of tests. A feature of this number stands for all required ones.
    n_pairable : Tensor (d + 1,)
        Columns of each feature that may be in a pair, for the number of tests.
    owner : Tensor (a,)
        The feature of each column and each cosine.
    n_tests : Tensor (a,)
        What their evidence is corrected for.
    pairs : Tensor (p, 2)
        The features of each product.
    products : Tensor (p, n)
    columns : Tensor (a + p + rows, n)
        Standardised columns, cosines column by column, products without main effects, and the rows of ``whole``: each
        of length 1 or 0.
    indicators, cubes : Tensor (i,)
        Places of indicators among the columns, and the sums of their cubes.
    whole : BlockTests
        Features of several columns.
    wide : Tensor (b,)
        Their numbers.
    joint : JointPairs or None
    block_pairs : BlockPairs or None
    config : ScreeningConfig
    """

    d: int
    n_pairable: Tensor
    owner: Tensor
    n_tests: Tensor
    pairs: Tensor
    products: Tensor
    columns: Tensor
    indicators: Tensor
    cubes: Tensor
    whole: BlockTests
    wide: Tensor
    joint: JointPairs | None
    block_pairs: BlockPairs | None
    config: ScreeningConfig

    @classmethod
    def promising(
        cls,
        batch: Batch,
        univariate: Tensor,
        directions: Tensor,
        known: list[int],
        config: ScreeningConfig,
        partners: Tensor | None = None,
        *,
        among_partners: bool = False,
    ) -> Dictionary:
        """Atoms of the features of the highest univariate evidence, and of pairs among them and with known features.

        Parameters
        ----------
        univariate : Tensor (d,)
            Evidence of single features.
        directions : Tensor (n, q)
            Of the target, or of its residual.
        known : list of int
            Features known to matter. Required ones are, too.
        partners : Tensor (p,), optional
            Further features among which pairs are sought.
        among_partners : bool
            Whether pairs are sought among these and the known features alone.
        """
        d, device = len(univariate), univariate.device
        if among_partners:
            assert partners is not None
            partners = torch.unique(torch.cat([partners, partners.new_tensor(known)]))
        read = ReadFeatures.of(
            batch, univariate, max(1, directions.shape[1]), config, partners, among_partners=among_partners
        )
        now_known = torch.tensor([*known, *[d] * (batch.n_required > 0)], dtype=torch.long, device=device)
        owner, n_tests, columns = read.singles(d, config)
        end = int(read.blocks.starts[read.n_singles])
        indicators = (~read.blocks.numeric[:end]).nonzero().squeeze(1).to(device)
        whole = BlockTests.of(read.columns[:end], read.blocks.only(torch.arange(read.n_singles)), config)
        pairs, joint, block_pairs = ColumnPairs.none(read.columns), None, None
        if config.pairs:
            paired, numeric = read.paired_columns()
            pairs = ColumnPairs.promising(paired, numeric, directions, now_known, config)
            if config.joint_pairs and int(numeric.sum()) > 1:
                numbers = paired if bool(numeric.all()) else paired.only(numeric.nonzero().squeeze(1))
                joint = JointPairs.promising(numbers, directions, numbers.places_of(now_known), config)
            if not read.blocks.is_single:
                tables = [PairedBlocks.of(read, config, curved=curved) for curved in (False, True)]
                block_pairs = BlockPairs.promising(tables, directions, now_known, config)
        return cls(
            d=d,
            n_pairable=read.n_pairable(batch.blocks, d),
            owner=owner,
            n_tests=n_tests,
            pairs=pairs.pairs,
            products=pairs.products,
            columns=torch.cat([columns, pairs.interactions, whole.basis]),
            indicators=indicators,
            cubes=columns[indicators].pow(3).sum(dim=1),
            whole=whole,
            wide=read.numbers[whole.places],
            joint=joint,
            block_pairs=block_pairs,
            config=config,
        )

    @classmethod
    def linear(cls, batch: Batch, d: int, features: Tensor, config: ScreeningConfig) -> Dictionary:
        """The standardised columns of some features alone, of several columns all at once: (k,)."""
        blocks = batch.blocks.only(features)
        columns = standardised(values_of(batch, features), config.clip)
        whole = BlockTests.of(columns, blocks, config)
        single = (blocks.widths == 1).to(features.device)
        columns = columns if blocks.is_single else columns[single[blocks.feature_of.to(features.device)]]
        none = ColumnPairs.none(columns)
        return cls(
            d=d,
            n_pairable=torch.ones(d + 1, device=features.device),
            owner=features[single],
            n_tests=torch.full((len(columns),), 2.0 * d, device=features.device),
            pairs=none.pairs,
            products=none.products,
            columns=torch.cat([columns, whole.basis]),
            indicators=none.pairs[:, 0],
            cubes=columns[:0, 0],
            whole=whole,
            wide=features[whole.places],
            joint=None,
            block_pairs=None,
            config=config,
        )

    def pursue(
        self,
        residual: Residual,
        groups: dict[FeatureGroup, float],
        wanted: int,
        *,
        significant_only: bool,
        known: frozenset[int] = frozenset(),
    ) -> None:
        """Add the groups of the highest evidence given those before them, one at a time, with their evidence.

        Parameters
        ----------
        residual : Residual
            Updated.
        groups : dict of FeatureGroup to float
            Extended, up to ``wanted``.
        significant_only : bool
            Whether to end where the highest evidence is not above 0.
        known : set of int
            Features known to matter, besides those of the groups.
        """
        n = self.columns.shape[1]
        new = self.columns.square().sum(dim=1) - (self.columns @ residual.basis).square().sum(dim=1)  # squared lengths
        if self.joint is not None:
            self.joint.restart(residual.basis)
        max_basis = self.config.max_basis_share * n + residual.n_given
        required = frozenset([self.d] * (residual.n_given > 0))
        while len(groups) < wanted and residual.basis.shape[1] < max_basis:
            directions = residual.directions()
            if directions.shape[1] == 0:
                break
            now_known = known.union(features_of(groups), required)
            evidence = self._evidence(directions, new, n - residual.basis.shape[1], now_known)
            best = int(evidence.argmax())
            if float(evidence[best]) <= (0 if significant_only else -torch.inf):
                break
            taken = residual.project_out(self._columns_of(best, residual.target))
            if taken.shape[1] == 0:
                break
            groups.setdefault(self._group(best), float(evidence[best]))
            new -= (self.columns @ taken).square().sum(dim=1)
            if self.joint is not None:
                self.joint.project_out(taken)

    def _evidence(self, directions: Tensor, new: Tensor, n: int, known: frozenset[int]) -> Tensor:
        """Of all atoms, each corrected for the tests of its kind; for a pair with a known feature, these alone."""
        (a, p), q, min_new = (len(self.owner), len(self.pairs)), directions.shape[1], self.config.min_new
        squares = (self.columns @ directions).square().sum(dim=1)
        lengths = new[: a + p].clamp(min=min_new)
        if self.block_pairs is not None:  # where a level is rare, a residual may be large in its rows alone
            spread = n * (self.columns[a : a + p].square() @ directions.square().sum(dim=1)) / q
            lengths = torch.cat([lengths[:a], torch.maximum(lengths[a:], spread)])
        explained = n * squares[: a + p] / lengths
        if len(self.indicators):
            overlaps = math.sqrt(n) * (self.columns[self.indicators] @ directions)
            skewness = math.sqrt(n) * torch.outer(self.cubes, directions.pow(3).sum(dim=0))
            overlaps = overlaps / lengths[self.indicators].sqrt().unsqueeze(1)
            explained[self.indicators] = skewness_corrected(overlaps, skewness).square().sum(dim=1)
        z = wilson_hilferty(explained, q)
        known_features = self.pairs.new_tensor(sorted(known))
        with_known = torch.isin(self.pairs, known_features).any(dim=1)
        n_columns, n_known = self._pairable(known_features)
        n_tests = torch.where(
            with_known, float(PAIR_TESTS * n_columns * max(1, n_known)), PAIR_TESTS * n_columns * (n_columns - 1) / 2
        )
        evidence = corrected_evidence(z, torch.cat([self.n_tests, n_tests]))
        parts = [evidence.masked_fill(new[: a + p] < min_new, -torch.inf)]
        if len(self.whole):
            whole = self.whole.z(squares[a + p :], new[a + p :], directions, n)
            used_up = self.whole.longest(new[a + p :]) < min_new
            parts.append(corrected_evidence(whole, 2.0 * self.d).masked_fill(used_up, -torch.inf))
        if self.joint is not None:
            parts.append(self.joint.evidence(directions, n, n_columns, known_features, n_known))
        if self.block_pairs is not None:
            parts.append(self.block_pairs.evidence(directions, n, self.d, known_features))
        return torch.cat(parts)

    def _pairable(self, known: Tensor) -> tuple[int, int]:
        """Columns that may be in a pair: of all features to choose from, and of the known ones."""
        return int(self.n_pairable[: self.d].sum()), int(self.n_pairable[known].sum())

    def _columns_of(self, place: int, target: Tensor) -> Tensor:
        """What is projected out with an atom: (n, directions).

        All columns and cosines of its feature or, of few rows, a single one of them; of a pair, its product, too;
        of a feature of several columns, a basis of them, or what they tell of the target where they are too many; of a
        pair under a joint test, all that was tested.
        """
        if place < len(self.owner):
            own = self.columns[: len(self.owner)][self.owner == self.owner[place]]
            few = len(own) <= self.config.max_feature_share * len(target)
            return own.t() if few else self.columns[place].unsqueeze(1)
        place -= len(self.owner)
        if place < len(self.pairs):
            return torch.stack([self.columns[len(self.owner) + place], self.products[place]], dim=1)
        place -= len(self.pairs)
        if place < len(self.whole):
            return self.whole.columns_of(place, target)
        place -= len(self.whole)
        if self.joint is not None and place < len(self.joint.pairs):
            return self.joint.columns[place].t()
        assert self.block_pairs is not None
        return self.block_pairs.take(place - (0 if self.joint is None else len(self.joint.pairs)), target)

    def _group(self, place: int) -> FeatureGroup:
        """The feature or the pair of an atom; of a pair with a required feature, the other one."""
        pairs = [self.pairs, self.wide.unsqueeze(1).expand(-1, 2)]
        pairs += [tested.pairs for tested in (self.joint, self.block_pairs) if tested is not None]
        if place < len(self.owner):
            return (int(self.owner[place]),)
        return tuple(sorted({j for j in torch.cat(pairs)[place - len(self.owner)].tolist() if j < self.d}))
