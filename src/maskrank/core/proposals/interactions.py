"""Pairwise interactions: a search over all pairs by matrix products, and a joint test of each promising pair.

A product of two features counts as an interaction in so far as no smooth function of either predicts it. Some
interactions, such as a ring, are too weak in any single product. The joint test takes several cosines of both
ranks and all their products at once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig
from maskrank.core.proposals.statistics import (
    corrected_evidence,
    cosine_of_ranks,
    explained_squares,
    wilson_hilferty,
)
from maskrank.core.recorder import counted

PAIR_TESTS = 3  # of each pair: product of standardised columns, product of cosines, joint test


@dataclass(frozen=True)
class PairedColumns:
    """Columns among which pairs are sought.

    Attributes
    ----------
    owner : Tensor (k,)
        The feature of each column; two columns of one feature are no pair.
    columns, order : Tensor (k, n)
        Standardised columns, and the ``argsort`` of the values.
    """

    owner: Tensor
    columns: Tensor
    order: Tensor

    def only(self, places: Tensor) -> PairedColumns:
        """Some of them."""
        return PairedColumns(self.owner[places], self.columns[places], self.order[places])

    def places_of(self, features: Tensor) -> Tensor:
        """The columns of some features."""
        return torch.isin(self.owner, features).nonzero().squeeze(1)


def best_partners(
    tables: list[tuple[Tensor, Tensor]],
    columns: Tensor,
    owner: Tensor,
    directions: Tensor,
    known: Tensor,
    *,
    n_pairs: int,
    n_partners: int,
    max_correlation: float,
) -> Tensor:
    """The pairs whose products correlate most with the target: one partner of each column, several of a known one.

    Parameters
    ----------
    tables : list of (Tensor (k, n), Tensor (k, n))
        A pair's products are those of its first column in a left table and its second in the right one. With two
        different tables their exchange is in the list, too: which column comes first must not matter.
    columns : Tensor (k, n)
        Standardised.
    owner : Tensor (k,)
        The feature of each column; two columns of one feature are no pair.
    directions : Tensor (n, q)
    known : Tensor
        Places of columns of features known to matter.
    n_pairs, n_partners : int
        How many pairs: in all, and of each known column.
    max_correlation : float
        Columns correlated more than this make no pair: their product is the square of either.

    Returns
    -------
    Tensor (pairs, 2)
        Places in the tables, sorted and distinct.
    """
    k = len(tables[0][0])

    def strengths(first: Tensor, start: int) -> Tensor:
        """Squared correlations of the products of some columns with all from one on: (some, k - start)."""
        strength = tables[0][0].new_zeros((len(first), k - start))
        for left, right in tables:
            for direction in directions.t():
                strength += ((left[first] * direction) @ right[start:].t()).square_()
        strength.masked_fill_((columns[first] @ columns[start:].t()).abs() > max_correlation, -1.0)
        return strength.masked_fill_(owner[first].unsqueeze(1) == owner[start:], -1.0)

    strength, partner = columns.new_full((k,), -1.0), torch.zeros(k, dtype=torch.long, device=columns.device)
    places = torch.arange(k, device=columns.device)
    blocks = torch.split(places, max(1, limits.SCREENED // k))
    for block in counted(blocks, "pairs"):  # the products of one block of rows with the columns from there on
        start = int(block[0])
        products = strengths(block, start)
        for some, by in ((block, 1), (places[start:], 0)):
            best = products.max(dim=by)
            better = best.values > strength[some]
            strength[some] = torch.where(better, best.values, strength[some])
            partner[some] = torch.where(better, best.indices + start, partner[some])
    chosen = strength.argsort(descending=True, stable=True)[:n_pairs]
    chosen = chosen[strength[chosen] >= 0]  # some features are correlated with all others
    found = [torch.stack([chosen, partner[chosen]], dim=1)]
    if len(known):
        others = strengths(known, 0).topk(min(n_partners, k), dim=1)  # (known, partners)
        both = torch.stack([known.unsqueeze(1).expand_as(others.indices), others.indices], dim=2)
        found.append(both[others.values >= 0])
    distinct: Tensor = torch.unique(torch.cat(found).sort(dim=1).values, dim=0)
    return distinct


def without_main_effects(
    products: Tensor, first: Tensor, second: Tensor, columns: Tensor, order: Tensor, config: ScreeningConfig
) -> Tensor:
    """Products of pairs less their regression on main effects of both features; of length 1, or 0 if nothing remains.

    Parameters
    ----------
    products : Tensor (pairs, products, n)
    first, second : Tensor (pairs,)
        Places of the two features.
    columns, order : Tensor (k, n)
        Of all features: standardised columns, and the ``argsort`` of their values.
    """
    at_once = max(1, limits.SCREENED // ((2 * config.n_main_cosines + 2) * columns.shape[1]))
    kept = []
    for some in torch.split(torch.arange(len(first), device=first.device), at_once):
        main = main_effects([first[some], second[some]], columns, order, config)
        kept.append(without_effects(products[some], main, config))
    return torch.cat(kept)


def main_effects(sides: Sequence[Tensor], columns: Tensor, order: Tensor, config: ScreeningConfig) -> Tensor:
    """Standardised columns and cosines of each feature of some tuples: (tuples, features * (1 + cosines), n).

    Parameters
    ----------
    sides : sequence of Tensor (tuples,)
        Places of the first features of the tuples, of the second ones, ...
    columns, order : Tensor (k, n)
        Of all features.
    """
    frequencies = range(1, config.n_main_cosines + 1)
    effects = [
        effect for side in sides for effect in (columns[side], *(cosine_of_ranks(order[side], k) for k in frequencies))
    ]
    return torch.stack(effects, dim=1)


def without_effects(products: Tensor, effects: Tensor, config: ScreeningConfig) -> Tensor:
    """Products less their regression on some effects; of length 1, or 0 if nothing remains: (tuples, products, n).

    Parameters
    ----------
    effects : Tensor (tuples, effects, n)
    """
    gram = effects @ effects.transpose(1, 2) + config.ridge * torch.eye(effects.shape[1]).to(effects)
    part = products - products.mean(dim=2, keepdim=True)
    residual = part - torch.linalg.solve(gram, effects @ part.transpose(1, 2)).transpose(1, 2) @ effects
    size = residual.norm(dim=2, keepdim=True)
    is_rounding = size < config.min_interaction * part.norm(dim=2, keepdim=True)
    return torch.where(is_rounding, 0.0, residual / size.clamp(min=1e-12))


@dataclass
class JointPairs:
    """Pairs under the joint test: w cosines of either feature, and the w² interactions of these cosine bases.

    Attributes
    ----------
    pairs : Tensor (p, 2)
    columns : Tensor (p, 2w + w², n)
        Cosines of the first feature, of the second, and their products without main effects: of length 1, or 0.
    gram : Tensor (p, 2w + w², 2w + w²)
        Of the columns without what was projected out.
    config : ScreeningConfig
    """

    pairs: Tensor
    columns: Tensor
    gram: Tensor
    config: ScreeningConfig

    @classmethod
    def promising(cls, paired: PairedColumns, directions: Tensor, known: Tensor, config: ScreeningConfig) -> JointPairs:
        """The pairs among some columns whose products of cosines correlate most with the target, taken together.

        Parameters
        ----------
        paired : PairedColumns
            Of numbers.
        directions : Tensor (n, q)
            Of the target.
        known : Tensor
            Places of columns of features known to matter.
        """
        cosines = [cosine_of_ranks(paired.order, k) for k in config.joint_cosines]
        tables = [(left, right) for left in cosines for right in cosines]
        partners = best_partners(
            tables,
            paired.columns,
            paired.owner,
            directions,
            known,
            n_pairs=config.n_joint_pairs,
            n_partners=config.n_joint_partners,
            max_correlation=config.max_pair_correlation,
        )
        first, second = partners.unbind(dim=1)
        own = torch.stack([some[side] for side in (first, second) for some in cosines], dim=1)
        products = torch.stack([left[first] * right[second] for left, right in tables], dim=1)
        interactions = without_main_effects(products, first, second, paired.columns, paired.order, config)
        both = torch.cat([own, interactions], dim=1)
        return cls(paired.owner[partners], both, both @ both.transpose(1, 2), config)

    def restart(self, basis: Tensor) -> None:
        """Project out an orthonormal basis, and nothing else: (n, k)."""
        self.gram = self.columns @ self.columns.transpose(1, 2)
        self.project_out(basis)

    def project_out(self, basis: Tensor) -> None:
        """Project out further directions: (n, k), orthonormal and orthogonal to those before."""
        overlap = self.columns @ basis  # (p, columns, k)
        self.gram = self.gram - overlap @ overlap.transpose(1, 2)

    def evidence(self, directions: Tensor, n: int, d: int, known: Tensor, n_known: int | None = None) -> Tensor:
        """Evidence of each pair, corrected for the number of pairs: (p,).

        A pair must be significant among all pairs, and either feature as a partner of the other: chance may give a
        partner to a feature that matters. A pair with a known feature is tested by what the other one adds.

        Parameters
        ----------
        directions : Tensor (n, q)
            Of the residual.
        n : int
            Degrees of freedom that remain.
        d : int
            Columns among which pairs are sought, of all features.
        known : Tensor
            Features known to matter.
        n_known : int, optional
            Their columns among which pairs are sought; one of each, unless told otherwise.
        """
        q, ridge, own = directions.shape[1], self.config.ridge, len(self.config.joint_cosines)
        width = self.columns.shape[1]
        overlap = math.sqrt(n) * (self.columns @ directions)  # (p, width, q)
        total = explained_squares(overlap, self.gram, ridge)
        alone = [
            explained_squares(overlap[:, side], self.gram[:, side, side], ridge)
            for side in (slice(0, own), slice(own, 2 * own))
        ]
        added = torch.stack([total - part for part in alone], dim=1).clamp(min=0)  # by the second, by the first
        z = wilson_hilferty(added, (width - own) * q)
        together = corrected_evidence(wilson_hilferty(total, width * q), PAIR_TESTS * d * (d - 1) / 2)
        as_partners = corrected_evidence(z, PAIR_TESTS * d).amin(dim=1)
        is_known = torch.isin(self.pairs, known)  # (p, 2)
        to_known = corrected_evidence(z, PAIR_TESTS * d * max(1, len(known) if n_known is None else n_known))
        to_known = to_known.masked_fill(~is_known, torch.inf).amin(dim=1)
        evidence = torch.where(is_known.any(dim=1), to_known, torch.minimum(together, as_partners))
        used_up = self.gram.diagonal(dim1=1, dim2=2).amax(dim=1) < self.config.min_new
        return evidence.masked_fill(used_up, -torch.inf)
