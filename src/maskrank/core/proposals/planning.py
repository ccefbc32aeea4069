"""Temporary: the old interface of the pipeline on top of `registry`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from maskrank.core.config import TrainConfig
from maskrank.core.data.rows import Rows
from maskrank.core.method.exploration import Exploration, HintedExploration, UniformExploration
from maskrank.core.method.tasks import Task
from maskrank.core.proposals.proposal import FeatureGroup as Unit
from maskrank.core.proposals.proposal import features_of, pool_with_random
from maskrank.core.proposals.registry import propose


@dataclass(frozen=True)
class Hint:
    units: list[Unit] = field(default_factory=list)
    clear: dict[Unit, float] = field(default_factory=dict)
    companions: list[int] = field(default_factory=list)
    straight: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)

    @property
    def features(self) -> list[int]:
        return [*features_of(self.units), *self.companions]

    @property
    def clear_features(self) -> list[int]:
        return features_of(self.clear)

    def renamed(self, tried: Tensor) -> Hint:
        place = {j: i for i, j in enumerate(tried.tolist())}
        return Hint(
            [tuple(place[j] for j in unit) for unit in self.units],
            {tuple(place[j] for j in unit): far for unit, far in self.clear.items()},
            [place[j] for j in self.companions],
            [place[j] for j in self.straight],
            [place[j] for j in self.left],
        )


@dataclass(frozen=True)
class Plan:
    tried: Tensor
    exploration: Exploration
    hint: Hint
    max_batches: int
    may_reselect: bool

    def shortened(self, config: TrainConfig) -> TrainConfig:
        return replace(config, max_batches=self.max_batches)

    def may_choose_again(self, rows: Rows) -> bool:
        return self.may_reselect

    def is_what_was_left(self, optimal: Tensor) -> bool:
        return set(optimal.tolist()) == set(self.hint.left[: len(optimal)])

    def summary(self, d: int) -> str:
        return ""


def plan_search(task: Task, rows: Rows, size: int, *, config: TrainConfig, generator: torch.Generator) -> Plan:
    found = propose(task, rows, size, config=config, generator=generator)
    hint = Hint(found.groups, found.evidence, found.correlated, found.linear_order, found.elimination_order)
    hint = hint.renamed(found.pool)
    exploration: Exploration = UniformExploration(len(found.pool), size, generator)
    if hint.units:
        exploration = HintedExploration(hint.units, len(found.pool), size, generator)
    return Plan(found.pool, exploration, hint, found.policy.max_batches, found.policy.may_reselect)


def with_others(hinted: list[int], d: int, generator: torch.Generator) -> Tensor:
    return pool_with_random(hinted, d, share=0.25, generator=generator)
