"""Pairs of features that bend the target together, as a ring does: too little in any single product to be seen.

Each feature has two bends, cosines of one and of two whole periods over its rank; a pair has these and their four
products, and all eight are judged at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from maskrank.core.proposals.statistics import (
    KINDS,
    as_normal,
    best_partners,
    explained_by,
    interaction,
    surprise,
    waves_at,
)

_BENDS = (2, 4)  # in half periods
_FIRST, _SECOND = slice(0, 2), slice(2, 4)  # columns of a pair that are one feature's own
_OWN, _ALL = 2, 8  # columns of one feature, and of a pair
_LEAST_NEW = 0.05  # of the squared length of a column that must be left to count
_PAIRS, _PARTNERS = 128, 4  # pairs that are followed up: in all, and for each known feature


@dataclass
class BentPairs:
    """Pairs that are followed up.

    Attributes
    ----------
    pairs : Tensor (p, 2)
    columns : Tensor (p, 8, n)
        The bends of the first feature, of the second, and what is new in their products: each of length 1, or 0.
    gram : Tensor (p, 8, 8)
        Of what is not explained yet in the columns.
    """

    pairs: Tensor
    columns: Tensor
    gram: Tensor

    @classmethod
    def promising(cls, features: Tensor, lines: Tensor, places: Tensor, directions: Tensor, known: Tensor) -> BentPairs:
        """Of the pairs among some features, those whose products go most clearly with the target.

        Parameters
        ----------
        features : Tensor (k,)
        lines, places : Tensor (k, n)
            Their lines, and where their sorted values stand.
        directions : Tensor (n, q)
            Of the target.
        known : Tensor
            Which of the k are known to matter.
        """
        bends = [waves_at(places, k) for k in _BENDS]
        tables = [(left, right) for left in bends for right in bends]
        partners = best_partners(tables, lines, directions, known, pairs=_PAIRS, partners=_PARTNERS)
        first, second = partners.unbind(dim=1)
        own = [bend[side] for side in (first, second) for bend in bends]
        products = torch.stack([left[first] * right[second] for left, right in tables], dim=1)
        columns = torch.cat([torch.stack(own, dim=1), interaction(products, first, second, lines, places)], dim=1)
        return cls(features[partners], columns, columns @ columns.transpose(1, 2))

    def without(self, basis: Tensor) -> None:
        """Only what an orthonormal basis does not hold is new: (n, k)."""
        self.gram = self.columns @ self.columns.transpose(1, 2)
        self.take_out(basis)

    def take_out(self, basis: Tensor) -> None:
        """Some more directions are not new any more: (n, k), orthonormal and orthogonal to those before."""
        held = self.columns @ basis  # (p, 8, k)
        self.gram = self.gram - held @ held.transpose(1, 2)

    def surprises(self, directions: Tensor, n: int, d: int, known: Tensor) -> Tensor:
        """How surprising each pair is: (p,).

        A pair must be surprising among all pairs, and either feature as a partner of the other: chance may give a
        partner to a feature that matters. A pair with a known feature is judged by what the other adds.

        Parameters
        ----------
        directions : Tensor (n, q)
            Of what is not explained yet.
        n : int
            Directions among which chance has its choice.
        d : int
            Features in all.
        known : Tensor
            Features that are known to matter.
        """
        q = directions.shape[1]
        overlap = math.sqrt(n) * (self.columns @ directions)  # (p, 8, q)
        total = explained_by(overlap, self.gram)
        alone = [explained_by(overlap[:, own], self.gram[:, own, own]) for own in (_FIRST, _SECOND)]
        added = torch.stack([total - part for part in alone], dim=1).clamp(min=0)  # by the second, by the first
        evidence = as_normal(added, (_ALL - _OWN) * q)
        together = surprise(as_normal(total, _ALL * q), KINDS * d * (d - 1) / 2)
        as_partners = surprise(evidence, KINDS * d).amin(dim=1)
        is_known = torch.isin(self.pairs, known)  # (p, 2)
        to_known = surprise(evidence, KINDS * d * max(1, len(known))).masked_fill(~is_known, torch.inf).amin(dim=1)
        surprises = torch.where(is_known.any(dim=1), to_known, torch.minimum(together, as_partners))
        used_up = self.gram.diagonal(dim1=1, dim2=2).amax(dim=1) < _LEAST_NEW
        return surprises.masked_fill(used_up, -torch.inf)
