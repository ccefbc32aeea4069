"""First layers that are computed from a subset's s features alone.

Forward, a layer reads the s rows of its weight that belong to a subset. Backward, only these rows have a gradient:
it comes as a coalesced sparse tensor of the rows that any subset of the batch holds, or as a dense one, as the
caller says. Nothing of size d is built on the way, unless the dense gradient is asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F


class Touched(NamedTuple):
    """The features that some subsets hold, and where."""

    rows: Tensor | None  # (features,) those that are held, sorted and distinct; None stands for all d
    order: Tensor  # (masks * s,) places in the flattened subsets, feature by feature
    starts: Tensor  # (features,) where each feature's places begin in `order`

    @classmethod
    def by(cls, subsets: Tensor, d: int, *, sparse: bool) -> Touched:
        features, order = subsets.flatten().sort()
        if not sparse:
            counts = torch.bincount(features, minlength=d)
            return cls(None, order, counts.cumsum(0) - counts)
        first = torch.ones(len(features), dtype=torch.bool, device=features.device)
        first[1:] = features[1:] != features[:-1]
        starts = first.nonzero().squeeze(1)
        return cls(features[starts], order, starts)

    def gradient(self, source: Tensor, values: Tensor, d: int) -> Tensor:
        """Sum, for each feature, the rows of ``values`` that its places name: a gradient (d, h), sparse or dense.

        Parameters
        ----------
        source : Tensor (masks * s,)
            Which row of ``values`` belongs to each entry of `order`.
        """
        sums = F.embedding_bag(source, values, self.starts, mode="sum")  # (features, h)
        if self.rows is None:
            return sums
        return torch.sparse_coo_tensor(
            self.rows.unsqueeze(0), sums, (d, sums.shape[1]), is_coalesced=True, check_invariants=False
        )


class _SubsetAffine(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, columns: Tensor, subsets: Tensor, weight_x: Tensor, weight_m: Tensor, bias: Tensor, sparse: bool
    ) -> Tensor:
        ctx.save_for_backward(columns, subsets)
        ctx.d, ctx.sparse = len(weight_x), sparse
        shift = F.embedding_bag(subsets, weight_m, mode="sum").add_(bias)  # (masks, h)
        return torch.baddbmm(shift.unsqueeze(1), columns, F.embedding(subsets, weight_x))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        columns, subsets = ctx.saved_tensors
        touched = Touched.by(subsets, ctx.d, sparse=ctx.sparse)
        by_place = torch.bmm(columns.transpose(1, 2), gradient).flatten(0, 1)  # (masks * s, h)
        by_mask = gradient.sum(dim=1)  # (masks, h)
        of_mask = touched.order // subsets.shape[1]
        return (
            None,
            None,
            touched.gradient(touched.order, by_place, ctx.d),
            touched.gradient(of_mask, by_mask, ctx.d),
            by_mask.sum(dim=0),
            None,
        )


class _SumOfRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, subsets: Tensor, weight: Tensor, sparse: bool) -> Tensor:
        ctx.save_for_backward(subsets)
        ctx.d, ctx.sparse = len(weight), sparse
        return F.embedding_bag(subsets, weight, mode="sum")

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (subsets,) = ctx.saved_tensors
        touched = Touched.by(subsets, ctx.d, sparse=ctx.sparse)
        of_mask = touched.order // subsets.shape[1]
        return None, touched.gradient(of_mask, gradient.contiguous(), ctx.d), None


def subset_affine(
    columns: Tensor, subsets: Tensor, weight_x: Tensor, weight_m: Tensor, bias: Tensor, *, sparse: bool
) -> Tensor:
    """(x⊗m) W_x + m W_m + b for every mask and row: (masks, batch, h).

    Parameters
    ----------
    columns : Tensor (masks, batch, s)
        The values of each subset's features; they get no gradient.
    subsets : Tensor (masks, s)
    weight_x, weight_m : Tensor (d, h)
    bias : Tensor (h,)
    sparse : bool
        Whether the weights' gradients are sparse tensors of the touched rows.
    """
    return _SubsetAffine.apply(columns, subsets, weight_x, weight_m, bias, sparse)  # type: ignore[no-any-return,no-untyped-call]


def sum_of_rows(subsets: Tensor, weight: Tensor, *, sparse: bool) -> Tensor:
    """M W for every mask, the sum of its s rows of W: (masks, s), (d, h) -> (masks, h)."""
    return _SumOfRows.apply(subsets, weight, sparse)  # type: ignore[no-any-return,no-untyped-call]
