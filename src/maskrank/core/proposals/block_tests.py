"""Joint tests of features of several columns: all levels of a category, or all members of a group, at once.

A feature whose columns are each too weak to be seen may be strong as a whole. Its test is the squared length of the
target's projection on the span of its columns, on as many degrees of freedom, without the squares of single rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from maskrank.core.config import ScreeningConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.proposals.statistics import (
    orthonormal_blocks,
    quadratic_form_z,
    sum_by_owner,
    tail_freedom,
    unit_length,
)


@dataclass(frozen=True)
class BlockTests:
    """The features of several columns among some.

    Attributes
    ----------
    places : Tensor (b,)
        Of these features among all.
    basis : Tensor (rows, n)
        Orthonormal rows of each feature, or 0.
    owner : Tensor (rows,)
        The feature of each row: 0..b-1.
    leverages : Tensor (b, n)
        Of each row of the table: the diagonal of the projection on a feature's span.
    max_directions : float
        That one feature may project out.
    """

    places: Tensor
    basis: Tensor
    owner: Tensor
    leverages: Tensor
    max_directions: float

    @classmethod
    def of(cls, columns: Tensor, blocks: Blocks, config: ScreeningConfig) -> BlockTests:
        """Of the features of several columns among those of standardised columns: (columns, n)."""
        wide = (blocks.widths > 1).nonzero().squeeze(1)
        theirs = blocks.only(wide)
        rows = columns[blocks.columns_of(wide).to(columns.device)] if len(wide) else columns[:0]
        basis = orthonormal_blocks(rows, theirs, config.max_block_rank)
        owner = theirs.feature_of.to(columns.device)
        return cls(
            places=wide.to(columns.device),
            basis=basis,
            owner=owner,
            leverages=sum_by_owner(basis.square(), owner, len(wide)),
            max_directions=config.max_atom_share * columns.shape[1],
        )

    def __len__(self) -> int:
        return len(self.places)

    def z(self, squares: Tensor, new: Tensor, directions: Tensor, n: int) -> Tensor:
        """Of each feature: (b,).

        Parameters
        ----------
        squares, new : Tensor (rows,)
            Of each basis row: squared overlap with the target, and the squared length that was not projected out.
        directions : Tensor (n, q)
            Of the target.
        n : int
            Degrees of freedom that remain.
        """
        q, b = directions.shape[1], len(self)
        rank = self.leverages.sum(dim=1)
        remains = sum_by_owner(new.clamp(min=0), self.owner, b)
        share = remains / rank.clamp(min=1e-6)  # of the diagonal
        diagonal = share * (self.leverages @ directions.square().sum(dim=1))
        form = n * (sum_by_owner(squares, self.owner, b) - diagonal)
        squares_of_rows = self.leverages - self.leverages.square()  # off the diagonal
        total = squares_of_rows.sum(dim=1).clamp(min=1e-6)
        cubes = (self.leverages * squares_of_rows).sum(dim=1) / total**1.5  # as if all columns were indicators
        rows = squares_of_rows.square().sum(dim=1) / total**2
        freedom = tail_freedom((q * remains).clamp(min=1e-6), directions, cubes, cubes.new_zeros(b), rows)
        variance = remains - share.square() * self.leverages.square().sum(dim=1)  # at most: eigenvalues are up to 1
        return quadratic_form_z(form, q * variance, freedom).masked_fill(remains < 1e-3, 0.0)

    def longest(self, new: Tensor) -> Tensor:
        """The largest squared length of a feature's rows: (rows,) -> (b,)."""
        return new.new_zeros(len(self)).scatter_reduce(0, self.owner, new, "amax")

    def columns_of(self, place: int, target: Tensor) -> Tensor:
        """A basis of one feature, or the projection of the target on it where it is too large: (n, directions)."""
        rows = self.basis[self.owner == place]
        rows = rows[rows.square().sum(dim=1) > 0.5]
        if len(rows) <= self.max_directions:
            return rows.t()
        return unit_length((rows @ target).t() @ rows).t()
