"""Orthogonal matching pursuit over a dictionary of features and pairs (Pati et al. 1993; Tropp 2004).

The atoms are standardised columns and cosines of ranks of single features, interactions of pairs, and pairs under the
joint test. Each step takes the atom of the highest evidence and projects it out of the target and of all other atoms.
A feature that correlates with the target only through a better one loses its evidence. A weak effect gains it when
the strong ones are projected out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.rows import Batch
from maskrank.core.proposals.interactions import PAIR_TESTS, JointPairs, best_partners, without_main_effects
from maskrank.core.proposals.proposal import FeatureGroup, features_of
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    cosine_of_ranks,
    orthonormal_basis,
    standardised,
    unit_length,
    values_of,
    wilson_hilferty,
)
from maskrank.core.proposals.univariate import evidence_of_tests


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
    """

    target: Tensor
    basis: Tensor
    min_new: float

    @classmethod
    def of(cls, target: Tensor, config: ScreeningConfig) -> Residual:
        """Nothing is projected out yet."""
        return cls(target, target[:, :0], config.min_new)

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
        Features of the table, for the number of tests.
    features : Tensor (k,)
    pairs : Tensor (p, 2)
    products : Tensor (p, n)
    columns : Tensor (k + cosines * k + p, n)
        Standardised columns, cosines feature by feature, products without main effects: each of length 1 or 0.
    n_cosines : int
        Of each feature in ``columns``.
    joint : JointPairs or None
    config : ScreeningConfig
    """

    d: int
    features: Tensor
    pairs: Tensor
    products: Tensor
    columns: Tensor
    n_cosines: int
    joint: JointPairs | None
    config: ScreeningConfig

    @classmethod
    def promising(
        cls, batch: Batch, univariate: Tensor, directions: Tensor, known: list[int], config: ScreeningConfig
    ) -> Dictionary:
        """Atoms of the features of the highest univariate evidence, and of pairs among them and with known features.

        Parameters
        ----------
        univariate : Tensor (d,)
            Evidence of single features.
        directions : Tensor (n, q)
            Of the target, or of its residual.
        known : list of int
            Features known to matter.
        """
        n, q = len(batch), max(1, directions.shape[1])
        n_paired = min(config.max_pair_features, max(2, int(math.sqrt(config.pair_flops / (2 * n * q)))))
        n_paired = n_paired if config.pairs else 0
        n_singles = max(1, config.max_pursuit_values // ((config.n_cosines + 1) * n))
        ranked = univariate.argsort(descending=True, stable=True)[: max(n_paired, n_singles)]
        x = values_of(batch, ranked)
        columns, order = standardised(x, config.clip), x.argsort(dim=1)
        known_places = torch.isin(ranked[:n_paired], torch.tensor(known, device=ranked.device)).nonzero().squeeze(1)
        paired, products, interactions = ranked.new_zeros((0, 2)), columns[:0], columns[:0]
        if config.pairs:
            paired, products, interactions = _pair_atoms(columns, order, n_paired, directions, known_places, config)
        curves = [cosine_of_ranks(order[:n_singles], k) for k in range(1, config.n_cosines + 1)]
        joint = None
        if config.pairs and config.joint_pairs:
            joint = JointPairs.promising(
                ranked[:n_paired], columns[:n_paired], order[:n_paired], directions, known_places, config
            )
        return cls(
            d=len(univariate),
            features=ranked[:n_singles],
            pairs=ranked[paired],
            products=products,
            columns=torch.cat([columns[:n_singles], torch.stack(curves, dim=1).flatten(0, 1), interactions]),
            n_cosines=config.n_cosines,
            joint=joint,
            config=config,
        )

    @classmethod
    def linear(cls, d: int, features: Tensor, columns: Tensor, config: ScreeningConfig) -> Dictionary:
        """The standardised columns of some features alone: (k,), (k, n)."""
        none = features.new_zeros((0, 2))
        return cls(d, features, none, columns[:0], columns, n_cosines=0, joint=None, config=config)

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
        while len(groups) < wanted and residual.basis.shape[1] < self.config.max_basis_share * n:
            directions = residual.directions()
            if directions.shape[1] == 0:
                break
            evidence = self._evidence(directions, new, n - residual.basis.shape[1], known.union(features_of(groups)))
            best = int(evidence.argmax())
            if float(evidence[best]) <= (0 if significant_only else -torch.inf):
                break
            taken = residual.project_out(self._columns_of(best))
            if taken.shape[1] == 0:
                break
            groups.setdefault(self._group(best), float(evidence[best]))
            new -= (self.columns @ taken).square().sum(dim=1)
            if self.joint is not None:
                self.joint.project_out(taken)

    def _evidence(self, directions: Tensor, new: Tensor, n: int, known: frozenset[int]) -> Tensor:
        """Of all atoms, each corrected for the tests of its kind; for a pair with a known feature, these alone."""
        k, q, min_new = len(self.features), directions.shape[1], self.config.min_new
        z = wilson_hilferty(n * (self.columns @ directions).square().sum(dim=1) / new.clamp(min=min_new), q)
        known_features = self.pairs.new_tensor(sorted(known))
        with_known = torch.isin(self.pairs, known_features).any(dim=1)
        n_tests = torch.where(
            with_known, float(PAIR_TESTS * self.d * max(1, len(known))), PAIR_TESTS * self.d * (self.d - 1) / 2
        )
        linear, curved, pair = torch.split(z, [k, self.n_cosines * k, len(self.pairs)])
        of_singles = torch.cat([linear.unsqueeze(1), curved.view(k, self.n_cosines)], dim=1)
        single = evidence_of_tests(of_singles, self.d, self.config.n_cosines)
        evidence = torch.cat([single[:, 0], single[:, 1:].flatten(), corrected_evidence(pair, n_tests)])
        evidence = evidence.masked_fill(new < min_new, -torch.inf)
        if self.joint is None:
            return evidence
        return torch.cat([evidence, self.joint.evidence(directions, n, self.d, known_features)])

    def _columns_of(self, place: int) -> Tensor:
        """What is projected out with an atom: (n, 1); of a pair, its product, too: (n, 2); of a joint pair, all."""
        if self.joint is not None and place >= len(self.columns):
            return self.joint.columns[place - len(self.columns)].t()
        pair = place - (self.n_cosines + 1) * len(self.features)
        columns = [self.columns[place]] if pair < 0 else [self.columns[place], self.products[pair]]
        return torch.stack(columns, dim=1)

    def _group(self, place: int) -> FeatureGroup:
        """The feature or the pair of an atom."""
        k = len(self.features)
        if place < k:
            return (int(self.features[place]),)
        if place < (self.n_cosines + 1) * k:
            return (int(self.features[(place - k) // self.n_cosines]),)
        pairs = self.pairs if self.joint is None else torch.cat([self.pairs, self.joint.pairs])
        first, second = sorted(pairs[place - (self.n_cosines + 1) * k].tolist())
        return first, second


def _pair_atoms(
    columns: Tensor, order: Tensor, n_paired: int, directions: Tensor, known: Tensor, config: ScreeningConfig
) -> tuple[Tensor, Tensor, Tensor]:
    """Pairs among the first features: their places (p, 2), products (p, n), and these without main effects (p, n)."""
    pairs, products, interactions = [], [], []
    for table in (columns[:n_paired], cosine_of_ranks(order[:n_paired], config.pair_cosine)):
        partners = best_partners(
            [(table, table)],
            columns[:n_paired],
            directions,
            known,
            n_pairs=config.n_pairs,
            n_partners=config.n_partners,
            max_correlation=config.max_pair_correlation,
        )
        first, second = partners.unbind(dim=1)
        product = unit_length(table[first] * table[second])
        pairs.append(partners)
        products.append(product)
        interactions.append(
            without_main_effects(product.unsqueeze(1), first, second, columns, order, config).squeeze(1)
        )
    return torch.cat(pairs), torch.cat(products), torch.cat(interactions)
