from __future__ import annotations

import pytest
import torch
from torch import Tensor

from maskrank.core import kernel_machine
from maskrank.core.kernel_machine import (
    RIDGE,
    _exchange,
    best_width,
    eliminate_by_kernel,
    errors_without,
    loo_importance,
)


def table(generator: torch.Generator, n: int = 60, d: int = 30) -> tuple[Tensor, Tensor]:
    """A target that two bent features, 3 and 7, tell together."""
    x = torch.randn((n, d), generator=generator, dtype=torch.float64)
    target = x[:, 3].square() + x[:, 7].square() + 0.1 * torch.randn(n, generator=generator, dtype=torch.float64)
    return x, ((target - target.mean()) / target.std()).unsqueeze(1)


def trained_without(x: Tensor, target: Tensor, scale: Tensor) -> Tensor:
    """The mean error of each row under a machine trained without it: by training so many machines."""
    n, k = x.shape
    apart = (x.unsqueeze(0) - x.unsqueeze(1)).square() @ scale
    kernel = torch.exp(-apart / (2 * k)) + 1 / n
    errors = []
    for row in range(n):
        others = torch.arange(n) != row
        machine = kernel[others][:, others] + RIDGE * torch.eye(n - 1, dtype=x.dtype)
        weights = torch.linalg.solve(machine, target[others])
        errors.append(target[row] - kernel[row, others] @ weights)
    return torch.stack(errors).square().mean()


def test_importance_is_the_slope_of_the_error_of_rows_left_out(generator: torch.Generator) -> None:
    x = torch.randn((12, 4), generator=generator, dtype=torch.float64)
    target = torch.randn((12, 2), generator=generator, dtype=torch.float64)
    ones, small = torch.ones(4, dtype=torch.float64), 1e-5
    slopes = [
        (trained_without(x, target, ones + small * unit) - trained_without(x, target, ones - small * unit))
        / (2 * small)
        for unit in torch.eye(4, dtype=torch.float64)
    ]
    torch.testing.assert_close(loo_importance(x, target), -torch.stack(slopes), rtol=1e-4, atol=1e-8)


def test_errors_without_a_feature_are_those_of_machines_whose_mask_is_0_there(generator: torch.Generator) -> None:
    x = torch.randn((12, 9), generator=generator, dtype=torch.float64)
    target = torch.randn((12, 2), generator=generator, dtype=torch.float64)
    masks = 1 - torch.eye(9, dtype=torch.float64)
    expected = torch.stack([trained_without(x, target, mask) for mask in masks])
    torch.testing.assert_close(errors_without(x, target), expected)


def test_few_features_are_given_up_by_trial(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x, target = table(generator, d=8)
    monkeypatch.setattr(kernel_machine, "_EXCHANGES", 0)
    left, given_up, narrow = list(range(8)), [], 1.0
    while len(left) > 2:
        narrow = best_width(x[:, left], target, narrow)
        out = int(errors_without(x[:, left], target, narrow).argmin())
        given_up.append(left.pop(out))
    assert eliminate_by_kernel(x, target, 2).tolist() == [*left, *reversed(given_up)]
    assert left == [3, 7]


def test_an_exchange_brings_back_what_was_given_up_wrongly(generator: torch.Generator) -> None:
    x, target = table(generator, d=12)
    given_up = torch.tensor([j for j in range(12) if j not in (3, 5)])
    left, others = _exchange(x, target, torch.tensor([3, 5]), given_up, 1.0)
    assert left.tolist() == [3, 7]
    assert others.tolist() == [5, 0, 1, 2, 4, 6, 8, 9, 10, 11]


def test_an_exchange_that_saves_little_is_not_made(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x, target = table(generator, d=12)
    given_up = torch.tensor([j for j in range(12) if j not in (3, 5)])
    monkeypatch.setattr(kernel_machine, "_GAIN", 0.99)
    left, others = _exchange(x, target, torch.tensor([3, 5]), given_up, 1.0)
    assert left.tolist() == [3, 5]
    assert torch.equal(others, given_up)


def test_of_many_rows_nothing_is_tried(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x, target = table(generator)
    monkeypatch.setattr(kernel_machine, "_TRIED_ROWS", 59)
    monkeypatch.setattr(kernel_machine, "errors_without", None)
    assert set(eliminate_by_kernel(x, target, 4)[:4].tolist()) >= {3, 7}


def test_all_features_may_be_wanted(generator: torch.Generator) -> None:
    x, target = table(generator, d=8)
    assert eliminate_by_kernel(x, target, 8).tolist() == list(range(8))
