"""A subset of s out of d features is a row of s sorted indices.

Everything that makes or changes subsets is here, as pure functions: the random generator is an argument, and
nothing of size d is built for the wide case. ``to_mask`` gives the paper's binary vector m where one is needed.
"""

from __future__ import annotations

import torch
from torch import Tensor

_SMALL_D = 256  # up to here one random key for each feature is cheaper than drawing indices and repairing repeats


def draw_subsets(n: int, d: int, s: int, *, generator: torch.Generator) -> Tensor:
    """Draw n subsets uniformly: Random(M, s) of the paper.

    Returns
    -------
    Tensor (n, s), int64
        Rows of distinct, sorted indices.
    """
    _check_size(d, s)
    if d <= _SMALL_D:
        keys = torch.rand((n, d), generator=generator)
        return keys.topk(s, dim=1, sorted=False).indices.sort(dim=1).values
    if 2 * s > d:
        return complement(draw_subsets(n, d, d - s, generator=generator), d)
    return _draw_by_repair(n, d, s, generator)


def _draw_by_repair(n: int, d: int, s: int, generator: torch.Generator) -> Tensor:
    """Draw with repeats, then redraw the repeats until none is left.

    No label is treated differently from another at any point, so every subset is equally likely.
    """
    subsets = torch.randint(d, (n, s), generator=generator).sort(dim=1).values
    while True:
        repeated = torch.zeros((n, s), dtype=torch.bool)
        repeated[:, 1:] = subsets[:, 1:] == subsets[:, :-1]
        missing = int(repeated.sum())
        if missing == 0:
            return subsets
        subsets[repeated] = torch.randint(d, (missing,), generator=generator)
        subsets = subsets.sort(dim=1).values


def perturb(subset: Tensor, n: int, d: int, s_p: int, *, generator: torch.Generator) -> Tensor:
    """Make n neighbours of one subset: Perturb(m, s_p) of the paper.

    Exactly s_p distinct features leave and s_p distinct ones enter. Where a subset or its complement has fewer
    than s_p features, as many as there are change place.

    Parameters
    ----------
    subset : Tensor (s,)
    """
    s = subset.shape[0]
    s_p = min(s_p, s, d - s)
    if s_p == 0 or n == 0:
        return subset.expand(n, s).clone()
    leaving = draw_subsets(n, s, s_p, generator=generator)  # (n, s_p) positions in the subset
    ranks = draw_subsets(n, d - s, s_p, generator=generator)  # (n, s_p) positions among the features left out
    neighbours = subset.expand(n, s).clone()
    neighbours.scatter_(1, leaving, nth_outside(subset, ranks))
    return neighbours.sort(dim=1).values


def nth_outside(subset: Tensor, ranks: Tensor) -> Tensor:
    """The features at these positions of the sorted list of features outside the subset."""
    gaps = subset - torch.arange(subset.shape[0], device=subset.device)  # how many outsiders lie before each member
    return ranks + torch.searchsorted(gaps, ranks, right=True)


def complement(subsets: Tensor, d: int) -> Tensor:
    """The features outside each subset: (n, s) -> (n, d - s)."""
    n, s = subsets.shape
    outside = torch.ones((n, d), dtype=torch.bool, device=subsets.device)
    outside.scatter_(1, subsets, False)
    return outside.nonzero()[:, 1].reshape(n, d - s)


def top_s(scores: Tensor, s: int) -> Tensor:
    """The s features of highest score; of equal ones, those that come first. What is not a number comes last."""
    scores = scores.nan_to_num(nan=-torch.inf, posinf=torch.inf, neginf=-torch.inf)
    threshold = scores.topk(s).values[-1]
    chosen = (scores >= threshold).nonzero().squeeze(1)
    if len(chosen) == s:
        return chosen
    above, equal = chosen[scores[chosen] > threshold], chosen[scores[chosen] == threshold]
    return torch.cat([above, equal[: s - len(above)]]).sort().values


def with_required(subsets: Tensor, n_features: int, n_required: int) -> Tensor:
    """The subsets and, behind them, the last so many of all features: (masks, s) -> (masks, s + required)."""
    if not n_required:
        return subsets
    required = torch.arange(n_features - n_required, n_features, device=subsets.device)
    return torch.cat([subsets, required.expand(len(subsets), -1)], dim=1)


def to_mask(subsets: Tensor, d: int, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """The paper's m: (..., s) indices -> (..., d) of zeros and ones."""
    mask = torch.zeros((*subsets.shape[:-1], d), dtype=dtype, device=subsets.device)
    return mask.scatter_(-1, subsets, 1.0)


def _check_size(d: int, s: int) -> None:
    if not 1 <= s <= d:
        raise ValueError(f"a subset of {s} out of {d} features does not exist: its size must lie in 1..{d}")
