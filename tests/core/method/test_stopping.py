from __future__ import annotations

from typing import Any

import torch

from maskrank.core.method.selector import Selector
from maskrank.core.method.stopping import EarlyStopping

PROGRESS: dict[str, Any] = {"min_progress": 0.01, "max_patience": 4}


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
    stopping = EarlyStopping(operator, selector, torch.tensor([0]), patience=32, min_agreement=-1.0, **PROGRESS)
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


def test_training_goes_on_while_the_ranking_moves() -> None:
    operator, selector = torch.nn.Linear(2, 1), small_selector()
    stopping = EarlyStopping(operator, selector, torch.tensor([0]), patience=32, min_agreement=0.9, **PROGRESS)
    stopping.update(0.5, torch.tensor([1]), 0)
    selector.load_state_dict(small_selector(seed=1).state_dict())  # another opinion
    assert not stopping.update(0.6, torch.tensor([1]), 32)
    assert not stopping.update(0.6, torch.tensor([1]), 48)  # patience began anew
    shift(selector, by=1e-3)  # nearly the same opinion
    assert stopping.update(0.6, torch.tensor([1]), 64)
    assert stopping.best_value == 0.5


def test_a_ranking_that_is_never_stable_ends_after_four_times_the_patience() -> None:
    operator, selector = torch.nn.Linear(2, 1), small_selector()
    stopping = EarlyStopping(operator, selector, torch.tensor([0]), patience=32, min_agreement=0.9, **PROGRESS)
    stopping.update(0.5, torch.tensor([1]), 0)
    ended = []
    for seed in range(1, 5):
        selector.load_state_dict(small_selector(seed=seed).state_dict())  # another opinion every time
        ended.append(stopping.update(0.499, torch.tensor([1]), 32 * seed))  # hardly better: no progress
    assert ended == [False, False, False, True]
    assert stopping.best_value == 0.499  # and yet the best moment
