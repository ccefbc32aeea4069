from __future__ import annotations

from unittest import mock

import pytest
import torch
from torch import Tensor

from maskrank.core.proposals import kernel_ridge as kernel_machine
from maskrank.core.proposals.kernel_ridge import (
    _RIDGE,
    _best_width,
    _errors_without,
    _exchange,
    eliminate_by_kernel,
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
        machine = kernel[others][:, others] + _RIDGE * torch.eye(n - 1, dtype=x.dtype)
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


def test__errors_without_a_feature_are_those_of_machines_whose_mask_is_0_there(generator: torch.Generator) -> None:
    x = torch.randn((12, 9), generator=generator, dtype=torch.float64)
    target = torch.randn((12, 2), generator=generator, dtype=torch.float64)
    masks = 1 - torch.eye(9, dtype=torch.float64)
    expected = torch.stack([trained_without(x, target, mask) for mask in masks])
    torch.testing.assert_close(_errors_without(x, target), expected)


def test_features_are_given_up_by_slope_and_the_last_ones_by_trial(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, target = table(generator, d=30)
    monkeypatch.setattr(kernel_machine, "_TRIED_FROM", 10)
    monkeypatch.setattr(kernel_machine, "_EXCHANGES", 0)
    left, given_up, narrow = torch.arange(30), [], 1.0
    while len(left) > 10:
        narrow = _best_width(x[:, left], target, narrow)
        worth = loo_importance(x[:, left], target, narrow)
        goes = worth.argsort()[: min(max(1, len(left) // 10), len(left) - 10)]
        given_up += left[goes].tolist()
        left = left[~torch.isin(left, left[goes])]
    rest = left.tolist()
    while len(rest) > 2:
        narrow = _best_width(x[:, rest], target, narrow)
        given_up.append(rest.pop(int(_errors_without(x[:, rest], target, narrow).argmin())))
    assert eliminate_by_kernel(x, target, 2, by_trial=True).tolist() == [*rest, *reversed(given_up)]
    assert rest == [3, 7]


def start(left: list[int], first: list[int]) -> tuple[Tensor, Tensor]:
    """A subset of twelve features, and the others in the order in which they come back."""
    return torch.tensor(left), torch.tensor([*first, *(j for j in range(12) if j not in [*left, *first])])


def test_exchanges_bring_back_what_was_given_up_wrongly(generator: torch.Generator) -> None:
    x, _ = table(generator, d=12)
    target = x[:, [3]] + x[:, [7]]
    left, others = _exchange(x, target, *start([8, 9], [0, 1]), 1.0)
    assert left.tolist() == [3, 7]
    assert set(others[:2].tolist()) == {8, 9}
    assert sorted([*left.tolist(), *others.tolist()]) == list(range(12))


def test_the_least_needed_are_exchanged_for_those_given_up_last(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, target = table(generator, d=12)
    monkeypatch.setattr(kernel_machine, "_OUT", 1)
    left, _ = _exchange(x, target, *start([0, 3], [7]), 1.0)
    assert left.tolist() == [3, 7]
    monkeypatch.setattr(kernel_machine, "_IN", 2)
    left, _ = _exchange(x, target, *start([0, 3], [1, 2, 7]), 1.0)
    assert 7 not in left.tolist()


def test_an_exchange_that_saves_little_is_not_made(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x, target = table(generator, d=12)
    monkeypatch.setattr(kernel_machine, "_GAIN", 0.99)
    before, given_up = start([3, 5], [7])
    left, others = _exchange(x, target, before, given_up, 1.0)
    assert torch.equal(left, before)
    assert torch.equal(others, given_up)
    monkeypatch.setattr(kernel_machine, "_GAIN", 0.0)
    left, _ = _exchange(x, 0 * target, before, given_up, 1.0)  # no error to save
    assert torch.equal(left, before)


def test_what_is_left_by_trial_is_exchanged_where_it_is_not_large(
    generator: torch.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, target = table(generator, d=12)
    with mock.patch.object(kernel_machine, "_exchange", wraps=_exchange) as exchanges:
        eliminate_by_kernel(x, target, 2, by_trial=True)
        assert exchanges.call_count == 1
        eliminate_by_kernel(x, target, 2, by_trial=False)
        monkeypatch.setattr(kernel_machine, "_MOST_EXCHANGED", 1)
        eliminate_by_kernel(x, target, 2, by_trial=True)
        assert exchanges.call_count == 1


def test_without_trials_the_slope_goes_to_the_end(generator: torch.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    x, target = table(generator)
    monkeypatch.setattr(kernel_machine, "_errors_without", None)
    assert set(eliminate_by_kernel(x, target, 4, by_trial=False)[:4].tolist()) >= {3, 7}


def test_all_features_may_be_wanted(generator: torch.Generator) -> None:
    x, target = table(generator, d=8)
    assert eliminate_by_kernel(x, target, 8, by_trial=True).tolist() == list(range(8))
