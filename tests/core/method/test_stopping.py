from __future__ import annotations

import torch

from maskrank.core.method.selector import Selector
from maskrank.core.method.stopping import EarlyStopping


def small_selector(seed: int = 0) -> Selector:
    g = torch.Generator().manual_seed(seed)
    return Selector(6, hidden=(4,), activation="silu", fan_in=6, generator=g)


def shift(*nets: torch.nn.Module, by: float) -> None:
    with torch.no_grad():
        for net in nets:
            for parameter in net.parameters():
                parameter.add_(by * torch.arange(parameter.numel()).view_as(parameter).sin())


def test_operator_selector_and_optimal_subset_are_restored_together() -> None:
    operator, selector = torch.nn.Linear(2, 1), small_selector()
    stopping = EarlyStopping(operator, selector, torch.tensor([0]), patience=32)
    stopping.update(0.9, torch.tensor([0]), 0)
    shift(operator, selector, by=1.0)
    stopping.update(0.5, torch.tensor([1]), 16)
    kept = [p.clone() for net in (operator, selector) for p in net.parameters()]
    shift(operator, selector, by=1.0)
    assert not stopping.update(0.7, torch.tensor([2]), 32)
    assert stopping.update(0.6, torch.tensor([3]), 48)  # 32 batches without progress
    stopping.restore()
    assert stopping.optimal.tolist() == [1]
    for parameter, before in zip([*operator.parameters(), *selector.parameters()], kept, strict=True):
        assert torch.equal(parameter, before)
