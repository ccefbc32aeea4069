"""First layers that are computed from a subset's s features alone.

Forward, a layer reads the rows of its weight that belong to a subset: a row for each feature, or for each of a
feature's columns. Backward, only these rows have a gradient: it comes as a coalesced sparse tensor of the rows that any
subset of the batch holds, or as a dense one, as the caller says. Nothing of size d is built on the way, unless the
dense gradient is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
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


class Gathered(NamedTuple):
    """The values of all columns of some subsets, padded to one width."""

    masks: Tensor | None  # (some,) the numbers of these subsets; None stands for all
    columns: Tensor  # (some, batch, places), with zeros behind the columns of a narrower subset
    places: Tensor  # (some, places) the rows of W_x that belong to them; the subsets, where a feature is a column


class _SubsetAffine(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        parts: Sequence[Gathered],
        subsets: Tensor,
        weight_x: Tensor,
        weight_m: Tensor,
        bias: Tensor,
        sparse: bool,
    ) -> Tensor:
        ctx.save_for_backward(subsets)
        ctx.parts, ctx.sparse = parts, sparse
        ctx.n_columns, ctx.n_features = len(weight_x), len(weight_m)
        ctx.one_column_each = parts[0].places is subsets
        shift = F.embedding_bag(subsets, weight_m, mode="sum").add_(bias)  # (masks, h)
        hidden = [
            torch.baddbmm(
                _of(shift, part).unsqueeze(1), part.columns, F.embedding(part.places, weight_x)
            )  # (some, batch, h)
            for part in parts
        ]
        if parts[0].masks is None:
            return hidden[0]
        together = torch.empty((len(subsets), *hidden[0].shape[1:]), dtype=bias.dtype, device=bias.device)
        for part, some in zip(parts, hidden, strict=True):
            together[part.masks] = some
        return together

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (subsets,), parts = ctx.saved_tensors, ctx.parts
        features = touched = Touched.by(subsets, ctx.n_features, sparse=ctx.sparse)
        if not ctx.one_column_each:
            places = torch.cat([part.places.flatten() for part in parts])
            touched = Touched.by(places, ctx.n_columns, sparse=ctx.sparse)
        by_place = [torch.bmm(part.columns.transpose(1, 2), _of(gradient, part)).flatten(0, 1) for part in parts]
        by_mask = gradient.sum(dim=1)  # (masks, h)
        of_mask = features.order // subsets.shape[1]
        return (
            None,
            None,
            touched.gradient(touched.order, by_place[0] if len(parts) == 1 else torch.cat(by_place), ctx.n_columns),
            features.gradient(of_mask, by_mask, ctx.n_features),
            by_mask.sum(dim=0),
            None,
        )


def _of(values: Tensor, part: Gathered) -> Tensor:
    """What belongs to the subsets of a part: (masks, ...) -> (some, ...)."""
    return values if part.masks is None else values[part.masks]


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
    parts: Sequence[Gathered], subsets: Tensor, weight_x: Tensor, weight_m: Tensor, bias: Tensor, *, sparse: bool
) -> Tensor:
    """(x⊗m) W_x + m W_m + b for every mask and row: (masks, batch, h).

    Parameters
    ----------
    parts : sequence of Gathered
        The values of each subset's columns, which get no gradient; every subset is in one part.
    subsets : Tensor (masks, s)
    weight_x : Tensor (columns, h)
        With one row more where subsets are padded: the place behind the columns of a narrower one.
    weight_m : Tensor (d, h)
    bias : Tensor (h,)
    sparse : bool
        Whether the weights' gradients are sparse tensors of the touched rows.
    """
    return _SubsetAffine.apply(parts, subsets, weight_x, weight_m, bias, sparse)  # type: ignore[no-any-return,no-untyped-call]


def sum_of_rows(subsets: Tensor, weight: Tensor, *, sparse: bool) -> Tensor:
    """M W for every mask, the sum of its s rows of W: (masks, s), (d, h) -> (masks, h)."""
    return _SumOfRows.apply(subsets, weight, sparse)  # type: ignore[no-any-return,no-untyped-call]
