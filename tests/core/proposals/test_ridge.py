from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from maskrank.core.proposals.ridge import eliminate_by_lines


@pytest.mark.parametrize("ridge", [0.03, 1e-9])
def test_lines_are_given_up_one_by_one_by_what_the_others_lose(generator: torch.Generator, ridge: float) -> None:
    """Against a ridge regression that is solved anew for each feature in turn."""
    x = torch.randn((6, 80), generator=generator, dtype=torch.float64)
    x[1] = x[0] + 0.3 * x[1]  # two that stand in for one another
    lines = F.normalize(x - x.mean(dim=1, keepdim=True))
    target = (torch.tensor([1.0, 1.0, 0.5, 0.3, 0.1, 0.0], dtype=torch.float64) @ lines).unsqueeze(1)

    def loss(features: list[int]) -> float:
        some = lines[features]
        overlap = some @ target
        gram = some @ some.t() + ridge * torch.eye(len(features), dtype=x.dtype)
        return -float((overlap * torch.linalg.solve(gram, overlap)).sum())

    left, given_up = list(range(6)), []
    while len(left) > 2:
        out = min(left, key=lambda j: loss([i for i in left if i != j]))
        left.remove(out)
        given_up.append(out)
    assert eliminate_by_lines(lines, target, 2, ridge=ridge).tolist() == [*left, *reversed(given_up)]


def test_none_may_be_left(generator: torch.Generator) -> None:
    lines = F.normalize(torch.randn((5, 20), generator=generator))
    order = eliminate_by_lines(lines, lines[[3]].t(), 0, ridge=1e-9)
    assert sorted(order.tolist()) == list(range(5))
    assert order[0] == 3
