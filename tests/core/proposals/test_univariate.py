from __future__ import annotations

import math

import pytest
import torch

from maskrank.core import limits
from maskrank.core.config import ScreeningConfig
from maskrank.core.data.rows import Rows
from maskrank.core.proposals.statistics import orthonormal_basis, target_directions
from maskrank.core.proposals.univariate import univariate_evidence

CONFIG = ScreeningConfig()


def evidence(x: torch.Tensor, y: torch.Tensor, config: ScreeningConfig = CONFIG) -> torch.Tensor:
    return univariate_evidence(Rows(x, y).all(), x.shape[1], target_directions(y, config), config)


def test_linear_and_curved_effects_are_significant_and_noise_is_not(generator: torch.Generator) -> None:
    x = torch.randn((400, 30), generator=generator)
    y = x[:, 3] + x[:, 5].square() + torch.randn(400, generator=generator)
    best = evidence(x, y).topk(3)
    assert set(best.indices[:2].tolist()) == {3, 5}
    assert best.values[1] > 10 > 2 > best.values[2]


def test_cosines_of_a_higher_frequency_see_a_faster_wave(generator: torch.Generator) -> None:
    x = torch.rand((400, 10), generator=generator)
    y = torch.cos(5 * math.pi * x[:, 2])
    assert evidence(x, y)[2] > 0 > evidence(x, y, ScreeningConfig(n_cosines=2))[2]


def test_more_features_need_more_evidence(generator: torch.Generator) -> None:
    x = torch.randn((200, 20), generator=generator)
    y, batch = x[:, :1], Rows(x, x[:, :1]).all()
    few = univariate_evidence(batch, 20, target_directions(y, CONFIG), CONFIG)
    one = univariate_evidence(batch, 1, target_directions(y, CONFIG), CONFIG)
    assert float(one[0] - few[0]) == pytest.approx(math.log(20), rel=1e-4)


def test_a_target_without_variance_has_no_evidence() -> None:
    x = torch.randn((50, 4), generator=torch.Generator().manual_seed(0))
    directions = orthonormal_basis(torch.zeros((50, 1)))
    assert (univariate_evidence(Rows(x, x[:, :1]).all(), 4, directions, CONFIG) < 0).all()


def test_blocks_are_a_matter_of_memory_alone(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.randn((100, 12), generator=generator)
    together = evidence(x, x[:, :1])
    monkeypatch.setattr(limits, "SCREENED", 500)
    torch.testing.assert_close(evidence(x, x[:, :1]), together)
