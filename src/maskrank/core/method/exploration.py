"""How subsets are drawn for the operator to try: the paper's way, and one that follows a hint."""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Tensor

from maskrank.core.data.subsets import draw_subsets, perturb

_UNIFORM_SHARE = 0.25  # of the draws that do not follow the hint
_HEAD, _POWER = 2.0, 2.0  # a unit at place i of the hint has weight 1 / (i + head)^power


class Exploration(Protocol):
    """Where the trainer gets its subsets from."""

    def subsets(self, n: int) -> Tensor:
        """N subsets to try: (n, s) of sorted indices."""

    def neighbours(self, subset: Tensor, n: int, s_p: int) -> Tensor:
        """N subsets that differ from one in s_p features: (s,) -> (n, s)."""


class UniformExploration:
    """Every subset is equally likely: Random(M, s) and Perturb(m, s_p) of the paper."""

    def __init__(self, d: int, s: int, generator: torch.Generator) -> None:
        self._d, self._s, self._generator = d, s, generator

    def subsets(self, n: int) -> Tensor:
        return draw_subsets(n, self._d, self._s, generator=self._generator)

    def neighbours(self, subset: Tensor, n: int, s_p: int) -> Tensor:
        return perturb(subset, n, self._d, s_p, generator=self._generator)


class HintedExploration:
    """Three draws of four take features that a screen points at, pairs together; the fourth is uniform.

    Parameters
    ----------
    units : list of tuple of int
        Features and pairs, the most promising first; together at least s features.
    """

    def __init__(self, units: list[tuple[int, ...]], d: int, s: int, generator: torch.Generator) -> None:
        self._uniform = UniformExploration(d, s, generator)
        self._d, self._s, self._generator = d, s, generator
        members = [(place, j) for place, unit in enumerate(units) for j in unit]
        self._unit_of = torch.tensor([place for place, _ in members])  # (members,)
        self._feature_of = torch.tensor([j for _, j in members])  # (members,)
        self._log_weights = -_POWER * torch.log(torch.arange(len(units)) + _HEAD)

    def subsets(self, n: int) -> Tensor:
        n_uniform = math.ceil(_UNIFORM_SHARE * n)
        hinted = self._keys(n - n_uniform).topk(self._s, dim=1, sorted=False).indices
        both = torch.cat([self._uniform.subsets(n_uniform), hinted.sort(dim=1).values])
        return both[torch.randperm(n, generator=self._generator)]

    def neighbours(self, subset: Tensor, n: int, s_p: int) -> Tensor:
        s_p = min(s_p, self._s, self._d - self._s)
        n_uniform = math.ceil(_UNIFORM_SHARE * n)
        uniform = self._uniform.neighbours(subset, n_uniform, s_p)
        entering = self._keys(n - n_uniform).index_fill_(1, subset, -torch.inf).topk(s_p, dim=1).indices
        leaving = draw_subsets(n - n_uniform, self._s, s_p, generator=self._generator)
        hinted = subset.expand(n - n_uniform, -1).scatter(1, leaving, entering)
        return torch.cat([uniform, hinted.sort(dim=1).values])

    def _keys(self, n: int) -> Tensor:
        """A random key of each feature; the s highest make a subset: (n, d).

        The keys of units are those of draws by weight without repeats (Gumbel's trick). A feature has the highest
        key of its units, so the two of a pair come together; what is in no unit comes after all others.
        """
        units = self._log_weights - torch.log(-torch.log(self._rand((n, len(self._log_weights)))))
        rest = -1e3 - self._rand((n, self._d))
        return rest.scatter_reduce(1, self._feature_of.expand(n, -1), units[:, self._unit_of], "amax")

    def _rand(self, shape: tuple[int, int]) -> Tensor:
        return torch.rand(shape, generator=self._generator).clamp_(1e-7, 1 - 1e-7)
