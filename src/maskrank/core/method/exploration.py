"""How random subsets are drawn for the operator: uniformly, as in the paper, or guided by a proposal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor

from maskrank.core.config import GuidedExplorationConfig
from maskrank.core.data.subsets import draw_subsets, perturb


class Exploration(Protocol):
    """Where the trainer gets its subsets from."""

    def subsets(self, n: int) -> Tensor:
        """Random subsets: (n, s) of sorted indices."""

    def neighbours(self, subset: Tensor, n: int, s_p: int) -> Tensor:
        """Subsets that differ from one in s_p features: (s,) -> (n, s)."""


class UniformExploration:
    """Every subset is equally likely: Random(M, s) and Perturb(m, s_p) of the paper."""

    def __init__(self, d: int, s: int, generator: torch.Generator) -> None:
        self._d, self._s, self._generator = d, s, generator

    def subsets(self, n: int) -> Tensor:
        return draw_subsets(n, self._d, self._s, generator=self._generator)

    def neighbours(self, subset: Tensor, n: int, s_p: int) -> Tensor:
        return perturb(subset, n, self._d, s_p, generator=self._generator)


class GuidedExploration:
    """Most draws take proposed feature groups by weight, without repeats; the rest are uniform.

    A feature's random key is the largest of the Gumbel keys of its groups, and the s largest keys make a subset
    (Gumbel-top-k sampling, Kool et al. 2019): the two features of a pair come together.

    Parameters
    ----------
    groups : sequence of tuple of int
        Features and pairs, most promising first; together at least s features.
    d, s : int
    config : GuidedExplorationConfig
    generator : torch.Generator
    """

    def __init__(
        self,
        groups: Sequence[tuple[int, ...]],
        d: int,
        s: int,
        *,
        config: GuidedExplorationConfig,
        generator: torch.Generator,
    ) -> None:
        self._uniform = UniformExploration(d, s, generator)
        self._d, self._s, self._generator = d, s, generator
        self._uniform_share = config.uniform_share
        members = [(place, j) for place, group in enumerate(groups) for j in group]
        self._group_of = torch.tensor([place for place, _ in members])  # (members,)
        self._feature_of = torch.tensor([j for _, j in members])  # (members,)
        self._log_weights = -config.power * torch.log(torch.arange(len(groups)) + config.offset)

    def subsets(self, n: int) -> Tensor:
        n_uniform = math.ceil(self._uniform_share * n)
        guided = self._keys(n - n_uniform).topk(self._s, dim=1, sorted=False).indices
        both = torch.cat([self._uniform.subsets(n_uniform), guided.sort(dim=1).values])
        return both[torch.randperm(n, generator=self._generator)]

    def neighbours(self, subset: Tensor, n: int, s_p: int) -> Tensor:
        s_p = min(s_p, self._s, self._d - self._s)
        n_uniform = math.ceil(self._uniform_share * n)
        uniform = self._uniform.neighbours(subset, n_uniform, s_p)
        entering = self._keys(n - n_uniform).index_fill_(1, subset, -torch.inf).topk(s_p, dim=1).indices
        leaving = draw_subsets(n - n_uniform, self._s, s_p, generator=self._generator)
        guided = subset.expand(n - n_uniform, -1).scatter(1, leaving, entering)
        return torch.cat([uniform, guided.sort(dim=1).values])

    def _keys(self, n: int) -> Tensor:
        """Random keys of all features: (n, d). A feature outside all groups comes after every other one."""
        groups = self._log_weights - torch.log(-torch.log(self._rand((n, len(self._log_weights)))))
        others = -1e3 - self._rand((n, self._d))
        return others.scatter_reduce(1, self._feature_of.expand(n, -1), groups[:, self._group_of], "amax")

    def _rand(self, shape: tuple[int, int]) -> Tensor:
        return torch.rand(shape, generator=self._generator).clamp_(1e-7, 1 - 1e-7)
