from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from maskrank.core.config import EliminationConfig
from maskrank.core.data.blocks import Blocks
from maskrank.core.proposals.ridge import eliminate_by_ridge

CONFIG = EliminationConfig()


@pytest.mark.parametrize("ridge", [0.03, 1e-9])
def test_features_are_eliminated_one_by_one_by_what_the_others_lose(generator: torch.Generator, ridge: float) -> None:
    """Against a ridge regression that is solved anew for each removal."""
    x = torch.randn((6, 80), generator=generator, dtype=torch.float64)
    x[1] = x[0] + 0.3 * x[1]  # two that stand in for one another
    columns = F.normalize(x - x.mean(dim=1, keepdim=True))
    target = (torch.tensor([1.0, 1.0, 0.5, 0.3, 0.1, 0.0], dtype=torch.float64) @ columns).unsqueeze(1)

    def loss(features: list[int]) -> float:
        some = columns[features]
        overlap = some @ target
        gram = some @ some.t() + ridge * torch.eye(len(features), dtype=x.dtype)
        return -float((overlap * torch.linalg.solve(gram, overlap)).sum())

    surviving, eliminated = list(range(6)), []
    while len(surviving) > 2:
        out = min(surviving, key=lambda j: loss([i for i in surviving if i != j]))
        surviving.remove(out)
        eliminated.append(out)
    order = eliminate_by_ridge(columns, target, 2, ridge=ridge, config=CONFIG)
    assert order.tolist() == [*surviving, *reversed(eliminated)]


def test_none_may_survive(generator: torch.Generator) -> None:
    columns = F.normalize(torch.randn((5, 20), generator=generator))
    order = eliminate_by_ridge(columns, columns[[3]].t(), 0, ridge=1e-9, config=CONFIG)
    assert sorted(order.tolist()) == list(range(5))
    assert order[0] == 3


@pytest.mark.parametrize("single_from", [256, 1])
def test_the_columns_of_a_feature_are_eliminated_together(generator: torch.Generator, single_from: int) -> None:
    """Against a ridge regression that is solved anew for each removal of a block."""
    blocks, ridge = Blocks.of_widths([2, 1, 3, 1, 2]), 0.03
    columns = F.normalize(torch.randn((9, 60), generator=generator, dtype=torch.float64))
    columns[8] = F.normalize(columns[3] + 0.3 * columns[8], dim=0)
    target = columns.t() @ torch.randn((9, 2), generator=generator, dtype=torch.float64)

    def loss(features: list[int]) -> float:
        some = columns[blocks.columns_of(torch.tensor(features))]
        overlap = some @ target
        gram = some @ some.t() + ridge * torch.eye(len(some), dtype=some.dtype)
        return -float((overlap * torch.linalg.solve(gram, overlap)).sum())

    surviving, eliminated = list(range(5)), []
    while len(surviving) > 1:
        out = min(surviving, key=lambda j: loss([i for i in surviving if i != j]))
        surviving.remove(out)
        eliminated.append(out)
    config = EliminationConfig(single_from=single_from)
    order = eliminate_by_ridge(columns, target, 1, blocks=blocks, ridge=ridge, config=config)
    assert order.tolist() == [*surviving, *reversed(eliminated)]
